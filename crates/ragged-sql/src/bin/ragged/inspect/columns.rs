//! Statistics of columns.

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Float64Array, GenericListArray, OffsetSizeTrait, RecordBatch, StringArray,
};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::compute::cast;
use datafusion::arrow::compute::kernels::aggregate::{max, min};
use datafusion::arrow::datatypes::{DataType, Field, Float64Type};
use datafusion::arrow::util::pretty::pretty_format_batches;
use std::sync::Arc;

use super::histogram::Histogram;

/// Statistics of a column, or of the field of records within it.
#[derive(Debug)]
pub struct Column {
    /// The column and the fields within it.
    path: Vec<String>,
    kind: DataType,
    /// Of each depth: rows, and items of lists.
    nulls: Vec<u64>,
    /// Lengths of the lists of each depth.
    lists: Vec<Histogram>,
    values: u64,
    /// Of numbers.
    range: Option<(f64, f64)>,
    nans: u64,
    /// Of text: bytes.
    text: Histogram,
}

impl Column {
    /// The column, and in place of a record its fields.
    pub fn all(field: &Field) -> Vec<Self> {
        fn below(field: &Field, path: &[String], all: &mut Vec<Column>) {
            let path: Vec<String> = path.iter().chain([field.name()]).cloned().collect();
            match innermost(field.data_type()) {
                DataType::Struct(fields) => fields.iter().for_each(|field| below(field, &path, all)),
                _ => all.push(Column::new(path, field.data_type().clone())),
            }
        }
        let mut all = Vec::new();
        below(field, &[], &mut all);
        all
    }

    fn new(path: Vec<String>, kind: DataType) -> Self {
        let text = Histogram::default();
        Self { path, kind, nulls: Vec::new(), lists: Vec::new(), values: 0, range: None, nans: 0, text }
    }

    /// The column of the table.
    pub fn field(&self) -> &str {
        &self.path[0]
    }

    /// Counts the rows of a batch.
    pub fn add(&mut self, array: &ArrayRef) {
        let within: Vec<String> = self.path[1..].to_vec();
        self.add_within(array, 0, &within);
    }

    fn add_within(&mut self, array: &ArrayRef, depth: usize, fields: &[String]) {
        if self.nulls.len() <= depth {
            self.nulls.resize(depth + 1, 0);
        }
        self.nulls[depth] += array.logical_null_count() as u64;
        match array.data_type() {
            DataType::ListView(item) => self.add_as(&DataType::List(item.clone()), array, depth, fields),
            DataType::LargeListView(item) => self.add_as(&DataType::LargeList(item.clone()), array, depth, fields),
            DataType::Struct(_) => {
                let Some((first, others)) = fields.split_first() else { return };
                if let Some(column) = array.as_struct().column_by_name(first) {
                    // A field of a record that is NULL is NULL, once.
                    let (of_records, of_field) = (array.logical_nulls(), column.logical_nulls());
                    let both = NullBuffer::union(of_records.as_ref(), of_field.as_ref());
                    self.nulls[depth] -= array.logical_null_count() as u64;
                    self.nulls[depth] +=
                        both.map_or(0, |both| both.null_count() as u64) - column.logical_null_count() as u64;
                    self.add_within(&column.clone(), depth, others);
                }
            }
            DataType::List(_) => self.add_lists(array.as_list::<i32>(), array, depth, fields),
            DataType::LargeList(_) => self.add_lists(array.as_list::<i64>(), array, depth, fields),
            DataType::FixedSizeList(_, width) => {
                let width = *width as usize;
                self.lengths(array, depth, |_| width);
                self.add_within(array.as_fixed_size_list().values(), depth + 1, fields);
            }
            _ => self.leaves(array),
        }
    }

    /// Views in their order, without what no view has.
    fn add_as(&mut self, kind: &DataType, array: &ArrayRef, depth: usize, fields: &[String]) {
        // The NULLs of the views are counted.
        if let Ok(lists) = cast(array, kind) {
            self.nulls[depth] -= array.logical_null_count() as u64;
            self.add_within(&lists, depth, fields);
        }
    }

