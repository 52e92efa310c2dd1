//! Batches.

use ragged::{HostTensor, HostValues, Result};

use super::sources::{on_host, rows};
use super::{BatchSize, Dataset, Items};
use crate::item::{Call, Item, Kind, Stack, Value, Values, View, pad, stack};

/// How rows become a batch.
#[derive(Debug, Clone)]
pub(super) enum Layout {
    Stack(Stack),
    Pad(Option<Values>),
}

/// Batches.
impl Dataset {
    /// Batches of consecutive items: tensors with a row per item.
    ///
    /// Rows of ragged tensors, and ragged tensors, are rows of a ragged tensor; dense tensors of one shape become a dense
    /// tensor. The last batch has the items that are left. TensorFlow: `Dataset.batch`.
    ///
    /// # Errors
    /// In the batch's place: an item that is an error; dense items of different shapes; other names, dtypes or numbers of
    /// dimensions than the first item's; a row above the limit of the size, with its number and bytes; sparse tensors.
    ///
    /// # Cost
    /// One copy of the values. Tensors on devices are read first, in one wait per batch. With a size in bytes, the stage
    /// holds at most twice the target and two rows.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// use ragged_data::dataset::{BatchSize, Dataset};
    /// let device = Device::cpu();
    /// let rows = RaggedTensor::from_nested([vec![1, 2], vec![3], vec![]], &device)?;
    /// let dataset = Dataset::from_tensor_slices(&rows);
    /// let texts = dataset.batch(2).iter().map(|batch| Ok(batch?.tensor(&device)?.to_string()));
    /// let texts = texts.collect::<ragged::Result<Vec<_>>>()?;
    /// assert_eq!(texts, ["<ragged.RaggedTensor [[1, 2], [3]]>", "<ragged.RaggedTensor [[]]>"]);
    /// assert_eq!(dataset.batch(BatchSize::rows(2).drop_remainder()).iter().count(), 1);
    /// assert_eq!(dataset.batch(BatchSize::bytes(8)).iter().count(), 2);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn batch(&self, size: impl Into<BatchSize>) -> Self {
        self.batches(Call::here("Dataset::batch"), size.into(), Layout::Stack(Stack::Natural))
    }

    /// As [`batch`](Self::batch), but dense items of one dimension or more may have any length: they are rows of a ragged
    /// tensor. Scalars become a vector. TensorFlow: `Dataset.ragged_batch`, `tf.data.experimental.dense_to_ragged_batch`.
    ///
    /// # Errors
    /// As [`batch`](Self::batch); items whose sizes differ in a later dimension.
    ///
    /// # Cost
    /// As [`batch`](Self::batch).
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// use ragged_data::dataset::Dataset;
    /// let device = Device::cpu();
    /// let of = device.clone();
    /// let ranges = Dataset::from_tensor_slices(&RaggedTensor::from_nested([1, 3], &device)?)
    ///     .map(move |n| Ok(n.tensor(&of)?.range()?.flat_values()?.into()));
    /// let batch = ranges.ragged_batch(2).iter().next().unwrap()?.tensor(&device)?;
    /// assert_eq!(batch.to_string(), "<ragged.RaggedTensor [[0], [0, 1, 2]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn ragged_batch(&self, size: impl Into<BatchSize>) -> Self {
        self.batches(Call::here("Dataset::ragged_batch"), size.into(), Layout::Stack(Stack::Ragged))
    }

    /// Batches of dense items, each padded at its end to the longest size of each dimension: dense tensors.
    ///
    /// The padding is one value of the items' dtype, or 0, false or an empty string. TensorFlow: `Dataset.padded_batch`.
    ///
    /// # Errors
    /// In the batch's place: as [`batch`](Self::batch); items with ragged dimensions; a padding of another dtype.
    ///
    /// # Cost
    /// As [`batch`](Self::batch).
    ///
    /// ```
    /// use ragged::{Device, HostValues, RaggedTensor};
    /// use ragged_data::dataset::Dataset;
    /// let device = Device::cpu();
    /// let rows = RaggedTensor::from_nested([vec![1, 2], vec![3]], &device)?;
    /// let padded = Dataset::from_tensor_slices(&rows).padded_batch(2, HostValues::I32(vec![-1]));
    /// let batch = padded.iter().next().unwrap()?.tensor(&device)?;
    /// assert_eq!(batch.to_string(), "tensor([[1, 2], [3, -1]], shape=(2, 2), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn padded_batch(&self, size: impl Into<BatchSize>, padding: impl Into<Option<HostValues>>) -> Self {
        let call = Call::here("Dataset::padded_batch");
        let padding = padding.into().map(|values| match Item::from_host(HostTensor::dense(&[values.len()], values)) {
            Ok(Item(Kind::Value(Value::Host { column, .. }))) if column.inner == [1] => Ok(column.values.clone()),
            _ => Err(call.argument("the padding must be one value")),
        });
        match padding.transpose() {
            Ok(padding) => self.batches(call, size.into(), Layout::Pad(padding)),
            Err(e) => Self::new(move |_| std::iter::once(Err(e.clone()))),
        }
    }

    /// Batches of the rows of batches, of another size. TensorFlow: `Dataset.rebatch`.
    ///
    /// # Errors
    /// As [`unbatch`](Self::unbatch) and [`batch`](Self::batch).
    ///
    /// # Cost
    /// One copy of the values.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// use ragged_data::dataset::Dataset;
    /// let rows = RaggedTensor::from_nested([vec![1], vec![2], vec![3], vec![4]], &Device::cpu())?;
    /// assert_eq!(Dataset::from_tensor_slices(&rows).batch(2).rebatch(3).iter().count(), 2);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn rebatch(&self, size: impl Into<BatchSize>) -> Self {
        let call = Call::here("Dataset::rebatch");
        let all = self.then(move |items| {
            items.flat_map(move |item| -> Items {
                match item.and_then(|item| rows(call, &item)) {
                    Ok(rows) => Box::new(rows),
                    Err(e) => Box::new(std::iter::once(Err(e))),
                }
            })
        });
        all.batches(call, size.into(), Layout::Stack(Stack::Natural))
    }

    fn batches(&self, call: Call, size: BatchSize, layout: Layout) -> Self {
        self.then(move |items| Batches { call, size, layout: layout.clone(), items, kept: None, row: 0, done: false })
    }
}

