//! Numbers, lists of numbers and ranges.

use crate::operation::Value;
use crate::operation::call::{FromValue, Given};
use crate::ops::options::{Bins, HistogramRange, MaxLength, Ngrams, Seed};
use crate::ops::{HashBuckets, Index, NewShape, Parts, Quantiles};
use crate::tensor::{UniformRows, with_nrows};

impl FromValue<'_> for Bins {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        let bins = match given.value {
            Value::All => Self::from(..),
            _ => {
                Self::from(<i64 as FromValue>::from_value(given).map_err(|_| given.other("a number of bins, or all"))?)
            }
        };
        let least = given.option("least")?.unwrap_or(bins.least);
        let most = given.option("most")?.or(bins.most);
        Ok(Self { least, most, binary: given.flag("binary")? })
    }
}

impl FromValue<'_> for HistogramRange {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        let ends: Vec<f64> = FromValue::from_value(given)?;
        let [low, high] = ends[..] else { return Err(given.other("a list of two numbers")) };
        let range = if given.flag("closed")? { Self::from(low..=high) } else { Self::from(low..high) };
        Ok(Self { clamped: given.flag("clamped")?, ..range })
    }
}

impl FromValue<'_> for HashBuckets {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        let buckets = Self::from(<i64 as FromValue>::from_value(given)?);
        let key: Option<i64> = given.option("key")?;
        Ok(Self { key: key.map_or(buckets.key, i64::cast_unsigned), ..buckets })
    }
}

impl FromValue<'_> for UniformRows {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        let length: i64 = FromValue::from_value(given)?;
        Ok(match given.option::<i64>("nrows")? {
            Some(nrows) => with_nrows(length, nrows).into(),
            None => length.into(),
        })
    }
}

impl FromValue<'_> for MaxLength {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        match given.value {
            Value::All => Ok(Self::from(..)),
            _ => Ok(Self::from(<i64 as FromValue>::from_value(given)?)),
        }
    }
}

impl FromValue<'_> for Ngrams {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        let mut ngrams = Self::from(<Vec<i64> as FromValue>::from_value(given)?);
        let padding = [given.option("left_pad")?, given.option("right_pad")?];
        if padding.iter().any(Option::is_some) {
            ngrams.padding = Some(padding.map(|text: Option<&str>| text.unwrap_or_default().into()));
        }
        ngrams.pad_width = given.option("pad_width")?;
        ngrams.keep_short = given.flag("keep_short")?;
        Ok(ngrams)
    }
}

impl FromValue<'_> for Seed {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        // All 64 bits count.
        Ok(Self(<i64 as FromValue>::from_value(given)?.cast_unsigned()))
    }
}

impl FromValue<'_> for Quantiles {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        match given.value {
            Value::List(_) => Ok(Self::Several(FromValue::from_value(given)?)),
            _ => Ok(Self::One(FromValue::from_value(given)?)),
        }
    }
}

impl FromValue<'_> for Parts {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        match given.value {
            Value::Integer(n) => Ok(Self::Equal(*n)),
            _ => Ok(Self::Sizes(FromValue::from_value(given)?)),
        }
    }
}

impl FromValue<'_> for NewShape<'_> {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        Ok(Self::Sizes(FromValue::from_value(given)?))
    }
}

/// A list of indices, tensors of one index, and ranges: `..` is all, and a value with options `start`, `stop` and `step` a
/// range of these.
impl<'v> FromValue<'v> for Vec<Index<'v>> {
    fn from_value(given: &mut Given<'v>) -> Result<Self, String> {
        match given.value {
            Value::List(items) => items.iter().map(Given::convert).collect(),
            _ => Ok(vec![FromValue::from_value(given)?]),
        }
    }
}

impl<'v> FromValue<'v> for Index<'v> {
    fn from_value(given: &mut Given<'v>) -> Result<Self, String> {
        match given.value {
            Value::Integer(at) => Ok(Self::At(*at)),
            Value::Tensor(at) => Ok(Self::AtTensor(at)),
            Value::All => {
                let [start, stop, step] = [given.option("start")?, given.option("stop")?, given.option("step")?];
                Ok(Self::Slice { start, stop, step: step.unwrap_or(1) })
            }
            _ => Err(given.other("an index, a tensor of one, or a range")),
        }
    }
}
