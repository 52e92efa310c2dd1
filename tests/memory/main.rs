//! Memory of arrays, uploads and reads: budgets, limits of the system, and the peak of a read.

#[path = "../common/mod.rs"]
mod common;

mod budget;
#[cfg(target_os = "linux")]
mod child;
#[cfg(target_os = "linux")]
mod host_results;
#[cfg(target_os = "linux")]
mod host_splits;
#[cfg(target_os = "linux")]
mod limits;
#[cfg(target_os = "linux")]
mod lists_of_tensors;
#[cfg(target_os = "linux")]
mod peak;
