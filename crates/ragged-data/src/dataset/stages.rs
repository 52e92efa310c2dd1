//! Stages that take items one by one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ragged::{Device, Result};

use super::sources::rows;
use super::{Dataset, Items};
use crate::item::{Call, Item};

/// Number of items that [`Dataset::skip_errors`] dropped, in all iterations of the dataset.
///
/// ```
/// use ragged_data::dataset::Skipped;
/// assert_eq!(Skipped::default().count(), 0);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Skipped(Arc<AtomicU64>);

/// The number.
impl Skipped {
    /// The number so far.
    ///
    /// ```
    /// use ragged_data::dataset::Skipped;
    /// assert_eq!(Skipped::default().count(), 0);
    /// ```
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Items one by one.
impl Dataset {
    /// What a function makes of each item. An error of the function is the item's. TensorFlow: `Dataset.map`.
    ///
    /// # Cost
    /// The function, in the thread that asks for the item. Tensor operations on single items are slow: map batches.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// use ragged_data::dataset::Dataset;
    /// let device = Device::cpu();
    /// let rows = RaggedTensor::from_nested([vec![1, 2], vec![3]], &device)?;
    /// let doubled = Dataset::from_tensor_slices(&rows).batch(2).map({
    ///     let device = device.clone();
    ///     move |batch| Ok((batch.tensor(&device)? * 2)?.into())
    /// });
    /// let first = doubled.iter().next().unwrap()?.tensor(&device)?;
    /// assert_eq!(first.to_string(), "<ragged.RaggedTensor [[2, 4], [6]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn map(&self, function: impl Fn(Item) -> Result<Item> + Send + Sync + 'static) -> Self {
        let function = Arc::new(function);
        self.then(move |items| {
            let function = function.clone();
            items.map(move |item| item.and_then(|item| function(item)))
        })
    }

    /// The items for which a function is true. An error of the function takes the item's place.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// use ragged_data::dataset::Dataset;
    /// let rows = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(Dataset::from_tensor_slices(&rows).filter(|row| Ok(row.len()? > 0)).iter().count(), 2);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn filter(&self, function: impl Fn(&Item) -> Result<bool> + Send + Sync + 'static) -> Self {
        let function = Arc::new(function);
        self.then(move |items| {
            let function = function.clone();
            items.filter_map(move |item| match item {
                Ok(item) => match function(&item) {
                    Ok(true) => Some(Ok(item)),
                    Ok(false) => None,
                    Err(e) => Some(Err(e)),
                },
                Err(e) => Some(Err(e)),
            })
        })
    }

    /// The first `n` items, errors among them.
    ///
    /// ```
    /// use ragged_data::{dataset::Dataset, item::Item};
    /// assert_eq!(Dataset::from_items([Item::from(*b"a"), Item::from(*b"b")]).take(1).iter().count(), 1);
    /// ```
    pub fn take(&self, n: usize) -> Self {
        self.then(move |items| items.take(n))
    }

    /// The items after the first `n`, errors among them.
    ///
    /// ```
    /// use ragged_data::{dataset::Dataset, item::Item};
    /// assert_eq!(Dataset::from_items([Item::from(*b"a"), Item::from(*b"b")]).skip(1).iter().count(), 1);
    /// ```
    pub fn skip(&self, n: usize) -> Self {
        self.then(move |items| items.skip(n))
    }

    /// The items of `epochs` epochs, one after the other; `None` for ever. Iteration `e` of the result has the epochs from
    /// `e * epochs` on.
    ///
    /// An epoch without items ends an endless repetition.
    ///
    /// ```
    /// use ragged_data::{dataset::Dataset, item::Item};
    /// let dataset = Dataset::from_items([Item::from(*b"a"), Item::from(*b"b")]);
    /// assert_eq!(dataset.repeat(3).iter().count(), 6);
    /// assert_eq!(dataset.repeat(None).take(7).iter().count(), 7);
    /// ```
    pub fn repeat(&self, epochs: impl Into<Option<u64>>) -> Self {
        let (start, epochs) = (self.start.clone(), epochs.into());
        Self::new(move |epoch| {
            let first = epoch.wrapping_mul(epochs.unwrap_or(0));
            Repeat { start: start.clone(), items: None, next: first, left: epochs, any: true }
        })
    }

    /// The items that are no errors; the others are counted. TensorFlow: `Dataset.ignore_errors`.
    ///
    /// ```
    /// use ragged_data::{dataset::{Dataset, Skipped}, item::Item};
    /// let skipped = Skipped::default();
    /// let lines = Dataset::from_text_lines(["no such file"]).skip_errors(&skipped);
    /// assert_eq!((lines.iter().count(), skipped.count()), (0, 1));
    /// ```
    pub fn skip_errors(&self, skipped: &Skipped) -> Self {
        let skipped = skipped.clone();
        self.then(move |items| {
            let skipped = skipped.clone();
            items.filter(move |item| {
                if item.is_err() {
                    skipped.0.fetch_add(1, Ordering::Relaxed);
                }
                item.is_ok()
            })
        })
    }

    /// The items with their tensors on a device. Before a [`prefetch`](Self::prefetch), uploads overlap the work on the
    /// items before.
    ///
    /// # Errors
    /// At the item: more than the device can hold; a dtype that it lacks.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// use ragged_data::dataset::Dataset;
    /// let device = Device::cpu();
    /// let rows = RaggedTensor::from_nested([vec![1, 2], vec![3]], &device)?;
    /// let batch = Dataset::from_tensor_slices(&rows).batch(2).to_device(&device).iter().next().unwrap()?;
    /// assert_eq!(batch.tensor(&device)?.shape(), [Some(2), None]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_device(&self, device: &Device) -> Self {
        let (call, device) = (Call::here("Dataset::to_device"), device.clone());
        self.map(move |item| item.into_device(call, &device))
    }

    /// The rows of each item, one by one: the inverse of a batch. TensorFlow: `Dataset.unbatch`.
    ///
    /// # Errors
    /// In the item's place: tensors of different numbers of rows, a scalar, or a sparse tensor.
    ///
    /// # Cost
    /// One read of the tensors of an item that are on a device.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// use ragged_data::dataset::Dataset;
    /// let rows = RaggedTensor::from_nested([vec![1, 2], vec![3]], &Device::cpu())?;
    /// assert_eq!(Dataset::from_tensor_slices(&rows).batch(2).unbatch().iter().count(), 2);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn unbatch(&self) -> Self {
        let call = Call::here("Dataset::unbatch");
        self.then(move |items| {
            items.flat_map(move |item| -> Items {
                match item.and_then(|item| rows(call, &item)) {
                    Ok(rows) => Box::new(rows),
                    Err(e) => Box::new(std::iter::once(Err(e))),
                }
            })
        })
    }
}

/// Epochs one after the other.
struct Repeat {
    start: Arc<dyn Fn(u64) -> Items + Send + Sync>,
    items: Option<Items>,
    next: u64,
    /// Epochs that are left; none for ever.
    left: Option<u64>,
    /// Whether the epoch before had an item.
    any: bool,
}

impl Iterator for Repeat {
    type Item = Result<Item>;

    fn next(&mut self) -> Option<Result<Item>> {
        loop {
            if let Some(item) = self.items.as_mut().and_then(Iterator::next) {
                self.any = true;
                return Some(item);
            }
            if self.left == Some(0) || (self.left.is_none() && !self.any) {
                return None;
            }
            self.left = self.left.map(|n| n - 1);
            self.any = false;
            self.items = Some((self.start)(self.next));
            self.next = self.next.wrapping_add(1);
        }
    }
}
