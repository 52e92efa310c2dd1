//! LoD ("level of detail") tensors: Paddle's form of variable-length data, and its sequence operations.
//!
//! ```text
//! recursive sequence lengths   [[2, 1], [3, 1, 2]]        2 texts of 2 and 1 sentences of 3, 1 and 2 words
//! offsets (LoD)                [[0, 2, 3], [0, 3, 4, 6]]
//! data                         6 rows, one per word
//! ```
//!
//! A LoD tensor is a [`Tensor`]: its levels are the row partitions, its data the flat values. Both forms convert into
//! each other without any work. The sequence operations are compositions of operations of [`Tensor`], one file each,
//! and apply to the sequences of the last level, for any number of levels.

mod concat;
mod context;
mod create;
mod display;
mod expand;
mod lists;
mod offsets;
mod pad;
mod pool;
mod reshape;
mod reverse;
mod scatter;
mod slice;
mod softmax;

pub use pool::Pool;

use crate::device::Device;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Error, Result, here};
use crate::graph::extent::Extent;
use crate::graph::recorder::Recorder;
use crate::shape::RowPartition;
use crate::tensor::{RaggedTensor, Tensor};

/// A tensor whose rows form sequences, which may form sequences in turn: Paddle's `LoDTensor`.
///
/// Level 0 is the outermost; the sequences of the last level consist of rows of the data. A LoD tensor without levels
/// is a dense tensor. It is immutable and cheap to clone. The conversions from and to a [`Tensor`] or [`RaggedTensor`]
/// cost nothing, so that all operations of these types apply to LoD tensors: [`LodTensor::tensor`],
/// [`LodTensor::from`].
///
/// ```
/// use ragged::opt::Pool;
/// use ragged::{Device, LodTensor, RaggedTensor};
/// let device = Device::cpu();
/// let words = RaggedTensor::from_nested([[1.0f32], [2.0], [3.0], [4.0], [5.0], [6.0]], &device)?;
/// let texts = LodTensor::from_lengths(&words, [vec![2, 1], vec![3, 1, 2]])?;
/// assert_eq!(texts.lod()?, [vec![0, 2, 3], vec![0, 3, 4, 6]]);
///
/// // One row per sentence; the texts stay.
/// let sentences = texts.sequence_pool(Pool::Sum, 0)?;
/// assert_eq!(sentences.recursive_sequence_lengths()?, [[2, 1]]);
/// assert_eq!(RaggedTensor::<f32>::try_from(sentences.into_tensor())?.to_vec()?, [6.0, 4.0, 11.0]);
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Debug, Clone)]
#[doc(alias = "LoDTensor")]
pub struct LodTensor {
    tensor: Tensor,
}

impl From<Tensor> for LodTensor {
    fn from(tensor: Tensor) -> Self {
        Self { tensor }
    }
}
impl From<&Tensor> for LodTensor {
    fn from(tensor: &Tensor) -> Self {
        Self { tensor: tensor.clone() }
    }
}
impl<T: Element> From<RaggedTensor<T>> for LodTensor {
    fn from(tensor: RaggedTensor<T>) -> Self {
        Self { tensor: tensor.into_erased() }
    }
}
impl<T: Element> From<&RaggedTensor<T>> for LodTensor {
    fn from(tensor: &RaggedTensor<T>) -> Self {
        Self { tensor: tensor.erased().clone() }
    }
}
impl From<LodTensor> for Tensor {
    fn from(x: LodTensor) -> Self {
        x.tensor
    }
}
impl<T: Element> TryFrom<LodTensor> for RaggedTensor<T> {
    type Error = Error;

    /// # Errors
    /// The tensor's dtype is not `T`'s.
    #[track_caller]
    fn try_from(x: LodTensor) -> Result<Self> {
        x.tensor.try_into()
    }
}
impl AsRef<Tensor> for LodTensor {
    fn as_ref(&self) -> &Tensor {
        &self.tensor
    }
}
impl AsRef<LodTensor> for LodTensor {
    fn as_ref(&self) -> &LodTensor {
        self
    }
}

