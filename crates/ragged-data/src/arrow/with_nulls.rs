//! Values with masks as Arrow arrays with nulls.

use arrow_array::{ArrayRef, make_array};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use ragged::Result;
use ragged::operation::named;

use super::encode::encode;
use super::{Masked, ToArrow};
use crate::fault::argument;

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
