//! Cumulative sums, products, maxima and minima along an axis.

use crate::dtype::DType;
use crate::element::Arithmetic;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::opcode::ReduceOp;
use crate::graph::size::RecordedSize;
use crate::ops::operations;
use crate::ops::options::ScanAxis;
use crate::record::levels::Levels;
use crate::record::row_scan::RowScan;
use crate::tensor::Tensor;

operations! {
    /// Cumulative sums, products, maxima and minima along an axis.
    const OPERATIONS: family "Along an axis" on RaggedTensor<T> where T: Arithmetic;

    /// The cumulative sum along an axis: the sum of the values of the row up to and including each value.
    ///
    /// Same shape and dtype; integers wrap, f16 and bf16 are summed in f32. [`reversed`](crate::opt::reversed) sums
    /// from the end of the row. [`exclusive`](crate::opt::exclusive) excludes the value itself, so that the first
    /// result of a row is 0. Empty rows stay empty. Along an axis with ragged dimensions below, values at the same
    /// offset in their rows are summed. Rows without that offset contribute nothing.
    ///
    /// An infinity or NaN stays in its row and column; TensorFlow subtracts from a sum over all rows, so that it leaks
    /// into the rows behind. A sum that starts with -0.0 starts with 0.0. Every row is summed by itself, in an order
    /// that depends on the position in the row alone: a row has the same bits on every backend and in every batch, and
    /// a prefix of a row has a prefix of its results.
    ///
    /// # Errors
    /// `axis` out of range; bool or string values.
    ///
    /// # Cost
    /// One pass over the values, and two more over rows longer than 256 (longer than 64 with inner dimensions below the
    /// axis); three dispatches at most. An axis with ragged dimensions below adds two sorts of positions. No wait.
    ///
    /// ```
    /// use ragged::opt::{exclusive, reversed};
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![], vec![4, 5]], &Device::cpu())?;
    /// assert_eq!(x.cumsum(1)?.to_string(), "<ragged.RaggedTensor [[1, 3, 6], [], [4, 9]]>");
    /// assert_eq!(x.cumsum(exclusive(reversed(1)))?.to_vec()?, [5, 3, 0, 5, 0]);
    /// assert_eq!(x.cumsum(0)?.to_vec()?, [1, 2, 3, 5, 7]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn cumsum(&self, axis: impl Into<ScanAxis> as scan_axis = 0) -> T;
    alias "cum_sum", "prefix sum", "scan";
    tensorflow "tf.math.cumsum";
    polars "Expr.cum_sum";
    gradient yes;

    /// The cumulative product along an axis: the product of the values of the row up to and including each value.
    ///
    /// Same shape and dtype; integers wrap, f16 and bf16 are multiplied in f32. [`reversed`](crate::opt::reversed)
    /// multiplies from the end of the row. [`exclusive`](crate::opt::exclusive) excludes the value itself, so that the
    /// first result of a row is 1. Empty rows stay empty. Along an axis with ragged dimensions below, values at the
    /// same offset in their rows are multiplied. A row has the same bits on every backend and in every batch.
    ///
    /// # Errors
    /// `axis` out of range; bool or string values.
    ///
    /// # Cost
    /// One pass over the values, and two more over rows longer than 256 (longer than 64 with inner dimensions below the
    /// axis); three dispatches at most. An axis with ragged dimensions below adds two sorts of positions. No wait.
    ///
    /// ```
    /// use ragged::opt::exclusive;
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![], vec![4, 5]], &Device::cpu())?;
    /// assert_eq!(x.cumprod(1)?.to_vec()?, [1, 2, 6, 4, 20]);
    /// assert_eq!(x.cumprod(exclusive(1))?.to_vec()?, [1, 1, 2, 1, 4]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn cumprod(&self, axis: impl Into<ScanAxis> as scan_axis = 0) -> T;
    alias "cum_prod";
    tensorflow "tf.math.cumprod";
    polars "Expr.cum_prod";
    gradient yes;

    /// The cumulative maximum along an axis: the greatest value of the row up to and including each value.
    ///
    /// NaN from the first NaN of a row on. Same shape and dtype; exact. [`reversed`](crate::opt::reversed) starts at
    /// the end of the row; [`exclusive`](crate::opt::exclusive) excludes the value itself, so that the first result of
    /// a row is the lowest value of the dtype. -0 is below +0. Empty rows stay empty. Along an axis with ragged
    /// dimensions below, values at the same offset in their rows are compared.
    ///
    /// # Errors
    /// `axis` out of range; bool or string values.
    ///
    /// # Cost
    /// One pass over the values, and two more over rows longer than 256 (longer than 64 with inner dimensions below the
    /// axis); three dispatches at most. An axis with ragged dimensions below adds two sorts of positions. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![2.0, 1.0, 3.0], vec![], vec![-5.0, -4.0]], &Device::cpu())?;
    /// assert_eq!(x.cummax(1)?.to_vec()?, [2.0, 2.0, 3.0, -5.0, -4.0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn cummax(&self, axis: impl Into<ScanAxis> as scan_axis = 0) -> T;
    alias "cum_max", "maximum.accumulate";
    polars "Expr.cum_max";
    gradient yes;

    /// The cumulative minimum along an axis: the least value of the row up to and including each value.
    ///
    /// NaN from the first NaN of a row on. Same shape and dtype; exact. [`reversed`](crate::opt::reversed) starts at
    /// the end of the row; [`exclusive`](crate::opt::exclusive) excludes the value itself, so that the first result of
    /// a row is the highest value of the dtype. -0 is below +0. Empty rows stay empty. Along an axis with ragged
    /// dimensions below, values at the same offset in their rows are compared.
    ///
    /// # Errors
    /// `axis` out of range; bool or string values.
    ///
    /// # Cost
    /// One pass over the values, and two more over rows longer than 256 (longer than 64 with inner dimensions below the
    /// axis); three dispatches at most. An axis with ragged dimensions below adds two sorts of positions. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![5, 3, 4], vec![], vec![1, 2]], &Device::cpu())?;
    /// assert_eq!(x.cummin(1)?.to_vec()?, [5, 3, 3, 1, 1]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn cummin(&self, axis: impl Into<ScanAxis> as scan_axis = 0) -> T;
    alias "cum_min", "minimum.accumulate";
    polars "Expr.cum_min";
    gradient yes;
}

