//! Columns of a few rows, on which expressions are tried before a query runs.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, FixedSizeListArray, GenericListArray, OffsetSizeTrait};
use arrow::buffer::OffsetBuffer;
use arrow::compute::concat;
use arrow::datatypes::{DataType, Field};
use datafusion::common::{Result, ScalarValue};

/// Values of a list. Those of all columns are as long, so that calls of several columns have a result.
const LENGTH: usize = 2;

/// A column of so many rows: small numbers, which are indices of the lists as well; short texts.
///
/// # Errors
/// A type without such values.
pub(crate) fn column(of: &DataType, rows: usize) -> Result<ArrayRef> {
    Ok(match of {
        DataType::List(item) => lists::<i32>(item, rows)?,
        DataType::LargeList(item) => lists::<i64>(item, rows)?,
        DataType::FixedSizeList(item, width) => {
            let values = column(item.data_type(), rows * usize::try_from(*width).unwrap_or(0))?;
            Arc::new(FixedSizeListArray::try_new(item.clone(), *width, values, None)?)
        }
        of => {
            // Neither sorted, nor in the opposite order, nor all different.
            let (zero, one) = (ScalarValue::new_default(of)?, another(of)?);
            let values = [zero.clone(), one.clone(), one, zero];
            let values =
                values.into_iter().cycle().take(rows).map(|value| value.to_array()).collect::<Result<Vec<_>>>()?;
            let values: Vec<&dyn Array> = values.iter().map(|value| &**value).collect();
            concat(&values)?
        }
    })
}

fn lists<O: OffsetSizeTrait>(item: &Arc<Field>, rows: usize) -> Result<ArrayRef> {
    let values = column(item.data_type(), rows * LENGTH)?;
    let offsets = OffsetBuffer::from_repeated_length(LENGTH, rows);
    Ok(Arc::new(GenericListArray::<O>::try_new(item.clone(), offsets, values, None)?))
}

/// A value that is not the default.
fn another(of: &DataType) -> Result<ScalarValue> {
    match of {
        DataType::Boolean => Ok(ScalarValue::from(true)),
        DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView => ScalarValue::from("a b").cast_to(of),
        of => ScalarValue::new_one(of),
    }
}
