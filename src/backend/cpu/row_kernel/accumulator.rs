//! The column of each accumulator: dispatch on the operation and the dtype, once per row kernel.

use super::super::floats::{MinMax, SumProd};
use super::super::integers::{IntegerMinMax, IntegerSumProd};
use super::super::moments::MomentsMonoid;
use super::super::online_softmax::OnlineSoftmax;
use super::column::{Column, ColumnOf, CompiledSource};
use crate::dtype::DType;
use crate::graph::opcode::ReduceOp;
use crate::graph::reducer::Accumulator;

/// The column of an accumulator of values of a dtype.
pub(super) fn column<'a>(accumulator: Accumulator, dtype: DType, source: CompiledSource<'a>) -> Box<dyn Column + 'a> {
    macro_rules! integers {
        ($op:expr, $t:ty) => {
            match $op {
                ReduceOp::Sum => Box::new(ColumnOf::<$t, _>::new(IntegerSumProd::<false>, source)),
                ReduceOp::Prod => Box::new(ColumnOf::<$t, _>::new(IntegerSumProd::<true>, source)),
                ReduceOp::Max => Box::new(ColumnOf::<$t, _>::new(IntegerMinMax::<true>, source)),
                ReduceOp::Min => Box::new(ColumnOf::<$t, _>::new(IntegerMinMax::<false>, source)),
            }
        };
    }
    macro_rules! floats {
        ($t:ty) => {
            match accumulator {
                Accumulator::Op(ReduceOp::Prod) => Box::new(ColumnOf::<$t, _>::new(SumProd::<true>, source)),
                Accumulator::Op(_) => Box::new(ColumnOf::<$t, _>::new(SumProd::<false>, source)),
                Accumulator::Extreme(ReduceOp::Min) => Box::new(ColumnOf::<$t, _>::new(MinMax::<false>, source)),
                Accumulator::Extreme(_) => Box::new(ColumnOf::<$t, _>::new(MinMax::<true>, source)),
                Accumulator::Exps => Box::new(ColumnOf::<$t, _>::new(OnlineSoftmax, source)),
                Accumulator::Moments => Box::new(ColumnOf::<$t, _>::new(MomentsMonoid, source)),
            }
        };
    }
    match (accumulator, dtype) {
        (_, DType::F32) => floats!(f32),
        (_, DType::F64) => floats!(f64),
        (Accumulator::Op(op), DType::I32) => integers!(op, i32),
        (Accumulator::Op(op), DType::I64) => integers!(op, i64),
        (Accumulator::Op(op), DType::U32) => integers!(op, u32),
        (Accumulator::Op(op), DType::U64) => integers!(op, u64),
        (_, d) => unreachable!("bug: a row reduction over {d} must be recorded over its accumulator"),
    }
}
