//! Batches of items of similar length.

use std::collections::VecDeque;
use std::sync::Arc;

use ragged::Result;

use super::batch::{Layout, batch_of};
use super::shuffle::detached;
use super::{Dataset, Items};
use crate::item::{Call, Item, Stack};

/// Batches of similar lengths.
impl Dataset {
    /// Batches of items of similar length, up to a number of tokens each.
    ///
    /// `length` gives the tokens of an item. Bucket `k` holds lengths up to `bounds[k]`, the last one all that are longer.
    /// A batch is full when another item, at the length of its longest, would exceed `tokens`: that is what a padded batch
    /// has. The batches that are left come at the end, in the order of the bounds. Items are stacked as by
    /// [`batch`](Self::batch). TensorFlow: `Dataset.bucket_by_sequence_length`, which has numbers of rows instead.
    ///
    /// # Errors
    /// In the item's place: an item that is an error, or of more tokens than a batch may have, with its number. In the
    /// batch's place: as [`batch`](Self::batch). As the only item: bounds that do not increase.
    ///
    /// # Cost
    /// The memory of one batch per bucket.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// use ragged_data::dataset::Dataset;
    /// let device = Device::cpu();
    /// let rows = RaggedTensor::from_nested([vec![1, 2, 3], vec![4], vec![5], vec![6, 7, 8]], &device)?;
    /// let batches = Dataset::from_tensor_slices(&rows).bucket_by_length([1], 6, |row| row.len());
    /// let texts = batches.iter().map(|batch| Ok(batch?.tensor(&device)?.to_string()));
    /// let texts = texts.collect::<ragged::Result<Vec<_>>>()?;
    /// assert_eq!(texts, ["<ragged.RaggedTensor [[4], [5]]>", "<ragged.RaggedTensor [[1, 2, 3], [6, 7, 8]]>"]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn bucket_by_length(
        &self,
        bounds: impl Into<Vec<usize>>,
        tokens: usize,
        length: impl Fn(&Item) -> Result<usize> + Send + Sync + 'static,
    ) -> Self {
        let (call, bounds) = (Call::here("Dataset::bucket_by_length"), bounds.into());
        if let Some(k) = bounds.windows(2).position(|w| w[0] >= w[1]) {
            let e = call.argument(format!("bound {} is not above bound {}", bounds[k + 1], bounds[k]));
            return Self::new(move |_| std::iter::once(Err(e.clone())));
        }
        let length: Arc<Length> = Arc::new(length);
        self.then(move |items| Buckets {
            call,
            bounds: bounds.clone(),
            tokens,
            length: length.clone(),
            items,
            open: bounds.iter().chain([&0]).map(|_| Bucket::default()).collect(),
            full: VecDeque::new(),
            row: 0,
        })
    }
}

type Length = dyn Fn(&Item) -> Result<usize> + Send + Sync;

#[derive(Default)]
struct Bucket {
    items: Vec<Item>,
    longest: usize,
}

struct Buckets {
    call: Call,
    bounds: Vec<usize>,
    tokens: usize,
    length: Arc<Length>,
    items: Items,
    /// The batches in the making, one per bucket; none after the end.
    open: Vec<Bucket>,
    /// Those that were left at the end.
    full: VecDeque<Bucket>,
    row: u64,
}

impl Buckets {
    /// Adds an item; gives the batch that it has no room in.
    fn add(&mut self, item: Item) -> Result<Option<Bucket>> {
        let length = (self.length)(&item)?;
        if length > self.tokens {
            let what = format!("{}: item {}", self.call.op, self.row - 1);
            return Err(self.call.limit(what, length as u64, "tokens", self.tokens as u64, "a batch"));
        }
        let bucket = &mut self.open[self.bounds.partition_point(|&bound| bound < length)];
        let longest = bucket.longest.max(length);
        let given = match longest.saturating_mul(bucket.items.len() + 1) > self.tokens {
            true => Some(std::mem::take(bucket)),
            false => None,
        };
        bucket.longest = bucket.longest.max(length);
        bucket.items.push(detached(item));
        Ok(given)
    }

    fn batch(&self, bucket: Bucket) -> Result<Item> {
        batch_of(self.call, bucket.items, &Layout::Stack(Stack::Natural))
    }
}

impl Iterator for Buckets {
    type Item = Result<Item>;

    fn next(&mut self) -> Option<Result<Item>> {
        while !self.open.is_empty() {
            let Some(item) = self.items.next() else {
                self.full = std::mem::take(&mut self.open).into();
                self.full.retain(|bucket| !bucket.items.is_empty());
                break;
            };
            self.row += 1;
            match item.and_then(|item| self.add(item)) {
                Ok(None) => {}
                Ok(Some(bucket)) => return Some(self.batch(bucket)),
                Err(e) => return Some(Err(e)),
            }
        }
        let bucket = self.full.pop_front()?;
        Some(self.batch(bucket))
    }
}
