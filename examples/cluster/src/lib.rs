#![doc = include_str!("../README.md")]

pub mod address;
pub mod data;
pub mod executor;
pub mod functions;
pub mod gate;
mod lost;
pub mod measure;
pub mod output;
pub mod processes;
pub mod query;
pub mod scheduler;
pub mod session;

use std::error::Error;

/// The result of a command: a value, or what the user is told.
pub type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;
