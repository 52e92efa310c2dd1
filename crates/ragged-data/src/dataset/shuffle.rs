//! Seeded shuffles with a buffer.

use ragged::{Result, Seed};

use super::{Dataset, Items};
use crate::item::{Item, Kind};

/// Numbers from a seed and the number of an epoch (SplitMix64).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: Seed, epoch: u64) -> Self {
        let mut mixed = Self(seed.0);
        let own = mixed.next();
        Self(own ^ epoch.wrapping_mul(0xD134_2543_DE82_EF95))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    /// A number below `n`.
    pub(super) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }
}

/// Order.
impl Dataset {
    /// The items in a random order: each is drawn from the next `buffer` ones. An order of all needs a buffer of all.
    ///
    /// The order is a function of the seed and the epoch; [`repeat`](Self::repeat) behind the shuffle gives another order
    /// in each epoch. TensorFlow: `Dataset.shuffle` with `reshuffle_each_iteration=True`, whose orders are others.
    ///
    /// # Cost
    /// The memory of `buffer` items (of at least 1). The first item waits for that many.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Seed};
    /// use ragged_data::dataset::Dataset;
    /// let numbers = RaggedTensor::from_nested([1, 2, 3, 4, 5, 6, 7, 8], &Device::cpu())?;
    /// let order = |seed| {
    ///     let shuffled = Dataset::from_tensor_slices(&numbers).shuffle(8, seed);
    ///     shuffled.iter().map(|x| Ok(x?.values::<i32>()?[0])).collect::<ragged::Result<Vec<_>>>()
    /// };
    /// assert!(order(Seed(1))? == order(Seed(1))? && order(Seed(1))? != order(Seed(2))?);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn shuffle(&self, buffer: usize, seed: Seed) -> Self {
        let start = self.start.clone();
        Self::new(move |epoch| Shuffle::new(start(epoch), buffer, Random::new(seed, epoch)))
    }

    /// As [`shuffle`](Self::shuffle), with one order for all epochs. TensorFlow: `reshuffle_each_iteration=False`.
    ///
    /// # Cost
    /// As [`shuffle`](Self::shuffle).
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Seed};
    /// use ragged_data::dataset::Dataset;
    /// let numbers = RaggedTensor::from_nested([1, 2, 3, 4, 5, 6, 7, 8], &Device::cpu())?;
    /// let twice = Dataset::from_tensor_slices(&numbers).shuffle_once(8, Seed(1)).repeat(2);
    /// let all = twice.iter().map(|x| Ok(x?.values::<i32>()?[0])).collect::<ragged::Result<Vec<_>>>()?;
    /// assert_eq!(all[..8], all[8..]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn shuffle_once(&self, buffer: usize, seed: Seed) -> Self {
        let start = self.start.clone();
        Self::new(move |epoch| Shuffle::new(start(epoch), buffer, Random::new(seed, 0)))
    }
}

struct Shuffle {
    items: Items,
    size: usize,
    buffer: Vec<Item>,
    random: Random,
    at_end: bool,
}

impl Shuffle {
    fn new(items: Items, size: usize, random: Random) -> Self {
        Self { items, size: size.max(1), buffer: Vec::new(), random, at_end: false }
    }
}

impl Iterator for Shuffle {
    type Item = Result<Item>;

    fn next(&mut self) -> Option<Result<Item>> {
        while !self.at_end && self.buffer.len() < self.size {
            match self.items.next() {
                Some(Ok(item)) => self.buffer.push(detached(item)),
                // Errors are given at once: they have no place in the order.
                Some(Err(e)) => return Some(Err(e)),
                None => self.at_end = true,
            }
        }
        if self.buffer.is_empty() {
            return None;
        }
        let at = self.random.below(self.buffer.len());
        Some(Ok(self.buffer.swap_remove(at)))
    }
}

/// The item without memory that it shares with other rows of a batch.
pub(super) fn detached(item: Item) -> Item {
    Item(match item.0 {
        Kind::Value(value) => Kind::Value(value.detached()),
        Kind::Tuple(items) => Kind::Tuple(items.into_iter().map(detached).collect()),
        Kind::Record(fields) => Kind::Record(fields.map_into(detached)),
    })
}
