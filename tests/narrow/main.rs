//! 8-bit and 16-bit numbers: all bit patterns on every backend, compared with Rust's integers and the crate `half`.

#[path = "../common/mod.rs"]
mod common;

mod conversions;
mod integers;
mod numbers;
mod operations;
mod patterns;
mod reductions;
mod rounding;
mod typed;
