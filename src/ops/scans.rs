//! Cumulative sums, products, maxima and minima along an axis.

use super::levels::Levels;
use super::options::ScanAxis;
use super::row_scan::RowScan;
use crate::dtype::DType;
use crate::element::Arithmetic;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::graph::opcode::ReduceOp;
use crate::graph::size::RecordedSize;
use crate::tensor::{RaggedTensor, Tensor};

impl Tensor {
    #[track_caller]
    fn cumulate(&self, name: &'static str, along: ScanAxis, op: ReduceOp) -> Result<Self> {
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
        let (stage, _) = Levels::of(self)?.reduce(self.backend(), name, (axis, axis), false)?;
        let result = stage.scan(self.backend(), name, x, &scan)?.cast(dtype);
        self.with_value_node(Node::map(self.backend(), name, count, result, &[]))
    }

    /// The cumulative sum along an axis: the sum of the values of the row up to and including each value (`tf.cumsum`).
    ///
    /// Same shape and dtype; integers wrap. `reverse` sums from the end of the row. `exclusive` excludes the value
    /// itself, so that the first result of a row is 0. Empty rows stay empty.
    ///
    /// Along an axis with ragged dimensions below, values at the same offset in their rows are summed. Rows without
    /// that offset contribute nothing.
    ///
    /// Every row is summed by itself, in an order that depends on the position in the row alone. A row has the same
    /// bits on every backend and in every batch, and a prefix of a row has a prefix of its results. An infinity or NaN
    /// stays in its row and column; TensorFlow subtracts from a sum over all rows, so that it leaks into the rows
    /// behind. A sum that starts with -0.0 starts with 0.0.
    ///
    /// One pass over the values, and two more over rows longer than 256 (longer than 64 with inner dimensions below the
    /// axis); three dispatches at most. An axis with ragged dimensions below adds two sorts of positions. No wait.
    ///
    /// # Errors
    /// `axis` out of range; bool or string values.
    ///
    /// ```
    /// # fn main() -> ragged::Result<()> {
    /// use ragged::{Device, HostTensor, HostValues, exclusive, reversed};
    /// let x = HostTensor {
    ///     nested_row_splits: vec![vec![0, 3, 3, 5]],
    ///     uniform_row_lengths: vec![None],
    ///     inner_shape: vec![5],
    ///     values: HostValues::I32(vec![1, 2, 3, 4, 5]),
    /// };
    /// let x = x.to_device(&Device::cpu())?;
    /// assert_eq!(x.cumsum(1)?.to_host()?.values, HostValues::I32(vec![1, 3, 6, 4, 9]));
    /// assert_eq!(x.cumsum(exclusive(reversed(1)))?.to_host()?.values, HostValues::I32(vec![5, 3, 0, 5, 0]));
    /// assert_eq!(x.cumsum(0)?.to_host()?.values, HostValues::I32(vec![1, 2, 3, 5, 7]));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn cumsum(&self, axis: impl Into<ScanAxis>) -> Result<Self> {
        self.cumulate("cumsum", axis.into(), ReduceOp::Sum)
    }

    /// The cumulative product along an axis (`tf.math.cumprod`).
    ///
    /// Same shape and dtype; integers wrap. `reverse` multiplies from the end of the row. `exclusive` excludes the
    /// value itself, so that the first result of a row is 1. Rows, order and cost as for [`cumsum`](Self::cumsum).
    ///
    /// # Errors
    /// As [`cumsum`](Self::cumsum).
    ///
    /// ```
    /// # fn main() -> ragged::Result<()> {
    /// use ragged::{Device, HostTensor, HostValues, exclusive};
    /// let x = HostTensor {
    ///     nested_row_splits: vec![vec![0, 3, 3, 5]],
    ///     uniform_row_lengths: vec![None],
    ///     inner_shape: vec![5],
    ///     values: HostValues::I32(vec![1, 2, 3, 4, 5]),
    /// };
    /// let x = x.to_device(&Device::cpu())?;
    /// assert_eq!(x.cumprod(1)?.to_host()?.values, HostValues::I32(vec![1, 2, 6, 4, 20]));
    /// assert_eq!(x.cumprod(exclusive(1))?.to_host()?.values, HostValues::I32(vec![1, 1, 2, 1, 4]));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn cumprod(&self, axis: impl Into<ScanAxis>) -> Result<Self> {
        self.cumulate("cumprod", axis.into(), ReduceOp::Prod)
    }

    /// The cumulative maximum along an axis; NaN from the first NaN on (NumPy's `maximum.accumulate`).
    ///
    /// Same shape and dtype; exact. `reverse` starts at the end of the row. -0 is below +0. Rows and cost as for
    /// [`cumsum`](Self::cumsum).
    ///
    /// # Errors
    /// As [`cumsum`](Self::cumsum).
    ///
    /// ```
    /// # fn main() -> ragged::Result<()> {
    /// use ragged::{Device, HostTensor, HostValues};
    /// let x = HostTensor {
    ///     nested_row_splits: vec![vec![0, 3, 3, 5]],
    ///     uniform_row_lengths: vec![None],
    ///     inner_shape: vec![5],
    ///     values: HostValues::F32(vec![2.0, 1.0, 3.0, -5.0, -4.0]),
    /// };
    /// let x = x.to_device(&Device::cpu())?;
    /// assert_eq!(x.cummax(1)?.to_host()?.values, HostValues::F32(vec![2.0, 2.0, 3.0, -5.0, -4.0]));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn cummax(&self, axis: impl Into<ScanAxis>) -> Result<Self> {
        self.cumulate("cummax", axis.into(), ReduceOp::Max)
    }

    /// The cumulative minimum along an axis; NaN from the first NaN on (NumPy's `minimum.accumulate`).
    ///
    /// As [`cummax`](Self::cummax), for the minimum.
    ///
    /// # Errors
    /// As [`cumsum`](Self::cumsum).
    ///
    /// ```
    /// # fn main() -> ragged::Result<()> {
    /// use ragged::{Device, HostTensor, HostValues};
    /// let x = HostTensor::dense(&[2, 3], HostValues::U8(vec![5, 3, 4, 1, 2, 0])).to_device(&Device::cpu())?;
    /// assert_eq!(x.cummin(1)?.to_host()?.values, HostValues::U8(vec![5, 3, 3, 1, 1, 0]));
    /// assert_eq!(x.cummin(0)?.to_host()?.values, HostValues::U8(vec![5, 3, 4, 1, 2, 0]));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn cummin(&self, axis: impl Into<ScanAxis>) -> Result<Self> {
        self.cumulate("cummin", axis.into(), ReduceOp::Min)
    }
}

macro_rules! forward {
    ($($name:ident),*) => {
        impl<T: Arithmetic> RaggedTensor<T> {$(
            #[doc = concat!("[`Tensor::", stringify!($name), "`] of typed values.")]
            ///
            /// # Errors
            #[doc = concat!("As [`Tensor::", stringify!($name), "`].")]
            #[track_caller]
            pub fn $name(&self, axis: impl Into<ScanAxis>) -> Result<Self> {
                self.erased().$name(axis)?.try_into()
            }
        )*}
    };
}
forward!(cumsum, cumprod, cummax, cummin);
