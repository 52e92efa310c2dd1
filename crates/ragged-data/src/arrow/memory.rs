//! Buffers of Arrow as memory of tensors, and memory of tensors as buffers of Arrow.

use std::sync::Arc;

use arrow_buffer::Buffer;
use ragged::SharedBytes;

/// A buffer that a tensor adopts.
struct Adopted(Buffer);

impl AsRef<[u8]> for Adopted {
    fn as_ref(&self) -> &[u8] {
        self.0.as_slice()
    }
}

/// The bytes of a buffer as memory that a tensor adopts.
pub(super) fn owner(buffer: Buffer) -> Arc<dyn AsRef<[u8]> + Send + Sync> {
    Arc::new(Adopted(buffer))
}

/// The bytes of a tensor as a buffer, without a copy if they are aligned to `alignment`.
pub(super) fn buffer(bytes: &SharedBytes, alignment: usize) -> Buffer {
    if bytes.as_ptr().addr().is_multiple_of(alignment) {
        Buffer::from(bytes::Bytes::from_owner(bytes.clone()))
    } else {
        Buffer::from(&**bytes)
    }
}