/// Parts and sizes.
impl LodTensor {
    /// The same tensor, with its levels as row partitions.
    ///
    /// Its shape is `[n, (len), .., d, ..]`: a ragged dimension per level, then the dimensions of a row. The dtype is
    /// that of the data. No pass, no wait, no copy.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let x = LodTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.tensor().to_string(), "<ragged.RaggedTensor [[1, 2], [], [3]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn tensor(&self) -> &Tensor {
        &self.tensor
    }
    /// The same tensor, with its levels as row partitions, without a clone.
    ///
    /// [`tensor`](Self::tensor) borrows it. No pass, no wait, no copy.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let x = LodTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.into_tensor().reduce_sum(1)?.to_string(), "tensor([3, 0, 3], shape=(3,), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn into_tensor(self) -> Tensor {
        self.tensor
    }
    /// The rows of all sequences, one after the other, as a dense tensor.
    ///
    /// Its shape is `[rows, d, ..]`, where `d, ..` are the dimensions of a row. The dtype stays. Empty sequences leave
    /// no trace.
    ///
    /// # Errors
    /// None for a valid tensor.
    ///
    /// # Cost
    /// No pass, no wait.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let x = LodTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.data()?.to_string(), "tensor([1, 2, 3], shape=(3,), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn data(&self) -> Result<Tensor> {
        self.tensor.flat_values()
    }
    /// Number of levels; 0 for a dense tensor.
    ///
    /// Known on the host: no pass, no wait. Paddle: `lod_level`.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let x = LodTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.lod_level(), 1);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn lod_level(&self) -> usize {
        self.tensor.ragged_rank()
    }
    /// The device that the tensor lives on.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let x = LodTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert!(x.device().is_cpu());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn device(&self) -> Device {
        self.tensor.device()
    }
    /// The element type.
    ///
    /// ```
    /// use ragged::{DType, Device, LodTensor};
    /// let x = LodTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.dtype(), DType::I32);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn dtype(&self) -> DType {
        self.tensor.dtype()
    }

    /// The last level.
    ///
    /// # Errors
    /// A tensor without levels.
    #[track_caller]
    fn last_level(&self, rec: Recorder<'_>) -> Result<&RowPartition> {
        match self.tensor.partitions().last() {
            Some(level) => Ok(level),
            None => Err(rec.argument(format!(
                "the tensor of shape {} has no LoD level, so that its rows form no sequences; give it levels with \
                     LodTensor::from_lengths",
                self.tensor.shape_text()
            ))),
        }
    }

    /// The sequences of the last level, without the levels above: `[n, (len), ..]`.
    ///
    /// # Errors
    /// A tensor without levels.
    #[track_caller]
    fn sequences(&self, rec: Recorder<'_>) -> Result<Tensor> {
        self.data()?.under(self.last_level(rec)?.clone())
    }

    /// The recorder of a call of the method `op`, at the line of the caller.
    #[track_caller]
    fn recorder(&self, op: &'static str) -> Recorder<'_> {
        self.tensor.recorder(op)
    }

    /// One row or sequence for each sequence of the last level, under the levels above.
    #[track_caller]
    fn for_each_sequence(&self, of: Tensor) -> Result<Self> {
        let (_, above) = self.tensor.partitions().split_last().unzip();
        Self::under(above.unwrap_or_default(), of)
    }

    /// The tensor below these levels.
    #[track_caller]
    fn under(levels: &[RowPartition], below: Tensor) -> Result<Self> {
        Ok(levels.iter().rev().try_fold(below, |below, level| below.under(level.clone())).map_err(here())?.into())
    }

    /// The number of rows of the data.
    fn rows(&self) -> Extent {
        self.tensor.outer().cloned().unwrap_or_else(|| Extent::known(1))
    }
}

/// Gives an error of the operation that was called the name of this one. Use as `.map_err(named(OP))`.
fn named(op: &'static str) -> impl FnOnce(Error) -> Error {
    move |error| error.of(op)
}
