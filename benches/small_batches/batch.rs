//! Random batches of rows.

use std::iter;

use ragged::{HostTensor, HostValues};

use crate::rows::splitmix64;

/// Rows and width of the embedding table.
pub const TABLE: [usize; 2] = [1000, 8];

/// Pseudorandom numbers with a fixed seed.
struct Noise(u64);

impl Noise {
    fn below(&mut self, n: usize) -> usize {
        self.0 += 1;
        (splitmix64(self.0) % n as u64) as usize
    }
}

/// Rows of numbers.
pub struct Rows {
    pub splits: Vec<u32>,
    pub values: Vec<f32>,
}

impl Rows {
    fn new(lengths: impl Iterator<Item = usize>, noise: &mut Noise) -> Self {
        let ends = lengths.scan(0, |end, length| {
            *end += length as u32;
            Some(*end)
        });
        let splits: Vec<u32> = iter::once(0).chain(ends).collect();
        let values = (0..splits[splits.len() - 1]).map(|_| noise.below(1 << 24) as f32 / (1 << 24) as f32 - 0.5);
        Self { values: values.collect(), splits }
    }

    pub fn iter(&self) -> impl Iterator<Item = &[f32]> {
        self.splits.windows(2).map(|ends| &self.values[ends[0] as usize..ends[1] as usize])
    }

    pub fn host(&self) -> HostTensor {
        HostTensor::from_row_splits(self.splits.clone(), HostValues::F32(self.values.clone()))
    }
}

/// The host's data of one batch.
pub struct Batch {
    pub x: Rows,
    /// As many rows as `x`, of other lengths.
    pub y: Rows,
    /// One index of a table row per value of `x`.
    pub ids: Vec<u32>,
}

impl Batch {
    fn new(lengths: [Vec<usize>; 2], noise: &mut Noise) -> Self {
        let [x, y] = lengths.map(|lengths| Rows::new(lengths.into_iter(), noise));
        let ids = (0..x.values.len()).map(|_| noise.below(TABLE[0]) as u32).collect();
        Self { x, y, ids }
    }

    /// 64 rows of 0 to 100 values.
    pub fn of_64_rows(number: usize) -> Self {
        let mut noise = Noise(splitmix64(number as u64));
        let lengths = [(); 2].map(|()| (0..64).map(|_| noise.below(101)).collect());
        Self::new(lengths, &mut noise)
    }

    /// 0 to 5,000 rows, and 0 to `longest` values per row, where `longest` is a power of two up to 256. One batch in 64
    /// has no rows.
    pub fn of_any_size(number: usize) -> Self {
        let mut noise = Noise(splitmix64(!(number as u64)));
        let nrows = if number % 64 == 3 { 0 } else { noise.below(5001) };
        let longest = 1 << noise.below(9);
        let lengths = [(); 2].map(|()| (0..nrows).map(|_| noise.below(longest + 1)).collect());
        Self::new(lengths, &mut noise)
    }
}
