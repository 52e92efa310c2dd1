//! Failures and their exit codes.

use std::process::ExitCode;

use datafusion::common::DataFusionError;

/// Why the command failed.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    /// Data that cannot be read, computed or written.
    pub fn data(message: impl Into<String>) -> Self {
        Self { code: 1, message: message.into() }
    }

    /// A command or a query that is wrong before anything is read.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { code: 2, message: message.into() }
    }

    pub fn interrupted() -> Self {
        Self { code: 130, message: "interrupted".into() }
    }

    /// The failure of a query: of its plan, of a limit, or of data.
    pub fn of(error: &DataFusionError) -> Self {
        let root = error.find_root();
        let code = match root {
            DataFusionError::Plan(_) | DataFusionError::SchemaError(..) | DataFusionError::SQL(..) => 2,
            DataFusionError::ResourcesExhausted(_) => 3,
            _ => 1,
        };
        Self { code, message: root.strip_backtrace() }
    }

    /// Prints the message and gives the code.
    pub fn report(self) -> ExitCode {
        eprintln!("error: {}", self.message);
        ExitCode::from(self.code)
    }
}
