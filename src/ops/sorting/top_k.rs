//! The k greatest values along an axis.

use crate::element::Element;
use crate::error::Result;
use crate::integer::{Integer, saturating_u32};
use crate::ops::indexing::index::Index;
use crate::ops::operations;
use crate::ops::options::descending;
use crate::ops::sorting::order_keys::OrderKeys;
use crate::ops::sorting::sort::Sorted;
use crate::tensor::Tensor;

operations! {
    /// The k greatest values along an axis.
    const OPERATIONS: family "Along an axis" on RaggedTensor<T> where T: Element;

    /// The `k` greatest values along `axis`, in descending order, and their indices.
    ///
    /// Two results: the values, of the same dtype, and their indices along the axis, i64. Both have the tensor's shape,
    /// except for the axis. A row of fewer than `k` values gives all of them, where TensorFlow fails: a ragged axis has
    /// rows of up to `k`, a uniform one has size `min(k, size)`. Of equal values the first come first, and -0 equals
    /// +0. NaN is taken only if a row has fewer than `k` numbers. Empty rows stay empty. The same bits on every device.
    /// TensorFlow takes the innermost, uniform axis.
    ///
    /// # Errors
    /// A negative `k`; `axis` out of range, or with ragged ones below it.
    ///
    /// # Cost
    /// Up to 16 values are selected: one pass over the values, in one kernel, or two where rows may be longer than 512;
    /// no sort. More values cost a [`Tensor::sort`]. Either is followed by a gather of the kept values, with a prefix
    /// sum over the rows of a ragged axis. Strings are first ranked, as for a [`Tensor::sort`]. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![3, 5, 5, 1], vec![], vec![2]], &Device::cpu())?;
    /// let (values, indices) = x.top_k(3, -1)?;
    /// assert_eq!(values.to_string(), "<ragged.RaggedTensor [[5, 5, 3], [], [2]]>");
    /// assert_eq!(indices.to_string(), "<ragged.RaggedTensor [[1, 2, 0], [], [0]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn top_k(&self, k: impl Integer as integer = 1, axis: impl Integer as axis = -1) -> (T, i64);
    alias "topk", "nlargest";
    tensorflow "tf.math.top_k";
    polars "Expr.top_k";
    gradient yes;
}

#[track_caller]
fn top_k(x: &Tensor, k: impl Integer, axis: impl Integer) -> Result<(Tensor, Tensor)> {
    let rec = x.recorder("top_k");
    let (k, axis) = (saturating_u32(rec.op, "k", k)?, axis.saturating_i64());
    let keys = OrderKeys::new(rec, x)?;
    let sorted = Sorted::first(rec, keys.tensor(), descending(axis), false, k)?;
    let below = x.partitions().get(sorted.axis..).unwrap_or_default();
    if below.iter().any(|p| p.uniform_length().is_none()) {
        let what = format!(
            "axis {axis} of a tensor of shape {} has ragged dimensions below it, where the greatest values of \
             aligned rows form none; sort it, or take the innermost axis",
            x.shape_text()
        );
        return Err(rec.argument(what));
    }
    let first = Index::Slice { start: None, stop: Some(i64::from(k)), step: 1 };
    let mut index = vec![Index::Slice { start: None, stop: None, step: 1 }; sorted.axis];
    index.push(first);
    let values = sorted.values(keys.tensor())?.slice(&index)?;
    Ok((keys.values(values)?, sorted.indices(x)?.slice(&index)?))
}
