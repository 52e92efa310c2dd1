//! Row splits in host memory.

use std::any::Any;
use std::ops::Deref;
use std::sync::Arc;

use crate::backend::upload::upload;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::recorder::Recorder;
use crate::graph::shared_slice::SharedSlice;

/// Row splits in host memory.
#[derive(Debug)]
pub(crate) enum HostSplits {
    /// Memory of this crate.
    Own(Vec<u32>),
    /// Memory of the user's program, aligned for u32.
    Shared(SharedSlice),
}

impl HostSplits {
    /// The splits in memory of the user's program. None if it is not aligned, or has part of an entry.
    pub(crate) fn shared(memory: &SharedSlice) -> Option<Self> {
        bytemuck::try_cast_slice::<u8, u32>(memory.bytes()).is_ok().then(|| Self::Shared(memory.clone()))
    }

    /// The splits as storage of the backend.
    pub(super) fn stored(&self, rec: Recorder<'_>) -> Result<Arc<dyn Any + Send + Sync>> {
        rec.at(match self {
            Self::Own(splits) => upload(rec.backend, rec.op, DType::U32, bytemuck::cast_slice(splits)),
            Self::Shared(memory) => rec.backend.adopt(DType::U32, memory).map_err(|e| e.of(rec.op)),
        })
    }
}

impl Deref for HostSplits {
    type Target = [u32];
    fn deref(&self) -> &[u32] {
        match self {
            Self::Own(splits) => splits,
            Self::Shared(memory) => bytemuck::cast_slice(memory.bytes()),
        }
    }
}

impl AsRef<[u8]> for HostSplits {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(self)
    }
}

impl From<Vec<u32>> for HostSplits {
    fn from(splits: Vec<u32>) -> Self {
        Self::Own(splits)
    }
}
