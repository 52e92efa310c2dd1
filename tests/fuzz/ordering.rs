//! Scans, softmax, sorts and their relatives.

use ragged::opt::{ReduceAxes, ScanAxis, SortAxis};
use ragged::{Result, Tensor};

use crate::op::{Op, Subject, op};
use crate::random::Random;

/// The values of `out` in the rows of `x`. As in TensorFlow, softmax along the outermost axis gives one row where `x` has
/// rows without values, if the host recorded that (`tests/history.rs`).
fn in_its_rows(x: &Tensor, out: Tensor) -> Result<Tensor> {
    x.with_flat_values(&out.flat_values()?)
}

pub fn pick(random: &mut Random, x: &Subject) -> Op {
    let axis = if random.once_in(2) { -1 } else { x.axis };
    let (one, two) = (random.once_in(2), random.once_in(2));
    if x.dtype.is_float() && random.once_in(4) {
        return match random.below(3) {
            0 => op(format!("softmax {axis}"), move |x, _| in_its_rows(x, x.softmax(axis)?)),
            1 => op(format!("log_softmax {axis}"), move |x, _| in_its_rows(x, x.log_softmax(axis)?)),
            _ => op(format!("l2_normalize {axis}"), move |x, _| x.l2_normalize(axis, 1e-12)),
        };
    }
    let k = random.below(4) as u32;
    match random.below(18) {
        0..=2 => op(format!("cumsum {axis} {one} {two}"), move |x, _| {
            x.cumsum(ScanAxis::from(axis).exclusive(one).reversed(two))
        }),
        3 => op(format!("cumprod {axis} {one} {two}"), move |x, _| {
            x.cumprod(ScanAxis::from(axis).exclusive(one).reversed(two))
        }),
        4 => op(format!("cummax {axis} {one}"), move |x, _| x.cummax(ScanAxis::from(axis).reversed(one))),
        5 => op(format!("cummin {axis} {one}"), move |x, _| x.cummin(ScanAxis::from(axis).reversed(one))),
        6 | 7 => op(format!("sort {axis} {one}"), move |x, _| x.sort(SortAxis::from(axis).descending(one))),
        8 => op(format!("argsort {axis} {one}"), move |x, _| x.argsort(SortAxis::from(axis).descending(one))),
        9 => op(format!("top {k} along {axis}"), move |x, _| Ok(x.top_k(k, axis)?.0)),
        10 => op(format!("where the top {k} along {axis} are"), move |x, _| Ok(x.top_k(k, axis)?.1)),
        11 => op(format!("unique {axis}"), move |x, _| x.unique(axis)),
        12 => op(format!("counts of unique {axis}"), move |x, _| Ok(x.unique_with_counts(axis)?.1)),
        13 => op(format!("n_unique {axis}"), move |x, _| x.n_unique(axis)),
        14 => op(format!("median {axis} {one}"), move |x, _| x.median(ReduceAxes::from(axis).keep(one))),
        15 => op(format!("linear recurrence {axis} {one} {two}"), move |x, _| {
            x.linear_recurrence(k + 1, 2, ScanAxis::from(axis).exclusive(one).reversed(two))
        }),
        16 => op(format!("linear recurrence of decays {axis} {one} {two}"), move |x, _| {
            x.linear_recurrence(x, 1, ScanAxis::from(axis).exclusive(one).reversed(two))
        }),
        _ => {
            let q = random.of(&[0.0, 0.3, 0.5, 1.0]);
            op(format!("quantile {q} {axis} {one}"), move |x, _| x.quantile(q, ReduceAxes::from(axis).keep(one)))
        }
    }
}
