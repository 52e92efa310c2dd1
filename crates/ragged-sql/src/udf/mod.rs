//! The functions as DataFusion calls them.

mod arguments;
mod of_operation;
mod program;

pub(crate) use of_operation::OfOperation;
pub(crate) use program::ProgramFunction;