struct Batches {
    call: Call,
    size: BatchSize,
    layout: Layout,
    items: Items,
    /// The first item of the next batch.
    kept: Option<(Item, u64)>,
    /// Items that were asked for.
    row: u64,
    done: bool,
}

impl Iterator for Batches {
    type Item = Result<Item>;

    fn next(&mut self) -> Option<Result<Item>> {
        let (mut rows, mut bytes) = (Vec::new(), 0u64);
        let mut failed = None;
        if let Some((item, n)) = self.kept.take() {
            bytes = n;
            rows.push(item);
        }
        // Where sizes count rows only, bytes are not counted.
        let counted = self.size.bytes != u64::MAX || self.size.row_bytes != u64::MAX;
        let mut count = rows.len();
        while !self.done && count < self.size.rows {
            let Some(item) = self.items.next() else {
                self.done = true;
                break;
            };
            self.row += 1;
            count += 1;
            let item = match item {
                Ok(item) => item,
                Err(e) => {
                    failed.get_or_insert(e);
                    rows.clear();
                    if self.size.rows == usize::MAX {
                        break;
                    }
                    continue;
                }
            };
            if failed.is_some() {
                continue;
            }
            let own = if counted { item.bytes() } else { 0 };
            if own > self.size.row_bytes {
                let what = format!("{}: row {}", self.call.op, self.row - 1);
                failed = Some(self.call.limit(what, own, "bytes", self.size.row_bytes, "max_row_bytes"));
                rows.clear();
                if self.size.rows == usize::MAX {
                    break;
                }
                continue;
            }
            if !rows.is_empty() && bytes.saturating_add(own) > self.size.bytes {
                self.kept = Some((item, own));
                break;
            }
            bytes += own;
            rows.push(item);
        }
        if let Some(e) = failed {
            return Some(Err(e));
        }
        let short = self.size.drop_remainder && self.size.rows != usize::MAX && rows.len() < self.size.rows;
        if rows.is_empty() || (short && self.kept.is_none()) {
            return None;
        }
        Some(batch_of(self.call, rows, &self.layout))
    }
}

/// One item of many.
pub(super) fn batch_of(call: Call, rows: Vec<Item>, layout: &Layout) -> Result<Item> {
    let all = on_host(Item::tuple(rows))?;
    let Kind::Tuple(rows) = all.0 else { unreachable!("bug: a tuple stays one") };
    let rows: Vec<&Item> = rows.iter().collect();
    combined(call, &rows, layout)
}

fn combined(call: Call, rows: &[&Item], layout: &Layout) -> Result<Item> {
    let differ =
        |k: usize| call.argument(format!("item 0 of the batch is {:?}, but item {k} is {:?}", rows[0], rows[k]));
    Ok(match &rows[0].0 {
        Kind::Value(_) => {
            let mut views: Vec<View<'_>> = Vec::with_capacity(rows.len());
            for (k, row) in rows.iter().enumerate() {
                match &row.0 {
                    Kind::Value(value) => match value.view() {
                        Some(view) => views.push(view),
                        None => return Err(call.argument("sparse tensors are not batched: ask for ragged ones")),
                    },
                    _ => return Err(differ(k)),
                }
            }
            let column = match layout {
                Layout::Stack(how) => stack(call, &views, *how)?,
                Layout::Pad(padding) => pad(call, &views, padding.as_ref())?,
            };
            Item::of(Value::column(column))
        }
        Kind::Tuple(first) => {
            let mut columns: Vec<Vec<&Item>> = vec![Vec::with_capacity(rows.len()); first.len()];
            for (k, row) in rows.iter().enumerate() {
                match &row.0 {
                    Kind::Tuple(items) if items.len() == first.len() => {
                        columns.iter_mut().zip(items).for_each(|(column, item)| column.push(item));
                    }
                    _ => return Err(differ(k)),
                }
            }
            Item::tuple(columns.iter().map(|rows| combined(call, rows, layout)).collect::<Result<Vec<_>>>()?)
        }
        Kind::Record(first) => {
            let mut columns: Vec<Vec<&Item>> = vec![Vec::with_capacity(rows.len()); first.len()];
            for (k, row) in rows.iter().enumerate() {
                match &row.0 {
                    Kind::Record(fields) => {
                        let items = fields.in_order_of(first).ok_or_else(|| differ(k))?;
                        columns.iter_mut().zip(items).for_each(|(column, item)| column.push(item));
                    }
                    _ => return Err(differ(k)),
                }
            }
            let named = first
                .names()
                .zip(&columns)
                .map(|(name, rows)| combined(call, rows, layout).map(|item| (name.clone(), item)));
            Item::record(named.collect::<Result<Vec<_>>>()?)
        }
    })
}
