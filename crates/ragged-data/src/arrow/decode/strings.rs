//! Byte strings, of all layouts.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::{ByteArrayType, ByteViewType};
use arrow_array::{Array, FixedSizeBinaryArray, GenericByteArray, GenericByteViewArray, OffsetSizeTrait};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use ragged::{DType, Result, RowPartition, Tensor};

use super::{Decoder, Level};
use crate::arrow::memory::owner;
use crate::fault::too_many;
use crate::memory::{MAX_VALUES, Numbers, room};

impl Decoder<'_> {
    /// The rows between offsets, and the values that they cover. Offsets of 32 bits that begin at 0 are adopted.
    pub(super) fn rows<O: OffsetSizeTrait>(
        &self,
        offsets: &OffsetBuffer<O>,
        level: &Level,
    ) -> Result<(RowPartition, Range<usize>)> {
        let (first, last) = (offsets[0].as_usize(), offsets[offsets.len() - 1].as_usize());
        if last - first > MAX_VALUES {
            return Err(too_many(level.divided(), (last - first) as u64, "values"));
        }
        let memory: Arc<dyn AsRef<[u8]> + Send + Sync> = if first == 0 && !O::IS_LARGE {
            owner(offsets.inner().inner().clone())
        } else {
            let mut splits: Vec<u32> = room("offsets of an Arrow array", offsets.len())?;
            splits.extend(offsets.iter().map(|offset| (offset.as_usize() - first) as u32));
            Arc::new(Numbers(splits))
        };
        Ok((RowPartition::from_shared_row_splits(memory, self.device)?, first..last))
    }

    /// Strings of `n` bytes, in rows.
    fn of_bytes(&self, bytes: Arc<dyn AsRef<[u8]> + Send + Sync>, n: usize, rows: RowPartition) -> Result<Tensor> {
        let bytes = Tensor::from_shared(bytes, DType::U8, &[n], self.device)?;
        Tensor::from_row_partitions(&bytes, &[rows])?.bytes_to_string()
    }

    /// Strings and binaries with offsets.
    pub(super) fn strings<T: ByteArrayType>(
        &self,
        array: &GenericByteArray<T>,
        nulls: Option<&NullBuffer>,
        level: &Level,
    ) -> Result<Tensor> {
        if let Some(nulls) = self.emptied(nulls) {
            let offsets = array.value_offsets();
            let is_empty = |i: usize| offsets[i] == offsets[i + 1];
            if !(0..array.len()).all(|i| nulls.is_valid(i) || is_empty(i)) {
                return self.copied(array.len(), |i| nulls.is_valid(i).then(|| array.value(i).as_ref()), level);
            }
        }
        let (rows, covered) = self.rows(array.offsets(), level)?;
        let bytes = array.values().slice_with_length(covered.start, covered.len());
        self.of_bytes(owner(bytes), covered.len(), rows)
    }

    /// Strings and binaries in views.
    pub(super) fn views<T: ByteViewType + ?Sized>(
        &self,
        array: &GenericByteViewArray<T>,
        nulls: Option<&NullBuffer>,
        level: &Level,
    ) -> Result<Tensor> {
        // A view of a null has no meaning.
        let is_valid = |i: usize| nulls.is_none_or(|nulls| nulls.is_valid(i));
        self.copied(array.len(), |i| is_valid(i).then(|| array.value(i).as_ref()), level)
    }

    /// Binaries of one length.
    pub(super) fn fixed_binaries(
        &self,
        array: &FixedSizeBinaryArray,
        nulls: Option<&NullBuffer>,
        level: &Level,
    ) -> Result<Tensor> {
        if let Some(nulls) = self.emptied(nulls) {
            return self.copied(array.len(), |i| nulls.is_valid(i).then(|| array.value(i)), level);
        }
        let (n, size) = (array.len(), array.value_size());
        let bytes = n.checked_mul(size).filter(|bytes| *bytes <= MAX_VALUES);
        bytes.ok_or_else(|| too_many(level.divided(), (n as u64).saturating_mul(size as u64), "bytes"))?;
        let data = array.to_data();
        let bytes = data.buffers()[0].slice_with_length(data.offset() * size, n * size);
        Tensor::from_shared(owner(bytes), DType::U8, &[n, size], self.device)?.bytes_to_string()
    }

    /// Copies of `n` strings, of which some are empty.
    fn copied<'s>(&self, n: usize, get: impl Fn(usize) -> Option<&'s [u8]>, level: &Level) -> Result<Tensor> {
        let string = |i: usize| get(i).unwrap_or_default();
        let total = (0..n).fold(0u64, |total, i| total.saturating_add(string(i).len() as u64));
        if total > MAX_VALUES as u64 {
            return Err(too_many(level.divided(), total, "bytes"));
        }
        let mut bytes: Vec<u8> = room("strings of an Arrow array", total as usize)?;
        let mut splits: Vec<u32> = room("offsets of an Arrow array", n + 1)?;
        splits.push(0);
        for i in 0..n {
            bytes.extend_from_slice(string(i));
            splits.push(bytes.len() as u32);
        }
        let rows = RowPartition::from_shared_row_splits(Arc::new(Numbers(splits)), self.device)?;
        self.of_bytes(Arc::new(Numbers(bytes)), total as usize, rows)
    }
}
