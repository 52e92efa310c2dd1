//! What row reductions give, and what they keep of the values on the way.

use super::opcode::ReduceOp;
use crate::dtype::DType;

/// What a row reduction gives of each row: a part of what it accumulates. The dtype is that of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Reducer {
    /// The values, combined by an operation.
    Op(ReduceOp),
    /// The greatest float; -inf for an empty row, NaN if any value is NaN.
    Greatest,
    /// The sum of the exponentials of the floats less the greatest; 0 for an empty row. NaN if any value is NaN or
    /// +inf; where all are -inf, their number.
    SumOfExps,
    /// The sum of the squares of what the floats deviate from their mean; 0 for an empty row, NaN if a value is not
    /// finite.
    Deviations,
}

impl From<ReduceOp> for Reducer {
    fn from(op: ReduceOp) -> Self {
        Self::Op(op)
    }
}

/// What is kept of the values of a row: a monoid. Reducers of one accumulator over the same values share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Accumulator {
    /// One value.
    Op(ReduceOp),
    /// The greatest value, as an integer of the same order, and the sum of the exponentials relative to it. Two sums
    /// are brought to the greater of their greatest values with one exponential (Milakov and Gimelshein 2018).
    Exps,
    /// How many values; one of them; how far their mean is from it; the sum of the squared deviations from their mean.
    /// Merged as by Chan, Golub and LeVeque (1979), with the mean in two parts: numbers that are large and differ
    /// little lose nothing.
    Moments,
}

impl Reducer {
    /// What it is a part of.
    pub(crate) fn accumulator(self) -> Accumulator {
        match self {
            Self::Op(op) => Accumulator::Op(op),
            Self::Greatest | Self::SumOfExps => Accumulator::Exps,
            Self::Deviations => Accumulator::Moments,
        }
    }
}

impl Accumulator {
    /// Numbers of the values' size that are kept.
    pub(crate) fn numbers(self) -> usize {
        match self {
            Self::Op(_) => 1,
            Self::Exps => 2,
            Self::Moments => 4,
        }
    }
}

/// Bytes of a structure of these accumulators of values of these dtypes, as kernels lay it out.
pub(crate) fn state_bytes(accumulators: impl IntoIterator<Item = (Accumulator, DType)>) -> usize {
    let (mut end, mut align) = (0usize, 4);
    for (accumulator, dtype) in accumulators {
        end = end.next_multiple_of(dtype.size()) + accumulator.numbers() * dtype.size();
        align = align.max(dtype.size());
    }
    end.next_multiple_of(align)
}
