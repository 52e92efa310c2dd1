//! Handles of device buffers.

use std::{fmt, num::NonZeroU64, ops::Range, sync::Arc};

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

/// A buffer as a kernel binds it: all of it, or a window of one that is larger than a binding may be.
#[derive(Debug, Clone)]
pub(crate) struct BufferSlice {
    buffer: Buffer,
    /// The first byte: a multiple of 256.
    offset: u64,
    /// All that follows, if not given.
    bytes: Option<NonZeroU64>,
}

impl From<Buffer> for BufferSlice {
    fn from(buffer: Buffer) -> Self {
        Self { buffer, offset: 0, bytes: None }
    }
}

impl BufferSlice {
    /// These bytes of the buffer, in whole words: a kernel sees nothing behind them.
    pub(crate) fn window(buffer: Buffer, bytes: Range<u64>) -> Self {
        Self { buffer, offset: bytes.start, bytes: NonZeroU64::new(bytes.end - bytes.start) }
    }

    /// The buffer.
    pub(crate) fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// The first byte, and how many there are unless it is all that follow.
    pub(super) fn range(&self) -> (u64, Option<NonZeroU64>) {
        (self.offset, self.bytes)
    }

    /// Whether a byte belongs to both.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let end = |s: &Self| s.bytes.map_or(s.buffer.capacity(), |n| s.offset + n.get());
        self.buffer.id() == other.buffer.id() && self.offset < end(other) && other.offset < end(self)
    }
}

impl Runtime {
    /// A buffer of `bytes` bytes with unspecified contents, from the pool if it has one that fits.
    ///
    /// # Errors
    /// [`Error::Limit`] if one buffer cannot hold that much, before anything is allocated; [`Error::Gpu`] if the memory is not
    /// there, after the pool was emptied; [`Error::DeviceLost`].
    pub(crate) fn buffer(&self, bytes: u64) -> Result<Buffer> {
        let limits = self.limits();
        if bytes > limits.max_buffer {
            return Err(Error::Limit {
                what: "a buffer".into(),
                requested: bytes,
                unit: "bytes",
                limit: limits.max_buffer,
                whose: self.info().name.clone(),
            });
        }
        // What fits a binding is bound whole, with what its size class adds.
        let most =
            if bytes <= limits.max_binding { limits.max_binding.min(limits.max_buffer) } else { limits.max_buffer };
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
