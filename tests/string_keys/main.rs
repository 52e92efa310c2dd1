//! Byte strings as keys: orders, groups, sets and extremes, against loops over lists of bytes, on every device.

#[path = "../common/mod.rs"]
mod common;

mod against_naive;
mod samples;
mod sort_by;
