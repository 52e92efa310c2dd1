//! Shapes as values and operations that change a shape, compared with nested lists: on every backend, for tensors of a
//! device-known number of rows, and for arguments of all kinds.

#[path = "../common/mod.rs"]
mod common;

mod device_known;
mod dimensions;
mod errors;
mod filled;
mod invariance;
mod lists;
#[path = "../rows/nest.rs"]
#[allow(dead_code, reason = "a part of it")]
mod nest;
mod pieces;
mod values;
