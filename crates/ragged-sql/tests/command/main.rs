//! The command line, as a process.

mod carets;
mod damaged;
mod faults;
mod files;
mod inspect;
mod killed;
mod lines;
mod order;
mod outputs;
mod process;
mod progress;
mod queries;
mod short_names;
