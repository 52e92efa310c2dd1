//! Structure and documentation of `src`: imports point downwards only, and no files import each other; the table of
//! operations is complete, and public functions have examples.
//!
//! All checks read the source text. Unit tests are exempt: they may build what they test with anything.

mod cycles;
mod examples;
mod functions;
mod layers;
mod operations;
mod paths;
mod source;
