//! Where items come from: tensors, iterators and files.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ragged::{Result, Tensor};

use super::{Dataset, Items};
use crate::item::{Call, Column, Item, Kind, Value};

/// Sources.
impl Dataset {
    /// The rows of a tensor: row `i` of a ragged tensor without its outermost dimension.
    ///
    /// The tensor is read into host memory when the first iteration begins. TensorFlow:
    /// `tf.data.Dataset.from_tensor_slices`; [`from_item_slices`](Self::from_item_slices) takes records and tuples.
    ///
    /// # Errors
    /// At the first item: a scalar; a read that fails.
    ///
    /// # Cost
    /// One read of the tensor. An item is a reference to a row.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// use ragged_data::dataset::Dataset;
    /// let rows = RaggedTensor::from_nested([vec![1, 2], vec![3]], &Device::cpu())?;
    /// let first = Dataset::from_tensor_slices(&rows).iter().next().transpose()?;
    /// assert_eq!(first.unwrap().values::<i32>()?, [1, 2]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_tensor_slices(tensor: &impl AsRef<Tensor>) -> Self {
        slices_of(Call::here("Dataset::from_tensor_slices"), tensor.as_ref().into())
    }

    /// The rows of an item: item `i` has row `i` of each of its tensors.
    ///
    /// # Errors
    /// At the first item: tensors of different numbers of rows, a scalar or a sparse tensor; a read that fails.
    ///
    /// # Cost
    /// One read of the tensors that are on a device. An item is a reference to rows.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// use ragged_data::{dataset::Dataset, item::Item};
    /// let device = Device::cpu();
    /// let words = RaggedTensor::from_nested([vec!["a", "b"], vec![]], &device)?;
    /// let label = RaggedTensor::from_nested([1, 0], &device)?;
    /// let dataset = Dataset::from_item_slices(Item::record([("words", Item::from(words)), ("label", label.into())]));
    /// assert_eq!(dataset.iter().count(), 2);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_item_slices(item: Item) -> Self {
        slices_of(Call::here("Dataset::from_item_slices"), item)
    }

    /// The items of an iterator that the function makes for each iteration.
    ///
    /// ```
    /// use ragged_data::dataset::Dataset;
    /// use ragged_data::item::Item;
    /// let dataset = Dataset::from_fn(|| (0..3u8).map(|i| Ok(Item::from([i]))));
    /// assert_eq!(dataset.iter().count(), 3);
    /// ```
    pub fn from_fn<I>(start: impl Fn() -> I + Send + Sync + 'static) -> Self
    where
        I: Iterator<Item = Result<Item>> + Send + 'static,
    {
        Self::new(move |_| start())
    }

    /// These items.
    ///
    /// ```
    /// use ragged_data::dataset::Dataset;
    /// use ragged_data::item::Item;
    /// assert_eq!(Dataset::from_items([Item::from(*b"a"), Item::from(*b"b")]).iter().count(), 2);
    /// ```
    pub fn from_items(items: impl IntoIterator<Item = Item>) -> Self {
        let items: Arc<[Item]> = items.into_iter().collect();
        Self::new(move |_| {
            let items = items.clone();
            (0..items.len()).map(move |i| Ok(items[i].clone()))
        })
    }

    /// The lines of text files, one after the other: a string each, without its line feed (or carriage return and line
    /// feed).
    ///
    /// # Errors
    /// At the item: a file that cannot be opened or read, with its name and the byte; the next file follows.
    ///
    /// # Cost
    /// One copy of a line.
    ///
    /// ```
    /// use ragged_data::dataset::Dataset;
    /// let path = std::env::temp_dir().join("ragged-data-lines.txt");
    /// std::fs::write(&path, "to be\r\nor not\n").unwrap();
    /// let lines = Dataset::from_text_lines([&path]);
    /// let lengths = lines.iter().map(|line| Ok(line?.string()?.len())).collect::<ragged::Result<Vec<_>>>()?;
    /// assert_eq!(lengths, [5, 6]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_text_lines(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        let call = Call::here("Dataset::from_text_lines");
        files(paths, move |path| match File::open(path) {
            Ok(file) => Box::new(Lines {
                call,
                path: path.to_owned(),
                reader: Some(BufReader::with_capacity(1 << 16, file)),
                at: 0,
            }),
            Err(e) => failed(call.io(format!("{} cannot be opened: {e}", path.display()))),
        })
    }

    /// The records of TFRecord files, one after the other: a string each. For damaged files or other options, give
    /// [`RecordReader`](crate::tf::RecordReader)s to [`from_fn`](Self::from_fn).
    ///
    /// # Errors
    /// At the item: a file that cannot be opened or read, or a damaged record; the next file follows.
    ///
    /// # Cost
    /// One copy of a record.
    ///
    /// ```
    /// use ragged_data::dataset::Dataset;
    /// use ragged_data::tf::{Compression, RecordWriter};
    /// let path = std::env::temp_dir().join("ragged-data-source.tfrecord");
    /// let mut writer = RecordWriter::create(&path, Compression::None)?;
    /// writer.write(b"a record")?;
    /// writer.finish()?;
    /// let records = Dataset::from_records([&path], Compression::None);
    /// assert_eq!(records.iter().next().unwrap()?.string()?, b"a record");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[cfg(feature = "tf")]
    #[track_caller]
    pub fn from_records(
        paths: impl IntoIterator<Item = impl AsRef<Path>>,
        compression: crate::tf::Compression,
    ) -> Self {
        let call = Call::here("Dataset::from_records");
        files(paths, move |path| match crate::tf::RecordReader::open_for(call, path) {
            Ok(reader) => Box::new(reader.compression(compression).map(move |record| string(call, record?))),
            Err(e) => failed(e),
        })
    }
}

