//! Stored results and their conditions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::array_of;
use crate::error::Result;
use crate::graph::backend::Status;
use crate::graph::node::Stored;

/// Element `at` of a stored u32 array, which holds a count: see the [invariants](crate::graph::size#invariants).
pub(super) fn word(stored: &Stored, at: u32) -> u32 {
    let array = array_of(stored);
    let words = array.slice::<u32>();
    *words.get(at as usize).unwrap_or_else(|| panic!("bug: a count at {at} of an array of {}", words.len()))
}

/// Whether all conditions hold.
pub(super) fn holds(status: &[Status]) -> bool {
    status.iter().all(|s| settled(s).is_ok())
}

/// Returns the error of the condition if it failed.
pub(super) fn settled(s: &Status) -> Result<()> {
    let block = s.block.downcast_ref::<Arc<[AtomicU32]>>().expect("bug: a condition of another backend");
    s.record_outcome(block[s.slot as usize].load(Ordering::Relaxed))
}
