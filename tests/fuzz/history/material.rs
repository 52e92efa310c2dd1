//! Host data of the sources, with row lengths around the thresholds of both backends, and their uploads to a device.

use std::sync::OnceLock;

use ragged::{Device, HostTensor, HostValues, Result, Tensor};

use crate::common::random::splits;
use crate::random::Random;

/// Numbers of values around the limits of subgroups, tiles, blocks, windows, stages and 16-bit positions, and around
/// the bytes below which the CPU keeps all intermediate arrays.
pub const SIZES: [usize; 21] =
    [0, 1, 2, 9, 15, 16, 17, 60, 255, 256, 257, 2047, 2048, 2049, 8193, 16_383, 16_385, 50_000, 65_535, 65_537, 80_000];

/// The largest number of values.
pub const LARGEST: usize = 300_000;

/// Distribution of row lengths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lengths {
    Uniform(u32),
    /// One row has most values.
    Skewed,
    /// Most rows are empty.
    Sparse,
    /// 0 to 3 values per row.
    Short,
    /// Lengths around the sizes of subgroups, workgroups and tiles.
    Edges,
    /// 3, 2, 1, 3, 2, 1, …: never empty, never all equal.
    Descending,
}

pub const LENGTHS: [Lengths; 8] = [
    Lengths::Descending,
    Lengths::Uniform(1),
    Lengths::Uniform(20),
    Lengths::Skewed,
    Lengths::Sparse,
    Lengths::Short,
    Lengths::Edges,
    Lengths::Uniform(257),
];

/// An array of host data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Leaf {
    /// Ragged rows of small 32-bit integers.
    Rows,
    /// A flag per row.
    RowFlags,
    /// A flag per value of the rows, with the rows' partition.
    ValueFlags,
    /// The values of the rows.
    Flat,
    /// The row of each value.
    Keys,
    /// The rows' lengths, as 64-bit integers.
    Counts,
    /// One string with a line per row.
    Text,
    /// A string per row.
    Words,
}
const LEAVES: usize = 8;

pub const ALL_LEAVES: [Leaf; LEAVES] =
    [Leaf::Rows, Leaf::RowFlags, Leaf::ValueFlags, Leaf::Flat, Leaf::Keys, Leaf::Counts, Leaf::Text, Leaf::Words];

/// Host data of given size, row lengths and seed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    pub size: usize,
    pub lengths: Lengths,
    pub seed: u64,
}

impl Material {
    /// The lengths of all rows: they sum to the size.
    pub fn row_lengths(&self) -> Vec<u32> {
        let mut random = Random(self.seed);
        let (mut left, mut out) = (self.size as u32, Vec::new());
        let giant = (self.lengths == Lengths::Skewed).then(|| left / 10 * 9);
        let before = random.below(4);
        while left > 0 || out.len() < 2 {
            let len = match self.lengths {
                Lengths::Uniform(len) => len,
                Lengths::Skewed if out.len() == before => giant.unwrap_or(0),
                Lengths::Sparse if !random.once_in(4) => 0,
                Lengths::Sparse => 1 + random.below(8) as u32,
                Lengths::Skewed | Lengths::Short => random.below(4) as u32,
                Lengths::Edges => random.of(&[0, 1, 2, 3, 15, 16, 17, 31, 33, 255, 256, 257, 2047, 2049]),
                Lengths::Descending => 3 - out.len() as u32 % 3,
            };
            out.push(len.min(left));
            left -= len.min(left);
        }
        out
    }

    /// The values of the rows.
    pub fn flat(&self) -> Vec<i32> {
        let mut random = Random(self.seed ^ 0x5eed);
        (0..self.size).map(|_| random.signed(6) as i32 + 3).collect()
    }

    /// The rows.
    pub fn rows(&self) -> Vec<Vec<i64>> {
        let flat = self.flat();
        let mut at = 0;
        let row = |len: u32| {
            at += len as usize;
            flat[at - len as usize..at].iter().map(|&v| i64::from(v)).collect()
        };
        self.row_lengths().into_iter().map(row).collect()
    }

    /// A flag per row.
    pub fn row_flags(&self) -> Vec<bool> {
        let mut random = Random(self.seed ^ 0xf1a65);
        self.row_lengths().iter().map(|_| !random.once_in(4)).collect()
    }

    /// A flag per value.
    pub fn value_flags(&self) -> Vec<bool> {
        let mut random = Random(self.seed ^ 0xbeef);
        (0..self.size).map(|_| !random.once_in(3)).collect()
    }

    /// Per row its bytes: letters and spaces.
    fn lines(&self) -> Vec<Vec<u8>> {
        let letter = |v: i64| if v == 0 { b' ' } else { b'a' + v.rem_euclid(26) as u8 };
        self.rows().into_iter().map(|row| row.into_iter().map(letter).collect()).collect()
    }

    fn host(&self, leaf: Leaf) -> HostTensor {
        let row_lengths = self.row_lengths();
        let (nrows, splits) = (row_lengths.len(), splits(&row_lengths));
        match leaf {
            Leaf::Rows => HostTensor::from_row_splits(splits, HostValues::I32(self.flat())),
            Leaf::RowFlags => HostTensor::dense(&[nrows], HostValues::Bool(self.row_flags())),
            Leaf::ValueFlags => HostTensor::from_row_splits(splits, HostValues::Bool(self.value_flags())),
            Leaf::Flat => HostTensor::dense(&[self.size], HostValues::I32(self.flat())),
            Leaf::Keys => {
                let keys = row_lengths.iter().zip(0..).flat_map(|(&len, row)| (0..len).map(move |_| row));
                HostTensor::dense(&[self.size], HostValues::I32(keys.collect()))
            }
            Leaf::Counts => {
                HostTensor::dense(&[nrows], HostValues::I64(row_lengths.iter().map(|&len| len.into()).collect()))
            }
            Leaf::Text => HostTensor::dense(&[1], HostValues::Str(vec![self.lines().join(&b'\n')])),
            Leaf::Words => HostTensor::dense(&[nrows], HostValues::Str(self.lines())),
        }
    }
}

/// The arrays of a material on a device, each uploaded at its first use.
pub struct Leaves {
    pub material: Material,
    device: Device,
    uploaded: [OnceLock<Tensor>; LEAVES],
}

impl Leaves {
    pub fn new(material: Material, device: &Device) -> Self {
        Self { material, device: device.clone(), uploaded: Default::default() }
    }

    /// Tensors for all leaves, in their order.
    pub fn given(material: Material, tensors: &[Tensor]) -> Self {
        let out = Self::new(material, &tensors[0].device());
        for (cell, x) in ALL_LEAVES.iter().map(|&leaf| &out.uploaded[leaf as usize]).zip(tensors) {
            let _ = cell.set(x.clone());
        }
        out
    }

    pub fn get(&self, leaf: Leaf) -> Result<&Tensor> {
        let cell = &self.uploaded[leaf as usize];
        if cell.get().is_none() {
            // Another thread's upload may come first.
            let _ = cell.set(self.material.host(leaf).to_device(&self.device)?);
        }
        Ok(cell.get().expect("it was set"))
    }
}
