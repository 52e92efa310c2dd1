//! Structure and documentation of the crate: imports point downwards only, and no files import each other; files are
//! short; the table of operations is complete, and public functions have examples.
//!
//! All checks read the source text. Unit tests are exempt from all but the length: they may build what they test with
//! anything.

mod cycles;
mod examples;
mod functions;
mod layers;
mod operations;
mod paths;
mod sizes;
mod source;
