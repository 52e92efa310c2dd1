//! Numbers and bools.

use arrow_array::{Array, BooleanArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, IntervalUnit};
use ragged::{DType, Result, Tensor};

use super::Decoder;
use crate::arrow::bits::without_nulls;
use crate::arrow::memory::owner;

/// The dtype in which an Arrow type of numbers is stored.
pub(in crate::arrow) fn dtype_of(data_type: &DataType) -> Option<DType> {
    Some(match data_type {
        DataType::Int8 => DType::I8,
        DataType::Int16 => DType::I16,
        DataType::Int32 | DataType::Date32 | DataType::Time32(_) | DataType::Interval(IntervalUnit::YearMonth) => {
            DType::I32
        }
        DataType::Int64 | DataType::Date64 | DataType::Time64(_) | DataType::Timestamp(..) | DataType::Duration(_) => {
            DType::I64
        }
        DataType::UInt8 => DType::U8,
        DataType::UInt16 => DType::U16,
        DataType::UInt32 => DType::U32,
        DataType::UInt64 => DType::U64,
        DataType::Float16 => DType::F16,
        DataType::Float32 => DType::F32,
        DataType::Float64 => DType::F64,
        _ => return None,
    })
}

impl Decoder<'_> {
    /// A vector of numbers; 0 where they are to be emptied.
    pub(super) fn numbers(&self, array: &dyn Array, dtype: DType, nulls: Option<&NullBuffer>) -> Result<Tensor> {
        let (data, size) = (array.to_data(), dtype.size());
        let (n, buffer) = (data.len(), &data.buffers()[0]);
        let buffer = buffer.slice_with_length(data.offset() * size, n * size);
        let memory = match self.emptied(nulls) {
            None => owner(buffer),
            Some(nulls) => without_nulls(&buffer, size, nulls)?,
        };
        Tensor::from_shared(memory, dtype, &[n], self.device)
    }

    /// A vector of bools; false where they are to be emptied.
    pub(super) fn bools(&self, array: &BooleanArray, nulls: Option<&NullBuffer>) -> Result<Tensor> {
        self.bytes_of_bits(array.values(), self.emptied(nulls))
    }
}
