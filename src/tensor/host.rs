//! Tensors in host memory: the result of a read, and the input of an upload.

use half::{bf16, f16};

use super::host_vec::{decode, extend};
use super::{Tensor, Values, upload};
use crate::backend::host_memory::counted_vec;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::shape::{HostLevel, RowPartition};

/// Flat values on the host.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "one variant a dtype")]
#[non_exhaustive]
pub enum HostValues {
    Bool(Vec<bool>),
    U8(Vec<u8>),
    I8(Vec<i8>),
    U16(Vec<u16>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    U32(Vec<u32>),
    I64(Vec<i64>),
    U64(Vec<u64>),
    F16(Vec<f16>),
    BF16(Vec<bf16>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Str(Vec<Vec<u8>>),
}

macro_rules! each {
    ($self:expr, $v:ident => $e:expr) => {
        match $self {
            HostValues::Bool($v) => $e,
            HostValues::U8($v) => $e,
            HostValues::I8($v) => $e,
            HostValues::U16($v) => $e,
            HostValues::I16($v) => $e,
            HostValues::I32($v) => $e,
            HostValues::U32($v) => $e,
            HostValues::I64($v) => $e,
            HostValues::U64($v) => $e,
            HostValues::F16($v) => $e,
            HostValues::BF16($v) => $e,
            HostValues::F32($v) => $e,
            HostValues::F64($v) => $e,
            HostValues::Str($v) => $e,
        }
    };
}

impl HostValues {
    /// Number of values.
    ///
    /// ```
    /// use ragged::HostValues;
    /// assert_eq!(HostValues::F32(vec![0.5, 1.5]).len(), 2);
    /// ```
    pub fn len(&self) -> usize {
        each!(self, v => v.len())
    }
    /// Whether there are no values.
    ///
    /// ```
    /// use ragged::HostValues;
    /// assert!(HostValues::Str(Vec::new()).is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The dtype of the values.
    ///
    /// ```
    /// use ragged::{DType, HostValues};
    /// assert_eq!(HostValues::F32(vec![0.5, 1.5]).dtype(), DType::F32);
    /// ```
    pub fn dtype(&self) -> DType {
        match self {
            Self::Bool(_) => DType::Bool,
            Self::U8(_) => DType::U8,
            Self::I8(_) => DType::I8,
            Self::U16(_) => DType::U16,
            Self::I16(_) => DType::I16,
            Self::I32(_) => DType::I32,
            Self::U32(_) => DType::U32,
            Self::I64(_) => DType::I64,
            Self::U64(_) => DType::U64,
            Self::F16(_) => DType::F16,
            Self::BF16(_) => DType::BF16,
            Self::F32(_) => DType::F32,
            Self::F64(_) => DType::F64,
            Self::Str(_) => DType::Str,
        }
    }

    /// The numbers as bytes; none of strings.
    pub(crate) fn number_bytes(&self) -> Option<&[u8]> {
        Some(match self {
            Self::Bool(v) => bytemuck::cast_slice(v),
            Self::U8(v) => v,
            Self::I8(v) => bytemuck::cast_slice(v),
            Self::U16(v) => bytemuck::cast_slice(v),
            Self::I16(v) => bytemuck::cast_slice(v),
            Self::I32(v) => bytemuck::cast_slice(v),
            Self::U32(v) => bytemuck::cast_slice(v),
            Self::I64(v) => bytemuck::cast_slice(v),
            Self::U64(v) => bytemuck::cast_slice(v),
            Self::F16(v) => bytemuck::cast_slice(v),
            Self::BF16(v) => bytemuck::cast_slice(v),
            Self::F32(v) => bytemuck::cast_slice(v),
            Self::F64(v) => bytemuck::cast_slice(v),
            Self::Str(_) => return None,
        })
    }

    /// No numbers of the dtype.
    pub(crate) fn empty(dtype: DType) -> Self {
        match dtype {
            DType::Bool => Self::Bool(Vec::new()),
            DType::U8 => Self::U8(Vec::new()),
            DType::I8 => Self::I8(Vec::new()),
            DType::U16 => Self::U16(Vec::new()),
            DType::I16 => Self::I16(Vec::new()),
            DType::I32 => Self::I32(Vec::new()),
            DType::U32 => Self::U32(Vec::new()),
            DType::I64 => Self::I64(Vec::new()),
            DType::U64 => Self::U64(Vec::new()),
            DType::F16 => Self::F16(Vec::new()),
            DType::BF16 => Self::BF16(Vec::new()),
            DType::F32 => Self::F32(Vec::new()),
            DType::F64 => Self::F64(Vec::new()),
            DType::Str => Self::Str(Vec::new()),
        }
    }

    /// Decodes numbers from the bytes of a read, with one copy.
    ///
    /// # Errors
    /// The allocator refuses the memory.
    #[track_caller]
    pub(crate) fn from_bytes(dtype: DType, bytes: &[u8]) -> Result<Self> {
        let mut out = Self::empty(dtype);
        match &mut out {
            Self::Bool(v) => extend(v, bytes, |&byte: &u8| byte != 0)?,
            Self::U8(v) => decode(v, bytes)?,
            Self::I8(v) => decode(v, bytes)?,
            Self::U16(v) => decode(v, bytes)?,
            Self::I16(v) => decode(v, bytes)?,
            Self::I32(v) => decode(v, bytes)?,
            Self::U32(v) => decode(v, bytes)?,
            Self::I64(v) => decode(v, bytes)?,
            Self::U64(v) => decode(v, bytes)?,
            Self::F16(v) => decode(v, bytes)?,
            Self::BF16(v) => decode(v, bytes)?,
            Self::F32(v) => decode(v, bytes)?,
            Self::F64(v) => decode(v, bytes)?,
            Self::Str(_) => unreachable!("bug: strings are read as rows of bytes"),
        }
        Ok(out)
    }

    /// Uploads the values to a device, for the operation `op`.
    ///
    /// # Errors
    /// As [`upload::numbers`] and [`upload::strings`].
    #[track_caller]
    pub(crate) fn upload(&self, op: &'static str, device: &Device) -> Result<Values> {
        match (self, self.number_bytes()) {
            (Self::Str(v), _) => upload::strings(op, device, v.iter().map(Vec::as_slice)),
            (_, bytes) => upload::numbers(op, device, self.dtype(), bytes.unwrap_or_default()),
        }
    }
}

/// A tensor in host memory.
#[derive(Debug, Clone, PartialEq)]
pub struct HostTensor {
    /// The splits of each partition, outermost first.
    pub nested_row_splits: Vec<Vec<u32>>,
    /// The uniform row length of each partition, where it has one.
    pub uniform_row_lengths: Vec<Option<u32>>,
    /// The shape of the flat values.
    pub inner_shape: Vec<usize>,
    /// The flat values, row-major.
    pub values: HostValues,
}

impl HostTensor {
    /// A tensor without partitions.
    ///
    /// ```
    /// use ragged::{Device, HostTensor, HostValues};
    /// let matrix = HostTensor::dense(&[2, 2], HostValues::I32(vec![1, 2, 3, 4])).to_device(&Device::cpu())?;
    /// assert_eq!(matrix.to_string(), "tensor([[1, 2], [3, 4]], shape=(2, 2), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn dense(shape: &[usize], values: HostValues) -> Self {
        Self { nested_row_splits: Vec::new(), uniform_row_lengths: Vec::new(), inner_shape: shape.to_vec(), values }
    }

    /// A tensor of rows: row `r` holds the values `row_splits[r]..row_splits[r + 1]`. The splits are validated only by
    /// [`HostTensor::to_device`].
    ///
    /// ```
    /// use ragged::{Device, HostTensor, HostValues};
    ///
    /// let host = HostTensor::from_row_splits(vec![0, 2, 2, 3], HostValues::F32(vec![1.0, 2.0, 3.0]));
    /// assert_eq!(host.to_device(&Device::cpu())?.to_string(), "<ragged.RaggedTensor [[1.0, 2.0], [], [3.0]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn from_row_splits(row_splits: Vec<u32>, values: HostValues) -> Self {
        Self::from_nested_row_splits(vec![row_splits], values)
    }

