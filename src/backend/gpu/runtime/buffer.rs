//! Handles of device buffers.

use std::{
    fmt,
    num::NonZeroU64,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use super::{
    context::Runtime,
    free_buffers::{Allocation, Use, fresh_id},
    pool::Pool,
};
use crate::{Error, Result};

/// Reference-counted handle of a device buffer. When the last handle is dropped, the memory returns to the pool, or to
/// the user's program.
///
/// The allocation exceeds the requested size by up to a quarter, and is a multiple of 16 bytes (of 4 for a user's
/// buffer). Kernels bind the whole allocation, so `arrayLength` exceeds the requested size, and bytes beyond that size
/// are unspecified.
#[derive(Clone)]
pub(crate) struct Buffer {
    inner: Arc<Inner>,
}

struct Inner {
    /// `None` for a user's buffer, and after `drop` has taken it.
    allocation: Option<Allocation>,
    wgpu: wgpu::Buffer,
    id: u64,
    capacity: u64,
    bytes: u64,
    /// Whether the program has the wgpu buffer: see [`Buffer::expose`].
    is_exposed: AtomicBool,
    pool: Arc<Pool>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(mut allocation) = self.allocation.take() {
            allocation.is_exposed |= self.is_exposed.load(Relaxed);
            self.pool.shared().counters.buffer_given_back(self.bytes);
            self.pool.release(allocation);
        } else {
            self.pool.disown(&self.wgpu);
            // Cached bind groups would keep the buffer alive.
            self.pool.forget(self.id);
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("id", &self.id()).field("bytes", &self.bytes()).finish()
    }
}

impl Buffer {
    /// The requested size.
    pub(crate) fn bytes(&self) -> u64 {
        self.inner.bytes
    }

    /// The size of the allocation: a multiple of 16, at least 16; a user's is a multiple of 4.
    pub(crate) fn capacity(&self) -> u64 {
        self.inner.capacity
    }

    /// An id that is unique among live buffers.
    pub(crate) fn id(&self) -> u64 {
        self.inner.id
    }

    /// The wgpu buffer. A caller that records commands with it must keep this handle until their submission.
    pub(crate) fn as_wgpu(&self) -> &wgpu::Buffer {
        &self.inner.wgpu
    }

    /// The wgpu buffer, for the program. The pool checks before each reuse that the program has not destroyed it.
    pub(crate) fn expose(&self) -> &wgpu::Buffer {
        self.inner.is_exposed.store(true, Relaxed);
        &self.inner.wgpu
    }

    /// Whether this is the only handle of a buffer that the program has not seen, so that it can be overwritten.
    pub(crate) fn is_sole_owner(&self) -> bool {
        let is_ours = self.inner.allocation.is_some() && !self.inner.is_exposed.load(Relaxed);
        is_ours && Arc::strong_count(&self.inner) == 1
    }

    /// Whether this runtime allocated or adopted the buffer.
    pub(super) fn belongs_to(&self, runtime: &Runtime) -> bool {
        Arc::ptr_eq(&self.inner.pool, runtime.pool())
    }
}

/// A buffer binding of a kernel: a whole buffer, or a window of one that exceeds the binding limit.
#[derive(Debug, Clone)]
pub(crate) struct BufferSlice {
    buffer: Buffer,
    /// The first byte: a multiple of 256.
    offset: u64,
    /// Size of the window; `None` extends it to the end of the buffer.
    bytes: Option<NonZeroU64>,
}

impl From<Buffer> for BufferSlice {
    fn from(buffer: Buffer) -> Self {
        // A user's buffer may exceed the binding limit, and be larger than the array.
        let is_ours = buffer.inner.allocation.is_some();
        let bytes = if is_ours { None } else { NonZeroU64::new(buffer.bytes().next_multiple_of(4).max(4)) };
        Self { buffer, offset: 0, bytes }
    }
}

impl BufferSlice {
    /// A window of whole words.
    pub(crate) fn window(buffer: Buffer, bytes: Range<u64>) -> Self {
        Self { buffer, offset: bytes.start, bytes: NonZeroU64::new(bytes.end - bytes.start) }
    }

    /// The buffer.
    pub(crate) fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// First byte and size; without a size the slice extends to the end of the buffer.
    pub(super) fn range(&self) -> (u64, Option<NonZeroU64>) {
        (self.offset, self.bytes)
    }

    /// Number of bytes.
    pub(super) fn len(&self) -> u64 {
        self.bytes.map_or_else(|| self.buffer.capacity() - self.offset, NonZeroU64::get)
    }

    /// Whether the slices overlap.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let end = |s: &Self| s.offset + s.len();
        self.buffer.id() == other.buffer.id() && self.offset < end(other) && other.offset < end(self)
    }
}

impl Runtime {
    /// A buffer of `bytes` bytes with unspecified contents, from the pool if possible. Errors name `what` needs it.
    ///
    /// # Errors
    /// [`Error::Limit`] if `bytes` exceeds the largest buffer, before any allocation; [`Error::Gpu`] if memory is
    /// exhausted even after the pool is emptied; [`Error::DeviceLost`].
    pub(crate) fn buffer(&self, what: &str, bytes: u64) -> Result<Buffer> {
        let limits = self.limits();
        if bytes > limits.max_buffer {
            return Err(Error::Limit {
                what: what.into(),
                requested: bytes,
                unit: "bytes",
                limit: limits.max_buffer,
                whose: format!("one buffer of {}; use smaller tensors, or a CPU device", self.info().name),
                location: crate::error::caller(),
            });
        }
        let allocation = self.pool().acquire(what, Use::Storage, bytes, limits.max_capacity_for(bytes))?;
        Ok(self.in_allocation(allocation, bytes))
    }

