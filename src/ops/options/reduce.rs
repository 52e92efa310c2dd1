//! Axes of a reduction, and whether they stay.

use crate::error::{Error, Result};
use crate::record::axes::Axes;
use crate::setters::setters;
use crate::tensor::Tensor;

/// Axes of a reduction, which disappear or, with [`keep`], stay with size 1. Converts from what [`Axes`] converts from.
///
/// Options that are known at run time only:
///
/// ```
/// use ragged::opt::{ReduceAxes, keep};
/// assert_eq!(ReduceAxes::from([0, 1]).keep(true), keep([0, 1]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReduceAxes {
    /// The axes.
    pub axes: Axes,
    /// Whether they stay, with size 1.
    pub keep: bool,
}

setters! {
    impl[] ReduceAxes {
        keep: bool;
    }
}

impl<A: Into<Axes>> From<A> for ReduceAxes {
    fn from(axes: A) -> Self {
        Self { axes: axes.into(), keep: false }
    }
}

/// Keeps the reduced axes, each with size 1: NumPy's and TensorFlow's `keepdims`.
///
/// With all axes (`..`) of a ragged tensor the inner dimensions are kept twice, as in TensorFlow: `[rows, (n), 3]` gives
/// `[1, 1, 1, 1]`. A list of all axes keeps each of them once.
///
/// ```
/// use ragged::opt::keep;
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([vec![1.0f32, 3.0], vec![5.0]], &Device::cpu())?;
/// let centred = (&x - &x.reduce_mean(keep(1))?)?;
/// assert_eq!(centred.to_vec()?, [-1.0, 1.0, 0.0]);
/// let points = RaggedTensor::from_nested([vec![[1, 2], [3, 4]], vec![]], &Device::cpu())?;
/// assert_eq!(points.reduce_sum(keep(..))?.shape(), [Some(1); 4]);
/// assert_eq!(points.reduce_sum(keep([0, 1, 2]))?.shape(), [Some(1); 3]);
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn keep(axes: impl Into<ReduceAxes>) -> ReduceAxes {
    ReduceAxes { keep: true, ..axes.into() }
}

impl ReduceAxes {
    /// The only axis, counted from the front.
    ///
    /// # Errors
    /// Several axes, or none; an axis out of range.
    #[track_caller]
    pub(crate) fn single(&self, op: &'static str, x: &Tensor) -> Result<i64> {
        match self.axes.resolve(op, x)?.as_slice() {
            [axis] => Ok(*axis as i64),
            axes => Err(Error::argument(op, format!("{} axes were given; it takes one", axes.len()))),
        }
    }
}
