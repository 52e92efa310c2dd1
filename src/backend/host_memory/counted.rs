//! Vectors in host memory that a device counts before they are written, allocated without aborting.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::refused;
use crate::error::{Error, Result, caller, here};
use crate::graph::backend::{BackendRef, CountedMemory};

/// Least capacity of [`GrowingBytes`] that hold anything.
const MIN_CAPACITY: usize = 4 << 10;

/// Most bytes of all strings of a tensor.
const MAX_BYTES: u64 = u32::MAX as u64 - 1;

/// An empty vector with room for `n` items, for the operation `op`. The device counts its memory until the second value
/// is dropped.
///
/// # Errors
/// The budget or the available memory does not suffice; the allocator refuses the memory.
#[track_caller]
pub(crate) fn counted_vec<T>(backend: &BackendRef, op: &str, n: usize) -> Result<(Vec<T>, CountedMemory)> {
    let bytes = n as u64 * size_of::<T>() as u64;
    let counted = backend.reserve_host(op, bytes).map_err(here())?;
    let mut out = Vec::new();
    out.try_reserve_exact(n).map_err(|_| refused(op, bytes)).map_err(here())?;
    Ok((out, counted))
}

/// Counts `bytes` of memory that many small allocations are about to take. An allocation of all of it is tried first,
/// since most of the small ones would abort the process where the address space does not suffice.
///
/// # Errors
/// As [`counted_vec`].
#[track_caller]
pub(crate) fn counted_allocations(backend: &BackendRef, op: &str, bytes: u64) -> Result<CountedMemory> {
    let counted = backend.reserve_host(op, bytes).map_err(here())?;
    let mut tried: Vec<u8> = Vec::new();
    let fits = usize::try_from(bytes).is_ok_and(|n| tried.try_reserve_exact(n).is_ok());
    if fits { Ok(counted) } else { Err(refused(op, bytes)).map_err(here()) }
}

/// Bytes that grow by appending, counted by the device before they grow. At most twice the appended bytes are counted.
pub(crate) struct GrowingBytes<'a> {
    op: &'static str,
    backend: &'a BackendRef,
    bytes: Vec<u8>,
    counted: Vec<CountedMemory>,
    /// Bytes of all parts of one tensor of strings, as of the last growth of each.
    total: &'a AtomicU64,
    /// The share of these bytes in `total`.
    reported: u64,
}

impl<'a> GrowingBytes<'a> {
    /// An empty part of the strings of one tensor, whose parts share `total`.
    pub(crate) fn new(op: &'static str, backend: &'a BackendRef, total: &'a AtomicU64) -> Self {
        Self { op, backend, bytes: Vec::new(), counted: Vec::new(), total, reported: 0 }
    }

    /// Number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// More than 2^32 - 2 bytes in all parts of the tensor; as [`counted_vec`].
    #[inline]
    pub(crate) fn push(&mut self, more: &[u8]) -> Result<()> {
        if self.bytes.capacity() - self.bytes.len() < more.len() {
            self.grow(more.len())?;
        }
        self.bytes.extend_from_slice(more);
        Ok(())
    }

    /// Appends the text of a value.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub(crate) fn push_text(&mut self, value: std::fmt::Arguments<'_>) -> Result<()> {
        let mut failure = Ok(());
        // The only error is that of `push`, which the writer keeps.
        let _ = std::fmt::write(&mut TextWriter { bytes: self, failure: &mut failure }, value);
        failure
    }

    /// Counts memory of an intermediate result of `bytes` bytes.
    ///
    /// # Errors
    /// As [`counted_vec`].
    pub(crate) fn scratch(&self, bytes: u64) -> Result<CountedMemory> {
        counted_allocations(self.backend, self.op, bytes)
    }

    /// The bytes, and the count of their memory.
    pub(crate) fn into_parts(self) -> (Vec<u8>, Vec<CountedMemory>) {
        (self.bytes, self.counted)
    }

    #[cold]
    fn grow(&mut self, more: usize) -> Result<()> {
        let least = self.bytes.len().saturating_add(more);
        let added = least as u64 - self.reported;
        let total = self.total.fetch_add(added, Relaxed).saturating_add(added);
        self.reported = least as u64;
        if total > MAX_BYTES {
            return Err(Error::Limit {
                what: format!("{}: a tensor of strings", self.op),
                requested: total,
                unit: "bytes",
                limit: MAX_BYTES,
                whose: "a tensor".into(),
                location: caller(),
            });
        }
        let doubled = self.bytes.capacity().saturating_mul(2).max(MIN_CAPACITY).min(MAX_BYTES as usize);
        // Exactly the needed bytes where twice the capacity does not fit.
        let mut grown = self.grow_to(doubled.max(least));
        if grown.is_err() && doubled > least {
            grown = self.grow_to(least);
        }
        grown
    }

    fn grow_to(&mut self, capacity: usize) -> Result<()> {
        let added = (capacity - self.bytes.capacity()) as u64;
        let counted = self.backend.reserve_host(self.op, added)?;
        let room = capacity - self.bytes.len();
        self.bytes.try_reserve_exact(room).map_err(|_| refused(self.op, capacity as u64))?;
        self.counted.push(counted);
        Ok(())
    }
}

/// Writer of text into [`GrowingBytes`], which keeps the error.
struct TextWriter<'a, 'b> {
    bytes: &'a mut GrowingBytes<'b>,
    failure: &'a mut Result<()>,
}

impl std::fmt::Write for TextWriter<'_, '_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.bytes.push(text.as_bytes()).map_err(|error| {
            *self.failure = Err(error);
            std::fmt::Error
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;

    #[test]
    fn strings_beyond_the_limit_of_a_tensor_are_refused_before_they_grow() {
        let device = Device::cpu();
        // Another part has nearly all bytes.
        let total = AtomicU64::new(MAX_BYTES - 10);
        let mut bytes = GrowingBytes::new("test", device.backend(), &total);
        bytes.push(b"0123456789").expect("fits");
        let Err(Error::Limit { requested, limit, .. }) = bytes.push(&[b'.'; MIN_CAPACITY]) else { panic!("too many") };
        assert_eq!((requested, limit), (MAX_BYTES + MIN_CAPACITY as u64, MAX_BYTES));
        assert_eq!(bytes.into_parts().0, b"0123456789");
    }

    #[test]
    fn bytes_grow_in_few_steps() {
        let device = Device::cpu();
        let total = AtomicU64::new(0);
        let mut bytes = GrowingBytes::new("test", device.backend(), &total);
        for k in 0..100_000u32 {
            bytes.push_text(format_args!("{}", k % 10)).expect("fits");
        }
        let (bytes, counted) = bytes.into_parts();
        assert_eq!((bytes.len(), &bytes[..12]), (100_000, &b"012345678901"[..]));
        assert!(counted.len() < 10, "{} steps", counted.len());
    }
}