    /// Buffers of these sizes; see [`Runtime::buffer`]. Prefers unused buffers with the ids in `before`, for which bind
    /// groups are cached. Replaces `before` by the ids of the returned buffers.
    ///
    /// # Errors
    /// As [`Runtime::buffer`]. Acquired buffers then return to the pool.
    pub(crate) fn buffers(&self, what: &str, sizes: &[u64], before: &mut Vec<u64>) -> Result<Vec<Buffer>> {
        self.health().alive()?;
        let wanted = sizes.iter().copied().zip(before.drain(..));
        let again = self.pool().acquire_by_id(wanted, |bytes| self.limits().max_capacity_for(bytes));
        // Wraps all reused allocations in handles first, so that they return to the pool if a later allocation fails.
        let handle = |(allocation, &bytes): (Option<Allocation>, _)| {
            allocation.map(|allocation| self.in_allocation(allocation, bytes))
        };
        let again: Vec<Option<Buffer>> = again.into_iter().zip(sizes).map(handle).collect();
        let mut again = again.into_iter();
        let taken = |&bytes| again.next().flatten().map_or_else(|| self.buffer(what, bytes), Ok);
        let buffers = sizes.iter().map(taken).collect::<Result<Vec<Buffer>>>()?;
        before.extend(buffers.iter().map(Buffer::id));
        Ok(buffers)
    }

    fn in_allocation(&self, allocation: Allocation, bytes: u64) -> Buffer {
        self.shared().counters.buffer_taken(bytes);
        let (wgpu, id, capacity) = (allocation.buffer.clone(), allocation.id, allocation.capacity);
        let (is_exposed, pool) = (AtomicBool::new(false), Arc::clone(self.pool()));
        let inner = Inner { allocation: Some(allocation), wgpu, id, capacity, bytes, is_exposed, pool };
        Buffer { inner: Arc::new(inner) }
    }

    /// Wraps the first `bytes` bytes of a buffer that the user created on this device. Kernels only read it. The buffer
    /// never enters the pool, and is excluded from statistics and budget. A pooled buffer that the program obtained
    /// from a tensor and passes back is not reused while such a handle exists.
    ///
    /// # Errors
    /// [`Error::Argument`] if the buffer lacks `STORAGE`, is too small, has a size that is not a multiple of 4, or
    /// belongs to another device; [`Error::Limit`] if `bytes` exceeds the size limit of a buffer.
    pub(crate) fn adopt(&self, op: &'static str, buffer: &wgpu::Buffer, bytes: u64) -> Result<Buffer> {
        let wrong = |what: String| Err(Error::Argument { op, what, location: crate::error::caller() });
        let (size, limits) = (buffer.size(), self.limits());
        if !buffer.usage().contains(wgpu::BufferUsages::STORAGE) {
            return wrong(format!(
                "the buffer has usage {:?}, but must have STORAGE; create it with STORAGE",
                buffer.usage()
            ));
        }
        if size < bytes {
            return wrong(format!(
                "the shape and dtype take {bytes} bytes, but the buffer has {size}; pass a larger buffer, or fewer values"
            ));
        }
        if !size.is_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT) {
            return wrong(format!(
                "the buffer has {size} bytes, but must have a multiple of 4; create it with {} bytes",
                size.next_multiple_of(4)
            ));
        }
        if bytes > limits.max_buffer {
            let (what, limit) = (format!("{op}: the tensor"), limits.max_buffer);
            let whose = format!("one buffer of {}; pass fewer values", self.info().name);
            return Err(Error::Limit {
                what,
                requested: bytes,
                unit: "bytes",
                limit,
                whose,
                location: crate::error::caller(),
            });
        }
        self.shared().check_user_object(op, || self.shared().bind(buffer))?;
        let (wgpu, pool) = (buffer.clone(), Arc::clone(self.pool()));
        pool.adopt(&wgpu);
        let (id, is_exposed) = (fresh_id(), AtomicBool::new(true));
        let inner = Inner { allocation: None, wgpu, id, capacity: size, bytes, is_exposed, pool };
        Ok(Buffer { inner: Arc::new(inner) })
    }

    /// Fails if buffers of these sizes would together exceed the device's budget. Allocates nothing.
    pub(crate) fn check_budget(&self, what: &str, sizes: impl Iterator<Item = u64>) -> Result<()> {
        self.pool().check_budget(what, sizes, |bytes| self.limits().max_capacity_for(bytes))
    }

    /// Returns unused memory to the driver.
    pub(crate) fn trim(&self) {
        self.pool().trim();
        self.shared().poll_once();
    }

    /// Bytes of unused buffers in the pool.
    #[cfg(test)]
    pub(crate) fn pooled_bytes(&self) -> u64 {
        self.pool().pooled_bytes()
    }

    /// For fault tests: the next `count` driver allocations fail as if memory were exhausted.
    pub(crate) fn fail_allocations(&self, count: u32) {
        self.pool().inject_faults(count);
    }
}
