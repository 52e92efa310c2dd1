//! Uploads columns as the fields of records. Fields of the same records share one row partition.

use std::sync::atomic::{AtomicU64, Ordering};

use super::column::{Column, Data, Numbers};
use crate::backend::host_memory::counted_allocations;
use crate::device::Device;
use crate::error::Result;
use crate::graph::digest::Digest;
use crate::graph::extent::Extent;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::shape::{RaggedShape, RowPartition};
use crate::structured::fields::Fields;
use crate::structured::{FieldValue, StructuredTensor};
use crate::tensor::{HostValues, Tensor, Values};

/// The operations that make records give their own name to errors.
const OP: &str = "records";

/// The dtypes of inferred numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dtypes {
    /// i32 where all integers fit, else i64 or u64; f32.
    Narrow,
    /// i64, or u64 where an integer needs it; f64.
    Wide,
}

/// The dimensions above a column.
#[derive(Clone, Default)]
pub(super) struct Dims {
    /// The partitions of all dimensions but the outermost.
    partitions: Vec<RowPartition>,
    /// Number of elements of the innermost of them; none for a scalar.
    outer: Option<Extent>,
}

/// The size of a dimension of `n` elements, as a size of its own: batches of other sizes run the same plan.
#[track_caller]
fn size(n: usize) -> Result<Extent> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let known = Extent::known_u64(OP, n as u64)?;
    if n <= 1 {
        return Ok(known);
    }
    let identity = Digest::of("number of records", NEXT.fetch_add(1, Ordering::Relaxed));
    Ok(Extent::input(identity, known.capacity()))
}

impl Dims {
    /// The dimension of all elements of a column.
    #[track_caller]
    pub(super) fn of_len(n: usize) -> Result<Self> {
        Ok(Self { partitions: Vec::new(), outer: Some(size(n)?) })
    }

    /// These dimensions and that of lists.
    #[track_caller]
    fn with_lists(mut self, splits: Vec<u32>, device: &Device) -> Result<Self> {
        let rec = Recorder::new(device.backend(), OP);
        let Some(above) = &self.outer else {
            return Self::of_len(splits.last().copied().unwrap_or(0) as usize);
        };
        let partition = RowPartition::from_host_splits(rec, splits)?.below(above)?;
        self.outer = Some(partition.nvals_extent().clone());
        self.partitions.push(partition);
        Ok(self)
    }

    #[track_caller]
    fn tensor(self, device: &Device, values: Values) -> Result<Tensor> {
        Tensor::new(device.backend(), self.partitions, self.outer, [], values)
    }
}

impl Column {
    /// Uploads the values under the given dimensions.
    ///
    /// # Errors
    /// More values than the device can hold; a dtype that it lacks.
    #[track_caller]
    pub(super) fn into_field(self, dims: Dims, device: &Device, dtypes: Dtypes) -> Result<FieldValue> {
        let rec = Recorder::new(device.backend(), OP);
        let values = match self.data {
            Data::Unknown => HostValues::F32(Vec::new()).upload(OP, device)?,
            Data::Bool(v) => HostValues::Bool(v).upload(OP, device)?,
            Data::Numbers(v) => {
                let _counted = counted_allocations(device.backend(), OP, 8 * (v.ints.len() + v.floats.len()) as u64)?;
                typed(v, dtypes).upload(OP, device)?
            }
            Data::Typed(v) => v.upload(OP, device)?,
            Data::Str(v) => {
                // An error if the device does not support strings.
                HostValues::Str(Vec::new()).upload(OP, device)?;
                Values::upload_strings(OP, device, v.splits, &v.bytes)?
            }
            Data::List(v) => {
                let dims = dims.with_lists(v.splits, device)?;
                return v.child.into_field(dims, device, dtypes);
            }
            Data::Record(v) => {
                let mut fields = Fields::new();
                for (name, column) in v.names.into_iter().zip(v.columns) {
                    fields.insert(name, column.into_field(dims.clone(), device, dtypes)?);
                }
                let Dims { partitions, outer } = dims;
                let shape = RaggedShape::of_parts(rec, partitions, outer, [], Vec::new())?;
                return Ok(StructuredTensor { shape, fields }.into());
            }
        };
        Ok(dims.tensor(device, values)?.into())
    }
}

/// Inferred numbers in their dtype.
fn typed(numbers: Numbers, dtypes: Dtypes) -> HostValues {
    let Numbers { ints, floats, is_unsigned } = &numbers;
    match dtypes {
        Dtypes::Wide if floats.is_empty() && !is_unsigned => HostValues::I64(numbers.ints),
        Dtypes::Wide if ints.is_empty() => HostValues::F64(numbers.floats),
        // A float beyond the range of f32 makes its field f64.
        Dtypes::Narrow if !floats.is_empty() && numbers.fit_f32() => {
            let single = |v: f64| v as f32;
            HostValues::F32(numbers.int_floats().chain(floats.iter().copied()).map(single).collect())
        }
        _ if !floats.is_empty() => HostValues::F64(numbers.int_floats().chain(floats.iter().copied()).collect()),
        _ if *is_unsigned => HostValues::U64(ints.iter().map(|&v| v as u64).collect()),
        _ => {
            let narrow = ints.iter().map(|&v| i32::try_from(v).ok()).collect::<Option<Vec<i32>>>();
            narrow.map_or_else(|| HostValues::I64(ints.clone()), HostValues::I32)
        }
    }
}
