//! Tensors with options, and operands.

use crate::operation::Value;
use crate::operation::call::{FromValue, Given};
use crate::ops::options::{
    AttentionKeys, Factor, GatherIndices, LookupIds, LookupRows, PaddedShape, Padding, RowPadding, SegmentIds,
    SortKeys, Sought, descending,
};
use crate::record::operand::Operand;
use crate::tensor::{Fill, Integers, RowIds, Tensor, with_nrows};

impl<'v> FromValue<'v> for Operand<'v> {
    fn from_value(given: &mut Given<'v>) -> Result<Self, String> {
        match given.value {
            Value::Tensor(x) => Ok(Self::Tensor(x)),
            _ => Ok(Self::Value(Fill::from_value(given).map_err(|_| given.other("a tensor, a number or a string"))?)),
        }
    }
}

impl<'v> FromValue<'v> for Padding<'v> {
    fn from_value(given: &mut Given<'v>) -> Result<Self, String> {
        Ok(match Operand::from_value(given)? {
            Operand::Tensor(x) => Self::Tensor(x),
            Operand::Value(value) => Self::Value(value),
        })
    }
}

impl<'v> FromValue<'v> for PaddedShape<'v> {
    fn from_value(given: &mut Given<'v>) -> Result<Self, String> {
        let padding = Padding::from_value(given)?;
        Ok(Self { shape: given.option("shape")?, ..padding.into() })
    }
}

impl<'v> FromValue<'v> for RowPadding<'v> {
    fn from_value(given: &mut Given<'v>) -> Result<Self, String> {
        let padding: Self = Padding::from_value(given)?.into();
        Ok(Self { ragged_rank: given.option("ragged_rank")?.unwrap_or(padding.ragged_rank), ..padding })
    }
}

impl<'v> FromValue<'v> for GatherIndices<'v> {
    fn from_value(given: &mut Given<'v>) -> Result<Self, String> {
        let indices: &Tensor = FromValue::from_value(given)?;
        let batch_dims = given.option("batch_dims")?.unwrap_or(0);
        Ok(Self { axis: given.option("axis")?, batch_dims, ..indices.into() })
    }
}

impl<'v> FromValue<'v> for LookupIds<'v> {
    fn from_value(given: &mut Given<'v>) -> Result<Self, String> {
        let ids: &Tensor = FromValue::from_value(given)?;
        let weights: Option<&Tensor> = given.option("weights")?;
        let (default, max_norm) = (given.option("default")?, given.option("max_norm")?);
        Ok(Self { weights: weights.map(LookupRows::from), default, max_norm, ..ids.into() })
    }
}

impl<'v> FromValue<'v> for SegmentIds<'v> {
    fn from_value(given: &mut Given<'v>) -> Result<Self, String> {
        let ids: &Tensor = FromValue::from_value(given)?;
        Ok(Self { num_segments: given.option("num_segments")?, ..ids.into() })
    }
}

impl<'v> FromValue<'v> for Sought<'v> {
    fn from_value(given: &mut Given<'v>) -> Result<Self, String> {
        let values: &Tensor = FromValue::from_value(given)?;
        Ok(Self { right: given.flag("right")?, ..values.into() })
    }
}

impl<'v> FromValue<'v> for Factor<'v> {
    fn from_value(given: &mut Given<'v>) -> Result<Self, String> {
        let tensor: &Tensor = FromValue::from_value(given)?;
        Ok(Self { tensor, transposed: given.flag("transposed")? })
    }
}

impl<'v> FromValue<'v> for AttentionKeys<'v> {
    fn from_value(given: &mut Given<'v>) -> Result<Self, String> {
        let keys: &Tensor = FromValue::from_value(given)?;
        Ok(Self { causal: given.flag("causal")?, scale: given.option("scale")?, ..keys.into() })
    }
}

impl<'v> FromValue<'v> for RowIds<'v> {
    fn from_value(given: &mut Given<'v>) -> Result<Self, String> {
        let ids = Integers::from_value(given)?;
        Ok(match given.option::<i64>("nrows")? {
            Some(nrows) => with_nrows(ids, nrows).into(),
            None => ids.into(),
        })
    }
}

/// One key or several, the first one first; `descending` is of all.
impl<'v> FromValue<'v> for SortKeys<'v> {
    fn from_value(given: &mut Given<'v>) -> Result<Self, String> {
        let keys: &[Tensor] = FromValue::from_value(given)?;
        let is_descending = given.flag("descending")?;
        let key = |key: &'v Tensor| if is_descending { descending(key) } else { SortKeys::from(key) };
        Ok(keys.iter().map(key).collect::<Vec<_>>().into())
    }
}
