//! Streams: programs and the batches that they run over.

use ragged::opt::{keep, shaped};
use ragged::{HostTensor, HostValues, Result, Tensor, s};

use crate::batch::Batch;
use crate::loops::{
    Order, PADDED, WIDTH, chain_by_operation, plain_chain, plain_concat_padded, plain_lookup_mean, plain_sort,
};

/// A program and the batches that it runs over.
pub struct Stream {
    pub name: &'static str,
    /// Share of the batches that it runs over: all, or every other batch.
    pub one_of: usize,
    pub batch: fn(usize) -> Batch,
    /// The tensors to upload.
    pub inputs: fn(&Batch) -> Vec<HostTensor>,
    /// Records the program on the uploaded tensors and the table.
    pub record: fn(&[Tensor], &Tensor) -> Result<Tensor>,
    /// The program as a loop, in the engine's canonical order.
    pub plain: fn(&Batch, &[[f32; WIDTH]], Order) -> Vec<f32>,
    /// As [`Self::plain`] with sequential sums. Programs of many operations have one loop and one new list per
    /// operation.
    pub by_operation: Option<fn(&Batch) -> Vec<f32>>,
    /// Number of recorded operations.
    pub operations: usize,
}

pub const STREAMS: [Stream; 5] = [
    Stream {
        name: "chain_64_rows",
        one_of: 2,
        batch: Batch::of_64_rows,
        inputs: |batch| vec![batch.x.host()],
        record: chain,
        plain: plain_chain,
        by_operation: Some(chain_by_operation),
        operations: 10,
    },
    Stream {
        name: "lookup_mean",
        one_of: 1,
        batch: Batch::of_any_size,
        inputs: |batch| {
            let ids = batch.ids.iter().map(|&id| id as i32).collect();
            vec![HostTensor::from_row_splits(batch.x.splits.clone(), HostValues::I32(ids))]
        },
        record: |inputs, table| table.embedding_lookup(&inputs[0])?.reduce_mean(1),
        plain: plain_lookup_mean,
        by_operation: None,
        operations: 2,
    },
    Stream {
        name: "chain",
        one_of: 1,
        batch: Batch::of_any_size,
        inputs: |batch| vec![batch.x.host()],
        record: chain,
        plain: plain_chain,
        by_operation: Some(chain_by_operation),
        operations: 10,
    },
    Stream {
        name: "concat_padded",
        one_of: 1,
        batch: Batch::of_any_size,
        inputs: |batch| vec![batch.x.host(), batch.y.host()],
        record: |inputs, _| {
            let joined = Tensor::concat(&[&inputs[0], &inputs[1]], 1)?;
            joined.to_tensor(shaped(0f32, [-1, PADDED as i64]))
        },
        plain: plain_concat_padded,
        by_operation: None,
        operations: 2,
    },
    Stream {
        name: "sort",
        one_of: 1,
        batch: Batch::of_any_size,
        inputs: |batch| vec![batch.x.host()],
        record: |inputs, _| inputs[0].sort(1),
        plain: plain_sort,
        by_operation: None,
        operations: 1,
    },
];

/// Ten row operations: each value's deviation from the mean of its row over the row's variance plus one, relative to
/// the row's largest, summed without the first value.
fn chain(inputs: &[Tensor], _: &Tensor) -> Result<Tensor> {
    let x = &inputs[0];
    let mean = x.reduce_mean(keep(1))?;
    let deviation = (x - &mean)?;
    let square = (&deviation * &deviation)?;
    let variance = square.reduce_mean(keep(1))?;
    let divisor = (&variance + 1f32)?;
    let scaled = (&deviation / &divisor)?;
    let largest = scaled.reduce_max(keep(1))?;
    let relative = (&scaled - &largest)?;
    let tail = relative.slice(s![.., 1..])?;
    tail.reduce_sum(1)
}
