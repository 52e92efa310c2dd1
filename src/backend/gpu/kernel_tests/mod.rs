//! Tests of the unmodified shader templates: hand-written definitions replace the generated ones. Results are compared
//! bit for bit with the CPU twins, and with naive oracles.
//!
//! Scratch and output buffers are filled with junk beforehand. Without an adapter the tests fail; none is skipped.

mod harness;
mod matmul;
mod order;
mod rows;
pub(crate) use rows::{Random, adversarial, splits};

mod compact;
mod row_reduce;
mod row_scan;
mod row_sort;
mod scan;
mod scan_rows;
mod sort;
