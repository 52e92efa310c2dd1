//! An owner of memory that counts how often it is dropped.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts drops.
#[derive(Clone, Default)]
pub struct Drops(Arc<AtomicUsize>);

impl Drops {
    pub fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// Memory aligned to 8 bytes, of which a range is given.
pub struct Memory {
    words: Vec<u64>,
    range: Range<usize>,
    drops: Drops,
}

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[self.range.clone()]
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.drops.0.fetch_add(1, Ordering::SeqCst);
    }
}

pub struct Owner(Arc<Memory>);

impl Owner {
    /// These bytes, `offset` bytes from an address that is a multiple of 8.
    pub fn at_offset(bytes: &[u8], offset: usize) -> Self {
        let range = offset..offset + bytes.len();
        let mut words = vec![0u64; range.end.div_ceil(8).max(1)];
        bytemuck::cast_slice_mut(&mut words)[range.clone()].copy_from_slice(bytes);
        Self(Arc::new(Memory { words, range, drops: Drops::default() }))
    }

    pub fn of_f32(values: impl IntoIterator<Item = f32>) -> Self {
        let values: Vec<f32> = values.into_iter().collect();
        Self::at_offset(bytemuck::cast_slice(&values), 0)
    }

    pub fn of_u32(values: &[u32], offset: usize) -> Self {
        Self::at_offset(bytemuck::cast_slice(values), offset)
    }

    pub fn shared(&self) -> Arc<Memory> {
        self.0.clone()
    }
    pub fn drops(&self) -> Drops {
        self.0.drops.clone()
    }
    pub fn bytes(&self) -> &[u8] {
        (*self.0).as_ref()
    }
    pub fn f32(&self) -> &[f32] {
        bytemuck::cast_slice(self.bytes())
    }
    /// Whether something else keeps the memory.
    pub fn is_kept(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
}
