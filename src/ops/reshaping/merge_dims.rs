//! Merges adjacent dimensions.

use crate::element::Element;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::recorder::Recorder;
use crate::graph::size::{RecordedSize, Size};
use crate::integer::Integer;
use crate::ops::operations;
use crate::shape::RowPartition;
use crate::tensor::Tensor;

operations! {
    /// Merged dimensions.
    const OPERATIONS: family "Joining, repeating and shapes" on RaggedTensor<T> where T: Element;

    /// Merges adjacent dimensions into one, whose rows are the concatenated rows of these dimensions.
    ///
    /// The dimensions are `outer_axis` to `inner_axis`; negative axes count from the back. Uniform dimensions merge
    /// into a uniform one; a ragged one among them makes the result ragged. Empty rows of a merged dimension disappear.
    /// A merge from dimension 0 on removes the merged partitions: with all ragged dimensions the result is dense. Any
    /// dtype, which stays.
    ///
    /// # Errors
    /// An axis out of range; `outer_axis` after `inner_axis`.
    ///
    /// # Cost
    /// None for a merge from dimension 0 on; one map over the rows of `outer_axis` otherwise. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![3]], vec![vec![], vec![4]]], &Device::cpu())?;
    /// assert_eq!(x.merge_dims(1, 2)?.to_string(), "<ragged.RaggedTensor [[1, 2, 3], [4]]>");
    /// assert_eq!(x.merge_dims(0, 1)?.to_string(), "<ragged.RaggedTensor [[1, 2], [3], [], [4]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn merge_dims(&self, outer_axis: impl Integer as axis, inner_axis: impl Integer as axis) -> T;
    alias "flatten";
    tensorflow "tf.RaggedTensor.merge_dims";
    awkward "ak.flatten";
    gradient yes;
}

#[track_caller]
fn merge_dims(x: &Tensor, outer_axis: impl Integer, inner_axis: impl Integer) -> Result<Tensor> {
    let inner_axis = inner_axis.saturating_i64();
    let outer_axis = outer_axis.saturating_i64();
    let (first, last) = (x.axis(OP, outer_axis)?, x.axis(OP, inner_axis)?);
    if first > last {
        let what = format!("outer_axis {outer_axis} must not lie below inner_axis {inner_axis}");
        return Err(Error::argument(OP, what));
    }
    x.merged(first, last)
}

const OP: &str = "merge_dims";

impl Tensor {
    /// [`Tensor::merge_dims`] of resolved axes.
    #[track_caller]
    pub(crate) fn merged(&self, first: usize, last: usize) -> Result<Self> {
        let (rec, levels) = (self.recorder(OP), self.ragged_rank());
        let Some(outer) = self.outer().filter(|_| first < last) else { return Ok(self.clone()) };
        let (mut parts, mut inner) = (self.partitions().to_vec(), self.inner().sizes().to_vec());
        // Merged inner dimensions turn the numbers of an element into elements.
        let last_inner = last.saturating_sub(levels);
        if first > levels {
            let merged = product(rec, inner.drain(first - levels - 1..last_inner))?;
            inner.insert(first - levels - 1, merged);
            return rec.tensor(parts, Some(outer.clone()), inner, self.values_ref().clone());
        }
        let width = product(rec, inner.drain(..last_inner))?;
        let outer = rec.times_size(outer, &width)?;
        let gone = parts.drain(first.saturating_sub(1)..last.min(levels)).collect::<Vec<_>>();
        if first > 0 {
            parts.insert(first - 1, one_level(rec, &gone, &width)?);
        }
        // Partitions that remain below keep their own number of values.
        let outer = parts.last().map_or(outer, |p| p.nvals_extent().clone());
        rec.tensor(parts, Some(outer), inner, self.values_ref().clone())
    }
}

/// The size of merged dimensions.
fn product(rec: Recorder<'_>, dims: impl Iterator<Item = Size>) -> Result<Size> {
    let size = dims.fold(Size::Const(1), |n, d| n.mul(&d));
    rec.known(size.capacity().into())?;
    Ok(size)
}

/// Composes partitions: the rows of the first over the elements (of `width` numbers each) of the last.
fn one_level(rec: Recorder<'_>, levels: &[RowPartition], width: &Size) -> Result<RowPartition> {
    let (Some(first), Some(last)) = (levels.first(), levels.last()) else {
        unreachable!("bug: a level of no partitions")
    };
    let nrows = first.nrows_extent();
    if let Some(lengths) = levels.iter().map(|p| p.uniform_size().cloned()).collect::<Option<Vec<Size>>>() {
        let width = product(rec, std::iter::once(width.clone()).chain(lengths))?;
        return rec.uniform_rows(width, nrows.clone());
    }
    if let ([only], Some(1)) = (levels, width.as_const()) {
        return Ok(only.clone());
    }
    let nvals = rec.times_size(last.nvals_extent(), width)?;
    let start = levels.iter().fold(Expr::index(), |at, p| p.start(at)).mul(Expr::size(width));
    let lengths = levels.iter().try_fold((width.capacity(), width.capacity()), |(least, most), p| {
        let (a, b) = p.known_lengths()?;
        Some((least.saturating_mul(a), most.saturating_mul(b)))
    });
    let merged = rec.rows_of_starts(nrows, &start, nvals.size(), &[])?;
    Ok(merged.with_nvals(nvals).with_lengths(lengths))
}
