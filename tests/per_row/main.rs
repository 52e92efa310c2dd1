//! Operations within rows that TensorFlow lacks, against loops over nested lists, on every device.

#[path = "../common/mod.rs"]
mod common;

mod arguments;
mod combinations;
mod dtypes_and_axes;
mod groups;
mod lists;
mod rearranged;
mod sets;
mod shifts;
mod waits;
