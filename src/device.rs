//! Devices: where tensors live and who computes them.
//!
//! This is the only file that reads environment variables: `RAGGED_DEVICE` names the device of [`Device::best`].

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::backend::cpu::CpuBackend;
use crate::error::{Error, Result};
use crate::graph::backend::BackendRef;
use crate::stats::Stats;

/// Where tensors live and who computes them: a GPU, or this machine's processor. Cheap to clone.
///
/// ```
/// let device = ragged::Device::cpu();
/// assert_eq!(device.name(), "cpu");
/// ```
#[derive(Clone)]
pub struct Device(BackendRef);

impl Device {
    /// The CPU backend. Always there.
    pub fn cpu() -> Self {
        static CPU: OnceLock<BackendRef> = OnceLock::new();
        Self(CPU.get_or_init(|| Arc::new(CpuBackend::new(0, true))).clone())
    }

    /// A CPU backend that stores every intermediate array: slower, with the same bits. For tests.
    #[doc(hidden)]
    pub fn cpu_unfused() -> Self {
        static CPU: OnceLock<BackendRef> = OnceLock::new();
        Self(CPU.get_or_init(|| Arc::new(CpuBackend::new(1, false))).clone())
    }

    /// The name that selects it: `cpu`, or a part of the adapter's name.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Whether it is the CPU backend.
    pub fn is_cpu(&self) -> bool {
        self.0.is_cpu()
    }

    /// Counts of what it did so far, over all tensors.
    pub fn stats(&self) -> Stats {
        self.0.stats()
    }

    pub(crate) fn backend(&self) -> &BackendRef {
        &self.0
    }

    pub(crate) fn of(backend: &BackendRef) -> Self {
        Self(backend.clone())
    }

    /// Fails unless both operands of `op` live on one device.
    pub(crate) fn check_same(op: &'static str, a: &BackendRef, b: &BackendRef) -> Result<()> {
        if a.id() == b.id() {
            return Ok(());
        }
        Err(Error::Devices { op, lhs: a.name().into(), rhs: b.name().into() })
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        self.0.id() == other.0.id()
    }
}
impl Eq for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.name())
    }
}
