//! Gradients: against central differences, second derivatives, special points, laws, and equal bits on all devices.

#[path = "../common/mod.rs"]
mod common;

mod differences;
mod laws;
mod operations;
mod points;
