//! Operations of two sparse tensors element by element: sum, maximum and minimum.

use super::coordinates::{Coordinates, indices_of};
use super::groups::Groups;
use super::{Order, SparseTensor};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::ops::Aggregate;
use crate::tensor::Tensor;

/// Element-wise sums and extremes of two tensors.
impl SparseTensor {
    /// The sum of two sparse tensors of one dense shape and dtype. Entries come out in row-major order, with distinct
    /// coordinates.
    ///
    /// Entries of either tensor may have any order; those with equal coordinates are added up, those of this tensor
    /// first. Integers wrap. NaN propagates. Sums of 0 stay.
    ///
    /// # Errors
    /// Different dense shapes, dtypes or devices; bools or byte strings. At the read: coordinates outside of the dense
    /// shape.
    ///
    /// # Cost
    /// That of [`coalesce`](Self::coalesce) for the entries of both.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let device = Device::cpu();
    /// let x = SparseTensor::from_entries(&[[0, 3], [1, 0]], [1, 2], [2, 4], &device)?;
    /// let y = SparseTensor::from_entries(&[[0, 1], [1, 0]], [10, 20], [2, 4], &device)?;
    /// let sum = x.add(&y)?;
    /// assert_eq!(sum.indices().to_string(), "tensor([[0, 1], [0, 3], [1, 0]], shape=(3, 2), dtype=i64)");
    /// assert_eq!(sum.values().to_string(), "tensor([10, 1, 22], shape=(3,), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.add` of two sparse tensors.
    #[track_caller]
    pub fn add(&self, other: &Self) -> Result<Self> {
        let rec = self.recorder("add");
        self.check_alike(rec, other)?;
        self.check_numbers(rec)?;
        self.with_entries_of(rec, other)?.coalesced(rec)
    }

    /// The larger value of two sparse tensors of one dense shape and dtype at each element that has an entry in either;
    /// an absent element counts as 0. Entries come out in row-major order.
    ///
    /// Entries of either tensor may have any order. NaN propagates.
    ///
    /// # Errors
    /// Different dense shapes, dtypes or devices; bools or byte strings. At the read: coordinates that are repeated in
    /// one tensor, or outside of the dense shape.
    ///
    /// # Cost
    /// A sort of the entries of both, a rank bitmap and a reduction. No wait: the number of entries of the result is
    /// known on the device only.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let device = Device::cpu();
    /// let x = SparseTensor::from_entries(&[[0, 3], [1, 0]], [-1, 2], [2, 4], &device)?;
    /// let y = SparseTensor::from_entries(&[[1, 0]], [7], [2, 4], &device)?;
    /// assert_eq!(x.maximum(&y)?.values().to_string(), "tensor([0, 7], shape=(2,), dtype=i32)");
    /// assert_eq!(x.minimum(&y)?.values().to_string(), "tensor([-1, 2], shape=(2,), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.maximum`.
    #[track_caller]
    pub fn maximum(&self, other: &Self) -> Result<Self> {
        self.extreme(self.recorder("maximum"), other, Aggregate::Max, Expr::max)
    }

    /// The smaller value of two sparse tensors of one dense shape and dtype at each element that has an entry in
    /// either; an absent element counts as 0.
    ///
    /// Entries come out in row-major order; those of either tensor may have any order. NaN propagates.
    ///
    /// # Errors
    /// Different dense shapes, dtypes or devices; bools or byte strings. At the read: coordinates that are repeated in
    /// one tensor, or outside of the dense shape.
    ///
    /// # Cost
    /// A sort of the entries of both, a rank bitmap and a reduction. No wait: the number of entries of the result is
    /// known on the device only.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let device = Device::cpu();
    /// let x = SparseTensor::from_entries(&[[0, 0], [0, 2]], [4, -1], [1, 3], &device)?;
    /// let y = SparseTensor::from_entries(&[[0, 0], [0, 1]], [3, 5], [1, 3], &device)?;
    /// assert_eq!(x.minimum(&y)?.values().to_string(), "tensor([3, 0, -1], shape=(3,), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.minimum`.
    #[track_caller]
    pub fn minimum(&self, other: &Self) -> Result<Self> {
        self.extreme(self.recorder("minimum"), other, Aggregate::Min, Expr::min)
    }

    #[track_caller]
    fn extreme(
        &self,
        rec: Recorder<'_>,
        other: &Self,
        what: Aggregate,
        combine: impl Fn(Expr, Expr) -> Expr,
    ) -> Result<Self> {
        self.check_alike(rec, other)?;
        self.check_numbers(rec)?;
        let both = self.with_entries_of(rec, other)?;
        let count = both.count();
        let coordinates = Coordinates::new(rec, &both)?;
        let keys = both.keys(&coordinates);
        let entry = keys.sorted(rec, &count);
        // The sort is stable: repeated coordinates of one tensor follow each other.
        let before = entry.at(&Expr::index().max(Expr::u32(1)).sub(Expr::u32(1)));
        let is_own = |e: &Expr| e.clone().lt(self.count().expr());
        let distinct =
            Expr::index().eq(Expr::u32(0)).or(keys.differ(&before, &entry)).or(is_own(&before).ne(is_own(&entry)));
        let check = rec.check("the coordinates of each tensor must be distinct; coalesce adds up equal ones");
        let distinct = rec.assert(count.clone(), distinct, check);
        let groups = Groups::new(rec, &count, &keys, entry)?;
        let value = groups.aggregate(rec, &both.values, what)?;
        let zero = Expr::scalar(Scalar::from_i64(value.dtype(), 0));
        let is_alone = groups.members().length(Expr::index()).eq(Expr::u32(1));
        let value = is_alone.select(combine(value.clone(), zero), value);
        let values = groups.tensor(rec, value)?.on_condition(rec.op, std::slice::from_ref(&distinct))?;
        let all: Vec<Expr> = coordinates.all().iter().map(|c| c.at(&groups.first())).collect();
        let indices = indices_of(rec, groups.count(), &all, std::slice::from_ref(&distinct))?;
        let merged = Self::of_parts(indices, values, self.dense_shape.clone(), Order::Distinct);
        Ok(merged.subject_to(&both.conditions).subject_to(&[distinct]))
    }

    /// Fails for bools and byte strings.
    #[track_caller]
    pub(super) fn check_numbers(&self, rec: Recorder<'_>) -> Result<()> {
        match self.dtype() {
            dtype @ (DType::Bool | DType::Str) => Err(rec.unsupported(dtype, "it needs numbers")),
            _ => Ok(()),
        }
    }

    /// The entries of this tensor, then those of another.
    #[track_caller]
    fn with_entries_of(&self, rec: Recorder<'_>, other: &Self) -> Result<Self> {
        let own = [Coordinates::new(rec, self)?.tensor(self)?, Coordinates::new(rec, other)?.tensor(other)?];
        let (indices, values) = (Tensor::concat(&own, 0)?, Tensor::concat(&[&self.values, &other.values], 0)?);
        let both = Self::of_parts(indices, values, self.dense_shape.clone(), Order::Any);
        Ok(both.subject_to(&self.conditions).subject_to(&other.conditions))
    }
}
