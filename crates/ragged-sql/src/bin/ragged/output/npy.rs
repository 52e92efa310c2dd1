//! One column as an npy file.

use std::io::{self, Write};

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch, new_empty_array};
use datafusion::arrow::compute::concat;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use ragged::{Device, Tensor};
use ragged_data::arrow::FromArrow;
use ragged_data::npy;

use crate::exit::Failure;

/// Collects the column, since the file begins with its length.
pub struct Npy<W> {
    to: W,
    name: String,
    parts: Vec<ArrayRef>,
}

impl<W: Write> Npy<W> {
    pub fn new(to: W, schema: &SchemaRef) -> Self {
        let name = schema.fields().first().map_or(String::new(), |field| field.name().clone());
        Self { to, name, parts: Vec::new() }
    }

    /// # Errors
    /// More than one column; lists of any length; a type that has no dtype.
    pub fn check(schema: &SchemaRef) -> Result<(), Failure> {
        let [field] = &schema.fields()[..] else {
            let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            return Err(Failure::usage(format!(
                "an npy file holds one column, not {}: {}",
                names.len(),
                names.join(", ")
            )));
        };
        if let Some(items) = of_lists(field.data_type()) {
            return Err(Failure::usage(format!(
                "{} is of lists of any length, {}, which an npy file does not hold: use .parquet, or say how long all are, as in \
                 arrow_cast(x, 'FixedSizeList(3, {items})'); ragged_slice_rows(ragged_pad_rows(x, 3, 0), 0, 3) makes them as long",
                field.name(),
                field.data_type()
            )));
        }
        match Tensor::from_arrow(&*new_empty_array(field.data_type()), &Device::cpu()) {
            Ok(_) => Ok(()),
            Err(error) => Err(Failure::usage(format!("{}: {}", field.name(), ragged_sql::message(&error)))),
        }
    }

    pub fn write(&mut self, rows: &RecordBatch) {
        self.parts.push(rows.column(0).clone());
    }

    /// # Errors
    /// NULL; no rows; within, those of the output.
    pub fn finish(mut self) -> Result<io::Result<()>, Failure> {
        let parts: Vec<&dyn Array> = self.parts.iter().map(|part| &**part).collect();
        if parts.is_empty() {
            return Err(Failure::data("there are no rows, and an npy file of none has no shape"));
        }
        let column = concat(&parts).map_err(Failure::data)?;
        if let Some(row) = (0..column.len()).find(|row| has_null(&column.slice(*row, 1))) {
            return Err(Failure::data(format!(
                "{} is NULL, or contains it, in row {row} of the result (the first is 0), and an npy file has no NULL: leave such rows \
                 out with --where, or replace NULL, as in coalesce(x, 0)",
                self.name
            )));
        }
        let dense = Tensor::from_arrow(&*column, &Device::cpu()).map_err(|error| Failure::of_engine(&error))?;
        let bytes = npy::to_bytes(&dense).map_err(|error| Failure::of_engine(&error))?;
        Ok(self.to.write_all(&bytes).and_then(|()| self.to.flush()))
    }
}

/// The type of the items if there are lists of any length in the type.
fn of_lists(kind: &DataType) -> Option<&DataType> {
    match kind {
        DataType::List(item) | DataType::LargeList(item) | DataType::ListView(item) | DataType::LargeListView(item) => {
            Some(item.data_type())
        }
        DataType::FixedSizeList(item, _) => of_lists(item.data_type()),
        _ => None,
    }
}

/// Whether a value is NULL or contains one.
fn has_null(column: &ArrayRef) -> bool {
    column.logical_null_count() > 0
        || column.as_fixed_size_list_opt().is_some_and(|lists| {
            // Those of a slice begin where it does.
            has_null(lists.values())
        })
}
