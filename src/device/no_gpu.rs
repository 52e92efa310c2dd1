//! The adapters of a build without GPU backend: none.

use super::Device;
use crate::error::Result;

/// An adapter, of which this build has none.
pub(super) enum Listed {}

/// Every adapter that this build can open.
pub(super) fn listed() -> Vec<Listed> {
    Vec::new()
}

impl Listed {
    pub(super) fn name(&self) -> &str {
        match *self {}
    }

    pub(super) fn is_software(&self) -> bool {
        match *self {}
    }

    #[track_caller]
    pub(super) fn shared(&self) -> Result<Device> {
        match *self {}
    }
}