#[track_caller]
fn cumsum(x: &Tensor, axis: impl Into<ScanAxis>) -> Result<Tensor> {
    x.cumulate("cumsum", axis.into(), ReduceOp::Sum)
}

#[track_caller]
fn cumprod(x: &Tensor, axis: impl Into<ScanAxis>) -> Result<Tensor> {
    x.cumulate("cumprod", axis.into(), ReduceOp::Prod)
}

#[track_caller]
fn cummax(x: &Tensor, axis: impl Into<ScanAxis>) -> Result<Tensor> {
    x.cumulate("cummax", axis.into(), ReduceOp::Max)
}

#[track_caller]
fn cummin(x: &Tensor, axis: impl Into<ScanAxis>) -> Result<Tensor> {
    x.cumulate("cummin", axis.into(), ReduceOp::Min)
}

impl Tensor {
    #[track_caller]
    fn cumulate(&self, name: &'static str, along: ScanAxis, op: ReduceOp) -> Result<Self> {
        let rec = self.recorder(name);
        let axis = self.axis(name, along.axis)?;
        let scan = RowScan { op, exclusive: along.exclusive, reverse: along.reversed };
        let dtype = self.dtype();
        if dtype == DType::Bool {
            return Err(Error::unsupported(name, dtype, "cast it to a number"));
        }
        let x = Expr::load(self.numbers(name)?, Expr::index()).cast(dtype.accumulator());
        let count = self.count()?;
        if count.capacity() == 0 {
            return Ok(self.clone());
        }
        let (stage, _) = Levels::of(rec, self)?.reduce(rec, (axis, axis), false)?;
        let result = stage.scan(rec, x, &scan)?.cast(dtype);
        self.with_value_node(rec.map(count, result, &[]))
    }
}
