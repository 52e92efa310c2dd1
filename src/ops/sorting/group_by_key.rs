//! Groups of equal keys.

use crate::element::Element;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::recorder::Recorder;
use crate::ops::options::GroupKeys;
use crate::ops::sorting::row_keys::RowKeys;
use crate::ops::sorting::row_runs::Runs;
use crate::tensor::{RaggedTensor, Tensor};

const OP: &str = "group_by_key";

/// Groups by key.
impl Tensor {
    /// Groups the elements of each row by one or several keys: the distinct keys in ascending order, and the elements
    /// of each.
    ///
    /// The dimensions of every key are the first dimensions of this tensor; its innermost dimension is grouped. For
    /// `[n]`, the keys are `[k]` and the groups `[k, (members), …]`; for `[n, (r)]`, the keys are `[n, (k)]` and the
    /// groups `[n, (k), (members), …]`. The members keep their order. Several keys, in a tuple, an array or a `Vec`,
    /// make one group of the elements that are equal in all of them; the first result is then a tuple or a `Vec` of as
    /// many tensors: the distinct combinations, ordered by the first key, and where that is equal by the next.
    ///
    /// Keys are of any dtype, ordered as in [`Tensor::sort`]: strings by their bytes; NaN is one key, the last one, and
    /// -0 and +0 are one key, with the sign of the group's first member. Empty rows have no groups. The elements may be
    /// of any dtype. The same bits on every device.
    ///
    /// # Errors
    /// No key; keys of different ranks; a key that is a scalar, has more dimensions than the tensor or other row lengths
    /// (at the read where only the device knows them), or is on another device.
    ///
    /// # Cost
    /// A [sort](Tensor::sort) by each key, the last one first, a rank bitmap, a compaction, and a gather of the elements,
    /// which fuses into its consumer where nothing below is ragged: `groups.reduce_sum(-1)` sums by key. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let users = RaggedTensor::from_nested([7, 3, 7, 7], &device)?.into_erased();
    /// let spent = RaggedTensor::from_nested([1.5, 2.0, 0.5, 4.0], &device)?.into_erased();
    /// let (keys, groups) = spent.group_by_key(&users)?;
    /// assert_eq!(keys.to_string(), "tensor([3, 7], shape=(2,), dtype=i32)");
    /// assert_eq!(groups.to_string(), "<ragged.RaggedTensor [[2.0], [1.5, 0.5, 4.0]]>");
    /// let days = RaggedTensor::from_nested(["Mon", "Mon", "Sun", "Mon"], &device)?;
    /// let ((_, days), groups) = spent.group_by_key((&users, &days))?;
    /// assert_eq!(days.to_string(), "tensor([b'Mon', b'Mon', b'Sun'], shape=(3,), dtype=str)");
    /// assert_eq!(groups.to_string(), "<ragged.RaggedTensor [[2.0], [1.5, 4.0], [0.5]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// Polars: `DataFrame.group_by`.
    #[doc(alias = "groupby")]
    #[doc(alias = "group_by")]
    #[doc(alias = "unique of several columns")]
    #[track_caller]
    pub fn group_by_key<'a, K: GroupKeys<'a, Self>>(&self, keys: K) -> Result<(K::Distinct, Self)> {
        let mut all = Vec::new();
        keys.tensors(OP, self, &mut all)?;
        let (distinct, groups) = self.grouped(self.recorder(OP), &all)?;
        Ok((keys.distinct(&mut distinct.into_iter(), self)?, groups))
    }
}

/// Groups by key.
impl<T: Element> RaggedTensor<T> {
    /// Groups the elements of each row by one or several keys: the distinct keys in ascending order, and the elements
    /// of each.
    ///
    /// The dimensions of every key are the first dimensions of this tensor; its innermost dimension is grouped. For
    /// `[n]`, the keys are `[k]` and the groups `[k, (members), …]`; for `[n, (r)]`, the keys are `[n, (k)]` and the
    /// groups `[n, (k), (members), …]`. The members keep their order. Several keys, in a tuple, an array or a `Vec`,
    /// make one group of the elements that are equal in all of them; the first result is then a tuple or a `Vec` of as
    /// many tensors: the distinct combinations, ordered by the first key, and where that is equal by the next.
    ///
    /// Keys are of any dtype, ordered as in [`Tensor::sort`]: strings by their bytes; NaN is one key, the last one, and
    /// -0 and +0 are one key, with the sign of the group's first member. Empty rows have no groups. The elements may be
    /// of any dtype. The same bits on every device.
    ///
    /// # Errors
    /// No key; keys of different ranks; a key that is a scalar, has more dimensions than the tensor or other row lengths
    /// (at the read where only the device knows them), or is on another device.
    ///
    /// # Cost
    /// A [sort](Tensor::sort) by each key, the last one first, a rank bitmap, a compaction, and a gather of the elements,
    /// which fuses into its consumer where nothing below is ragged: `groups.reduce_sum(-1)` sums by key. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let users = RaggedTensor::from_nested([7, 3, 7, 7], &device)?;
    /// let spent = RaggedTensor::from_nested([1.5, 2.0, 0.5, 4.0], &device)?;
    /// let (keys, groups) = spent.group_by_key(&users)?;
    /// assert_eq!(keys.to_string(), "tensor([3, 7], shape=(2,), dtype=i32)");
    /// assert_eq!(groups.to_string(), "<ragged.RaggedTensor [[2.0], [1.5, 0.5, 4.0]]>");
    /// let days = RaggedTensor::from_nested(["Mon", "Mon", "Sun", "Mon"], &device)?;
    /// let ((users, days), groups) = spent.group_by_key((&users, &days))?;
    /// assert_eq!(users.to_vec()?, [3, 7, 7]);
    /// assert_eq!(days.to_string(), "tensor([b'Mon', b'Mon', b'Sun'], shape=(3,), dtype=str)");
    /// assert_eq!(groups.to_string(), "<ragged.RaggedTensor [[2.0], [1.5, 4.0], [0.5]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// Polars: `DataFrame.group_by`.
    #[doc(alias = "groupby")]
    #[doc(alias = "group_by")]
    #[doc(alias = "unique of several columns")]
    #[track_caller]
    pub fn group_by_key<'a, K: GroupKeys<'a, Self>>(&self, keys: K) -> Result<(K::Distinct, Self)> {
        let mut all = Vec::new();
        keys.tensors(OP, self, &mut all)?;
        let (distinct, groups) = self.erased().grouped(self.erased().recorder(OP), &all)?;
        Ok((keys.distinct(&mut distinct.into_iter(), self)?, groups.try_into()?))
    }
}

impl Tensor {
    /// The distinct keys, and the elements of each.
    pub(in crate::ops) fn grouped(&self, rec: Recorder<'_>, keys: &[&Self]) -> Result<(Vec<Self>, Self)> {
        let keys: Vec<_> = keys.iter().map(|&key| (key, false)).collect();
        let keys = RowKeys::new(rec, self, &keys)?;
        let runs = Runs::new(rec, &keys.along.rows, keys.differs_from_previous(), &keys.asserts)?;
        let first = Expr::load(&runs.first, Expr::index());
        let distinct = keys.keys.iter().zip(keys.at(&first));
        let distinct = distinct.map(|(key, first)| key.values(runs.tensor(rec, &keys.along, first)?));
        Ok((distinct.collect::<Result<_>>()?, runs.over(rec, &keys.along, &keys.elements(&[])?)?))
    }
}
