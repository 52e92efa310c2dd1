//! Operations that change a shape.

use ragged::arguments::Fill;
use ragged::arguments::Operand;
use ragged::opt::{keep, shaped};
use ragged::{DType, Tensor};

use crate::op::{Op, Subject, op};
use crate::random::{self, Random};

/// Zero of the tensor's dtype.
fn zero(dtype: DType) -> Operand<'static> {
    Operand::Value(Fill::zero(dtype))
}

pub fn pick(random: &mut Random, x: &Subject) -> Op {
    let (axis, dtype) = (x.axis, x.dtype);
    let other = axis + random.signed(2);
    let n = random.below(4);
    match random.below(24) {
        0 => op(format!("expand_dims {axis}"), move |x, _| x.expand_dims(axis)),
        1 | 2 => op(format!("merge_dims {axis} {other}"), move |x, _| x.merge_dims(axis, other)),
        3 => op(format!("squeeze of a new {axis}"), move |x, _| x.expand_dims(axis)?.squeeze(axis)),
        4 => op("squeeze of all", |x, _| x.squeeze(..)),
        5 => op("reshape_like", |x, y| x.reshape_like(y)),
        6 => op("reshape of its flat values", |x, _| x.flat_values()?.reshape([-1])?.reshape_like(x)),
        7 => op("broadcast_like", |x, y| x.broadcast_like(y)),
        8 => op("broadcast of its ends", |x, _| x.reduce_max(keep(-1))?.broadcast_like(x)),
        9 => op("broadcast_to a shape with one more", |x, _| x.broadcast_to(x.expand_dims(0)?.ragged_shape())),
        10 => op("the rest of a split", move |x, _| x.split([1, other], axis).map(|mut all| all.swap_remove(1))),
        11 => op(format!("half of {axis}"), move |x, _| x.split(2, axis).map(|mut all| all.swap_remove(1))),
        12 => {
            op("zeros of a broadcast", |x, y| Tensor::zeros(&x.ragged_shape().broadcast(y.ragged_shape())?, x.dtype()))
        }
        13 => op("ones of its first dimensions", move |x, _| {
            let shape = x.ragged_shape().slice(..x.rank().min(2) as i64)?;
            if dtype == DType::Str { Tensor::zeros(&shape, dtype) } else { Tensor::ones(&shape, dtype) }
        }),
        14 => {
            let groups = 1 + random.below(3) as u32;
            op(format!("{groups} groups"), move |x, y| {
                let rows = Tensor::zeros(&y.ragged_shape().slice(..1)?, DType::I32)?;
                x.stack_dynamic_partitions(&rows, groups)
            })
        }
        15 => {
            let (rows, which) = (random.of(&[1, 2, 3, 5, 17]), random.below(3));
            let ids = random::vector(random, rows, 0, 3);
            op(format!("group {which} of {:?}", ids.values), move |x, _| {
                Ok(x.dynamic_partition(&ids.to_device(&x.device())?, 3)?.swap_remove(which))
            })
        }
        16 => op("groups of its own rows", |x, _| {
            let ids = x.row_lengths(1)?.flat_values()?.floormod(3i64)?;
            x.stack_dynamic_partitions(&ids, 3)
        }),
        17 => op("fill_empty_rows", move |x, _| Ok(x.fill_empty_rows(zero(dtype))?.0)),
        18 => op("which rows are empty", move |x, _| Ok(x.fill_empty_rows(zero(dtype))?.1)),
        19 => op("to_tensor and back", |x, _| {
            let lengths = x.row_lengths(1)?;
            Tensor::from_tensor_with_lengths(&x.to_tensor(Fill::zero(x.dtype()))?, &lengths, 1)
        }),
        20 => {
            let sizes: Vec<i64> = (0..x.rank).map(|_| random.of(&[-1, 0, 1, 3])).collect();
            op(format!("to_tensor {sizes:?}"), move |x, _| x.to_tensor(shaped(Fill::zero(x.dtype()), &sizes)))
        }
        21 => op("from_tensor", move |x, _| Tensor::from_tensor(x, n)),
        22 => op("to_sparse and back", |x, _| Tensor::from_sparse(&x.to_sparse()?)),
        _ => op("with the flat values of its reverse", |x, _| x.with_flat_values(&x.flat_values()?.reverse(0)?)),
    }
}
