//! The order of entries: sorting, coalescing, and the checks of operations that need an order.

use super::coordinates::{Coordinates, indices_of};
use super::groups::Groups;
use super::keys::Keys;
use super::{Order, SparseTensor};
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::ops::Aggregate;
use crate::shape::Repeats;

/// Order of the entries.
impl SparseTensor {
    /// The same entries in row-major order. Entries with equal coordinates keep their order.
    ///
    /// The dtype is any. A tensor that is known to be in order, such as the result of most operations, is returned as
    /// it is.
    ///
    /// # Errors
    /// At the read: coordinates outside of the dense shape.
    ///
    /// # Cost
    /// A stable sort of the entries by as many key bits as the dense shape takes, one sort per 32 bits, and a gather of
    /// coordinates and values. No wait.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let coordinates = [[0, 3], [0, 1], [3, 1], [2, 0]];
    /// let x = SparseTensor::from_entries(&coordinates, ["b", "a", "d", "c"], [4, 5], &Device::cpu())?;
    /// let sorted = x.reorder()?;
    /// assert_eq!(
    ///     sorted.indices().to_string(),
    ///     "tensor([[0, 1], [0, 3], [2, 0], [3, 1]], shape=(4, 2), dtype=i64)"
    /// );
    /// assert_eq!(sorted.values().to_string(), "tensor([b'a', b'b', b'c', b'd'], shape=(4,), dtype=str)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.reorder`.
    #[track_caller]
    pub fn reorder(&self) -> Result<Self> {
        self.sorted(self.recorder("reorder"))
    }

    /// As [`reorder`](Self::reorder).
    #[track_caller]
    pub(super) fn sorted(&self, rec: Recorder<'_>) -> Result<Self> {
        if self.order >= Order::Sorted {
            return Ok(self.clone());
        }
        let coordinates = Coordinates::new(rec, self)?;
        let order = self.keys(&coordinates).sorted(rec, &self.count());
        self.taken(rec, &coordinates, &self.count(), &order, Order::Sorted)
    }

    /// The entries in row-major order, where those with equal coordinates are added up.
    ///
    /// The dtype stays; integers wrap. Sums follow the order of the entries, in the canonical order of row reductions:
    /// the same bits on every backend. NaN propagates. Sums of 0 stay.
    ///
    /// # Errors
    /// Bools or byte strings. At the read: coordinates outside of the dense shape.
    ///
    /// # Cost
    /// That of [`reorder`](Self::reorder), a rank bitmap over the entries and a reduction. No wait: the number of
    /// entries of the result is known on the device only.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[2, 1], [0, 0], [2, 1]], [1, 2, 3], [3, 2], &Device::cpu())?;
    /// let sums = x.coalesce()?;
    /// assert_eq!(sums.indices().to_string(), "tensor([[0, 0], [2, 1]], shape=(2, 2), dtype=i64)");
    /// assert_eq!(sums.values().to_string(), "tensor([2, 4], shape=(2,), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// PyTorch: `coalesce`. SciPy: `sum_duplicates`.
    #[track_caller]
    pub fn coalesce(&self) -> Result<Self> {
        self.coalesced(self.recorder("coalesce"))
    }

    /// As [`coalesce`](Self::coalesce).
    #[track_caller]
    pub(super) fn coalesced(&self, rec: Recorder<'_>) -> Result<Self> {
        if self.order == Order::Distinct {
            return Ok(self.clone());
        }
        let coordinates = Coordinates::new(rec, self)?;
        let keys = self.keys(&coordinates);
        let entries = match self.order {
            Order::Any => keys.sorted(rec, &self.count()),
            _ => Expr::index(),
        };
        let groups = Groups::new(rec, &self.count(), &keys, entries)?;
        let sums = groups.aggregate(rec, &self.values, Aggregate::Sum)?;
        let all: Vec<Expr> = coordinates.all().iter().map(|c| c.at(&groups.first())).collect();
        let indices = indices_of(rec, groups.count(), &all, &[])?;
        let values = groups.tensor(rec, sums)?;
        let dense_shape = self.dense_shape.clone();
        Ok(Self::of_parts(indices, values, dense_shape, Order::Distinct).subject_to(&self.conditions))
    }

    /// The row-major keys over all dimensions.
    pub(super) fn keys(&self, coordinates: &Coordinates) -> Keys {
        let dims: Vec<usize> = (0..self.rank()).collect();
        Keys::new(coordinates, &self.dense_shape, &dims)
    }

    /// The `count` entries that `from` selects, an expression in the new entry; each at most once.
    #[track_caller]
    pub(super) fn taken(
        &self,
        rec: Recorder<'_>,
        coordinates: &Coordinates,
        count: &Extent,
        from: &Expr,
        order: Order,
    ) -> Result<Self> {
        let indices = coordinates.tensor(self)?.take_rows(rec, count.clone(), from.clone(), Repeats::Never, &[])?;
        let values = self.values.take_rows(rec, count.clone(), from.clone(), Repeats::Never, &[])?;
        Ok(Self::of_parts(indices, values, self.dense_shape.clone(), order).subject_to(&self.conditions))
    }

    /// The conditions that the entries are in an order, where that is not known: [`Order::Sorted`] by the dimensions
    /// `dims`, or [`Order::Distinct`], by all dimensions.
    #[track_caller]
    pub(super) fn require(&self, rec: Recorder<'_>, order: Order, dims: &[usize]) -> Result<Vec<Node>> {
        if self.order >= order {
            return Ok(Vec::new());
        }
        let coordinates = Coordinates::new(rec, self)?;
        let keys = Keys::new(&coordinates, &self.dense_shape, dims);
        let at = Expr::index();
        let (is_first, before) = (at.clone().eq(Expr::u32(0)), at.clone().max(Expr::u32(1)).sub(Expr::u32(1)));
        let assert = |ok: Expr, check| rec.assert(self.count(), is_first.clone().or(ok), check);
        let mut asserts = Vec::new();
        if self.order < Order::Sorted {
            let check = rec.check("the entries must be in row-major order; reorder sorts them");
            asserts.push(assert(keys.ascend(&at, &before).not(), check));
        }
        if order == Order::Distinct {
            let check = rec.check("the coordinates must be distinct; coalesce adds up the entries with equal ones");
            asserts.push(assert(keys.differ(&before, &at), check));
        }
        Ok(asserts)
    }

    /// Fails for tensors of another rank.
    #[track_caller]
    pub(super) fn check_rank(&self, rec: Recorder<'_>, rank: usize) -> Result<()> {
        if self.rank() == rank {
            return Ok(());
        }
        let what = format!("needs a sparse tensor of rank {rank}, but its rank is {}", self.rank());
        Err(rec.argument(what))
    }
}
