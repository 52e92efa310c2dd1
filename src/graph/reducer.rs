//! Results of row reductions, and the accumulators that compute them.

use super::opcode::ReduceOp;
use super::scalar::Scalar;
use crate::dtype::DType;

/// The result of a row reduction, extracted from its accumulator. Has the dtype of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub(crate) enum Reducer {
    /// The values, combined by an operation. Minima and maxima of floats are [`Self::Extreme`].
    Op(ReduceOp),
    /// The minimum or maximum of floats; NaN if any value is NaN. -0 is below +0.
    Extreme(ReduceOp, Empty),
    /// The greatest float; -inf for an empty row, NaN if any value is NaN.
    Greatest,
    /// The sum of `exp(x - greatest)` over the floats; 0 for an empty row. NaN if any value is NaN or +inf; the number
    /// of values if all are -inf.
    SumOfExps,
    /// The sum of the squared deviations of the floats from their mean; 0 for an empty row, NaN if a value is not
    /// finite.
    Deviations,
}

/// The minimum and maximum of no floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub(crate) enum Empty {
    /// The greatest and the lowest finite float.
    Finite,
    /// +inf and -inf, the identity elements.
    Infinite,
}

impl Empty {
    /// The result of a reduction by `op` of no floats of that dtype.
    pub(crate) fn value(self, op: ReduceOp, dtype: DType) -> Scalar {
        match (self, op) {
            (Self::Infinite, _) => op.identity(dtype),
            (Self::Finite, ReduceOp::Min) => Scalar::highest(dtype),
            (Self::Finite, _) => Scalar::lowest(dtype),
        }
    }
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
    /// The minimum or maximum of the order keys of floats: integers in the order of the floats, among which the key of
    /// NaN wins. The identity element is the key of no float.
    Extreme(ReduceOp),
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
            Self::Extreme(op, _) => Accumulator::Extreme(op),
            Self::Greatest | Self::SumOfExps => Accumulator::Exps,
            Self::Deviations => Accumulator::Moments,
        }
    }
}

impl Accumulator {
    /// Size of the state, in numbers of the values' size.
    pub(crate) fn numbers(self) -> usize {
        match self {
            Self::Op(_) | Self::Extreme(_) => 1,
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
