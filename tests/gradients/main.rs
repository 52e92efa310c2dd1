//! Gradients: against central differences, second derivatives, special points, laws, and equal bits on all devices.

#[path = "../common/mod.rs"]
mod common;

mod cost;
mod differences;
mod laws;
mod operations;
mod points;
