//! Results of row reductions, and the accumulators that compute them.

use super::opcode::ReduceOp;
use crate::dtype::DType;

/// The result of a row reduction, extracted from its accumulator. Has the dtype of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Reducer {
    /// The values, combined by an operation.
    Op(ReduceOp),
    /// The greatest float; -inf for an empty row, NaN if any value is NaN.
    Greatest,
    /// The sum of `exp(x - greatest)` over the floats; 0 for an empty row. NaN if any value is NaN or +inf; the number
    /// of values if all are -inf.
    SumOfExps,
    /// The sum of the squared deviations of the floats from their mean; 0 for an empty row, NaN if a value is not
    /// finite.
    Deviations,
}

impl From<ReduceOp> for Reducer {
    fn from(op: ReduceOp) -> Self {
        Self::Op(op)
    }
}

/// Accumulator of the values of a row: a monoid. Reducers of the same values share equal accumulators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Accumulator {
    /// The values, combined by an operation.
    Op(ReduceOp),
    /// Online softmax: the greatest value, as an integer of the same order, and the sum of the exponentials relative to
    /// it. A merge rescales to the greater of both values with one exponential (Milakov and Gimelshein 2018).
    Exps,
    /// The number of values, one of the values, the offset of the mean from it, and the sum of the squared deviations
    /// from the mean. Merged as by Chan, Golub and LeVeque (1979), with the mean in two parts: large numbers that
    /// differ little lose no precision.
    Moments,
}

impl Reducer {
    /// The accumulator that computes the result.
    pub(crate) fn accumulator(self) -> Accumulator {
        match self {
            Self::Op(op) => Accumulator::Op(op),
            Self::Greatest | Self::SumOfExps => Accumulator::Exps,
            Self::Deviations => Accumulator::Moments,
        }
    }
}

impl Accumulator {
    /// Size of the state, in numbers of the values' size.
    pub(crate) fn numbers(self) -> usize {
        match self {
            Self::Op(_) => 1,
            Self::Exps => 2,
            Self::Moments => 4,
        }
    }
}

/// Bytes of a struct of these accumulators over values of these dtypes, in the layout of the kernels.
pub(crate) fn state_bytes(accumulators: impl IntoIterator<Item = (Accumulator, DType)>) -> usize {
    let (mut end, mut align) = (0usize, 4);
    for (accumulator, dtype) in accumulators {
        end = end.next_multiple_of(dtype.size()) + accumulator.numbers() * dtype.size();
        align = align.max(dtype.size());
    }
    end.next_multiple_of(align)
}
