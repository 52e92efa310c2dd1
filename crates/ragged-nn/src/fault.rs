//! Errors of this crate: values of `ragged::Error` with the function's name and the user's line.

use std::panic::Location;

use ragged::Error;

/// An argument outside what the function accepts.
#[track_caller]
pub(crate) fn argument(op: &'static str, what: impl Into<String>) -> Error {
    argument_at(op, what, Location::caller())
}

/// An argument outside what the function accepts, of a call elsewhere.
pub(crate) fn argument_at(op: &'static str, what: impl Into<String>, location: &'static Location<'static>) -> Error {
    Error::Argument { op, what: what.into(), location }
}
