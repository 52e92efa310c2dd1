//! The sizes and scalars of one run of a program.

use crate::graph::row_lengths::{self, KnownLengths};
use crate::graph::scalar::Scalar;

/// A size in a run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RunSize {
    /// The value as far as it is known before the run: an upper bound of a count.
    pub(crate) bound: u32,
    /// The exact value of a count that was computed in the run.
    pub(crate) exact: Option<u32>,
}

/// An input in a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunInput {
    /// Number of elements as allocated.
    pub(crate) len: u32,
    /// For splits: row lengths as far as the host knows them.
    pub(crate) lengths: KnownLengths,
}

/// The sizes and scalars of one run. Plans hold their numbers only, so that any number of threads run one plan, each
/// with its own table.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunTable {
    /// The sizes of the program, by number.
    pub(crate) sizes: Vec<RunSize>,
    /// The inputs, by the number of the array; `None` for computed arrays.
    pub(crate) inputs: Vec<Option<RunInput>>,
    /// The scalar parameters of the program, by number.
    pub(crate) scalars: Vec<Scalar>,
    /// Whether a size of the program saturates: the sizes are then not those of arithmetic without a limit.
    pub(crate) saturates: bool,
}

impl RunTable {
    /// The value of a size of the program; an upper bound for a count that the run has not computed.
    pub(crate) fn value(&self, size: usize) -> u32 {
        let RunSize { bound, exact } = self.sizes[size];
        exact.unwrap_or(bound)
    }

    /// An input.
    pub(crate) fn input(&self, array: usize) -> RunInput {
        self.inputs[array].expect("bug: a computed array as an input")
    }

    /// The scalar parameters as words.
    pub(crate) fn scalar_words(&self) -> impl Iterator<Item = u32> {
        self.scalars.iter().flat_map(|scalar| [scalar.bits() as u32, (scalar.bits() >> 32) as u32])
    }

    /// The values on which grids and buffers of a run depend: all sizes, the lengths of the inputs, and the length
    /// classes of their rows.
    pub(crate) fn signature(&self) -> impl Iterator<Item = u32> {
        let sizes = (0..self.sizes.len()).map(|k| self.value(k));
        let input = |RunInput { len, lengths }: &RunInput| [*len, row_lengths::walk_class(lengths.longest)];
        sizes.chain(self.inputs.iter().flatten().flat_map(input))
    }
}
