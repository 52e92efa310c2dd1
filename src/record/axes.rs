//! Axis argument of operations over one, several or all axes.

use crate::integer::Integer;
use std::ops::RangeFull;

use crate::error::{Error, Result, here};
use crate::tensor::Tensor;

/// Axes of a reduction: all of them (`..`), one, or a list. Negative axes count from the back.
///
/// All reductions share:
/// - *Shapes.* A reduced axis disappears, or stays with one row ([`keep`](crate::opt::keep)). Reducing the innermost
///   ragged axis gives one result per row. Reducing an axis with ragged axes below aligns rows: the k-th result reduces
///   the k-th values of all rows that have one, and a result row is as long as the longest row that contributes to it.
///   An empty list of axes gives the tensor itself. The result is dense where no ragged dimension remains.
/// - *Order.* Adjacent axes are reduced as one sequence in flat order, in the canonical order of row reductions: a
///   row's result has the same bits on every backend and in every batch. That order depends on the number of values and
///   on the sizes of the uniform dimensions below, if all are uniform: the last bits of a float may differ between
///   equal values in a uniform and in a ragged dimension. Non-adjacent axes are reduced one run of adjacent axes after
///   another, the innermost run first.
/// - *Cost.* One pass over the values. An axis with ragged axes below adds a sort of positions, and one more sort per
///   further ragged level. [`keep`](crate::opt::keep) of axis 0 of one ragged dimension waits where only the device
///   knows the longest row; [`record_async`](crate::record_async) awaits it.
///
/// ```
/// use ragged::arguments::Axes;
/// assert_eq!(Axes::from(1), Axes::List(vec![1]));
/// assert_eq!(Axes::from([0, -1]), Axes::List(vec![0, -1]));
/// assert_eq!(Axes::from(..), Axes::All);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Axes {
    /// Every axis: TensorFlow's `axis=None`.
    All,
    /// These axes. Their order matters to [`Tensor::transpose`], and to [`Tensor::reduce_join`] of a dense tensor.
    List(Vec<i64>),
}

impl<I: Integer> From<I> for Axes {
    fn from(axis: I) -> Self {
        Self::List(vec![axis.saturating_i64()])
    }
}
impl From<RangeFull> for Axes {
    fn from(_: RangeFull) -> Self {
        Self::All
    }
}
impl<I: Integer> From<&[I]> for Axes {
    fn from(axes: &[I]) -> Self {
        Self::List(axes.iter().map(|axis| axis.saturating_i64()).collect())
    }
}
impl<I: Integer> From<Vec<I>> for Axes {
    fn from(axes: Vec<I>) -> Self {
        axes.as_slice().into()
    }
}
impl<I: Integer> From<&Vec<I>> for Axes {
    fn from(axes: &Vec<I>) -> Self {
        axes.as_slice().into()
    }
}
impl<I: Integer, const N: usize> From<[I; N]> for Axes {
    fn from(axes: [I; N]) -> Self {
        axes.as_slice().into()
    }
}
impl<I: Integer, const N: usize> From<&[I; N]> for Axes {
    fn from(axes: &[I; N]) -> Self {
        axes.as_slice().into()
    }
}

impl Axes {
    /// The axes of `x`, counted from the front, in ascending order.
    ///
    /// # Errors
    /// An axis out of range; a repeated axis.
    #[track_caller]
    pub(crate) fn resolve(&self, op: &'static str, x: &Tensor) -> Result<Vec<usize>> {
        let Self::List(axes) = self else { return Ok((0..x.rank()).collect()) };
        let mut out = axes.iter().map(|&a| x.axis(op, a)).collect::<Result<Vec<_>>>().map_err(here())?;
        out.sort_unstable();
        if let Some(w) = out.windows(2).find(|w| w[0] == w[1]) {
            return Err(Error::argument(op, format!("axis {} is named twice in {axes:?}", w[0])));
        }
        Ok(out)
    }
}
