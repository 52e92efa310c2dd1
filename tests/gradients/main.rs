//! Gradients: of every operation against central differences, second derivatives, special points, laws, and equal bits on
//! all devices.

#[path = "../common/mod.rs"]
mod common;

mod cost;
mod differences;
mod entries;
mod functions;
mod laws;
mod list;
mod misuse;
mod points;
mod programs;
mod table;
mod wheres;
