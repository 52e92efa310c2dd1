//! Neighbouring dimensions as one.

use crate::element::Element;
use crate::error::{Error, Result};
use crate::graph::backend::BackendRef;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::shape::RowPartition;
use crate::tensor::{RaggedTensor, Tensor};

const OP: &str = "merge_dims";

impl Tensor {
    /// The same values with dimensions `outer_axis` to `inner_axis` as one, whose rows are the rows of these dimensions
    /// one after another. Negative axes count from the back.
    ///
    /// Uniform dimensions merge into a uniform one; with a ragged one among them the result is ragged. Empty rows
    /// vanish with the dimension that held them. Merged from dimension 0 on, the rows need no partition any more: with
    /// all ragged dimensions the result is dense. Below that one map over the rows of `outer_axis`. No wait.
    ///
    /// # Errors
    /// An axis out of range; `outer_axis` below `inner_axis`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![3]], vec![vec![], vec![4]]], &Device::cpu())?;
    /// assert_eq!(x.merge_dims(1, 2)?.to_string(), "<ragged.RaggedTensor [[1, 2, 3], [4]]>");
    /// assert_eq!(x.merge_dims(0, 1)?.to_string(), "<ragged.RaggedTensor [[1, 2], [3], [], [4]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.RaggedTensor.merge_dims`.
    pub fn merge_dims(&self, outer_axis: i64, inner_axis: i64) -> Result<Self> {
        let (first, last) = (self.axis(OP, outer_axis)?, self.axis(OP, inner_axis)?);
        if first > last {
            let what = format!("outer_axis {outer_axis} must not lie below inner_axis {inner_axis}");
            return Err(Error::argument(OP, what));
        }
        self.merged(first, last)
    }

    /// [`Tensor::merge_dims`] of dimensions that there are.
    pub(super) fn merged(&self, first: usize, last: usize) -> Result<Self> {
        let (levels, backend) = (self.ragged_rank(), self.backend());
        let Some(outer) = self.outer().filter(|_| first < last) else { return Ok(self.clone()) };
        let (mut parts, mut inner) = (self.partitions().to_vec(), self.inner().to_vec());
        // The inner dimensions among them are numbers of an element, which become elements.
        let last_inner = last.saturating_sub(levels);
        if first > levels {
            let merged = product(inner.drain(first - levels - 1..last_inner))?;
            inner.insert(first - levels - 1, merged);
            return Self::new(backend, parts, Some(outer.clone()), inner, self.values_ref().clone());
        }
        let width = product(inner.drain(..last_inner))?;
        let outer = outer.times(OP, width.into())?;
        let gone = parts.drain(first.saturating_sub(1)..last.min(levels)).collect::<Vec<_>>();
        if first > 0 {
            parts.insert(first - 1, one_level(backend, &gone, width)?);
        }
        // What is left below keeps its own count of rows.
        let outer = parts.last().map_or(outer, |p| p.nvals_extent().clone());
        Self::new(backend, parts, Some(outer), inner, self.values_ref().clone())
    }
}

/// The size of dimensions as one.
fn product(dims: impl Iterator<Item = u32>) -> Result<u32> {
    Ok(Extent::known_u64(OP, dims.fold(1, |n, d| n.saturating_mul(d.into())))?.capacity())
}

/// The rows of the first of these partitions, over the elements (of `width` numbers each) of the last.
fn one_level(backend: &BackendRef, levels: &[RowPartition], width: u32) -> Result<RowPartition> {
    let (Some(first), Some(last)) = (levels.first(), levels.last()) else {
        unreachable!("bug: a level of no partitions")
    };
    let nrows = first.nrows_extent();
    let uniform =
        levels.iter().try_fold(u64::from(width), |n, p| Some(n.saturating_mul(p.uniform_row_length()?.into())));
    if let Some(len) = uniform {
        return RowPartition::uniform(Extent::known_u64(OP, len)?.capacity(), nrows.clone());
    }
    if let ([only], 1) = (levels, width) {
        return Ok(only.clone());
    }
    let nvals = last.nvals_extent().times(OP, width.into())?;
    let start = levels.iter().fold(Expr::index(), |at, p| p.start(at)).mul(Expr::u32(width));
    let lengths = levels.iter().try_fold((width, width), |(least, most), p| {
        let (a, b) = p.known_lengths()?;
        Some((least.saturating_mul(a), most.saturating_mul(b)))
    });
    let merged = RowPartition::from_starts(backend, OP, nrows, &start, nvals.size(), &[])?;
    Ok(merged.with_nvals(nvals).with_lengths(lengths))
}

impl<T: Element> RaggedTensor<T> {
    /// [`Tensor::merge_dims`] of typed values.
    ///
    /// # Errors
    /// As there.
    pub fn merge_dims(&self, outer_axis: i64, inner_axis: i64) -> Result<Self> {
        self.erased().merge_dims(outer_axis, inner_axis)?.try_into()
    }
}
