//! Reductions over axes and of segments.

use ragged::arguments::Axes;
use ragged::opt::ReduceAxes;
use ragged::{DType, Result, Tensor};

use crate::op::{Op, Subject, op};
use crate::random::{self, Random};

type Reduce = (&'static str, fn(&Tensor, ReduceAxes) -> Result<Tensor>);
type Along = (&'static str, fn(&Tensor, i64) -> Result<Tensor>);
type Segments = (&'static str, fn(&Tensor, &Tensor, i64) -> Result<Tensor>);

macro_rules! reduce {
    ($($name:ident)+) => {
        [$((stringify!($name), |x, axes| x.$name(axes))),+]
    };
}
macro_rules! along {
    ($($name:ident)+) => { [$((stringify!($name), |x, axis| x.$name(axis))),+] };
}
macro_rules! segments {
    ($($name:ident)+) => { [$((stringify!($name), |x, ids, n| x.$name(ids, n))),+] };
}

const ALL: &[Reduce] = &reduce! {
    reduce_sum reduce_prod reduce_min reduce_max reduce_mean reduce_variance reduce_std reduce_all reduce_any
    reduce_logsumexp reduce_euclidean_norm count_nonzero
};
const TO_F32: Reduce = ("reduce_mean_as", |x, axes| x.reduce_mean_as(DType::F32, axes));
const VARIANCE_TO_F32: Reduce = ("reduce_variance_as", |x, axes| x.reduce_variance_as(DType::F32, axes));
const STD_TO_F32: Reduce = ("reduce_std_as", |x, axes| x.reduce_std_as(DType::F32, axes));
const OF_BOOLS: &[Reduce] = &reduce! { reduce_all reduce_any count_nonzero };
const EXTREMES: &[Along] = &along! { argmin argmax };
const UNSORTED: &[Segments] = &segments! {
    unsorted_segment_sum unsorted_segment_prod unsorted_segment_min unsorted_segment_max unsorted_segment_mean
    unsorted_segment_sqrt_n
};

pub fn pick(random: &mut Random, x: &Subject) -> Op {
    let axis = x.axis;
    match random.below(8) {
        0 => {
            let (name, f) = random.of(EXTREMES);
            op(format!("{name} {axis}"), move |x, _| f(x, axis))
        }
        1 | 2 => segments(random, x),
        _ => {
            let (name, f) = match random.of(if x.is_number() { ALL } else { OF_BOOLS }) {
                ("reduce_mean", _) if random.once_in(2) => TO_F32,
                ("reduce_variance", _) if random.once_in(2) => VARIANCE_TO_F32,
                ("reduce_std", _) if random.once_in(2) => STD_TO_F32,
                other => other,
            };
            let keep = random.once_in(2);
            let axes = match random.below(8) {
                0 => Axes::All,
                1 => [axis, x.rank as i64 - 1].into(),
                2 => x.inner_axes().into(),
                3 => [-1, 0].into(),
                4 => (-1).into(),
                _ => axis.into(),
            };
            op(format!("{name} {axes:?} {keep}"), move |x, _| f(x, ReduceAxes::from(axes.clone()).keep(keep)))
        }
    }
}

/// Segment ids of values or of whole rows, now and then beyond the number of segments.
fn segments(random: &mut Random, x: &Subject) -> Op {
    let (name, f) = random.of(UNSORTED);
    let (num, inner) = (random.of(&[3, 2, 2, 1]), x.inner_axes());
    match random.below(6) {
        0 => op(format!("{name} {num}, whole rows"), move |x, _| {
            f(x, &x.cast(DType::Bool)?.reduce_any(inner.clone())?.cast(DType::I32)?, num)
        }),
        1 => op(format!("{name} {num}, each value"), move |x, _| f(x, &x.cast(DType::Bool)?.cast(DType::I64)?, num)),
        2 => op("segment_sum of its rows", |x, _| x.values()?.segment_sum(&x.value_rowids()?)),
        3 => op("segment_mean of its rows", |x, _| x.values()?.segment_mean(&x.value_rowids()?)),
        4 => op("segment_mean_as of its rows", |x, _| x.values()?.segment_mean_as(DType::F32, &x.value_rowids()?)),
        _ => {
            let n = random.of(&[0, 1, 2, 3, 5, 17]);
            let ids = random::vector(random, n, -1, num);
            op(format!("{name} {num}, {:?}", ids.values), move |x, _| f(x, &ids.to_device(&x.device())?, num))
        }
    }
}
