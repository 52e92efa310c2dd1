//! Rows for readers.

use std::io::{self, Write};
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::arrow::util::pretty::pretty_format_batches;

/// Most rows that are printed.
const MOST_ROWS: usize = 100;

/// Most characters of a value.
const MOST_CHARACTERS: usize = 100;

/// The first rows as a table.
pub struct Table<W> {
    to: W,
    names: Vec<String>,
    cells: Vec<Vec<String>>,
    is_cut: bool,
}

impl<W: Write> Table<W> {
    pub fn new(to: W, schema: &SchemaRef) -> Self {
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let cells = vec![Vec::new(); names.len()];
        Self { to, names, cells, is_cut: false }
    }

    pub fn write(&mut self, rows: &RecordBatch) {
        let room = MOST_ROWS - self.cells.first().map_or(0, Vec::len);
        self.is_cut |= rows.num_rows() > room;
        let options = FormatOptions::default().with_null("NULL").with_display_error(true);
        for (cells, column) in self.cells.iter_mut().zip(rows.columns()) {
            let Ok(format) = ArrayFormatter::try_new(column, &options) else { continue };
            cells.extend((0..rows.num_rows().min(room)).map(|row| short(format.value(row).to_string())));
        }
    }

    /// Whether there are rows that are not printed.
    pub fn is_full(&self) -> bool {
        self.is_cut
    }

    /// # Errors
    /// Those of the output.
    pub fn finish(mut self) -> io::Result<()> {
        let columns = self.names.iter().zip(&self.cells).map(|(name, cells)| {
            let cells: ArrayRef = Arc::new(StringArray::from_iter_values(cells));
            (name.as_str(), cells)
        });
        let columns: Vec<(&str, ArrayRef)> = columns.collect();
        let table = RecordBatch::try_from_iter(columns)
            .and_then(|batch| pretty_format_batches(&[batch]).map(|table| table.to_string()));
        writeln!(self.to, "{}", table.map_err(io::Error::other)?)?;
        if self.is_cut {
            writeln!(self.to, "the first {MOST_ROWS} rows; -o FILE writes all")?;
        }
        self.to.flush()
    }
}

fn short(text: String) -> String {
    match text.char_indices().nth(MOST_CHARACTERS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_cut_between_characters() {
        assert_eq!(short("ä".repeat(100)), "ä".repeat(100));
        assert_eq!(short("ä".repeat(101)), "ä".repeat(100) + "…");
    }
}