    /// A tensor of nested rows, from the splits of each partition, outermost first. The splits are validated only by
    /// [`HostTensor::to_device`].
    ///
    /// ```
    /// use ragged::{Device, HostTensor, HostValues};
    /// let splits = vec![vec![0, 2, 3], vec![0, 2, 2, 3]];
    /// let x = HostTensor::from_nested_row_splits(splits, HostValues::I32(vec![1, 2, 3])).to_device(&Device::cpu())?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[[1, 2], []], [[3]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn from_nested_row_splits(nested_row_splits: Vec<Vec<u32>>, values: HostValues) -> Self {
        let uniform_row_lengths = vec![None; nested_row_splits.len()];
        Self { nested_row_splits, uniform_row_lengths, inner_shape: vec![values.len()], values }
    }

    /// Checks that the levels fit each other and the values.
    ///
    /// # Errors
    /// The first level that does not.
    pub(super) fn check_layout(&self) -> Result<(), String> {
        let outer = self.inner_shape.first().copied();
        let below = self.nested_row_splits.iter().skip(1).map(|splits| splits.len().checked_sub(1)).chain([outer]);
        for (k, (splits, below)) in self.nested_row_splits.iter().zip(below).enumerate() {
            let last = splits.last().map(|&last| last as usize);
            if splits.first() != Some(&0) || last != below || !splits.is_sorted() {
                return Err(format!("the row splits of dimension {} are no splits of {below:?} elements", k + 1));
            }
        }
        let count = self.inner_shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
        if count != Some(self.values.len()) {
            return Err(format!("{} values for a shape of {:?}", self.values.len(), self.inner_shape));
        }
        Ok(())
    }

    /// Validates the splits and uploads the tensor to a device.
    ///
    /// # Errors
    /// An `inner_shape` whose product is not the number of values; splits that do not start at 0, decrease, or do not
    /// end at the number of rows of the next level; more than the device can hold.
    ///
    /// ```
    /// use ragged::{Device, HostTensor, HostValues};
    /// let host = HostTensor::from_row_splits(vec![0, 2, 3], HostValues::I32(vec![1, 2, 3]));
    /// assert_eq!(host.to_device(&Device::cpu())?.to_string(), "<ragged.RaggedTensor [[1, 2], [3]]>");
    /// let uncovered = HostTensor::from_row_splits(vec![0, 2], HostValues::I32(vec![1, 2, 3]));
    /// assert!(uncovered.to_device(&Device::cpu()).is_err());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_device(&self, device: &Device) -> Result<Tensor> {
        const OP: &str = "to_device";
        let size = self.inner_shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
        if size != Some(self.values.len()) {
            let what = format!("a shape of {:?} does not hold {} values", self.inner_shape, self.values.len());
            return Err(Error::argument(OP, what));
        }
        if self.inner_shape.is_empty() && !self.nested_row_splits.is_empty() {
            return Err(Error::argument(OP, "a scalar has no rows: with row splits the inner shape needs a dimension"));
        }
        let rec = Recorder::new(device.backend(), OP);
        let dims = self.inner_shape.iter().map(|&d| Ok(rec.known(d as u64)?.capacity()));
        let dims: Vec<u32> = dims.collect::<Result<_>>()?;
        let values = self.values.upload(OP, device)?;
        let mut partitions = Vec::new();
        for (k, splits) in self.nested_row_splits.iter().enumerate() {
            let below = match self.nested_row_splits.get(k + 1) {
                Some(next) => (next.len() as u64).saturating_sub(1),
                None => self.inner_shape.first().copied().unwrap_or(0) as u64,
            };
            let uniform = self.uniform_row_lengths.get(k).copied().flatten();
            let (level, _counted) = match uniform {
                Some(len) => {
                    RowPartition::validate_splits(rec, splits, Some(below))?;
                    if let Some(row) = splits.windows(2).position(|w| w[1] - w[0] != len) {
                        let found = splits[row + 1] - splits[row];
                        let what = format!("row {row} has {found} values, but the uniform row length is {len}");
                        return Err(Error::partition(OP, what));
                    }
                    (HostLevel::Uniform { length: len, rows: splits.len() as u32 - 1 }, None)
                }
                None => {
                    let (mut own, counted) = counted_vec(device.backend(), OP, splits.len())?;
                    own.extend_from_slice(splits);
                    (HostLevel::Splits(own), Some(counted))
                }
            };
            partitions.push(level.partition(rec, |rows| values.rows(k, rows), below)?);
        }
        let outer = dims.first().map(|&d| values.rows(self.nested_row_splits.len(), d));
        Tensor::new(device.backend(), partitions, outer, dims.into_iter().skip(1).collect::<Vec<u32>>(), values)
    }
}
