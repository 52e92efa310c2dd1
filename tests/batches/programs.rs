//! Programs that run over batches: the operations of `ragged-bench`, and chains of operations.

use ragged::opt::{descending, keep, shaped};
use ragged::{Device, Result, Tensor, s, to_host};

use crate::batch::{Batch, Inputs};
use crate::common::outcome::bits;

pub type Program = (&'static str, fn(&Inputs) -> Result<Vec<Tensor>>);

/// The operations of `ragged-bench`, and chains of operations.
pub const PROGRAMS: [Program; 24] = [
    ("sum", |i| Ok(vec![i.x.reduce_sum(1)?])),
    ("max", |i| Ok(vec![i.x.reduce_max(1)?])),
    ("mean", |i| Ok(vec![i.x.reduce_mean(1)?])),
    ("affine_sum", |i| Ok(vec![((&i.x * i.scale)? + 1f32)?.reduce_sum(1)?])),
    ("row_add", |i| Ok(vec![(&i.x + &i.weights)?])),
    ("slice_head", |i| Ok(vec![i.x.slice(s![.., ..8])?])),
    ("slice_tail", |i| Ok(vec![i.x.slice(s![.., -8..])?])),
    ("gather_rows", |i| Ok(vec![i.x.gather(&i.order)?])),
    ("concat_axis1", |i| Ok(vec![Tensor::concat(&[&i.x, &i.y], 1)?])),
    ("to_padded", |i| Ok(vec![i.x.to_tensor(shaped(0f32, [-1, 64]))?])),
    ("softmax", |i| Ok(vec![i.x.softmax(1)?])),
    ("mask", |i| Ok(vec![i.x.boolean_mask(&i.x.greater(i.scale)?)?])),
    ("sort", |i| Ok(vec![i.x.sort(1)?])),
    ("embed_mean", |i| Ok(vec![i.table.gather(&i.tokens)?.reduce_mean(1)?])),
    ("standardised", |i| {
        let (mean, std) = (i.x.reduce_mean(keep(1))?, i.x.reduce_std(keep(1))?);
        Ok(vec![((&i.x - &mean)? / &std)?])
    }),
    ("moments", |i| {
        let x = &i.x;
        Ok(vec![x.reduce_mean(1)?, x.reduce_variance(1)?, x.reduce_max(1)?, x.reduce_min(1)?])
    }),
    ("weighted softmax", |i| Ok(vec![(&i.x.softmax(1)? * &i.more)?.reduce_sum(1)?])),
    ("smoothed", |i| {
        let pairs = ((i.x.slice(s![.., ..-1])? * &i.weights)? + i.x.slice(s![.., 1..])?)?;
        Ok(vec![Tensor::concat(&[&pairs, &i.y], 1)?.reduce_mean(1)?])
    }),
    ("by count", |i| {
        let kept = i.x.boolean_mask(&i.x.greater(0f32)?)?;
        let order = kept.row_lengths(1)?.argsort(descending(0))?;
        Ok(vec![kept, order])
    }),
    ("two levels", |i| Ok(vec![i.grouped.reduce_sum(2)?.reduce_max(1)?])),
    ("wide", |i| Ok(vec![i.table.gather(&i.tokens)?.cumsum(1)?])),
    ("one partition", |i| Ok(vec![((&i.x * &i.more)? - &i.x)?.reduce_sum(1)?])),
    ("normed", |i| Ok(vec![((&i.x - &i.x.reduce_max(keep(1))?)? * i.scale)?.cumsum(1)?])),
    ("conditions", |i| Ok(vec![i.weights.gather(&i.tokens)?.reduce_sum(1)?])),
];

/// The bits of the program's results for the batch, or the error.
pub fn run((_, record): &Program, inputs: &Inputs) -> Vec<String> {
    let read = record(inputs).and_then(|made| to_host(made.iter().collect::<Vec<_>>()));
    match read {
        Ok(read) => read.iter().map(bits).collect(),
        Err(error) => vec![error.to_string()],
    }
}

/// The expected results: those of the CPU backend.
pub fn wanted(program: &Program, batch: &Batch) -> Vec<String> {
    run(program, &batch.upload(&Device::cpu()).expect("uploaded"))
}
