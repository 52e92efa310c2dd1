//! Values beside the masks of their nulls.

use arrow_array::{ArrayRef, make_array};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use ragged::operation::named;
use ragged::{FieldValue, RaggedTensor, Result};

use super::convert::ToArrow;
use super::encode::encode;
use crate::fault::argument;

/// The nulls of one level of an array.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Mask {
    /// The level: the names of fields on the way, separated by dots, and `[]` after each level of lists. The outermost level of
    /// an array that is no struct is empty; its items are `[]`.
    pub path: String,
    /// Whether each value of the level is valid: false where it is null. Its dimensions are those of the value down to this
    /// level.
    pub valid: RaggedTensor<bool>,
}

/// A value with the masks of its nulls: the result of [`FromArrow::from_arrow_masked`](super::FromArrow::from_arrow_masked).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Masked<T = FieldValue> {
    /// The value. Null lists are empty, except fixed-size ones; other nulls have the values that the array has there, which are
    /// unspecified.
    pub value: T,
    /// One mask for each level that has nulls, outermost first.
    pub masks: Vec<Mask>,
}

/// Masks by level.
impl<T> Masked<T> {
    /// The mask of a level; none if it has no nulls.
    ///
    /// ```
    /// use arrow_array::Int32Array;
    /// use ragged::{Device, Tensor};
    /// use ragged_data::arrow::FromArrow;
    /// let x = Tensor::from_arrow_masked(&Int32Array::from(vec![Some(7), None]), &Device::cpu())?;
    /// assert_eq!(x.mask("").unwrap().to_vec()?, [true, false]);
    /// assert!(x.mask("[]").is_none());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn mask(&self, path: &str) -> Option<&RaggedTensor<bool>> {
        self.masks.iter().find(|mask| mask.path == path).map(|mask| &mask.valid)
    }

    /// The same masks beside another form of the value.
    pub(super) fn try_map<U>(self, f: impl FnOnce(T) -> Result<U>) -> Result<Masked<U>> {
        Ok(Masked { value: f(self.value)?, masks: self.masks })
    }
}

/// The way back.
impl<T: ToArrow> Masked<T> {
    /// The values as an Arrow array with nulls where the masks are false.
    ///
    /// # Errors
    /// A mask of another number of values than its level; as [`ToArrow::to_arrow`].
    ///
    /// # Cost
    /// As [`ToArrow::to_arrow`], a read of each mask, and a bit for each value of a level with nulls.
    ///
    /// ```
    /// use arrow_array::{Array, Int32Array};
    /// use ragged::{Device, RaggedTensor};
    /// use ragged_data::arrow::FromArrow;
    /// let array = Int32Array::from(vec![Some(7), None]);
    /// let mut x = RaggedTensor::<i32>::from_arrow_masked(&array, &Device::cpu())?;
    /// x.value = x.value.multiply(2)?;
    /// assert_eq!(x.to_arrow()?.to_data(), Int32Array::from(vec![Some(14), None]).to_data());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_arrow(&self) -> Result<ArrayRef> {
        let value = self.value.as_value();
        named("to_arrow", || self.with_nulls(&encode(&value, None)?))
    }

    /// As [`Self::to_arrow`], as an array of this type.
    ///
    /// # Errors
    /// Nulls in a field of the type that has none; as [`Self::to_arrow`] and [`ToArrow::to_arrow_as`].
    ///
    /// # Cost
    /// As [`Self::to_arrow`].
    ///
    /// ```
    /// use arrow_array::{Array, Date32Array};
    /// use ragged::{Device, Tensor};
    /// use ragged_data::arrow::FromArrow;
    /// let days = Date32Array::from(vec![Some(7), None]);
    /// let x = Tensor::from_arrow_masked(&days, &Device::cpu())?;
    /// assert_eq!(x.to_arrow_as(days.data_type())?.to_data(), days.to_data());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_arrow_as(&self, data_type: &DataType) -> Result<ArrayRef> {
        let value = self.value.as_value();
        named("to_arrow_as", || self.with_nulls(&encode(&value, Some(data_type))?))
    }

    /// The array with the nulls of the masks.
    fn with_nulls(&self, array: &ArrayRef) -> Result<ArrayRef> {
        if self.masks.is_empty() {
            return Ok(array.clone());
        }
        Ok(make_array(self.nulled(array.to_data(), "")?))
    }

    fn nulled(&self, data: ArrayData, path: &str) -> Result<ArrayData> {
        let below = |k: usize| match data.data_type() {
            DataType::Struct(fields) if path.is_empty() => fields[k].name().clone(),
            DataType::Struct(fields) => format!("{path}.{}", fields[k].name()),
            _ => format!("{path}[]"),
        };
        let children = data.child_data().iter().enumerate().map(|(k, child)| self.nulled(child.clone(), &below(k)));
        let children = children.collect::<Result<Vec<_>>>()?;
        let mut builder = data.clone().into_builder().child_data(children);
        if let Some(mask) = self.mask(path) {
            let valid = mask.to_shared()?.values;
            if valid.len() != data.len() {
                let what = format!("the mask of {path:?} has {} values, but the level {}", valid.len(), data.len());
                return Err(argument(what));
            }
            let bits = BooleanBuffer::collect_bool(valid.len(), |i| valid[i] != 0);
            builder = builder.nulls(Some(NullBuffer::new(bits)));
        }
        builder.build().map_err(|e| argument(format!("level {path:?}: {e}")))
    }
}
