//! Product of a sparse and a dense matrix.

use super::SparseTensor;
use super::coordinates::Coordinates;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result, caller};
use crate::graph::expr::Expr;
use crate::graph::opcode::ReduceOp;
use crate::ops::Factor;
use crate::record::by_key::reduce_rows;
use crate::tensor::{Tensor, Values};

/// Matrix products.
impl SparseTensor {
    /// The product of this sparse matrix `[m, k]` and a dense matrix `[k, n]`, or the transposed view
    /// (`Tensor::t`) of `[n, k]`: a dense matrix `[m, n]`.
    ///
    /// Same dtype; integers wrap. Entries with equal coordinates add up. Each row of the result is the sum of the
    /// scaled rows of `dense` in the order of the entries, in the canonical order of row reductions, without fused
    /// multiply-add: the same bits on every backend. Absent elements do not count, so that a NaN in `dense` affects
    /// only rows with an entry for its row; rows without entries give 0. [`transpose`](Self::transpose) gives the
    /// transposed sparse matrix.
    ///
    /// # Errors
    /// A rank other than 2; matrices that do not fit; a ragged matrix; different dtypes or devices; bools or byte
    /// strings; 2^32 - 1 rows or numbers of the result or more. At the read: rows of the entries that do not ascend
    /// ([`reorder`](Self::reorder) sorts them); coordinates outside of the dense shape.
    ///
    /// # Cost
    /// A search per row, and a row reduction that reads a row of `dense` per entry. Waits only where the device alone
    /// knows the number of rows of `dense`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, SparseTensor};
    /// let device = Device::cpu();
    /// let x = SparseTensor::from_entries(&[[0, 0], [0, 2], [2, 1]], [1, 10, 100], [3, 3], &device)?;
    /// let y = RaggedTensor::from_nested([[1, 2], [3, 4], [5, 6]], &device)?;
    /// assert_eq!(x.matmul(&y)?.to_string(), "tensor([[51, 62], [0, 0], [300, 400]], shape=(3, 2), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.sparse_dense_matmul`.
    #[track_caller]
    pub fn matmul<'a>(&self, dense: impl Into<Factor<'a>>) -> Result<Tensor> {
        let rec = self.recorder("matmul");
        let Factor { tensor: dense, transposed } = dense.into();
        self.check_rank(rec, 2)?;
        self.check_numbers(rec)?;
        Device::check_same(rec.op, self.backend(), dense.backend())?;
        if self.dtype() != dense.dtype() {
            return Err(Error::DTypes { op: rec.op, lhs: self.dtype(), rhs: dense.dtype(), location: caller() });
        }
        let location = caller();
        let misfit = |what: String| {
            let (lhs, rhs) = (format!("{:?}", self.dense_shape), dense.shape_text());
            Error::Shape { op: rec.op, lhs, rhs, what, location }
        };
        let (0, &[inner]) = (dense.ragged_rank(), &dense.inner()[..]) else {
            return Err(misfit("the right operand must be a dense matrix".into()));
        };
        let outer = dense.nrows_extent();
        let (terms, columns) = if transposed {
            (u64::from(inner), rec.on_host(&outer)?)
        } else {
            (u64::from(rec.on_host(&outer)?), inner)
        };
        if terms != self.dense_shape[1] {
            let what = format!("{} columns on the left, but {terms} rows on the right", self.dense_shape[1]);
            return Err(misfit(what));
        }
        let rows = self.row_partition(rec)?;
        let (nrows, dtype) = (rows.nrows_extent().clone(), self.dtype());
        let by = Expr::u32(columns.max(1));
        let (entry, number) = (Expr::index().div(by.clone()), Expr::index().rem(by.clone()));
        let term = Coordinates::new(rec, self)?.of(1).at(&entry).cast(DType::U32);
        let at = if transposed { number.mul(Expr::u32(inner)).add(term) } else { term.mul(by).add(number) };
        let sums_in = dtype.accumulator();
        let scale = Expr::load(rec.numbers(&self.values)?, entry).cast(sums_in);
        let product = Expr::load(rec.numbers(dense)?, at).cast(sums_in).mul(scale);
        let sums = reduce_rows(rec, ReduceOp::Sum, rows.domain(columns), product)?;
        let value = Expr::load(&sums, Expr::index()).cast(dtype);
        let values = rec.map(rec.times(&nrows, columns)?, value, &self.conditions);
        rec.tensor(Vec::new(), Some(nrows), vec![columns], Values::Numbers(values))
    }
}
