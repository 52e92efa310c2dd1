//! Fixed-size lists: uniform dimensions.

use arrow_array::{Array, FixedSizeListArray};
use arrow_buffer::NullBuffer;
use ragged::opt::with_nrows;
use ragged::{FieldValue, Result, RowPartition, Tensor};

use super::{Decoder, Level, Masked};

impl Decoder<'_> {
    /// Lists of one length. Dense items get an inner dimension; others a partition of uniform rows.
    pub(super) fn fixed_lists(
        &self,
        array: &FixedSizeListArray,
        nulls: Option<&NullBuffer>,
        level: &Level,
    ) -> Result<Masked> {
        let (n, size) = (array.len(), array.value_length() as usize);
        // The items of a null list are null.
        let outer = self.emptied(nulls).map(|nulls| nulls.expand(size));
        let items = self.value(array.values(), &level.items(outer))?;
        let own = self.masked(items.value.clone(), nulls, level)?;
        let partition = || RowPartition::from_uniform_row_length(with_nrows(size, n), n * size, self.device);
        let divided = |t: &Tensor| match dense_shape(t) {
            Some(shape) => {
                let rest = shape.into_iter().skip(1).map(|d| d as i64);
                t.reshape([n as i64, size as i64].into_iter().chain(rest).collect::<Vec<i64>>())
            }
            None => Tensor::from_row_partitions(t, &[partition()?]),
        };
        let below = match &items.value {
            FieldValue::Records(_) => items.under(&partition()?)?,
            _ => items.each(divided, |records| Ok(records.clone()))?,
        };
        Ok(own.above(below))
    }
}

/// The sizes of a tensor without partitions.
fn dense_shape(t: &Tensor) -> Option<Vec<usize>> {
    if t.ragged_rank() > 0 {
        return None;
    }
    t.shape().into_iter().collect()
}
