//! Accounting of host memory that is about to be written, for the whole process.
//!
//! The system counts memory as used only once it is written. Memory between its allocation and its first write is
//! counted here, so that several allocations cannot together exceed what the system reports as available. A
//! reservation queries the system (some tens of microseconds) only if an eighth of the last figure has been reserved
//! since; all others are two atomic operations.

mod available;
mod counted;

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result, caller};

pub(crate) use counted::{GrowingBytes, counted_allocations, counted_vec};

/// Fraction of the available memory that is left to the system and to other parts of the process.
const MARGIN: u64 = 32;

/// Fraction of the available memory that is reserved without another query.
const UNQUERIED: u64 = 8;

/// Most bytes that a request counts as: more than any machine has, and small enough to add several.
const MAX_COUNTED: u64 = 1 << 58;

/// Host memory that is reserved and not written yet.
#[derive(Debug)]
struct HostMemory {
    /// Bytes of all [`Unwritten`] reservations.
    unwritten: AtomicU64,
    /// Bytes that may be reserved before the next query.
    unqueried: AtomicI64,
    query: Mutex<()>,
    available: fn() -> Option<u64>,
}

static HOST: HostMemory = HostMemory::new(available::bytes);

/// Reservation of host memory from its allocation to its first write.
#[derive(Debug)]
pub(crate) struct Unwritten {
    bytes: u64,
    of: &'static HostMemory,
}

impl Drop for Unwritten {
    fn drop(&mut self) {
        self.of.unwritten.fetch_sub(self.bytes, Relaxed);
    }
}

/// Reserves memory for the operation `op`. `free` returns unused memory to the system, and is called only if the
/// available memory does not suffice.
///
/// # Errors
/// The system has less memory available.
pub(crate) fn reserve(op: &str, bytes: u64, free: impl FnOnce()) -> Result<Unwritten> {
    HOST.reserve(op, bytes, free)
}

impl HostMemory {
    const fn new(available: fn() -> Option<u64>) -> Self {
        Self { unwritten: AtomicU64::new(0), unqueried: AtomicI64::new(0), query: Mutex::new(()), available }
    }

    fn reserve(&'static self, op: &str, bytes: u64, free: impl FnOnce()) -> Result<Unwritten> {
        let counted = bytes.min(MAX_COUNTED);
        self.unwritten.fetch_add(counted, Relaxed);
        let reserved = Unwritten { bytes: counted, of: self };
        let signed = counted as i64;
        // Saturates, since several large requests may exceed any counter.
        let before = self.unqueried.fetch_update(Relaxed, Relaxed, |left| Some(left.saturating_sub(signed)));
        if before.unwrap_or_else(|left| left) >= signed {
            return Ok(reserved);
        }
        let _one = self.query.lock().unwrap_or_else(PoisonError::into_inner);
        if self.query(counted).is_err() {
            free();
            self.query(counted).map_err(|left| limit_error(op, bytes, left))?;
        }
        Ok(reserved)
    }

    /// Queries the system. The error is the number of bytes that a reservation of `bytes`, already counted as
    /// unwritten, could have.
    fn query(&self, bytes: u64) -> std::result::Result<(), u64> {
        let Some(available) = (self.available)() else {
            self.unqueried.store(i64::MAX, Relaxed);
            return Ok(());
        };
        let usable = available - available / MARGIN;
        let unwritten = self.unwritten.load(Relaxed);
        let Some(left) = usable.checked_sub(unwritten) else {
            self.unqueried.store(0, Relaxed);
            return Err(usable.saturating_sub(unwritten.saturating_sub(bytes)));
        };
        self.unqueried.store(i64::try_from(left / UNQUERIED).unwrap_or(i64::MAX), Relaxed);
        Ok(())
    }
}

fn limit_error(op: &str, requested: u64, limit: u64) -> Error {
    Error::Limit {
        what: op.into(),
        requested,
        unit: "bytes",
        limit,
        whose: "the memory that is available on this machine".into(),
        location: caller(),
    }
}

/// Error of an allocation that the allocator or the system refuses, although the memory is available: a limit on the
/// address space (`ulimit -v`), or fragmentation.
pub(crate) fn refused(op: &str, requested: u64) -> Error {
    Error::Limit {
        what: op.into(),
        requested,
        unit: "bytes",
        limit: isize::MAX as u64,
        whose: "the address space of this machine, which has less memory left".into(),
        location: caller(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine with 3200 bytes of available memory, of which 3100 are usable.
    fn machine() -> &'static HostMemory {
        Box::leak(Box::new(HostMemory::new(|| Some(3200))))
    }

    fn limit(outcome: Result<Unwritten>) -> (u64, u64) {
        match outcome {
            Err(Error::Limit { requested, limit, unit: "bytes", .. }) => (requested, limit),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn unwritten_memory_counts() {
        let machine = machine();
        let first = machine.reserve("a", 2000, || ()).expect("available");
        let mut freed = false;
        assert_eq!(limit(machine.reserve("b", 1101, || freed = true)), (1101, 1100));
        assert!(freed, "unused memory is freed before an error");
        let second = machine.reserve("b", 1100, || ()).expect("the rest");
        drop(first);
        assert_eq!(limit(machine.reserve("c", u64::MAX, || ())), (u64::MAX, 2000));
        drop(second);
        assert_eq!(machine.unwritten.load(Relaxed), 0);
        machine.reserve("d", 3100, || ()).expect("all of it");
    }

    #[test]
    fn many_small_reservations_do_not_exceed_the_limit() {
        let machine = machine();
        let mut held = Vec::new();
        while let Ok(reserved) = machine.reserve("many", 10, || ()) {
            held.push(reserved);
        }
        assert_eq!(held.len(), 310);
    }
}
