//! Datasets: lazily evaluated pipelines of items and batches.
//!
//! # The shape of it
//!
//! - A [`Dataset`] is a recipe: a function that starts an iterator of `Result<Item>`. Nothing runs until
//!   [`Dataset::iter`], and each iteration starts anew. Cloning it is cheap.
//! - An [`Item`] is a tensor, a tuple or a record of tensors. Until it is batched it lives in host memory, and a row of a
//!   tensor refers to that tensor: a million rows record no operation. A batch copies each value once.
//! - Stages are methods: [`map`](Dataset::map), [`filter`](Dataset::filter), [`shuffle`](Dataset::shuffle),
//!   [`batch`](Dataset::batch), [`to_device`](Dataset::to_device), [`prefetch`](Dataset::prefetch), … Each takes what the
//!   stage before gives, when it is asked: a slow consumer slows the source down.
//! - An error of an item is given in its place, and iteration goes on behind it where the source can. An error takes the
//!   place of the whole batch that its item belongs to. [`skip_errors`](Dataset::skip_errors) before a batch drops the
//!   items instead, and counts them.
//! - The order is a function of seeds and of the number of the epoch, never of threads: one pipeline gives one order.
//!   [`repeat`](Dataset::repeat) counts epochs; [`epoch`](Dataset::epoch) starts a certain one.
//! - A panic of a function of the user is not caught: it goes on in the thread that iterates, be there a
//!   [`prefetch`](Dataset::prefetch) between them or not.
//!
//! ```
//! use ragged::{Device, RaggedTensor, Seed};
//! use ragged_data::dataset::{BatchSize, Dataset};
//! let device = Device::cpu();
//! let rows = RaggedTensor::from_nested([vec![1, 2, 3], vec![], vec![4], vec![5, 6]], &device)?;
//! let dataset = Dataset::from_tensor_slices(&rows)
//!     .filter(|row| Ok(!row.is_empty()?))
//!     .shuffle(100, Seed(7))
//!     .batch(2)
//!     .to_device(&device)
//!     .prefetch(1);
//! let batches = dataset.iter().map(|batch| batch?.tensor(&device)).collect::<ragged::Result<Vec<_>>>()?;
//! assert_eq!(batches.iter().map(|b| b.shape()[0]).collect::<Vec<_>>(), [Some(2), Some(1)]);
//! # Ok::<(), ragged::Error>(())
//! ```

mod batch;
mod batch_size;
mod bucket;
mod interleave;
#[cfg(feature = "parquet")]
mod parquet;
mod prefetch;
mod shuffle;
mod sources;
mod stages;

use std::fmt;
use std::sync::Arc;

use ragged::Result;

use crate::item::Item;

pub use batch_size::BatchSize;
pub use prefetch::Iter;
pub use stages::Skipped;

/// Items in the making.
type Items = Box<dyn Iterator<Item = Result<Item>> + Send>;

/// A pipeline of items. See the [module](self).
///
/// ```
/// use ragged::{Device, RaggedTensor};
/// use ragged_data::dataset::Dataset;
/// let rows = RaggedTensor::from_nested([vec![1, 2], vec![3]], &Device::cpu())?;
/// let lengths = Dataset::from_tensor_slices(&rows).iter().map(|row| row?.len()).collect::<ragged::Result<Vec<_>>>()?;
/// assert_eq!(lengths, [2, 1]);
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Clone)]
pub struct Dataset {
    /// Starts the iteration of an epoch.
    start: Arc<dyn Fn(u64) -> Items + Send + Sync>,
}

impl fmt::Debug for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Dataset")
    }
}

/// Iteration.
impl Dataset {
    fn new<I: Iterator<Item = Result<Item>> + Send + 'static>(
        start: impl Fn(u64) -> I + Send + Sync + 'static,
    ) -> Self {
        Self { start: Arc::new(move |epoch| Box::new(start(epoch))) }
    }

    /// A stage on top of this dataset.
    fn then<I: Iterator<Item = Result<Item>> + Send + 'static>(
        &self,
        stage: impl Fn(Items) -> I + Send + Sync + 'static,
    ) -> Self {
        let start = self.start.clone();
        Self::new(move |epoch| stage(start(epoch)))
    }

    /// The items of the first epoch, from the beginning.
    ///
    /// ```
    /// use ragged_data::dataset::Dataset;
    /// use ragged_data::item::Item;
    /// let dataset = Dataset::from_fn(|| (0..3u8).map(|i| Ok(Item::from([i]))));
    /// assert_eq!(dataset.iter().count(), 3);
    /// assert_eq!(dataset.iter().count(), 3);
    /// ```
    pub fn iter(&self) -> Iter {
        self.epoch(0)
    }

    /// The items of an epoch: shuffles have another order in each.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Seed};
    /// use ragged_data::dataset::Dataset;
    /// let numbers = RaggedTensor::from_nested((0..100).collect::<Vec<i32>>(), &Device::cpu())?;
    /// let dataset = Dataset::from_tensor_slices(&numbers).shuffle(100, Seed(7));
    /// let order = |epoch| dataset.epoch(epoch).map(|x| Ok(x?.values::<i32>()?[0])).collect::<ragged::Result<Vec<_>>>();
    /// assert!(order(0)? != order(1)? && order(1)? == order(1)?);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn epoch(&self, epoch: u64) -> Iter {
        Iter((self.start)(epoch))
    }
}

impl IntoIterator for &Dataset {
    type Item = Result<Item>;
    type IntoIter = Iter;

    fn into_iter(self) -> Iter {
        self.iter()
    }
}
