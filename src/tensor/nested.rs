//! Nested lists whose depth and types are known at run time: what `constant` takes and what `to_nested` gives.

use half::{bf16, f16};

use super::{HostTensor, HostValues, Tensor};
use crate::error::Result;

/// A nested list of values, any depth, as Python has them.
///
/// ```
/// use ragged::Nested;
/// let x: Nested = vec![vec![1, 2], vec![], vec![3]].into();
/// assert_eq!(x.to_string(), "[[1, 2], [], [3]]");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Nested {
    /// A truth value.
    Bool(bool),
    /// An integer of any integer type.
    Int(i128),
    /// A single precision float, known to be one.
    Float32(f32),
    /// A float.
    Float(f64),
    /// A byte string.
    Str(Vec<u8>),
    /// A list.
    List(Vec<Nested>),
}

macro_rules! from_scalar {
    ($($t:ty => |$v:ident| $e:expr;)*) => {$(
        impl From<$t> for Nested {
            fn from($v: $t) -> Self {
                $e
            }
        }
    )*};
}
from_scalar! {
    bool => |v| Self::Bool(v);
    u8 => |v| Self::Int(v.into());
    i8 => |v| Self::Int(v.into());
    u16 => |v| Self::Int(v.into());
    i16 => |v| Self::Int(v.into());
    i32 => |v| Self::Int(v.into());
    u32 => |v| Self::Int(v.into());
    i64 => |v| Self::Int(v.into());
    u64 => |v| Self::Int(v.into());
    f16 => |v| Self::Float32(v.into());
    bf16 => |v| Self::Float32(v.into());
    f32 => |v| Self::Float32(v);
    f64 => |v| Self::Float(v);
    &str => |v| Self::Str(v.into());
    String => |v| Self::Str(v.into_bytes());
}
impl<N: Into<Self>> From<Vec<N>> for Nested {
    fn from(all: Vec<N>) -> Self {
        Self::List(all.into_iter().map(Into::into).collect())
    }
}
impl<N: Into<Self>, const M: usize> From<[N; M]> for Nested {
    fn from(all: [N; M]) -> Self {
        Self::List(all.into_iter().map(Into::into).collect())
    }
}
impl<N: Into<Self> + Clone> From<&[N]> for Nested {
    fn from(all: &[N]) -> Self {
        all.to_vec().into()
    }
}

impl Tensor {
    /// Reads the tensor as nested lists. `tf.RaggedTensor.to_list`. Waits as [`Tensor::to_host`] does.
    ///
    /// # Errors
    /// As [`Tensor::to_host`].
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_row_lengths([1.5f32, 2.0], &[2, 0], &Device::cpu())?;
    /// assert_eq!(x.erased().to_nested()?, vec![vec![1.5f32, 2.0], vec![]].into());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn to_nested(&self) -> Result<Nested> {
        Ok(self.to_host()?.to_nested())
    }
}

impl HostValues {
    /// Value `i`.
    pub(crate) fn nested_at(&self, i: usize) -> Nested {
        match self {
            Self::Bool(v) => v[i].into(),
            Self::U8(v) => v[i].into(),
            Self::I8(v) => v[i].into(),
            Self::U16(v) => v[i].into(),
            Self::I16(v) => v[i].into(),
            Self::I32(v) => v[i].into(),
            Self::U32(v) => v[i].into(),
            Self::I64(v) => v[i].into(),
            Self::U64(v) => v[i].into(),
            Self::F16(v) => v[i].into(),
            Self::BF16(v) => v[i].into(),
            Self::F32(v) => v[i].into(),
            Self::F64(v) => v[i].into(),
            Self::Str(v) => Nested::Str(v[i].clone()),
        }
    }
}

impl HostTensor {
    /// How many dimensions it has.
    pub fn rank(&self) -> usize {
        self.nested_row_splits.len() + self.inner_shape.len()
    }

    /// The positions, one dimension down, of what stands at position `at` of dimension `dim - 1`; of everything at
    /// `dim` 0.
    pub(crate) fn children(&self, dim: usize, at: usize) -> std::ops::Range<usize> {
        let ragged = self.nested_row_splits.len();
        match dim {
            0 if ragged > 0 => 0..self.nested_row_splits[0].len() - 1,
            0 => 0..self.inner_shape.first().copied().unwrap_or(1),
            d if d <= ragged => {
                let splits = &self.nested_row_splits[d - 1];
                splits[at] as usize..splits[at + 1] as usize
            }
            d => {
                let len = self.inner_shape[d - ragged];
                at * len..(at + 1) * len
            }
        }
    }

    /// The tensor as nested lists.
    pub fn to_nested(&self) -> Nested {
        fn go(t: &HostTensor, dim: usize, at: usize) -> Nested {
            if dim == t.rank() {
                return t.values.nested_at(at);
            }
            Nested::List(t.children(dim, at).map(|child| go(t, dim + 1, child)).collect())
        }
        go(self, 0, 0)
    }
}
