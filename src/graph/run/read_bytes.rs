//! The bytes of a finished read, in the memory in which the backend has them.

use std::fmt::Debug;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Memory that holds the bytes of reads: an array, or a mapped staging buffer.
pub(crate) trait ReadMemory: AsRef<[u8]> + Debug + Send + Sync {}
impl<M: AsRef<[u8]> + Debug + Send + Sync> ReadMemory for M {}

/// Bytes of a finished read. Shares the memory of the backend, so that the conversion to the values of the result is the
/// only copy.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReadBytes {
    memory: Option<Arc<dyn ReadMemory>>,
    range: Range<usize>,
}

impl ReadBytes {
    /// The bytes in a range of the memory.
    pub(crate) fn new(memory: Arc<dyn ReadMemory>, range: Range<usize>) -> Self {
        Self { memory: Some(memory), range }
    }

    /// Removes the bytes beyond the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.range.end = self.range.end.min(self.range.start + len);
    }
}

impl Deref for ReadBytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.memory.as_ref().map_or(&[], |memory| &(**memory).as_ref()[self.range.clone()])
    }
}

impl From<Vec<u8>> for ReadBytes {
    fn from(bytes: Vec<u8>) -> Self {
        let range = 0..bytes.len();
        Self::new(Arc::new(bytes), range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_ranges_of_shared_memory() {
        let memory: Arc<Vec<u8>> = Arc::new((0..10).collect());
        let mut read = ReadBytes::new(memory.clone(), 3..8);
        assert_eq!(*read, [3, 4, 5, 6, 7]);
        assert_eq!(read.as_ptr(), memory[3..].as_ptr());
        read.truncate(9);
        assert_eq!(read.len(), 5);
        read.truncate(2);
        assert_eq!(*read, [3, 4]);
        assert!(ReadBytes::default().is_empty());
        assert_eq!(*ReadBytes::from(vec![7]), [7]);
    }
}
