//! Arrays that exceed one binding: every kernel gives the results of the CPU backend.

#[path = "../common/mod.rs"]
mod common;

mod grids;
mod inputs;
mod kernels;
mod large;
mod parts;
mod products;
