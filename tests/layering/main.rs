//! Structure of `src`: imports point downwards only, and no files import each other.
//!
//! Both checks read the source text. Unit tests are exempt: they may build what they test with anything.

mod cycles;
mod layers;
mod paths;
mod source;
