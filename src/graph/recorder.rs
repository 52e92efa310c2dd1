//! The context of a recording: the backend, the operation that the user called, and the line of that call.
//!
//! ```text
//! public operation        Recorder::new(backend, OP) takes the user's line
//!     │ Recorder, by value
//! ops, record, shape      functions without `backend`, `op` and `#[track_caller]`
//!     │ rec.map(…), rec.reduce(…), rec.times(…)
//! Node                    arrays with the name of the operation; errors with its name and the user's line
//! ```
//!
//! A function that records takes a recorder and passes it on. It does not make one of its own, so that an operation that
//! is computed by others is the one that errors name. What fails without a recorder, such as a partition of uniform
//! rows, gets the user's line by [`Recorder::at`].

use std::panic::Location;
use std::sync::Arc;

use super::backend::{Part, ReadBytes};
use super::expr::{Check, CheckedStrings};
use super::run::recording::{read_now, read_u32, read_u32_if};
use super::{BackendRef, Expr, Extent, Node, Size};
use crate::dtype::DType;
use crate::error::{Error, Result, called, caller};
use crate::integer::{self, Integer};

/// Records arrays of one call of an operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recorder<'a> {
    /// Where the arrays are recorded.
    pub(crate) backend: &'a BackendRef,
    /// The operation that the user called.
    pub(crate) op: &'static str,
    /// The line of the call.
    pub(crate) location: &'static Location<'static>,
}

impl<'a> Recorder<'a> {
    /// The recorder of a call of `op`, at the line of the caller.
    #[track_caller]
    pub(crate) fn new(backend: &'a BackendRef, op: &'static str) -> Self {
        Self { backend, op: called(op), location: caller() }
    }
}

/// Errors and conditions of the call.
impl Recorder<'_> {
    /// Gives an error the line of the call.
    pub(crate) fn at<T>(self, result: Result<T>) -> Result<T> {
        result.map_err(|error| error.at(self.location))
    }

    /// An argument that the operation does not accept.
    pub(crate) fn argument(self, what: impl Into<String>) -> Error {
        Error::Argument { op: self.op, what: what.into(), location: self.location }
    }

    /// Row splits, lengths or ids that are no partition.
    pub(crate) fn partition(self, what: impl Into<String>) -> Error {
        Error::Partition { op: self.op, what: what.into(), location: self.location }
    }

    /// A dtype that the operation is not defined for.
    pub(crate) fn unsupported(self, dtype: DType, hint: impl Into<String>) -> Error {
        Error::Unsupported { op: self.op, dtype, hint: hint.into(), location: self.location }
    }

    /// An index out of range for a dimension of that size.
    pub(crate) fn index(self, index: i64, size: u32) -> Error {
        Error::Index { op: self.op, index, size: size.into(), at: None, location: self.location }
    }

    /// Two shapes that do not fit each other.
    pub(crate) fn shape(self, lhs: String, rhs: String, what: String) -> Error {
        Error::Shape { op: self.op, lhs, rhs, what, location: self.location }
    }

    /// A condition that the device checks.
    pub(crate) fn check(self, what: impl Into<String>) -> Check {
        Check::at(self.op, what.into(), self.location)
    }

    /// As [`Self::check`], of a condition that compares an index of the user with a size.
    pub(crate) fn check_of_index(self, what: impl Into<String>) -> Check {
        Check { is_of_index: true, ..self.check(what) }
    }
}

/// Checked expressions.
impl Recorder<'_> {
    /// `value` with a device-side check that `ok` holds.
    pub(crate) fn checked(self, what: &str, ok: Expr, value: Expr) -> Expr {
        value.checked(Arc::new(self.check(what)), ok)
    }

    /// As [`Self::checked`], of a condition about strings.
    pub(crate) fn checked_strings(self, what: &str, ok: Expr, value: Expr, strings: Option<CheckedStrings>) -> Expr {
        value.checked(Arc::new(Check { strings, ..self.check(what) }), ok)
    }
}

/// Sizes.
impl Recorder<'_> {
    /// The integer, if it is not negative.
    pub(crate) fn non_negative(self, name: &str, value: impl Integer) -> Result<u64> {
        self.at(integer::non_negative(self.op, name, value))
    }

    /// `n` elements, a constant of the program.
    pub(crate) fn known(self, n: u64) -> Result<Extent> {
        self.at(Extent::known_u64(self.op, n))
    }

    /// `n` elements, a parameter of the program.
    pub(crate) fn given(self, n: u64) -> Result<Extent> {
        self.at(Extent::given_u64(self.op, n))
    }

    /// `k` times as many elements.
    pub(crate) fn times(self, extent: &Extent, k: u32) -> Result<Extent> {
        self.at(extent.times(self.op, k.into()))
    }

    /// `k` times as many elements.
    pub(crate) fn times_size(self, extent: &Extent, k: &Size) -> Result<Extent> {
        self.at(extent.times_size(self.op, k))
    }

    /// The elements of both.
    pub(crate) fn plus(self, extent: &Extent, other: &Extent) -> Result<Extent> {
        self.at(extent.plus(self.op, other))
    }

    /// The count on the host. Waits once if only the device knows it.
    pub(crate) fn on_host(self, extent: &Extent) -> Result<u32> {
        self.at(extent.on_host(self.backend, self.op))
    }

    /// Reads a number from the device. Costs one wait.
    pub(crate) fn read(self, number: Expr) -> Result<u32> {
        self.at(read_u32(self.backend, self.op, number))
    }

    /// Reads arrays from the device. Costs one wait.
    pub(crate) fn read_parts(self, parts: Vec<Part>) -> Result<Vec<ReadBytes>> {
        self.at(read_now(self.backend, self.op, parts))
    }

    /// As [`Self::read`]; fails if one of the conditions does not hold.
    pub(crate) fn read_if(self, number: Expr, asserts: &[Node]) -> Result<u32> {
        self.at(read_u32_if(self.backend, self.op, number, asserts))
    }
}

/// Arrays. Those of the other primitives are recorded by methods beside them, in [`primitive`](super::primitive).
impl Recorder<'_> {
    /// See [`Node::map`].
    pub(crate) fn map(self, extent: Extent, value: Expr, asserts: &[Node]) -> Node {
        Node::map(self.backend, self.op, extent, value, asserts)
    }

    /// A condition over positions.
    pub(crate) fn assert(self, count: Extent, ok: Expr, check: Check) -> Node {
        Node::assert(self.backend, count, ok, Arc::new(check))
    }

    /// See [`Node::splits`].
    pub(crate) fn splits(self, nrows: &Extent, start: &Expr, asserts: &[Node]) -> Result<Node> {
        self.at(Node::splits(self.backend, self.op, nrows, start, asserts))
    }
}
