//! Sequences of batches of one program: a batch of the same shapes as the previous one needs no new plan, pipeline or
//! allocation, and every result has the bits of the CPU backend.

#[path = "../common/mod.rs"]
mod common;

mod batch;
mod conditions;
mod operands;
mod programs;
mod reuse;
mod scalars;
mod shapes;

use std::sync::{Mutex, MutexGuard};

/// Locks the devices against the other tests of this binary, so that a device's counters cover one test only.
fn exclusive() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
