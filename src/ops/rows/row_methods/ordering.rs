//! Keys of a row: its sorts and groups.

use crate::error::Result;
use crate::ops::options::next;
use crate::ops::{GroupKeys, Row, SortBy, SortKeys};
use crate::tensor::Tensor;

impl<'a> From<&'a Row> for SortKeys<'a, Row> {
    fn from(key: &'a Row) -> Self {
        Self::one(key, false)
    }
}

impl<'a> SortBy for &'a Row {
    type Order = SortKeys<'a, Row>;
    fn descending(self) -> SortKeys<'a, Row> {
        SortKeys::one(self, true)
    }
}

impl<'a> GroupKeys<'a, Row> for &'a Row {
    type Distinct = Row;
    #[track_caller]
    fn tensors(&self, op: &'static str, of: &Row, all: &mut Vec<&'a Tensor>) -> Result<()> {
        all.push((*self).vector_of_same_call(op, of)?);
        Ok(())
    }
    #[track_caller]
    fn distinct(&self, found: &mut std::vec::IntoIter<Tensor>, of: &Row) -> Result<Row> {
        Ok(of.with(next(found)))
    }
}

/// Sorting by keys.
impl Row {
    /// The elements of the row in the order of one or several keys, which are rows of the same call.
    ///
    /// The dimensions of every key are the first dimensions of this row; its innermost dimension is sorted. Several
    /// keys, in a tuple, an array or a `Vec`, sort by the first, and where that is equal by the next. Each ascends, or
    /// descends in [`descending`](crate::opt::descending)`(&key)`. Keys and elements may be of any dtype: strings are
    /// ordered by their bytes, NaN comes last in either direction. Stable: elements of equal keys keep their order.
    /// Shape and dtype stay; empty rows stay empty.
    ///
    /// # Errors
    /// No key; keys of different ranks; a row or key that is a scalar; a key with more dimensions than the row or other
    /// row lengths (at the read where only the device knows them); a row of another call.
    ///
    /// # Cost
    /// The passes of a [sort](crate::Tensor::sort) for each key, of which the least significant is the first, and a
    /// gather of the elements, which fuses into its consumer where nothing below is ragged. Never waits.
    ///
    /// ```
    /// use ragged::opt::descending;
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![2, -3, 1], vec![], vec![4]], &Device::cpu())?;
    /// let y: RaggedTensor<i32> = x.map_rows(|row| row.sort_by(descending(&row.abs()?)))?;
    /// assert_eq!(y.to_string(), "<ragged.RaggedTensor [[-3, 2, 1], [], [4]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// Polars: `Expr.sort_by`.
    #[track_caller]
    pub fn sort_by<'a>(&self, keys: impl Into<SortKeys<'a, Self>>) -> Result<Self> {
        const OP: &str = "sort_by";
        self.axis(OP, -1)?;
        let keys = keys.into();
        let mut all = Vec::with_capacity(keys.keys().len());
        for &(key, is_descending) in keys.keys() {
            all.push((key.vector_of_same_call(OP, self)?, is_descending));
        }
        Ok(self.with(self.all.sorted_by(self.all.recorder(OP), &all)?))
    }
}

/// Groups by key.
impl Row {
    /// Groups the elements of the row by one or several keys, which are rows of the same call: the distinct keys in
    /// ascending order, and the elements of each.
    ///
    /// The dimensions of every key are the first dimensions of this row; its innermost dimension is grouped. Several
    /// keys, in a tuple, an array or a `Vec`, make one group of the elements that are equal in all of them; the first
    /// result is then a tuple or a `Vec` of as many rows. Keys and elements may be of any dtype: strings are ordered by
    /// their bytes; NaN is one key, the last one, and -0 and +0 are one key, with the sign of the first member of the
    /// group. The members keep their order. An empty row has no groups.
    ///
    /// # Errors
    /// No key; keys of different ranks; a row or key that is a scalar; a key with more dimensions than the row or other
    /// row lengths (at the read where only the device knows them); a row of another call.
    ///
    /// # Cost
    /// A [sort](crate::Tensor::sort) by each key, the last one first, a rank bitmap, a compaction, and a gather of the
    /// elements, which fuses into its consumer where nothing below is ragged. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![2, -3, 2], vec![], vec![4]], &Device::cpu())?;
    /// let groups: RaggedTensor<i32> = x.map_rows(|row| Ok(row.group_by_key((&row.abs()?, row))?.1))?;
    /// assert_eq!(groups.to_string(), "<ragged.RaggedTensor [[[2, 2], [-3]], [], [[4]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// Polars: `DataFrame.group_by`.
    #[track_caller]
    pub fn group_by_key<'a, K: GroupKeys<'a, Self>>(&self, keys: K) -> Result<(K::Distinct, Self)> {
        const OP: &str = "group_by_key";
        let mut all = Vec::new();
        keys.tensors(OP, self, &mut all)?;
        let (distinct, groups) = self.all.grouped(self.all.recorder(OP), &all)?;
        Ok((keys.distinct(&mut distinct.into_iter(), self)?, self.with(groups)))
    }
}
