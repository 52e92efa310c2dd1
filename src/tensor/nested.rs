//! Nested lists whose depth and types are known at run time: input of `constant` and output of `to_nested`.

use super::both::methods_of_both;
use half::{bf16, f16};

use super::{Assembly, HostTensor, HostValues, Tensor};
use crate::error::{Result, here};

/// A nested list of values of any depth, like a Python list.
///
/// ```
/// use ragged::Nested;
/// let x: Nested = vec![vec![1, 2], vec![], vec![3]].into();
/// assert_eq!(x.to_string(), "[[1, 2], [], [3]]");
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Nested {
    /// A truth value.
    Bool(bool),
    /// An integer of any integer type.
    Int(i128),
    /// A single-precision float.
    Float32(f32),
    /// A double-precision float.
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
    /// Converts the tensor's read to nested lists, whose memory is counted first: each value and each row takes that of
    /// one [`Nested`], and strings are copied.
    #[track_caller]
    pub(super) fn nested_from(&self, host: &HostTensor) -> Result<Nested> {
        let mut assembly = Assembly::new(self.recorder("to_nested"));
        assembly.reserve_allocations(host.nested_bytes(size_of::<Nested>() as u64))?;
        Ok(host.to_nested())
    }
}

methods_of_both! {
    /// Reads as nested lists.
    impl;

    /// Reads the tensor as nested lists. Waits like [`Tensor::to_host`]. TensorFlow: `tf.RaggedTensor.to_list`.
    ///
    /// # Errors
    /// The first failed device-side check; a lost device; more memory than is available, or than the device's budget.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_row_lengths([1.5f32, 2.0], &[2, 0], &Device::cpu())?;
    /// assert_eq!(x.erased().to_nested()?, vec![vec![1.5f32, 2.0], vec![]].into());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_nested(&self) -> Result<Nested> {
        self.nested_from(&self.to_host()?).map_err(here())
    }
}

impl HostValues {
    /// Value `i`, or an empty list where it does not exist.
    pub(crate) fn nested_at(&self, i: usize) -> Nested {
        let value = match self {
            Self::Bool(v) => v.get(i).copied().map(Nested::from),
            Self::U8(v) => v.get(i).copied().map(Nested::from),
            Self::I8(v) => v.get(i).copied().map(Nested::from),
            Self::U16(v) => v.get(i).copied().map(Nested::from),
            Self::I16(v) => v.get(i).copied().map(Nested::from),
            Self::I32(v) => v.get(i).copied().map(Nested::from),
            Self::U32(v) => v.get(i).copied().map(Nested::from),
            Self::I64(v) => v.get(i).copied().map(Nested::from),
            Self::U64(v) => v.get(i).copied().map(Nested::from),
            Self::F16(v) => v.get(i).copied().map(Nested::from),
            Self::BF16(v) => v.get(i).copied().map(Nested::from),
            Self::F32(v) => v.get(i).copied().map(Nested::from),
            Self::F64(v) => v.get(i).copied().map(Nested::from),
            Self::Str(v) => v.get(i).cloned().map(Nested::Str),
        };
        value.unwrap_or(Nested::List(Vec::new()))
    }
}

/// Rank and nested values.
impl HostTensor {
    /// Number of dimensions.
    ///
    /// ```
    /// use ragged::{HostTensor, HostValues};
    /// assert_eq!(HostTensor::from_row_splits(vec![0, 2, 3], HostValues::I32(vec![1, 2, 3])).rank(), 2);
    /// ```
    pub fn rank(&self) -> usize {
        self.nested_row_splits.len() + self.inner_shape.len()
    }

    /// The positions in dimension `dim` of the children of position `at` of dimension `dim - 1`; all positions for
    /// `dim` 0. Only existing positions, even if the fields are inconsistent.
    pub(crate) fn children(&self, dim: usize, at: usize) -> std::ops::Range<usize> {
        let ragged = self.nested_row_splits.len();
        let (start, end) = match dim {
            0 if ragged > 0 => (0, usize::MAX),
            0 => (0, self.inner_shape.first().copied().unwrap_or(1)),
            d if d <= ragged => {
                let splits = &self.nested_row_splits[d - 1];
                let split = |at: usize| splits.get(at).map_or(0, |&split| split as usize);
                (split(at), split(at.saturating_add(1)))
            }
            d => {
                let len = self.inner_shape[d - ragged];
                (at.saturating_mul(len), at.saturating_add(1).saturating_mul(len))
            }
        };
        let end = end.min(self.positions(dim));
        start.min(end)..end
    }

    /// Number of positions of a dimension, from the splits that begin there or from the values.
    pub(crate) fn positions(&self, dim: usize) -> usize {
        if let Some(splits) = self.nested_row_splits.get(dim) {
            return splits.len().saturating_sub(1);
        }
        let inner = self.inner_shape.get(dim - self.nested_row_splits.len()..).unwrap_or_default();
        let below = inner.get(1..).unwrap_or_default();
        match below.iter().fold(1usize, |n, &d| n.saturating_mul(d)) {
            // Without values, any number of positions is consistent.
            0 if below.contains(&0) => usize::MAX,
            width => self.values.len() / width.max(1),
        }
    }

    /// Bytes of the tensor's nested lists, of which each value and each row takes `item` bytes.
    pub(crate) fn nested_bytes(&self, item: u64) -> u64 {
        let items = self.lists().saturating_add(self.values.len() as u64);
        items.saturating_mul(item).saturating_add(self.text_bytes())
    }

    /// Number of lists that hold lists or values, in the tensor's nested lists.
    pub(super) fn lists(&self) -> u64 {
        let of_rows: u64 = self.nested_row_splits.iter().map(|splits| splits.len() as u64).sum();
        let mut positions = 1u64;
        let last = self.inner_shape.len().saturating_sub(1);
        let of_inner = self.inner_shape[..last].iter().map(|&size| {
            positions = positions.saturating_mul(size as u64);
            positions
        });
        of_inner.fold(of_rows, u64::saturating_add)
    }

    /// Bytes of all strings, with the allocator's rounding.
    pub(super) fn text_bytes(&self) -> u64 {
        let HostValues::Str(all) = &self.values else { return 0 };
        all.iter().map(|string| string.len() as u64 + 16).sum()
    }

    /// Converts the tensor to nested lists. Inconsistent fields, which [`HostTensor::to_device`] rejects, give lists of
    /// the elements that exist.
    ///
    /// ```
    /// use ragged::{HostTensor, HostValues};
    /// let host = HostTensor::from_row_splits(vec![0, 2, 3], HostValues::I32(vec![1, 2, 3]));
    /// assert_eq!(host.to_nested().to_string(), "[[1, 2], [3]]");
    /// ```
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
