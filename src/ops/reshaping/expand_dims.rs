//! Inserts dimensions of size 1.

use crate::element::Element;
use crate::error::{Error, Result, caller};
use crate::graph::extent::Extent;
use crate::graph::recorder::Recorder;
use crate::graph::size::Size;
use crate::integer::Integer;
use crate::ops::operations;
use crate::record::runs::single_row;
use crate::tensor::Tensor;

operations! {
    /// New dimensions.
    const OPERATIONS: family "Joining, repeating and shapes" on RaggedTensor<T> where T: Element;

    /// Inserts a dimension of size 1.
    ///
    /// `axis` is the position of the new dimension: 0 to the rank, or negative. The new dimension is a uniform row
    /// partition above or among the ragged dimensions, and an inner dimension below them. A dense tensor stays dense.
    /// Any dtype, which stays; empty rows stay.
    ///
    /// # Errors
    /// An axis out of range.
    ///
    /// # Cost
    /// No pass. Waits only where axis 0 of a dense tensor makes an inner dimension of a size that the host does not
    /// know; [`record_async`](crate::record_async) awaits it.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.expand_dims(0)?.to_string(), "<ragged.RaggedTensor [[[1, 2], [], [3]]]>");
    /// assert_eq!(x.expand_dims(1)?.to_string(), "<ragged.RaggedTensor [[[1, 2]], [[]], [[3]]]>");
    /// assert_eq!(x.expand_dims(-1)?.to_string(), "<ragged.RaggedTensor [[[1], [2]], [], [[3]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn expand_dims(&self, axis: impl Integer as axis) -> T;
    alias "unsqueeze", "newaxis";
    tensorflow "tf.expand_dims";
    polars "Expr.implode";
    waits "along axis 0 of a dense tensor whose number of rows only the device knows";
    gradient yes;
    row hand;
}

#[track_caller]
fn expand_dims(x: &Tensor, axis: impl Integer) -> Result<Tensor> {
    let rec = x.recorder(OP);
    let axis = axis.saturating_i64();
    const OP: &str = "expand_dims";
    let axis = new_axis(OP, x, axis)?;
    match x.outer() {
        Some(rows) if axis == 0 && x.ragged_rank() == 0 => {
            let size = match rows.as_known() {
                Some(_) => rows.size().clone(),
                None => Size::given(rec.on_host(rows)?),
            };
            let inner = [&[size], x.inner().sizes()].concat();
            rec.tensor(Vec::new(), Some(Extent::known(1)), inner, x.values_ref().clone())
        }
        _ => x.with_new_axis(rec, axis),
    }
}

impl Tensor {
    /// Inserts a dimension of size 1 before dimension `axis`; an outermost one is a row partition.
    pub(crate) fn with_new_axis(&self, rec: Recorder<'_>, axis: usize) -> Result<Self> {
        let (mut parts, mut inner) = (self.partitions().to_vec(), self.inner().sizes().to_vec());
        let Some(outer) = self.outer() else {
            return rec.tensor(parts, Some(Extent::known(1)), inner, self.values_ref().clone());
        };
        if axis == 0 {
            return rec.at(self.under(single_row(rec, self.nrows_extent())?));
        }
        if axis > parts.len() {
            inner.insert(axis - 1 - parts.len(), Size::Const(1));
        } else {
            let rows = parts[axis - 1].nrows_extent().clone();
            parts.insert(axis - 1, rec.uniform_rows(1, rows)?);
        }
        rec.tensor(parts, Some(outer.clone()), inner, self.values_ref().clone())
    }
}

/// Resolves the axis of a new dimension of `x`, counted from the front.
///
/// # Errors
/// An axis that is neither between 0 and the rank nor between `-rank - 1` and -1.
#[track_caller]
pub(crate) fn new_axis(op: &'static str, x: &Tensor, axis: i64) -> Result<usize> {
    let rank = x.rank() as i64 + 1;
    if axis < -rank || axis >= rank {
        return Err(Error::Axis { op, axis, rank: rank as usize, location: caller() });
    }
    Ok(axis.rem_euclid(rank) as usize)
}
