//! Host memory of the user's program, which arrays read in place.

use std::fmt;
use std::sync::Arc;

/// Owner of host memory of the user's program.
pub(crate) type SharedMemory = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// The bytes of host memory of the user's program, which keep their owner. Nothing writes to them.
#[derive(Clone)]
pub(crate) struct SharedSlice {
    owner: SharedMemory,
    /// The bytes of the first `as_ref`.
    len: usize,
}

impl SharedSlice {
    /// All bytes of the owner.
    pub(crate) fn new(owner: SharedMemory) -> Self {
        let len = (*owner).as_ref().len();
        Self { owner, len }
    }

    /// The bytes.
    ///
    /// # Panics
    /// The owner gives fewer bytes than at first, which the documentation forbids.
    pub(crate) fn bytes(&self) -> &[u8] {
        let bytes = (*self.owner).as_ref();
        bytes.get(..self.len).expect("the owner of shared memory gives fewer bytes than when it was adopted")
    }
}

impl fmt::Debug for SharedSlice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedSlice({} bytes)", self.len)
    }
}
