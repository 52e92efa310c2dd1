//! LoD tensors: sequence operations against plain loops over nested lists, for any number of levels, with equal bits on
//! every device; their costs, their errors, and the examples of Paddle's guide.

#[path = "../common/mod.rs"]
mod common;

mod costs;
mod dtypes;
mod guide;
mod lists;
mod mistakes;
mod one;
mod ragged_rows;
mod sample;
mod two;
