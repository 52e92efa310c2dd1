//! Chains of row operations.

use ragged::opt::{descending, keep};
use ragged::{Tensor, s};

use super::{Program, one};

pub const PROGRAMS: &[Program] = &[
    ("smoothed", |i| {
        let pairs = i.x.slice(s![.., ..-1])?.multiply(&i.column)?.add(&i.x.slice(s![.., 1..])?)?;
        one(Tensor::concat(&[&pairs, &i.other], 1)?.reduce_mean(1))
    }),
    ("by count", |i| {
        let kept = i.x.boolean_mask(&i.x.greater(0f32)?)?;
        one(kept.gather(&kept.row_lengths(1)?.argsort(descending(0))?))
    }),
    ("pooled", |i| one(i.table.gather(&i.ids)?.reduce_sum(1)?.segment_max(&i.segments))),
    ("pooled twice", |i| one(i.nested.softmax(2)?.reduce_sum(2)?.reduce_max(1))),
    ("standardised", |i| {
        let (mean, std) = (i.x.reduce_mean(keep(1))?, i.x.reduce_std(keep(1))?);
        one(i.x.subtract(&mean)?.truediv(&std))
    }),
    ("a scan of a scan", |i| one(i.x.cumsum(1)?.softmax(1)?.cummax(1))),
    ("a mask of a sorted slice", |i| {
        let best = i.x.sort(descending(1))?.slice(s![.., ..8])?;
        one(best.boolean_mask(&best.greater(0f32)?)?.reduce_mean(1))
    }),
    ("windows of differences", |i| one(i.x.diff(1)?.sliding_windows(4, 1)?.reduce_max(2)?.reduce_sum(1))),
    ("unique tokens of sorted rows", |i| {
        let tokens = i.ids.gather(&i.x.row_lengths(1)?.argsort(0)?)?.unique(1)?;
        one(i.table.gather(&tokens)?.reduce_mean(1))
    }),
    ("a join of groups", |i| {
        let (keys, groups) = i.x.group_by_key(&i.ids)?;
        Ok(vec![i.table.gather(&keys)?.reduce_sum(1)?, groups.reduce_sum(-1)?])
    }),
    ("a reshaped concatenation", |i| {
        let both = Tensor::concat(&[&i.x, &i.y], 1)?.reverse(1)?;
        one(both.tile(&[1, 2])?.cumsum(1)?.slice(s![.., -1..]))
    }),
];
