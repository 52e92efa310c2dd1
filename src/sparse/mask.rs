//! Selection of entries.

use super::SparseTensor;
use super::coordinates::Coordinates;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result, caller};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::recorder::Recorder;
use crate::ops::in_range;
use crate::tensor::{Tensor, Values, counts_below};

/// Selection of entries.
impl SparseTensor {
    /// The entries at which `mask`, a bool vector with one element per entry, is true.
    ///
    /// Entries keep their order; the dense shape stays.
    ///
    /// # Errors
    /// A mask of another dtype, shape or device; a mask of another length, at the read where only the device knows it.
    /// At the read: coordinates outside of the dense shape.
    ///
    /// # Cost
    /// A rank bitmap over the entries, and a compaction of coordinates and values. No wait: the number of entries of
    /// the result is known on the device only.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, SparseTensor};
    /// let device = Device::cpu();
    /// let x = SparseTensor::from_entries(&[[0, 1], [0, 3], [2, 0]], [1, 2, 3], [3, 5], &device)?;
    /// let kept = x.retain(&RaggedTensor::from_nested([true, false, true], &device)?)?;
    /// assert_eq!(kept.indices().to_string(), "tensor([[0, 1], [2, 0]], shape=(2, 2), dtype=i64)");
    /// assert_eq!(kept.values().to_string(), "tensor([1, 3], shape=(2,), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.retain`.
    #[track_caller]
    pub fn retain(&self, mask: &impl AsRef<Tensor>) -> Result<Self> {
        let rec = self.recorder("retain");
        let mask = mask.as_ref();
        Device::check_same(rec.op, self.backend(), mask.backend())?;
        if mask.dtype() != DType::Bool {
            return Err(rec.unsupported(mask.dtype(), "the mask must be of bools; compare first"));
        }
        let known = (self.count().as_known(), mask.nrows_extent().as_known());
        let differ = matches!(known, (Some(a), Some(b)) if a != b);
        if mask.rank() != 1 || mask.ragged_rank() > 0 || differ {
            let (lhs, rhs) = (self.values.shape_text(), mask.shape_text());
            let what = "the mask must be a vector with one element per entry".into();
            return Err(Error::Shape { op: rec.op, lhs, rhs, what, location: caller() });
        }
        self.kept(&Coordinates::new(rec, self)?.tensor(self)?, mask)
    }

    /// The entries whose first coordinate is not among `rows`, a vector of integers in any order.
    ///
    /// Entries keep their order; the dense shape stays. Elements of `rows` outside of the first dimension are ignored.
    ///
    /// # Errors
    /// A scalar; `rows` that are no integers, not a vector, or on another device; 2^32 - 2 rows or more. At the
    /// read: coordinates outside of the dense shape.
    ///
    /// # Cost
    /// A sort of `rows`, a binary search per entry, and that of [`retain`](Self::retain). No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, SparseTensor};
    /// let device = Device::cpu();
    /// let x = SparseTensor::from_entries(&[[0, 1], [1, 0], [2, 1]], [1, 2, 3], [3, 2], &device)?;
    /// let left = x.mask(&RaggedTensor::from_nested([2, 0], &device)?)?;
    /// assert_eq!(left.indices().to_string(), "tensor([[1, 0]], shape=(1, 2), dtype=i64)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.mask`, whose slices are the rows here.
    #[track_caller]
    pub fn mask(&self, rows: &impl AsRef<Tensor>) -> Result<Self> {
        let rec = self.recorder("mask");
        /// Key of the elements that are no rows.
        const NONE: u32 = u32::MAX - 2;
        let (rows, backend) = (rows.as_ref(), self.backend());
        Device::check_same(rec.op, backend, rows.backend())?;
        let Some(&size) = self.dense_shape.first() else {
            return Err(rec.argument("a scalar has no rows"));
        };
        if rows.rank() != 1 || rows.ragged_rank() > 0 {
            return Err(rec.argument(format!("rows must be a vector, but their shape is {}", rows.shape_text())));
        }
        let rows_node = rows.index_node(rec.op, "rows")?;
        if size >= NONE.into() {
            return Err(Error::Limit {
                what: rec.op.into(),
                requested: size,
                unit: "rows",
                limit: u64::from(NONE) - 1,
                whose: "a row search".into(),
                location: caller(),
            });
        }
        let row = Expr::load(&rows_node, Expr::index());
        let exists = in_range(&row, Expr::u32(size as u32), size as u32);
        let key = exists.select(row.cast(DType::U32), Expr::u32(NONE));
        let masked = rows.nrows_extent();
        let order = rec.sort(masked.clone(), key.clone(), u32::BITS);
        let sorted = rec.map(masked.clone(), key.at(&Expr::load(&order, Expr::index())), &[]);
        let below = counts_below(rec, &masked, |at| Expr::load(&sorted, at))?;
        // A row is masked if more elements are below the next row than below itself.
        let coordinates = Coordinates::new(rec, self)?;
        let row = coordinates.of(0).cast(DType::U32).min(Expr::u32(NONE - 1));
        let stays = Expr::row_of(&below, row.clone()).eq(Expr::row_of(&below, row.add(Expr::u32(1))));
        self.kept_where(rec, &coordinates.tensor(self)?, stays)
    }

    /// The entries at which `stays` holds, an expression in the entry, with the coordinates `indices`.
    #[track_caller]
    pub(super) fn kept_where(&self, rec: Recorder<'_>, indices: &Tensor, stays: Expr) -> Result<Self> {
        let count: Extent = self.count();
        let flags = Values::Numbers(rec.map(count.clone(), stays, &[]));
        let flags = rec.tensor(Vec::new(), Some(count), [], flags)?;
        self.kept(indices, &flags)
    }

    /// The entries at which `flags` are true, with the coordinates `indices`.
    #[track_caller]
    fn kept(&self, indices: &Tensor, flags: &Tensor) -> Result<Self> {
        let (indices, values) = (indices.boolean_mask(flags)?, self.values.boolean_mask(flags)?);
        Ok(Self::of_parts(indices, values, self.dense_shape.clone(), self.order).subject_to(&self.conditions))
    }
}
