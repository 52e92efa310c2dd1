//! Failures, their messages and exit codes.

use std::fmt::Display;
use std::process::ExitCode;

use datafusion::common::DataFusionError;

use crate::written::Names;

/// Why the command failed.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    message: String,
    /// Lines below the message.
    below: String,
}

impl Failure {
    /// Data that cannot be read, computed or written.
    pub fn data(message: impl Display) -> Self {
        Self { code: 1, message: message.to_string(), below: String::new() }
    }

    /// A command or a query that is wrong before anything is read.
    pub fn usage(message: impl Display) -> Self {
        Self { code: 2, message: message.to_string(), below: String::new() }
    }

    /// Memory, or a limit of the device.
    pub fn limit(message: impl Display) -> Self {
        Self { code: 3, message: message.to_string(), below: String::new() }
    }

    pub fn interrupted() -> Self {
        Self { code: 130, message: "interrupted".into(), below: String::new() }
    }

    /// With lines below the message, which show the place.
    pub fn with(self, below: impl Display) -> Self {
        Self { below: below.to_string(), ..self }
    }

    /// With the names of functions that the query has.
    pub fn renamed(self, names: &Names) -> Self {
        Self { message: names.applied(&self.message), ..self }
    }

    /// A fault found while rows are read and computed.
    pub fn of_rows(error: &DataFusionError) -> Self {
        match error.find_root() {
            DataFusionError::ResourcesExhausted(why) => Self::limit(why.replace("CpuOptions::max_memory", "--memory")),
            // Casts of values, for instance, are planned and computed by the same code.
            root => Self::data(message(root)),
        }
    }

    /// A fault of the engine.
    pub fn of_engine(error: &ragged::Error) -> Self {
        match error {
            ragged::Error::Limit { .. } => Self::limit(ragged_sql::message(error)),
            _ => Self::data(ragged_sql::message(error)),
        }
    }

    /// Prints the message and gives the code.
    pub fn report(self) -> ExitCode {
        eprintln!("error: {}", self.message.trim_end());
        if !self.below.is_empty() {
            eprintln!("{}", self.below.trim_end());
        }
        ExitCode::from(self.code)
    }
}

/// The message of an error, without the name of its kind.
pub fn message(error: &DataFusionError) -> String {
    match error {
        DataFusionError::Plan(why)
        | DataFusionError::Execution(why)
        | DataFusionError::NotImplemented(why)
        | DataFusionError::ResourcesExhausted(why) => why.clone(),
        DataFusionError::ArrowError(why, _) => why.to_string(),
        DataFusionError::ParquetError(why) => why.to_string(),
        DataFusionError::ObjectStore(why) => why.to_string(),
        DataFusionError::IoError(why) => why.to_string(),
        DataFusionError::External(why) => why.to_string(),
        other => other.strip_backtrace(),
    }
}
