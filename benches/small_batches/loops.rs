//! The programs as plain loops, with sequential or canonical sums.

use std::ops::Range;

use crate::batch::{Batch, TABLE};
use crate::common::sums;

pub const WIDTH: usize = TABLE[1];

/// Length to which rows are padded or cropped.
pub const PADDED: usize = 128;

/// Order in which a loop sums the values of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// From left to right.
    Sequential,
    /// The engine's canonical order.
    Canonical,
}

impl Order {
    pub fn sum(self, values: &[f32]) -> f32 {
        match self {
            Self::Sequential => values.iter().sum(),
            Self::Canonical => sums::sum(values),
        }
    }

    pub fn sum_rows(self, table: &[[f32; WIDTH]], ids: &[u32]) -> [f32; WIDTH] {
        match self {
            Self::Sequential => ids.iter().fold([0.0; WIDTH], |sum, &id| {
                let row = &table[id as usize];
                std::array::from_fn(|k| sum[k] + row[k])
            }),
            Self::Canonical => sums::sum_rows(table, ids),
        }
    }
}

pub fn plain_chain(batch: &Batch, _: &[[f32; WIDTH]], order: Order) -> Vec<f32> {
    let (mut scaled, mut square) = (Vec::new(), Vec::new());
    let row = |row: &[f32]| {
        let count = row.len() as f32;
        let mean = order.sum(row) / count;
        square.clear();
        square.extend(row.iter().map(|x| (x - mean) * (x - mean)));
        let divisor = order.sum(&square) / count + 1.0;
        scaled.clear();
        scaled.extend(row.iter().map(|x| (x - mean) / divisor));
        let largest = scaled.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b));
        scaled.iter_mut().for_each(|x| *x -= largest);
        order.sum(scaled.get(1..).unwrap_or_default())
    };
    batch.x.iter().map(row).collect()
}

pub fn chain_by_operation(batch: &Batch) -> Vec<f32> {
    let rows = |splits: &[u32]| splits.windows(2).map(|w| w[0] as usize..w[1] as usize).collect::<Vec<_>>();
    let (own, x) = (rows(&batch.x.splits), &batch.x.values);
    let per_row = |values: &[f32], of: fn(&[f32]) -> f32| -> Vec<f32> {
        own.iter().map(|row| of(&values[row.clone()])).collect()
    };
    let with_row = |values: &[f32], numbers: &[f32], of: fn(f32, f32) -> f32| -> Vec<f32> {
        let row = |(row, &n): (&Range<usize>, &f32)| values[row.clone()].iter().map(move |&v| of(v, n));
        own.iter().zip(numbers).flat_map(row).collect()
    };
    let mean = |row: &[f32]| row.iter().sum::<f32>() / row.len() as f32;
    let means = per_row(x, mean);
    let deviation = with_row(x, &means, |x, mean| x - mean);
    let square: Vec<f32> = deviation.iter().map(|d| d * d).collect();
    let variance = per_row(&square, mean);
    let divisor: Vec<f32> = variance.iter().map(|v| v + 1.0).collect();
    let scaled = with_row(&deviation, &divisor, |d, divisor| d / divisor);
    let largest = per_row(&scaled, |row| row.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b)));
    let relative = with_row(&scaled, &largest, |s, largest| s - largest);
    let tails = own.iter().map(|row| &relative[(row.start + 1).min(row.end)..row.end]);
    let tail_lengths: Vec<usize> = tails.clone().map(<[f32]>::len).collect();
    let tail: Vec<f32> = tails.flatten().copied().collect();
    let mut at = 0;
    let sum = |len: usize| {
        at += len;
        tail[at - len..at].iter().sum()
    };
    tail_lengths.into_iter().map(sum).collect()
}

pub fn plain_lookup_mean(batch: &Batch, table: &[[f32; WIDTH]], order: Order) -> Vec<f32> {
    let rows = batch.x.splits.windows(2);
    let mean = |ends: &[u32]| {
        let ids = &batch.ids[ends[0] as usize..ends[1] as usize];
        order.sum_rows(table, ids).map(|sum| sum / ids.len() as f32)
    };
    rows.flat_map(mean).collect()
}

pub fn plain_concat_padded(batch: &Batch, _: &[[f32; WIDTH]], _: Order) -> Vec<f32> {
    let mut out = vec![0.0; (batch.x.splits.len() - 1) * PADDED];
    for (out, (x, y)) in out.chunks_exact_mut(PADDED).zip(batch.x.iter().zip(batch.y.iter())) {
        let x = &x[..x.len().min(PADDED)];
        let y = &y[..y.len().min(PADDED - x.len())];
        out[..x.len()].copy_from_slice(x);
        out[x.len()..][..y.len()].copy_from_slice(y);
    }
    out
}

pub fn plain_sort(batch: &Batch, _: &[[f32; WIDTH]], _: Order) -> Vec<f32> {
    let mut out = batch.x.values.clone();
    for ends in batch.x.splits.windows(2) {
        out[ends[0] as usize..ends[1] as usize].sort_unstable_by(f32::total_cmp);
    }
    out
}