    fn add_lists<O: OffsetSizeTrait>(
        &mut self,
        lists: &GenericListArray<O>,
        array: &ArrayRef,
        depth: usize,
        fields: &[String],
    ) {
        self.lengths(array, depth, |row| lists.value_length(row).as_usize());
        let offsets = lists.value_offsets();
        let (first, last) = (offsets[0].as_usize(), offsets[lists.len()].as_usize());
        self.add_within(&lists.values().slice(first, last - first), depth + 1, fields);
    }

    fn lengths(&mut self, array: &ArrayRef, depth: usize, length: impl Fn(usize) -> usize) {
        if self.lists.len() <= depth {
            self.lists.resize(depth + 1, Histogram::default());
        }
        (0..array.len()).filter(|row| array.is_valid(*row)).for_each(|row| self.lists[depth].add(length(row)));
    }

    fn leaves(&mut self, array: &ArrayRef) {
        self.values += array.len() as u64;
        let kind = array.data_type();
        if kind.is_numeric() {
            let Ok(numbers) = cast(array, &DataType::Float64) else { return };
            let numbers = numbers.as_primitive::<Float64Type>();
            self.nans += numbers.iter().flatten().filter(|x| x.is_nan()).count() as u64;
            let numbers: Float64Array = numbers.iter().map(|x| x.filter(|x| !x.is_nan())).collect();
            if let (Some(least), Some(greatest)) = (min(&numbers), max(&numbers)) {
                let (before, behind) = self.range.unwrap_or((least, greatest));
                self.range = Some((before.min(least), behind.max(greatest)));
            }
        } else if let Ok(bytes) = cast(array, &DataType::LargeBinary)
            && matches!(
                kind,
                DataType::Utf8
                    | DataType::LargeUtf8
                    | DataType::Utf8View
                    | DataType::Binary
                    | DataType::LargeBinary
                    | DataType::BinaryView
            )
        {
            bytes.as_binary::<i64>().iter().flatten().for_each(|text| self.text.add(text.len()));
        }
    }

    fn values(&self) -> String {
        let nans = if self.nans > 0 { format!(", {} NaN", self.nans) } else { String::new() };
        match (self.range, self.text.least) {
            (Some((least, greatest)), _) => format!("{least} to {greatest}{nans}"),
            (None, Some(least)) => format!("{least} to {} bytes", self.text.most),
            _ => nans.trim_start_matches(", ").into(),
        }
    }
}

fn innermost(kind: &DataType) -> &DataType {
    match kind {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _) => innermost(item.data_type()),
        kind => kind,
    }
}

/// The columns as a table, and a histogram of the lengths of each column of lists.
pub fn describe(columns: &[Column]) -> String {
    let column = |name, cell: &dyn Fn(&Column) -> String| {
        let cells: ArrayRef = Arc::new(StringArray::from_iter_values(columns.iter().map(cell)));
        (name, cells)
    };
    let table = RecordBatch::try_from_iter([
        column("column", &|column| column.path.join(".")),
        column("type", &|column| column.kind.to_string()),
        column("NULL", &|column| column.nulls.iter().map(u64::to_string).collect::<Vec<_>>().join("; ")),
        column("lengths", &|column| column.lists.iter().map(lengths).collect::<Vec<_>>().join("; ")),
        column("values", &|column| column.values.to_string()),
        column("range", &Column::values),
    ]);
    let table = table.and_then(|table| pretty_format_batches(&[table]).map(|table| table.to_string()));
    let mut text = table.unwrap_or_else(|error| error.to_string());
    for column in columns {
        for (depth, lists) in column.lists.iter().enumerate().filter(|(_, lists)| lists.rows > 0) {
            let below = if depth == 0 { String::new() } else { format!(" at depth {}", depth + 1) };
            text += &format!(
                "\n\n{}: lengths of lists{below}; padded to the longest, {:.1} times the values\n{}",
                column.path.join("."),
                lists.padding(),
                lists.bars().trim_end()
            );
        }
    }
    text
}

fn lengths(lists: &Histogram) -> String {
    format!("{} to {}, mean {:.1}", lists.least.unwrap_or(0), lists.most, lists.mean())
}
