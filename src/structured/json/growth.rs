//! Host memory of growing columns and of text, counted by the device.

use crate::backend::host_memory::counted_allocations;
use crate::error::Result;
use crate::graph::backend::{BackendRef, CountedMemory};

/// Count of the memory of columns or of text that grow.
pub(super) struct Growth<'a> {
    op: &'static str,
    backend: &'a BackendRef,
    bytes: u64,
    counted: Vec<CountedMemory>,
}

impl<'a> Growth<'a> {
    pub(super) fn new(op: &'static str, backend: &'a BackendRef) -> Self {
        Self { op, backend, bytes: 0, counted: Vec::new() }
    }

    /// The count of other columns of the same device.
    pub(super) fn sibling(&self) -> Self {
        Self::new(self.op, self.backend)
    }

    /// Counts `bytes` bytes in all.
    ///
    /// # Errors
    /// The budget, the available memory or the address space does not suffice.
    pub(super) fn up_to(&mut self, bytes: u64) -> Result<()> {
        if let Some(added) = bytes.checked_sub(self.bytes).filter(|&added| added > 0) {
            self.counted.push(self.more(added)?);
            self.bytes = bytes;
        }
        Ok(())
    }

    /// Counts `bytes` further bytes for as long as the result exists.
    ///
    /// # Errors
    /// As [`Self::up_to`].
    pub(super) fn more(&self, bytes: u64) -> Result<CountedMemory> {
        counted_allocations(self.backend, self.op, bytes)
    }
}
