//! Whether calls have a row for each row.

use std::cell::OnceCell;

use ragged::operation::Value;
use ragged::{Error, Result, Tensor};

use crate::fault;
use crate::functions::{Accepts, Function};

/// A check of all calls of an expression, which is evaluated on a few rows.
#[derive(Debug)]
pub(crate) struct Rows {
    expected: usize,
    fault: OnceCell<Error>,
}

impl Rows {
    pub(crate) fn new(expected: usize) -> Self {
        Self { expected, fault: OnceCell::new() }
    }

    /// The first call that has another number of rows. Other faults of the evaluation are those of its values.
    pub(crate) fn fault(self) -> Option<Error> {
        self.fault.into_inner()
    }

    /// # Errors
    /// A result of another number of rows.
    pub(super) fn check(&self, function: &Function, values: &[Value], result: &Tensor) -> Result<()> {
        let Some(of_rows) = self.other_rows(result)? else { return Ok(()) };
        // Where options are not counted, arguments are in the order of the parameters.
        let single = function.parameters.iter().zip(values).find_map(|(parameter, value)| match value {
            Value::Tensor(x) if parameter.accepts == Accepts::Column && x.rank() < 2 => Some((parameter.name, x)),
            _ => None,
        });
        let why = match single {
            Some((name, x)) => format!("`{name}` is one value ({}) for each row, where lists are required", x.dtype()),
            None => "its arguments combine rows of the table".into(),
        };
        self.fail(format!("{}: a function computes each row, and {of_rows}: {why}", function.name))
    }

    /// # Errors
    /// A result of another number of rows.
    pub(super) fn check_saved(&self, place: &str, result: &Tensor) -> Result<()> {
        match self.other_rows(result)? {
            Some(of_rows) => self.fail(format!("{place}: a program computes each row, and {of_rows}")),
            None => Ok(()),
        }
    }

    fn other_rows(&self, result: &Tensor) -> Result<Option<String>> {
        let expected = self.expected;
        Ok(match result.rank() {
            0 => Some(format!("the result of {expected} rows is one value")),
            _ => Some(result.len()?)
                .filter(|rows| *rows != expected)
                .map(|rows| format!("{rows} rows are the result of {expected}")),
        })
    }

    fn fail(&self, why: String) -> Result<()> {
        // The first one is kept.
        let _ = self.fault.set(fault::argument(why.clone()));
        Err(fault::argument(why))
    }
}
