//! Masks of every rank, selections, and repetitions.

use ragged::{DType, Tensor};

use crate::op::{Op, Subject, op};
use crate::random::Random;

pub fn pick(random: &mut Random, x: &Subject) -> Op {
    // Bounds the growth of values by repeated repetitions.
    let times = random.of(&[0, 1, 2]);
    let (axis, rank, inner) = (x.axis, x.rank, x.inner_axes());
    match random.below(12) {
        0 => {
            let multiples: Vec<i64> =
                (0..rank as i64).map(|d| if d == axis.rem_euclid(rank as i64) { times } else { 1 }).collect();
            op(format!("tile {multiples:?}"), move |x, _| x.tile(&multiples))
        }
        1 => {
            let multiples: Vec<i64> = (0..rank).map(|_| random.of(&[1, 1, 1, 0, 2])).collect();
            op(format!("tile {multiples:?}"), move |x, _| x.tile(&multiples))
        }
        2 => op(format!("repeat {times} {axis}"), move |x, _| x.repeat(times, axis)),
        // One flag per row from the other tensor, if it has as many rows; masks computed from the tensor.
        3 if rank > 1 && x.dtype != DType::Str => {
            let some = move |t: &Tensor| t.cast(DType::Bool)?.reduce_any((1..t.rank() as i64).collect::<Vec<_>>());
            op("mask of the other's rows", move |x, y| x.boolean_mask(&some(y)?))
        }
        4 if x.dtype != DType::Str => {
            op("mask of its rows", move |x, _| x.boolean_mask(&x.cast(DType::Bool)?.reduce_any(inner.clone())?))
        }
        5 if rank > 1 && x.dtype != DType::Str => {
            let some = move |t: &Tensor| t.cast(DType::Bool)?.reduce_any(-1);
            op("mask of the last rows", move |x, _| x.boolean_mask(&some(x)?))
        }
        6 if x.dtype != DType::Str => op("where_indices", |x, _| x.where_indices()),
        7 => op("select", |x, y| x.equal(y)?.select(y, x)),
        8 => op("select of its reverse", |x, _| {
            let back = x.reverse(0)?.broadcast_like(x)?;
            x.equal(&back)?.select(x, &back)
        }),
        9 if x.dtype != DType::Str => op("select_rows", move |x, y| {
            let flags = x.cast(DType::Bool)?.reduce_any(inner.clone())?;
            flags.select_rows(x, if y.rank() == x.rank() { y } else { x })
        }),
        10 => op("mask", |x, y| x.boolean_mask(&x.equal(y)?)),
        _ => op("mask of the equal neighbours", |x, _| {
            let back = x.reverse(0)?.broadcast_like(x)?;
            x.boolean_mask(&x.not_equal(&back)?)
        }),
    }
}
