//! Values beside the masks of their nulls.

use ragged::{FieldValue, RaggedTensor, Result};

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
