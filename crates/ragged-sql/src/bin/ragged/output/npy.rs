//! One column as an npy file.

use std::io::{self, Write};

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, GenericListArray, OffsetSizeTrait, RecordBatch, new_empty_array,
};
use datafusion::arrow::compute::concat;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use ragged::{Device, Tensor};
use ragged_data::arrow::FromArrow;
use ragged_data::npy;

use crate::exit::Failure;

/// Collects the column, since the file begins with its length.
pub struct Npy<W> {
    to: W,
    parts: Vec<ArrayRef>,
}

impl<W: Write> Npy<W> {
    pub fn new(to: W) -> Self {
        Self { to, parts: Vec::new() }
    }

    /// # Errors
    /// More than one column; a type that has no dtype.
    pub fn check(schema: &SchemaRef) -> Result<(), Failure> {
        let [field] = &schema.fields()[..] else {
            let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            return Err(Failure::usage(format!(
                "an npy file holds one column, not {}: {}",
                names.len(),
                names.join(", ")
            )));
        };
        match Tensor::from_arrow(&*new_empty_array(field.data_type()), &Device::cpu()) {
            Ok(_) => Ok(()),
            Err(error) => Err(Failure::usage(format!("{}: {}", field.name(), ragged_sql::message(&error)))),
        }
    }

    pub fn write(&mut self, rows: &RecordBatch) {
        self.parts.push(rows.column(0).clone());
    }

    /// # Errors
    /// NULL; lists of different lengths; within, those of the output.
    pub fn finish(mut self) -> Result<io::Result<()>, Failure> {
        let parts: Vec<&dyn Array> = self.parts.iter().map(|part| &**part).collect();
        if parts.is_empty() {
            return Err(Failure::data("there are no rows, and an npy file of none has no shape"));
        }
        let column = concat(&parts).map_err(Failure::data)?;
        let mut lengths = vec![column.len()];
        if !are_uniform(&column, &mut lengths) {
            return Err(Failure::data(
                "lists of different lengths have no dense array: use .parquet, or pad and cut them: ragged_slice_rows(ragged_pad_rows(x, n, fill), 0, n)",
            ));
        }
        let dense =
            Tensor::from_arrow(&*column, &Device::cpu()).and_then(|column| column.flat_values()).and_then(|values| {
                let below = values.shape().into_iter().skip(1).flatten();
                let shape: Vec<usize> = lengths.iter().copied().chain(below).collect();
                values.reshape(shape)
            });
        let dense = dense.map_err(|error| Failure::of_engine(&error))?;
        let bytes = npy::to_bytes(&dense).map_err(|error| Failure::of_engine(&error))?;
        Ok(self.to.write_all(&bytes).and_then(|()| self.to.flush()))
    }
}

/// Whether the lists have one length; `lengths` gets that of each depth.
fn are_uniform(column: &ArrayRef, lengths: &mut Vec<usize>) -> bool {
    fn lists<O: OffsetSizeTrait>(lists: &GenericListArray<O>, lengths: &mut Vec<usize>) -> bool {
        let offsets = lists.value_offsets();
        let length = offsets.get(1).map_or(0, |end| (*end - offsets[0]).as_usize());
        if offsets.windows(2).any(|pair| (pair[1] - pair[0]).as_usize() != length) {
            return false;
        }
        lengths.push(length);
        are_uniform(&lists.values().slice(offsets[0].as_usize(), length * lists.len()), lengths)
    }
    match column.data_type() {
        DataType::List(_) => lists(column.as_list::<i32>(), lengths),
        DataType::LargeList(_) => lists(column.as_list::<i64>(), lengths),
        // Those below it are dimensions of the tensor.
        _ => true,
    }
}