fn string(call: Call, bytes: Vec<u8>) -> Result<Item> {
    Ok(Item::of(Value::column(Column::string(call, bytes)?)))
}

pub(super) fn failed(e: ragged::Error) -> Items {
    Box::new(std::iter::once(Err(e)))
}

pub(super) fn files(
    paths: impl IntoIterator<Item = impl AsRef<Path>>,
    open: impl Fn(&Path) -> Items + Send + Sync + 'static,
) -> Dataset {
    let paths: Arc<[PathBuf]> = paths.into_iter().map(|path| path.as_ref().to_owned()).collect();
    let open = Arc::new(open);
    Dataset::new(move |_| {
        let (paths, open) = (paths.clone(), open.clone());
        (0..paths.len()).flat_map(move |i| open(&paths[i]))
    })
}

/// The lines of a file.
struct Lines {
    call: Call,
    path: PathBuf,
    reader: Option<BufReader<File>>,
    at: u64,
}

impl Iterator for Lines {
    type Item = Result<Item>;

    fn next(&mut self) -> Option<Result<Item>> {
        let mut line = Vec::new();
        match self.reader.as_mut()?.read_until(b'\n', &mut line) {
            Ok(0) => None,
            Ok(n) => {
                self.at += n as u64;
                if line.ends_with(b"\n") {
                    line.pop();
                    if line.ends_with(b"\r") {
                        line.pop();
                    }
                }
                Some(string(self.call, line))
            }
            Err(e) => {
                self.reader = None;
                let what = format!("{} cannot be read at byte {}: {e}", self.path.display(), self.at);
                Some(Err(self.call.io(what)))
            }
        }
    }
}

/// The item with all tensors in host memory.
pub(super) fn on_host(item: Item) -> Result<Item> {
    let mut leaves = Vec::new();
    item.leaves(&mut leaves);
    let tensors: Vec<&Tensor> =
        leaves.iter().filter_map(|v| if let Value::Device(x) = v { Some(&**x) } else { None }).collect();
    if tensors.is_empty() {
        return Ok(item);
    }
    let mut columns = Column::read(&tensors)?.into_iter();
    item.try_map(&mut |value| {
        Ok(match value {
            Value::Device(_) => Value::column(columns.next().unwrap_or_else(|| unreachable!("bug: one per tensor"))),
            other => other.clone(),
        })
    })
}

/// Row `row` of every tensor of an item of which each is a whole column.
fn row_of(item: &Item, row: usize) -> Item {
    Item(match &item.0 {
        Kind::Value(Value::Host { column, .. }) => Kind::Value(Value::Host { column: column.clone(), row: Some(row) }),
        Kind::Value(other) => Kind::Value(other.clone()),
        Kind::Tuple(items) => Kind::Tuple(items.iter().map(|item| row_of(item, row)).collect()),
        Kind::Record(fields) => Kind::Record(fields.map(|item| row_of(item, row))),
    })
}

/// The rows of an item.
///
/// # Errors
/// Tensors of different numbers of rows; one without rows.
pub(super) fn rows(call: Call, item: &Item) -> Result<impl Iterator<Item = Result<Item>> + Send + use<>> {
    let item = on_host(item.clone())?.try_map(&mut |value| {
        Ok(match value {
            Value::Host { row: Some(_), .. } => match value.view() {
                Some(view) => Value::column(view.to_column()),
                None => value.clone(),
            },
            other => other.clone(),
        })
    })?;
    let mut leaves = Vec::new();
    item.leaves(&mut leaves);
    let mut count = None;
    for value in leaves {
        let n = match value {
            Value::Host { column, .. } => column.nrows().ok_or_else(|| call.argument("a scalar has no rows"))?,
            _ => return Err(call.argument("a sparse tensor is not divided into rows: ask for a ragged one")),
        };
        if *count.get_or_insert(n) != n {
            return Err(call.argument(format!("the tensors of the item have {} and {n} rows", count.unwrap_or(0))));
        }
    }
    let item = Arc::new(item);
    Ok((0..count.unwrap_or(0)).map(move |row| Ok(row_of(&item, row))))
}

fn slices_of(call: Call, item: Item) -> Dataset {
    let read: Arc<OnceLock<Result<Item>>> = Arc::default();
    Dataset::new(move |_| -> Items {
        match read.get_or_init(|| on_host(item.clone())).clone().and_then(|item| rows(call, &item)) {
            Ok(rows) => Box::new(rows),
            Err(e) => failed(e),
        }
    })
}
