//! Structure and documentation of the crates: imports point downwards only, and no files import each other; files are
//! short; plans ask runs for sizes; the table of operations is complete, public functions have examples, public types
//! may grow and have their methods grouped by topic, errors name the line of the call, each crate has the lints of the
//! workspace, and tables of files are complete.
//!
//! All checks read the source text. Unit tests are exempt from all but the length: they may build what they test with
//! anything.

mod cycles;
mod declarations;
mod errors;
mod examples;
mod functions;
mod growth;
mod layers;
mod manifests;
mod operations;
mod paths;
mod plan_definitions;
mod sizes;
mod source;
mod tables;
mod topics;
