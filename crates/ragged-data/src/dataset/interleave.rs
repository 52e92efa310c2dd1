//! Datasets of datasets.

use std::collections::VecDeque;
use std::sync::Arc;

use ragged::Result;

use super::{Dataset, Items};
use crate::item::Item;

/// Datasets of datasets.
impl Dataset {
    /// The items of the datasets that a function makes of each item: `block` items of each of `cycle` datasets in turn.
    ///
    /// A dataset that ends gives its place to the next one. `cycle` and `block` are at least 1. An error of the function,
    /// or an item that is one, is given in its place. TensorFlow: `Dataset.interleave(cycle_length, block_length)`.
    ///
    /// # Cost
    /// The memory of `cycle` datasets.
    ///
    /// ```
    /// use ragged_data::{dataset::Dataset, item::Item};
    /// let files = Dataset::from_items([Item::from(*b"ab"), Item::from(*b"cd"), Item::from(*b"ef")]);
    /// let letters = files.interleave(2, 1, |file| {
    ///     let letters: Vec<Item> = file.string()?.iter().map(|&byte| Item::from([byte])).collect();
    ///     Ok(Dataset::from_items(letters))
    /// });
    /// let all = letters.iter().map(|x| Ok(x?.string()?[0])).collect::<ragged::Result<Vec<_>>>()?;
    /// assert_eq!(all, b"acbdef");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn interleave(
        &self,
        cycle: usize,
        block: usize,
        function: impl Fn(Item) -> Result<Self> + Send + Sync + 'static,
    ) -> Self {
        let (start, function) = (self.start.clone(), Arc::new(function));
        Self::new(move |epoch| {
            let function = function.clone();
            let open = move |item: Result<Item>| match item.and_then(|item| function(item)) {
                Ok(dataset) => (dataset.start)(epoch),
                Err(e) => Box::new(std::iter::once(Err(e))),
            };
            Interleave {
                items: Box::new(start(epoch).map(open)),
                cycle: cycle.max(1),
                block: block.max(1),
                open: VecDeque::new(),
                given: 0,
            }
        })
    }
}

struct Interleave {
    items: Box<dyn Iterator<Item = Items> + Send>,
    cycle: usize,
    block: usize,
    /// The open datasets, the current one in front; a place is empty when nothing was left to open.
    open: VecDeque<Items>,
    /// Items that the current one gave in this turn.
    given: usize,
}

impl Iterator for Interleave {
    type Item = Result<Item>;

    fn next(&mut self) -> Option<Result<Item>> {
        loop {
            while self.open.len() < self.cycle {
                match self.items.next() {
                    Some(items) => self.open.push_back(items),
                    None => break,
                }
            }
            if self.given == self.block {
                self.given = 0;
                self.open.rotate_left(1);
            }
            match self.open.front_mut()?.next() {
                Some(item) => {
                    self.given += 1;
                    return Some(item);
                }
                None => {
                    self.given = 0;
                    self.open.pop_front();
                    // The place of the ended one: the next dataset begins at the end of the cycle.
                }
            }
        }
    }
}
