//! Faults are errors of the call or read that they affect and of no other; everything else stays usable.

#[path = "../common/mod.rs"]
mod common;

mod conditions;
mod destroyed_buffer;
mod limits;
mod lost_device;
mod operations;
mod out_of_memory;
mod overflow;
mod threads;
