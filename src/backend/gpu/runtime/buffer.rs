//! Handles of device buffers.

use std::{fmt, sync::Arc};

use super::{
    context::Runtime,
    pool::{Pool, Slot, Use},
};
use crate::{Error, Result};

/// A device buffer. Clones are handles of the same bytes; with the last one the memory goes back to the pool.
///
/// The allocation is larger than what was asked for, by up to a quarter, and its size is a multiple of 16. Kernels see all of it:
/// `arrayLength` does not tell the size asked for, and what lies behind is unspecified.
#[derive(Clone)]
pub(crate) struct Buffer {
    inner: Arc<Inner>,
}

struct Inner {
    /// Only `drop` takes it.
    slot: Option<Slot>,
    wgpu: wgpu::Buffer,
    id: u64,
    capacity: u64,
    bytes: u64,
    pool: Arc<Pool>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.pool.link().counters.buffer_given_back(self.bytes);
            self.pool.release(slot);
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("id", &self.id()).field("bytes", &self.bytes()).finish()
    }
}

impl Buffer {
    /// The size asked for.
    pub(crate) fn bytes(&self) -> u64 {
        self.inner.bytes
    }

    /// The size of the allocation: a multiple of 16, at least 16.
    pub(crate) fn capacity(&self) -> u64 {
        self.inner.capacity
    }

    /// A number that no other *living* buffer has.
    pub(crate) fn id(&self) -> u64 {
        self.inner.id
    }

    /// The wgpu buffer. Whoever uses it in commands of their own must keep this handle until those are submitted.
    pub(crate) fn as_wgpu(&self) -> &wgpu::Buffer {
        &self.inner.wgpu
    }

    /// Whether it was made by this runtime.
    pub(super) fn belongs_to(&self, runtime: &Runtime) -> bool {
        Arc::ptr_eq(&self.inner.pool, runtime.pool())
    }
}

impl Runtime {
    /// A buffer of `bytes` bytes with unspecified contents, from the pool if it has one that fits.
    ///
    /// # Errors
    /// [`Error::Limit`] if one binding or one buffer cannot hold that much, before anything is allocated; [`Error::Gpu`] if the
    /// memory is not there, after the pool was emptied; [`Error::DeviceLost`].
    pub(crate) fn buffer(&self, bytes: u64) -> Result<Buffer> {
        let most = self.limits().max_binding.min(self.limits().max_buffer);
        if bytes > most {
            return Err(Error::Limit {
                what: "a buffer".into(),
                requested: bytes,
                unit: "bytes",
                limit: most,
                whose: self.info().name.clone(),
            });
        }
        let slot = self.pool().acquire(Use::Storage, bytes, most)?;
        self.link().counters.buffer_taken(bytes);
        let (wgpu, id, capacity) = (slot.buffer.clone(), slot.id, slot.capacity);
        let inner = Inner { slot: Some(slot), wgpu, id, capacity, bytes, pool: Arc::clone(self.pool()) };
        Ok(Buffer { inner: Arc::new(inner) })
    }

    /// Gives the memory that lies unused back to the driver.
    pub(crate) fn trim(&self) {
        self.pool().trim();
        self.link().poll_once();
    }

    /// The bytes that lie unused in the pool.
    pub(crate) fn pooled_bytes(&self) -> u64 {
        self.pool().pooled_bytes()
    }

    /// For fault tests: the next `count` real allocations fail as if there were no memory left.
    pub(crate) fn fail_allocations(&self, count: u32) {
        self.pool().inject_faults(count);
    }
}
