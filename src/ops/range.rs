//! Rows of consecutive numbers.

use crate::dtype::DType;
use crate::element::Number;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::shape::RowPartition;
use crate::tensor::{RaggedTensor, Tensor, Values, read_u32};

impl Tensor {
    /// The numbers 0, 1, ... below each limit: a row for each.
    ///
    /// `[n]` gives `[n, (limit)]`, of the limits' dtype. A limit of 0 or less gives an empty row.
    ///
    /// # Errors
    /// The tensor is not dense of rank 1, or not of i32, u32 or i64; a limit, or the sum of all, is 2^32 or more.
    ///
    /// # Cost
    /// A prefix sum over the limits and a map over the numbers. It waits once, for how many numbers there are.
    ///
    /// # Source
    /// `tf.ragged.range` with limits only; `tf.map_fn(tf.range, limits)`.
    ///
    /// ```
    /// # use ragged::{Device, RaggedTensor};
    /// let limits = RaggedTensor::from_nested(vec![3, 0, 2], &Device::cpu())?;
    /// assert_eq!(limits.range()?.to_string(), "<ragged.RaggedTensor [[0, 1, 2], [], [0, 1]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn range(&self) -> Result<Self> {
        const OP: &str = "range";
        let limits = self.numbers(OP)?;
        let dtype = limits.dtype();
        if !matches!(dtype, DType::I32 | DType::U32 | DType::I64) {
            return Err(Error::unsupported(OP, dtype, "the limits must be i32, u32 or i64"));
        }
        if self.rank() != 1 {
            let what = format!("the limits must be dense and of rank 1, but their shape is {}", self.shape_text());
            return Err(Error::argument(OP, what));
        }
        let backend = self.backend();
        let rows = self.nrows_extent();
        let limit = Expr::load(limits, Expr::index());
        let zero = Expr::scalar(crate::graph::scalar::Scalar::from_i64(dtype, 0));
        let mut positive = limit.max(zero);
        if dtype == DType::I64 {
            let most = Expr::scalar(i64::from(u32::MAX));
            let check = crate::graph::expr::Check::new(OP, "a limit is 2^32 or more");
            let fits = positive.clone().lt(most);
            positive = positive.checked(check, fits);
        }
        let length = positive.cast(DType::U32);
        let partition = RowPartition::from_lengths(backend, OP, &rows, length, u32::MAX - 1)?;
        let total = read_u32(backend, OP, partition.nvals_extent().expr())?;
        let nvals = Extent::known(total);
        let partition = partition.with_nvals(nvals.clone());
        let number = partition.offset_of(Expr::index()).cast(dtype);
        let values = Values::Numbers(Node::map(backend, OP, nvals.clone(), number, &[]));
        Self::new(backend, vec![partition], Some(nvals), Vec::new(), values)
    }
}

impl<T: Number> RaggedTensor<T> {
    /// As [`Tensor::range`].
    ///
    /// # Errors
    /// As [`Tensor::range`].
    #[track_caller]
    pub fn range(&self) -> Result<Self> {
        self.erased().range()?.try_into()
    }
}
