//! Results of evaluated nodes, with the device-side conditions that they depend on.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::expr::Check;
use crate::error::Result;

/// Result of an evaluated node: its storage, and the device-side conditions on which it depends.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    /// Storage, of a backend-specific type.
    pub(crate) data: Arc<dyn Any + Send + Sync>,
    /// The conditions to check before the data is used.
    pub(crate) status: Arc<[Status]>,
    /// Number of allocated elements: the capacity at evaluation.
    pub(crate) len: u32,
}

impl Stored {
    /// The same result with no storage.
    pub(crate) fn without_storage(&self) -> Self {
        Self { data: Arc::new(()), ..self.clone() }
    }
}

/// One device-side condition of an evaluated node, with the location of its outcome.
#[derive(Debug, Clone)]
pub(crate) struct Status {
    /// Status block, of a backend-specific type.
    pub(crate) block: Arc<dyn Any + Send + Sync>,
    /// Index of the outcome in the block. An outcome is the first offending position, or u32::MAX.
    pub(crate) slot: u32,
    /// The condition.
    pub(crate) check: Arc<Check>,
    /// Whether a read has found the condition to hold. Dependent nodes then skip the check.
    passed: Arc<AtomicBool>,
}

impl Status {
    /// An outcome that has not been read yet.
    pub(crate) fn new(block: Arc<dyn Any + Send + Sync>, slot: u32, check: Arc<Check>) -> Self {
        Self { block, slot, check, passed: Arc::default() }
    }

    /// Adds the conditions of `from` that are not in the list and are not known to hold.
    pub(crate) fn inherit(list: &mut Vec<Self>, from: &[Self]) {
        for s in from {
            if !s.passed.load(Ordering::Relaxed) && !list.contains(s) {
                list.push(s.clone());
            }
        }
    }

    /// Fails if `first` is a position; otherwise records that the condition holds.
    pub(crate) fn record_outcome(&self, first: u32) -> Result<()> {
        self.check.outcome(first)?;
        self.passed.store(true, Ordering::Relaxed);
        Ok(())
    }
}

impl PartialEq for Status {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.block, &other.block) && self.slot == other.slot
    }
}
