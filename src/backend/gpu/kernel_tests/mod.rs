//! The shader templates, run as they are: hand-written definitions take the place of the generator's, results are
//! compared with the CPU twins bit for bit and with naive oracles.
//!
//! Every scratch and output buffer starts as junk. Without an adapter the tests fail; none is skipped.

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
mod sort;
