//! The command line, as a process.

mod faults;
mod files;
mod inspect;
mod killed;
mod outputs;
mod process;
mod progress;
mod queries;
mod short_names;
