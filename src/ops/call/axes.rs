//! Axes, and what operations do along them.

use crate::operation::Value;
use crate::operation::call::{FromValue, Given};
use crate::ops::options::{Context, Depth, ReduceAxes, ScanAxis, Smoothing, SortAxis};
use crate::record::axes::Axes;

impl FromValue<'_> for Axes {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        match given.value {
            Value::All => Ok(Self::All),
            _ => Ok(Self::List(
                FromValue::from_value(given).map_err(|_| given.other("an axis, a list of axes, or all axes"))?,
            )),
        }
    }
}

impl FromValue<'_> for ReduceAxes {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        let axes: Axes = FromValue::from_value(given)?;
        Ok(Self { keep: given.flag("keep")?, ..axes.into() })
    }
}

impl FromValue<'_> for ScanAxis {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        let axis: i64 = FromValue::from_value(given)?;
        Ok(Self { axis, exclusive: given.flag("exclusive")?, reversed: given.flag("reversed")? })
    }
}

impl FromValue<'_> for SortAxis {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        let axis: i64 = FromValue::from_value(given)?;
        Ok(Self { axis, descending: given.flag("descending")? })
    }
}

impl FromValue<'_> for Depth {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        let depth = Self::from(<i64 as FromValue>::from_value(given)?);
        Ok(Self { axis: given.option("axis")?.unwrap_or(depth.axis), ..depth })
    }
}

impl FromValue<'_> for Context {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        let size: i64 = FromValue::from_value(given)?;
        Ok(Self { size, start: given.option("start")? })
    }
}

impl FromValue<'_> for Smoothing {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        let smoothing = Self::from(<f64 as FromValue>::from_value(given)?);
        Ok(Self { adjust: given.option("adjust")?.unwrap_or(smoothing.adjust), ..smoothing })
    }
}
