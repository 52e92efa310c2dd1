//! Numbers and bools.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, make_array};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use ragged::{DType, Result, SharedTensor};

use super::{named, refused};
use crate::arrow::bits::bits_of_bytes;
use crate::arrow::decode::dtype_of;
use crate::arrow::memory::buffer;
use crate::fault::argument;

/// The Arrow type of a dtype.
fn type_of(dtype: DType) -> Option<DataType> {
    Some(match dtype {
        DType::Bool => DataType::Boolean,
        DType::I8 => DataType::Int8,
        DType::I16 => DataType::Int16,
        DType::I32 => DataType::Int32,
        DType::I64 => DataType::Int64,
        DType::U8 => DataType::UInt8,
        DType::U16 => DataType::UInt16,
        DType::U32 => DataType::UInt32,
        DType::U64 => DataType::UInt64,
        DType::F16 => DataType::Float16,
        DType::F32 => DataType::Float32,
        DType::F64 => DataType::Float64,
        _ => return None,
    })
}

/// The flat values of a tensor of numbers or bools.
pub(super) fn numbers(path: &str, shared: &SharedTensor, data_type: Option<&DataType>) -> Result<ArrayRef> {
    let dtype = shared.dtype;
    let data_type = match (data_type.cloned(), type_of(dtype)) {
        (None, Some(own)) => own,
        (None, None) => {
            let what = format!("{}Arrow has no type for {dtype}; cast the tensor to f32", named(path));
            return Err(argument(what));
        }
        (Some(given), _) => given,
    };
    let n = shared.values.len() / dtype.size();
    if dtype == DType::Bool && data_type == DataType::Boolean {
        return Ok(Arc::new(BooleanArray::new(bits_of_bytes(&shared.values)?, None)));
    }
    if dtype_of(&data_type) != Some(dtype) {
        return Err(argument(format!("{}values of {dtype} are no {data_type}", named(path))));
    }
    let builder = ArrayData::builder(data_type).len(n).add_buffer(buffer(&shared.values, dtype.size()));
    Ok(make_array(builder.build().map_err(|e| refused(path, &e))?))
}
