//! Tensor specifications: the dtype and the shape of the inputs of a program.

use std::fmt;

use crate::dtype::DType;
use crate::tensor::Tensor;

/// What is known of an input of a [`Program`](crate::Program) when it is traced: the dtype, the sizes of the dimensions,
/// and how many of them are divided by row partitions.
///
/// Dimension 0 is the rows. Dimensions 1 to `ragged_rank` are those of the partitions: unknown where rows have any
/// lengths, known where all rows have this one. Further dimensions are uniform, and their sizes are known.
///
/// ```
/// use ragged::{DType, Device, RaggedTensor, TensorSpec};
/// let spec = TensorSpec::new(DType::F32, [None, None, Some(2)]).ragged_rank(1);
/// assert_eq!(spec.to_string(), "TensorSpec(shape=[None, None, 2], dtype=f32, ragged_rank=1)");
/// let points = RaggedTensor::from_nested([vec![[1.0f32, 2.0]], vec![]], &Device::cpu())?;
/// assert!(spec.accepts(&points));
/// assert!(!spec.accepts(&points.flat_values()?), "a dense tensor has another ragged rank");
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// Source: `tf.RaggedTensorSpec`, `tf.TensorSpec`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub struct TensorSpec {
    pub(super) dtype: DType,
    pub(super) shape: Vec<Option<u32>>,
    pub(super) ragged_rank: usize,
}

/// Specification of an input.
impl TensorSpec {
    /// A dense tensor of this shape; `None` is a size that differs between runs. An empty shape is that of a scalar.
    ///
    /// ```
    /// use ragged::{DType, TensorSpec};
    /// let ids = TensorSpec::new(DType::I64, [None]);
    /// assert_eq!((ids.rank(), ids.shape()), (1, &[None][..]));
    /// ```
    pub fn new(dtype: DType, shape: impl IntoIterator<Item = Option<u32>>) -> Self {
        Self { dtype, shape: shape.into_iter().collect(), ragged_rank: 0 }
    }

    /// The same dtype and shape, with so many row partitions.
    ///
    /// ```
    /// use ragged::{DType, TensorSpec};
    /// let words = TensorSpec::new(DType::Str, [None, None]).ragged_rank(1);
    /// assert_eq!(words.to_string(), "TensorSpec(shape=[None, None], dtype=str, ragged_rank=1)");
    /// ```
    #[must_use]
    pub fn ragged_rank(self, ragged_rank: usize) -> Self {
        Self { ragged_rank, ..self }
    }

    /// The specification of all tensors with the dtype, the ragged rank and the inner sizes of this one, and with any
    /// rows.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, TensorSpec};
    /// let x = RaggedTensor::from_nested([vec![[1, 2]], vec![]], &Device::cpu())?;
    /// assert_eq!(TensorSpec::of(&x).to_string(), "TensorSpec(shape=[None, None, 2], dtype=i32, ragged_rank=1)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn of(tensor: &impl AsRef<Tensor>) -> Self {
        let x = tensor.as_ref();
        let outer = x.outer().map(|_| None);
        let levels = x.partitions().iter().map(|_| None);
        let inner = x.inner().iter().map(|&n| Some(n));
        Self {
            dtype: x.dtype(),
            shape: outer.into_iter().chain(levels).chain(inner).collect(),
            ragged_rank: x.ragged_rank(),
        }
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The sizes of the dimensions; `None` for those that differ between runs or between rows.
    pub fn shape(&self) -> &[Option<u32>] {
        &self.shape
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Whether a program traced for this specification runs on the tensor. A size that only the device knows is none
    /// of the known ones.
    pub fn accepts(&self, tensor: &impl AsRef<Tensor>) -> bool {
        let x = tensor.as_ref();
        let fits = |(k, want): (usize, &Option<u32>)| match want {
            None => true,
            // A level of rows of this length.
            Some(n) if (1..=self.ragged_rank).contains(&k) => x.partitions()[k - 1].uniform_length() == Some(*n),
            Some(n) => x.shape()[k] == Some(*n as usize),
        };
        self.dtype == x.dtype()
            && self.rank() == x.rank()
            && self.ragged_rank == x.ragged_rank()
            && self.shape.iter().enumerate().all(fits)
    }

    /// Why no program can be traced for this specification.
    pub(super) fn fault(&self) -> Option<String> {
        if self.ragged_rank > 0 && self.ragged_rank >= self.rank() {
            let rank = self.rank();
            return Some(format!("{self} must have more than {} dimensions, but has {rank}", self.ragged_rank));
        }
        let inner = self.shape.iter().enumerate().skip(self.ragged_rank + 1).find(|(_, n)| n.is_none());
        inner.map(|(k, _)| format!("dimension {k} of {self} is uniform, so that its size must be known"))
    }
}

impl fmt::Display for TensorSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<String> = self.shape.iter().map(|n| n.map_or("None".into(), |n| n.to_string())).collect();
        write!(f, "TensorSpec(shape=[{}], dtype={}", sizes.join(", "), self.dtype)?;
        match self.ragged_rank {
            0 => f.write_str(")"),
            rank => write!(f, ", ragged_rank={rank})"),
        }
    }
}
