//! Lists, list views and maps: ragged dimensions.

use std::sync::Arc;

use arrow_array::{Array, GenericListArray, GenericListViewArray, MapArray, OffsetSizeTrait};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use ragged::{FieldValue, RaggedTensor, Result, RowPartition};

use super::{Decoder, Level, Masked};
use crate::fault::too_many;
use crate::memory::{MAX_VALUES, Numbers, room};

impl Decoder<'_> {
    /// Lists with offsets.
    pub(super) fn lists<O: OffsetSizeTrait>(
        &self,
        array: &GenericListArray<O>,
        nulls: Option<&NullBuffer>,
        level: &Level,
    ) -> Result<Masked> {
        self.rows_of(array.offsets(), array.values(), nulls, level)
    }

    /// Maps: lists of entries.
    pub(super) fn map(&self, array: &MapArray, nulls: Option<&NullBuffer>, level: &Level) -> Result<Masked> {
        self.rows_of(array.offsets(), array.entries(), nulls, level)
    }

    fn rows_of<O: OffsetSizeTrait>(
        &self,
        offsets: &OffsetBuffer<O>,
        values: &dyn Array,
        nulls: Option<&NullBuffer>,
        level: &Level,
    ) -> Result<Masked> {
        let is_valid = |row: usize| nulls.is_none_or(|nulls| nulls.is_valid(row));
        let n = offsets.len() - 1;
        // A null list may have items, which it does not mean.
        if !(0..n).all(|row| is_valid(row) || offsets[row] == offsets[row + 1]) {
            let bounds = |row: usize| {
                let start = offsets[row].as_usize();
                (start, if is_valid(row) { offsets[row + 1].as_usize() } else { start })
            };
            return self.gathered(n, bounds, values, nulls, level);
        }
        let (rows, covered) = self.rows(offsets, level)?;
        let items = self.value(&*values.slice(covered.start, covered.len()), &level.items(None))?;
        Ok(self.masked(items.value.clone(), nulls, level)?.above(items.under(&rows)?))
    }

    /// Lists with starts and sizes. Those that follow each other are rows; others are gathered.
    pub(super) fn list_views<O: OffsetSizeTrait>(
        &self,
        array: &GenericListViewArray<O>,
        nulls: Option<&NullBuffer>,
        level: &Level,
    ) -> Result<Masked> {
        let (starts, sizes) = (array.value_offsets(), array.value_sizes());
        let bounds = |row: usize| {
            let start = starts[row].as_usize();
            let is_valid = nulls.is_none_or(|nulls| nulls.is_valid(row));
            (start, if is_valid { start + sizes[row].as_usize() } else { start })
        };
        let n = array.len();
        // Empty lists may start anywhere.
        let mut lists = (0..n).map(bounds).filter(|(start, end)| start < end);
        let first = lists.next().unwrap_or((0, 0));
        let mut end = first.1;
        if !lists.all(|(start, next)| start == std::mem::replace(&mut end, next)) {
            return self.gathered(n, bounds, array.values(), nulls, level);
        }
        let total = self.total(n, bounds, level)?;
        let mut splits: Vec<u32> = room("offsets of an Arrow array", n + 1)?;
        let mut at = 0;
        splits.push(at);
        splits.extend((0..n).map(bounds).map(|(start, end)| {
            at += (end - start) as u32;
            at
        }));
        let rows = RowPartition::from_shared_row_splits(Arc::new(Numbers(splits)), self.device)?;
        let items = self.value(&*array.values().slice(first.0, total), &level.items(None))?;
        Ok(self.masked(items.value.clone(), nulls, level)?.above(items.under(&rows)?))
    }

    /// The number of items of all lists between these bounds.
    ///
    /// # Errors
    /// More than a tensor has.
    fn total(&self, n: usize, bounds: impl Fn(usize) -> (usize, usize), level: &Level) -> Result<usize> {
        let lengths = (0..n).map(bounds).map(|(start, end)| (end - start) as u64);
        let total = lengths.fold(0u64, u64::saturating_add);
        if total > MAX_VALUES as u64 {
            return Err(too_many(level.divided(), total, "values"));
        }
        Ok(total as usize)
    }

    /// Lists that cover their values in any order, gathered on the device.
    fn gathered(
        &self,
        n: usize,
        bounds: impl Fn(usize) -> (usize, usize),
        values: &dyn Array,
        nulls: Option<&NullBuffer>,
        level: &Level,
    ) -> Result<Masked> {
        self.total(n, &bounds, level)?;
        let vector = |of: &dyn Fn((usize, usize)) -> usize| {
            let mut numbers: Vec<i64> = room("offsets of an Arrow array", n)?;
            numbers.extend((0..n).map(|row| of(bounds(row)) as i64));
            RaggedTensor::<i64>::from_shared(Arc::new(Numbers(numbers)), &[n], self.device)
        };
        let (starts, ends) = (vector(&|(start, _)| start)?, vector(&|(_, end)| end)?);
        let rows = RaggedTensor::<i64>::ranges(&starts, &ends, 1)?;
        let items = self.value(values, &level.items(None))?;
        let own = self.masked(FieldValue::from(&starts), nulls, level)?;
        Ok(own.above(items.each(|t| t.gather(&rows), |records| records.gather(&rows))?))
    }
}
