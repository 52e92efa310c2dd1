//! Inputs of the workloads.

use ragged::{Device, HostTensor, HostValues, Result, Tensor};

use crate::rows::{flat_values, splitmix64};

/// Shape of the embedding table: rows, and numbers per row.
pub const TABLE: [usize; 2] = [1024, 16];

/// Values per row of a slice.
pub const TAKEN: u32 = 8;

/// Numbers per padded row.
pub const PADDED: u32 = 64;

/// Masks keep the values above this threshold.
pub const THRESHOLD: f32 = 0.5;

/// Rows of numbers, in host memory.
#[derive(Debug)]
pub struct Rows {
    /// The length of each row.
    pub lengths: Vec<u32>,
    /// The numbers of all rows, row after row.
    pub values: Vec<f32>,
    /// Indices of the rows to gather, as many as there are rows.
    pub ids: Vec<i64>,
}

impl Rows {
    /// Rows of the given lengths, with the values and indices of the scripts for other libraries.
    pub fn new(lengths: Vec<u32>) -> Self {
        let values = lengths.iter().map(|&l| l as usize).sum();
        Self { values: flat_values(values), ids: row_ids(lengths.len()), lengths }
    }
}

/// Inputs of the operations, on a device.
#[derive(Debug)]
pub struct Inputs {
    /// Ragged f32 rows.
    pub x: Tensor,
    /// One number per row, of shape `[rows, 1]`.
    pub row: Tensor,
    /// One row index per row.
    pub ids: Tensor,
    /// A dense table of embeddings.
    pub table: Tensor,
    /// One index of a table row per value of `x`, in the same rows.
    pub tokens: Tensor,
}

impl Inputs {
    /// Uploads the rows, and waits for the upload.
    ///
    /// # Errors
    /// The inputs exceed the device's memory or limits.
    pub fn new(device: &Device, rows: Rows) -> Result<Self> {
        let Rows { lengths, values, ids } = rows;
        let n = lengths.len();
        let mut splits = Vec::with_capacity(n + 1);
        splits.push(0);
        splits.extend(lengths.iter().scan(0, |end, &l| {
            *end += l;
            Some(*end)
        }));
        let dense = |shape: &[usize], values| HostTensor::dense(shape, values).to_device(device);
        let tokens = dense(&[values.len()], HostValues::I32(tokens(&values)))?;
        let x = HostTensor::from_row_splits(splits, HostValues::F32(values)).to_device(device)?;
        let inputs = Self {
            // Shares the partition of `x`.
            tokens: Tensor::from_row_partitions(&tokens, x.partitions())?,
            x,
            row: dense(&[n, 1], HostValues::F32(flat_values(n)))?,
            ids: dense(&[n], HostValues::I64(ids))?,
            table: dense(&TABLE, HostValues::F32(embeddings(TABLE[0], TABLE[1])))?,
        };
        for tensor in [&inputs.x, &inputs.row, &inputs.ids, &inputs.table, &inputs.tokens] {
            tensor.eval()?;
        }
        device.wait()?;
        Ok(inputs)
    }
}

/// One row index below `rows` per row.
pub fn row_ids(rows: usize) -> Vec<i64> {
    (0..rows as u64).map(|r| (splitmix64(0x1D5 + r) % rows as u64) as i64).collect()
}

/// A table of `rows` embeddings with values in [-0.5, 0.5).
pub fn embeddings(rows: usize, width: usize) -> Vec<f32> {
    flat_values(rows * width).into_iter().map(|v| v - 0.5).collect()
}

/// One token per value, from a vocabulary of 1024.
pub fn tokens(values: &[f32]) -> Vec<i32> {
    values.iter().map(|v| (v * 1024.0) as i32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_scripts() {
        let x = flat_values(1 << 16);
        let bits: Vec<u32> = x.iter().map(|v| v.to_bits()).collect();
        assert_eq!(bits[..6], [0x3eb5_b754, 0x3ee7_7102, 0x3f30_5df8, 0x3e9b_d92a, 0x3f4d_23ed, 0x3da4_5bb0]);
        assert_eq!(bits.iter().map(|&b| u64::from(b)).sum::<u64>(), 68_997_909_717_017);
        let ids = row_ids(4247);
        assert_eq!((&ids[..6], ids.iter().sum::<i64>()), (&[325, 3389, 3552, 1437, 1760, 1884][..], 8_931_189));
        let table: Vec<u32> = embeddings(1024, 16)[..4].iter().map(|v| v.to_bits()).collect();
        assert_eq!(table, [0xbe14_9158, 0xbd44_77f0, 0x3e41_77e0, 0xbe48_4dac]);
        let tokens = tokens(&x);
        assert_eq!(&tokens[..6], [363, 462, 705, 311, 820, 82]);
        assert_eq!(tokens.iter().map(|&t| i64::from(t)).sum::<i64>(), 33_605_014);
    }
}
