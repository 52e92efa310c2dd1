//! Cuts rows into runs for the cores to share.

use super::eval::Inputs;
use crate::graph::node::Rows;

/// Where rows start, on the host.
#[derive(Clone, Copy)]
pub(crate) enum Starts<'a> {
    Splits(&'a [u32]),
    Uniform(usize),
}

impl<'a> Starts<'a> {
    pub(crate) fn new(inputs: &'a Inputs, rows: &Rows) -> Self {
        match rows {
            Rows::Splits(node) => Self::Splits(inputs.array(node).slice()),
            Rows::Uniform(len) => Self::Uniform(*len as usize),
        }
    }

    /// Where row `row` starts.
    pub(crate) fn at(&self, row: usize) -> usize {
        match self {
            Self::Splits(s) => s[row] as usize,
            Self::Uniform(len) => row * len,
        }
    }

    /// Runs of whole rows, each with its piece of `out` (`inner` numbers a row), of at most `chunk` rows and `chunk`
    /// values where no single row has more.
    pub(crate) fn runs<'o, T>(&self, inner: usize, chunk: usize, out: &'o mut [T]) -> Vec<(usize, &'o mut [T])> {
        let nrows = out.len().checked_div(inner).unwrap_or(0);
        let mut runs = Vec::new();
        let (mut first, mut rest) = (0, out);
        while first < nrows {
            let mut last = first + 1;
            while last < nrows && last - first < chunk && (self.at(last + 1) - self.at(first)) * inner <= chunk {
                last += 1;
            }
            let (run, tail) = rest.split_at_mut((last - first) * inner);
            runs.push((first, run));
            (first, rest) = (last, tail);
        }
        runs
    }
}
