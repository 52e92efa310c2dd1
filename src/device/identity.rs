//! Identity of devices: comparison, and the check that operands live on one device.

use std::fmt;

use super::Device;
use crate::error::{Error, Result, caller};
use crate::graph::backend::{BackendRef, are_joined};

impl Device {
    pub(crate) fn backend(&self) -> &BackendRef {
        &self.0
    }

    pub(crate) fn of(backend: &BackendRef) -> Self {
        Self(backend.clone())
    }

    /// Fails unless both operands of `op` live on one device.
    #[track_caller]
    pub(crate) fn check_same(op: &'static str, a: &BackendRef, b: &BackendRef) -> Result<()> {
        if are_joined(a, b) {
            return Ok(());
        }
        Err(Error::Devices { op, lhs: a.name().into(), rhs: b.name().into(), location: caller() })
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
