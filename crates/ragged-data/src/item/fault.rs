//! Errors of items, messages and datasets: values of `ragged::Error` with the function's name and the user's line.

use std::panic::Location;

use ragged::{DType, Error};

/// The line of a call of the user.
pub(crate) type Line = &'static Location<'static>;

/// A call of the user: the function's name, and the line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub(crate) op: &'static str,
    pub(crate) line: Line,
}

impl Call {
    /// The call of a function with `#[track_caller]`.
    #[track_caller]
    pub(crate) fn here(op: &'static str) -> Self {
        Self { op, line: Location::caller() }
    }

    /// An argument outside what the function accepts.
    pub(crate) fn argument(self, what: impl Into<String>) -> Error {
        Error::Argument { op: self.op, what: what.into(), location: self.line }
    }

    /// A row partition that breaks a rule of its encoding.
    pub(crate) fn partition(self, what: impl Into<String>) -> Error {
        Error::Partition { op: self.op, what: what.into(), location: self.line }
    }

    /// A file or a reader that cannot be read.
    pub(crate) fn io(self, what: impl Into<String>) -> Error {
        Error::Io { op: self.op, what: what.into(), location: self.line }
    }

    /// A dtype that the function is not defined for.
    pub(crate) fn unsupported(self, dtype: DType, hint: &str) -> Error {
        Error::Unsupported { op: self.op, dtype, hint: hint.into(), location: self.line }
    }

    /// The error of a function that the call is computed by, as one of the call.
    #[cfg(all(feature = "dataset", feature = "parquet"))]
    pub(crate) fn own(self, error: Error) -> Error {
        crate::fault::own(self.op, self.line, error)
    }

    /// Two dtypes that differ.
    pub(crate) fn dtypes(self, lhs: DType, rhs: DType) -> Error {
        Error::DTypes { op: self.op, lhs, rhs, location: self.line }
    }

    /// A size beyond a limit.
    pub(crate) fn limit(
        self,
        what: impl Into<String>,
        requested: u64,
        unit: &'static str,
        limit: u64,
        whose: &str,
    ) -> Error {
        Error::Limit { what: what.into(), requested, unit, limit, whose: whose.into(), location: self.line }
    }
}
