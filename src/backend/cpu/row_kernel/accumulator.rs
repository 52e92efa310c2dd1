//! The column of each accumulator: dispatch on the operation and the dtype, once per row kernel.

use super::super::array::Array;
use super::super::row_reduce::{MinMax, Moments, OnlineSoftmax, SumProd};
use super::column::{Column, ColumnOf, ColumnSource};
use crate::dtype::DType;
use crate::graph::opcode::ReduceOp;
use crate::graph::reducer::Accumulator;

/// The column of an accumulator of values of a dtype.
pub(super) fn column<'a>(
    accumulator: Accumulator,
    dtype: DType,
    source: ColumnSource<&'a Array>,
) -> Box<dyn Column + 'a> {
    macro_rules! column {
        ($t:ty, $monoid:expr) => {
            Box::new(ColumnOf::<$t, _>::new($monoid, source))
        };
    }
    macro_rules! numbers {
        ($t:ty, $op:expr) => {
            match $op {
                ReduceOp::Sum => column!($t, SumProd::<false>),
                ReduceOp::Prod => column!($t, SumProd::<true>),
                ReduceOp::Max => column!($t, MinMax::<true>),
                ReduceOp::Min => column!($t, MinMax::<false>),
            }
        };
    }
    macro_rules! floats {
        ($t:ty) => {
            match accumulator {
                Accumulator::Op(op) | Accumulator::Extreme(op) => numbers!($t, op),
                Accumulator::Exps => column!($t, OnlineSoftmax),
                Accumulator::Moments => column!($t, Moments),
            }
        };
    }
    match (accumulator, dtype) {
        (_, DType::F32) => floats!(f32),
        (_, DType::F64) => floats!(f64),
        (Accumulator::Op(op), DType::I32) => numbers!(i32, op),
        (Accumulator::Op(op), DType::I64) => numbers!(i64, op),
        (Accumulator::Op(op), DType::U32) => numbers!(u32, op),
        (Accumulator::Op(op), DType::U64) => numbers!(u64, op),
        (_, d) => unreachable!("bug: a row reduction over {d} must be recorded over its accumulator"),
    }
}
