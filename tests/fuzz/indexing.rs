//! Slices, gathers, concatenation, reversal, and the parts of a tensor.

use ragged::Tensor;
use ragged::arguments::Fill;
use ragged::arguments::{Index, Operand};
use ragged::opt::{along, batched, descending};

use crate::op::{Op, Subject, op};
use crate::random::{self, Random};

/// Up to `rank` keys: integers, new axes, slices with steps of either sign.
pub fn index(random: &mut Random, rank: usize) -> Vec<Index<'static>> {
    let bound = |random: &mut Random| (random.below(3) > 0).then(|| random.signed(4));
    (0..1 + random.below(rank))
        .map(|_| match random.below(9) {
            0 => Index::At(random.signed(2)),
            1 => Index::NewAxis,
            2 => Index::Slice { start: None, stop: None, step: 1 },
            _ => {
                let (start, stop) = (bound(random), bound(random));
                Index::Slice { start, stop, step: random.of(&[1, 1, 1, 2, -1, -2, 3]) }
            }
        })
        .collect()
}

pub fn pick(random: &mut Random, x: &Subject) -> Op {
    let axis = x.axis;
    match random.below(17) {
        0..=2 => {
            let index = index(random, x.rank);
            op(format!("slice {index:?}"), move |x, _| x.slice(&index))
        }
        3 => op(format!("reverse {axis}"), move |x, _| x.reverse(axis)),
        4 => {
            let axes = [axis, random.signed(1)];
            op(format!("reverse {axes:?}"), move |x, _| x.reverse(axes))
        }
        5 => op(format!("concat {axis}"), move |x, y| Tensor::concat(&[x, y], axis)),
        6 => op(format!("concat with itself {axis}"), move |x, _| Tensor::concat(&[x, x, x], axis)),
        // Parts of one tensor are compatible for a concatenation.
        7 => op(format!("concat of its reverse {axis}"), move |x, _| Tensor::concat(&[&x.reverse(axis)?, x], axis)),
        8 => op(format!("stack {axis}"), move |x, y| Tensor::stack(&[x, y], axis)),
        9 => op(format!("stack of itself {axis}"), move |x, _| Tensor::stack(&[x, x], axis)),
        10 | 11 => gather(random, axis),
        12 => {
            let (nd, n) = (1 + random.below(x.rank.max(1)), random.below(4));
            let mut ids = random::vector(random, n * nd, 0, 2);
            ids.inner_shape = vec![n, nd];
            op(format!("gather_nd {:?}", ids.values), move |x, _| x.gather_nd(&ids.to_device(&x.device())?))
        }
        13 => op("flat_values", |x, _| x.flat_values()),
        14 => op("values", |x, _| x.values()),
        15 => match random.below(6) {
            0 => op("row_splits", |x, _| x.row_splits()),
            1 => op("value_rowids", |x, _| x.value_rowids()),
            2 => op(format!("row_lengths {axis}"), move |x, _| x.row_lengths(axis)),
            3 => op("nrows", |x, _| x.nrows()),
            4 => op("bounding_shape", |x, _| x.bounding_shape()),
            _ => op("row_limits - row_starts", |x, _| x.row_limits()?.subtract(&x.row_starts()?)),
        },
        _ => {
            let mut at = random::vector(random, 1, -1, 2);
            at.inner_shape.clear();
            op(format!("row_at {:?}", at.values), move |x, _| x.row_at(&at.to_device(&x.device())?))
        }
    }
}

/// Gathers of rows by dense and ragged indices, and by the argsort of each row.
fn gather(random: &mut Random, axis: i64) -> Op {
    match random.below(7) {
        0 => {
            let n = random.below(5);
            let ids = random::vector(random, n, 0, 2);
            op(format!("gather {:?}", ids.values), move |x, _| x.gather(&ids.to_device(&x.device())?))
        }
        1 => {
            let ids = random::rows(random, 3, 0, 3);
            op(format!("gather rows {:?} {axis}", ids.values), move |x, _| {
                x.gather(along(&ids.to_device(&x.device())?, axis))
            })
        }
        2 => op("gather of argmax", |x, _| x.gather(&x.count_nonzero(..)?.floormod(2i64)?)),
        5 => op("gather_nd in batches", |x, _| {
            x.gather_nd(batched(&x.argsort(-1)?.expand_dims(-1)?, x.rank() as i64 - 1))
        }),
        6 => op("batch_gather_with_default", |x, _| {
            let before = x.argsort(descending(-1))?.subtract(1i64)?;
            x.batch_gather_with_default(&before, Operand::Value(Fill::zero(x.dtype())))
        }),
        3 => op("batch_gather of its order", |x, _| x.batch_gather(&x.argsort(descending(-1))?)),
        _ => op(format!("gather of a column {axis}"), move |x, _| {
            x.gather(along(
                &ragged::HostTensor::dense(&[], ragged::HostValues::I64(vec![0])).to_device(&x.device())?,
                axis,
            ))
        }),
    }
}
