//! The operations that are measured.

use anyhow::Result;
use ragged::{Device, HostTensor, HostValues, Tensor, s};

use crate::rows::{self, Lengths};

/// Rows of the table that tokens name, and numbers of each.
const TABLE: [usize; 2] = [1024, 16];

/// What the operations work on, on a device.
#[derive(Debug)]
pub struct Inputs {
    /// Ragged f32 rows.
    x: Tensor,
    /// A number a row, of shape `[rows, 1]`.
    row: Tensor,
    /// A row number a row.
    ids: Tensor,
    /// A dense table of embeddings.
    table: Tensor,
    /// A row of the table for each value of `x`, in the same rows.
    tokens: Tensor,
}

impl Inputs {
    /// Uploads rows of those lengths and waits until they are there. Also gives the number of rows.
    ///
    /// # Errors
    /// More than the device can hold.
    pub fn new(device: &Device, lengths: &Lengths, values: u32) -> Result<(Self, usize)> {
        let lengths = lengths.of(values);
        let n = lengths.len();
        let mut splits = Vec::with_capacity(n + 1);
        splits.push(0);
        splits.extend(lengths.iter().scan(0, |end, &l| {
            *end += l;
            Some(*end)
        }));
        let values = rows::flat_values(values as usize);
        let tokens = rows::tokens(&values);
        let ragged = |values: HostValues| HostTensor::from_row_splits(splits.clone(), values);
        let dense = |shape: &[usize], values| HostTensor::dense(shape, values).to_device(device);
        let x = ragged(HostValues::F32(values)).to_device(device)?;
        // The very partition of `x`.
        let tokens = dense(&[tokens.len()], HostValues::I32(tokens))?;
        let tokens = Tensor::from_row_partitions(&tokens, x.partitions())?;
        let inputs = Self {
            x,
            row: dense(&[n, 1], HostValues::F32(rows::flat_values(n)))?,
            ids: dense(&[n], HostValues::I64(rows::row_ids(n)))?,
            table: dense(&TABLE, HostValues::F32(rows::embeddings(TABLE[0], TABLE[1])))?,
            tokens,
        };
        for tensor in [&inputs.x, &inputs.row, &inputs.ids, &inputs.table, &inputs.tokens] {
            tensor.eval()?;
        }
        device.wait()?;
        Ok((inputs, n))
    }
}

/// An operation that is measured.
#[derive(Debug, Clone, Copy)]
pub struct Workload {
    /// Its name, the same in the scripts for other libraries.
    pub name: &'static str,
    /// Records it.
    pub record: fn(&Inputs) -> ragged::Result<Tensor>,
}

/// All operations that there are.
pub const ALL: [Workload; 14] = [
    Workload { name: "sum", record: |i| i.x.reduce_sum(1, false) },
    Workload { name: "max", record: |i| i.x.reduce_max(1, false) },
    Workload { name: "mean", record: |i| i.x.reduce_mean(1, false) },
    Workload { name: "affine_sum", record: |i| ((&i.x * 2f32)? + 1f32)?.reduce_sum(1, false) },
    Workload { name: "row_add", record: |i| &i.x + &i.row },
    Workload { name: "slice_head", record: |i| i.x.slice(s![.., ..8]) },
    Workload { name: "slice_tail", record: |i| i.x.slice(s![.., -8..]) },
    Workload { name: "gather_rows", record: |i| i.x.gather(&i.ids, Some(0), 0) },
    Workload { name: "concat_axis1", record: |i| Tensor::concat(&[&i.x, &i.x], 1) },
    Workload { name: "to_padded", record: |i| i.x.to_tensor(0f32, Some(&[None, Some(64)])) },
    Workload { name: "softmax", record: |i| i.x.softmax(1) },
    Workload { name: "mask_gt_half", record: |i| i.x.boolean_mask(&i.x.greater(0.5f32)?) },
    Workload { name: "sort", record: |i| i.x.sort(1, false) },
    Workload { name: "embed_mean", record: |i| i.table.gather(&i.tokens, Some(0), 0)?.reduce_mean(1, false) },
];

/// The names of all operations.
pub fn names() -> [&'static str; ALL.len()] {
    ALL.map(|w| w.name)
}
