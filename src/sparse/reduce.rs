//! Sums and maxima over axes, dense or sparse.

use super::coordinates::{Coordinates, indices_of};
use super::groups::Groups;
use super::keys::Keys;
use super::position::DenseDims;
use super::{Order, SparseTensor};
use crate::error::{Result, here};
use crate::graph::expr::Expr;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::ops::IntoReduceAxes;
use crate::ops::{Aggregate, Axes, ReduceAxes};
use crate::record::by_key::ByKey;
use crate::tensor::{Tensor, Values};

/// The dimensions of a reduction.
struct Reduced {
    /// The axes that are not reduced, in ascending order.
    stay: Vec<usize>,
    /// For each dimension of the result, the axis that it is; `None` for a reduced one that stays with size 1.
    result: Vec<Option<usize>>,
    dense_shape: Vec<u64>,
}

/// Reductions.
impl SparseTensor {
    /// The sums of the values over the axes, as a dense tensor; 0 where there are no entries.
    ///
    /// Same dtype; integers wrap. [`keep`](crate::opt::keep)`(axes)` keeps the axes with size 1. Entries may have any
    /// order; all entries with equal coordinates count. Sums follow the order of the entries, in the canonical order of
    /// row reductions: the same bits on every backend. NaN propagates.
    ///
    /// # Errors
    /// `axis` out of range or named twice; bools or byte strings; a result of 2^32 - 1 elements or more. At the read:
    /// coordinates outside of the dense shape.
    ///
    /// # Cost
    /// A sort of the entries by their place in the result, and a reduction. No wait.
    ///
    /// ```
    /// use ragged::opt::keep;
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 1], [1, 1], [1, 2]], [1, 2, 4], [2, 3], &Device::cpu())?;
    /// assert_eq!(x.reduce_sum(0)?.to_string(), "tensor([0, 3, 4], shape=(3,), dtype=i32)");
    /// assert_eq!(x.reduce_sum(keep(1))?.to_string(), "tensor([[1], [6]], shape=(2, 1), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.reduce_sum`.
    #[track_caller]
    pub fn reduce_sum(&self, axes: impl IntoReduceAxes) -> Result<Tensor> {
        self.reduce(self.recorder("reduce_sum"), &axes.into(), Aggregate::Sum)
    }

    /// The largest values over the axes, as a dense tensor; 0 where there are no entries.
    ///
    /// Absent elements do not count. Same dtype; NaN propagates. [`keep`](crate::opt::keep)`(axes)` keeps the axes with
    /// size 1. Entries may have any order; all entries with equal coordinates count.
    ///
    /// # Errors
    /// `axis` out of range or named twice; bools or byte strings; a result of 2^32 - 1 elements or more. At the read:
    /// coordinates outside of the dense shape.
    ///
    /// # Cost
    /// A sort of the entries by their place in the result, and a reduction. No wait.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 1], [1, 1], [1, 2]], [-1, -2, 4], [2, 3], &Device::cpu())?;
    /// assert_eq!(x.reduce_max(0)?.to_string(), "tensor([0, -1, 4], shape=(3,), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.reduce_max`.
    #[track_caller]
    pub fn reduce_max(&self, axes: impl IntoReduceAxes) -> Result<Tensor> {
        self.reduce(self.recorder("reduce_max"), &axes.into(), Aggregate::Max)
    }

    /// The sums of the values over the axes, as a sparse tensor with an entry wherever there are values.
    ///
    /// Same dtype; integers wrap, and sums of 0 are entries. [`keep`](crate::opt::keep)`(axes)` keeps the axes with
    /// size 1. Entries may have any order; all entries with equal coordinates count. Sums follow the order of the
    /// entries, in the canonical order of row reductions: the same bits on every backend. NaN propagates.
    ///
    /// # Errors
    /// `axis` out of range or named twice; bools or byte strings. At the read: coordinates outside of the dense shape.
    ///
    /// # Cost
    /// A sort of the entries by their place in the result, a rank bitmap and a reduction. No wait: the number of
    /// entries of the result is known on the device only.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 1], [1, 1], [1, 2]], [1, 2, 4], [2, 9], &Device::cpu())?;
    /// let sums = x.reduce_sum_sparse(0)?;
    /// assert_eq!(sums.indices().to_string(), "tensor([[1], [2]], shape=(2, 1), dtype=i64)");
    /// assert_eq!(sums.values().to_string(), "tensor([3, 4], shape=(2,), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.reduce_sum` with `output_is_sparse`.
    #[track_caller]
    pub fn reduce_sum_sparse(&self, axes: impl IntoReduceAxes) -> Result<Self> {
        self.reduce_sparse(self.recorder("reduce_sum_sparse"), &axes.into(), Aggregate::Sum)
    }

    /// The largest values over the axes, as a sparse tensor with an entry wherever there are values.
    ///
    /// Absent elements do not count. Same dtype; NaN propagates. [`keep`](crate::opt::keep)`(axes)` keeps the axes with
    /// size 1. Entries may have any order; all entries with equal coordinates count.
    ///
    /// # Errors
    /// `axis` out of range or named twice; bools or byte strings. At the read: coordinates outside of the dense shape.
    ///
    /// # Cost
    /// A sort of the entries by their place in the result, a rank bitmap and a reduction. No wait: the number of
    /// entries of the result is known on the device only.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 1], [1, 1], [1, 2]], [-1, -2, 4], [2, 9], &Device::cpu())?;
    /// assert_eq!(x.reduce_max_sparse(0)?.values().to_string(), "tensor([-1, 4], shape=(2,), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.reduce_max` with `output_is_sparse`.
    #[track_caller]
    pub fn reduce_max_sparse(&self, axes: impl IntoReduceAxes) -> Result<Self> {
        self.reduce_sparse(self.recorder("reduce_max_sparse"), &axes.into(), Aggregate::Max)
    }

    #[track_caller]
    fn reduce(&self, rec: Recorder<'_>, axes: &ReduceAxes, what: Aggregate) -> Result<Tensor> {
        self.check_numbers(rec)?;
        let Reduced { stay, dense_shape, .. } = self.reduced(rec, axes)?;
        let count = self.count();
        let left: Vec<u64> = stay.iter().map(|&d| self.dense_shape[d]).collect();
        let (dims, places) = (DenseDims::new(rec, &dense_shape)?, DenseDims::new(rec, &left)?);
        let place = places.position(&Coordinates::new(rec, self)?, stay);
        let place = rec.map(count.clone(), place, &self.conditions);
        let keys = ByKey::new(rec, &count, Expr::load(&place, Expr::index()), places.total())?;
        let members = keys.count(Expr::index());
        let reduce = |by, value: Expr| Ok(Expr::load(&keys.reduce(rec, by, 1, &value)?, Expr::index()));
        let value = Expr::load(rec.numbers(&self.values)?, Expr::index());
        let value = what.of(rec, value, count.capacity(), &members, reduce)?;
        let value = Aggregate::or_zero(value, members);
        let values = rec.map(dims.total().clone(), value, &self.conditions);
        dims.tensor(rec, Values::Numbers(values))
    }

    #[track_caller]
    fn reduce_sparse(&self, rec: Recorder<'_>, axes: &ReduceAxes, what: Aggregate) -> Result<Self> {
        self.check_numbers(rec)?;
        let Reduced { stay, result, dense_shape } = self.reduced(rec, axes)?;
        let count = self.count();
        let coordinates = Coordinates::new(rec, self)?;
        let keys = Keys::new(&coordinates, &self.dense_shape, &stay);
        // Leading dimensions of sorted entries are in order.
        let in_order = self.order >= Order::Sorted && stay.iter().copied().eq(0..stay.len());
        let entries = if in_order { Expr::index() } else { keys.sorted(rec, &count) };
        let groups = Groups::new(rec, &count, &keys, entries)?;
        let value = groups.aggregate(rec, &self.values, what)?;
        let coordinate = |d: &Option<usize>| match d {
            Some(d) => coordinates.of(*d).at(&groups.first()),
            None => Expr::scalar(0i64),
        };
        let all: Vec<Expr> = result.iter().map(coordinate).collect();
        let indices = indices_of(rec, groups.count(), &all, &self.conditions)?;
        let values = groups.tensor(rec, value)?.on_condition(rec.op, &self.conditions)?;
        Ok(Self::of_parts(indices, values, dense_shape, Order::Distinct).subject_to(&self.conditions))
    }

    /// The dimensions that are reduced and those that stay.
    #[track_caller]
    fn reduced(&self, rec: Recorder<'_>, ReduceAxes { axes, keep }: &ReduceAxes) -> Result<Reduced> {
        let mut named = match axes {
            Axes::All => (0..self.rank()).collect(),
            Axes::List(axes) => {
                axes.iter().map(|&axis| self.axis(rec, axis)).collect::<Result<Vec<_>>>().map_err(here())?
            }
        };
        named.sort_unstable();
        if let Some(w) = named.windows(2).find(|w| w[0] == w[1]) {
            return Err(rec.argument(format!("axis {} is named twice", w[0])));
        }
        let stay: Vec<usize> = (0..self.rank()).filter(|d| !named.contains(d)).collect();
        let result: Vec<Option<usize>> = (0..self.rank())
            .filter(|d| *keep || !named.contains(d))
            .map(|d| (!named.contains(&d)).then_some(d))
            .collect();
        let dense_shape = result.iter().map(|d| d.map_or(1, |d| self.dense_shape[d])).collect();
        Ok(Reduced { stay, result, dense_shape })
    }
}
