//! Arrays in host memory, read and written as typed slices: an allocation of the pool aligned for every dtype, or memory
//! of the user's program, which is only read.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use super::pool::{Memory, Pool};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::shared_slice::SharedSlice;

/// Array of one dtype in host memory. Bools are bytes of 0 and 1.
#[derive(Debug)]
pub(crate) struct Array {
    storage: Storage,
    len: usize,
    dtype: DType,
}

/// The memory of an array.
#[derive(Debug)]
enum Storage {
    Pooled {
        memory: Memory,
        /// Number of leading words that were possibly non-zero when the memory was taken from the pool.
        dirty: usize,
    },
    /// Memory of the user's program: aligned for the dtype, of exactly the elements, never written.
    Shared(SharedSlice),
}

/// Fill byte of uninitialized elements in tests and debug builds, which exposes reads of elements that were never set.
const POISON: u8 = 0xa5;

/// A type whose values an [`Array`] can hold. Any bit pattern of its size is a valid value.
pub(crate) trait ArrayElement: bytemuck::Pod + Send + Sync {}
impl<T: bytemuck::Pod + Send + Sync> ArrayElement for T {}

impl Array {
    /// Allocates `len` elements of unspecified content for the operation `op`, which must set all of them.
    ///
    /// # Errors
    /// The memory is not available.
    pub(crate) fn uninit(pool: &Arc<Pool>, op: &str, dtype: DType, len: usize) -> Result<Self> {
        let mut memory = pool.take(op, (len * dtype.size()).div_ceil(8))?;
        let mut dirty = memory.zero_from;
        if cfg!(any(test, debug_assertions)) {
            dirty = memory.words.len();
            memory.words.fill(u64::from_ne_bytes([POISON; 8]));
        }
        Ok(Self { storage: Storage::Pooled { memory, dirty }, len, dtype })
    }

    /// Adopts memory of the user's program. None if it is empty or not aligned for the dtype.
    pub(crate) fn shared(memory: &SharedSlice, dtype: DType) -> Option<Self> {
        let bytes = memory.bytes();
        let can_be_read = !bytes.is_empty() && bytes.as_ptr().addr().is_multiple_of(dtype.size());
        can_be_read.then(|| Self { storage: Storage::Shared(memory.clone()), len: bytes.len() / dtype.size(), dtype })
    }

    /// Whether the memory belongs to the user's program.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.storage, Storage::Shared(_))
    }

    /// Copies the elements from `bytes`, in native byte order.
    ///
    /// # Errors
    /// The memory is not available.
    pub(crate) fn from_bytes(pool: &Arc<Pool>, dtype: DType, bytes: &[u8]) -> Result<Self> {
        let mut out = Self::uninit(pool, "an upload", dtype, bytes.len() / dtype.size())?;
        let n = out.bytes().len();
        out.bytes_mut().copy_from_slice(&bytes[..n]);
        out.set_written();
        Ok(out)
    }

    /// Notes that all elements are set, which ends the reservation of memory for them.
    pub(crate) fn set_written(&mut self) {
        if let Storage::Pooled { memory, .. } = &mut self.storage {
            memory.set_written();
        }
    }

    /// The memory for writing, and its number of words that were possibly non-zero.
    fn pooled(&mut self) -> (&mut Memory, usize) {
        match &mut self.storage {
            Storage::Pooled { memory, dirty } => (memory, *dirty),
            Storage::Shared(_) => unreachable!("bug: memory of the user's program is written"),
        }
    }

    /// Zeroes the elements from `first` on, none of which may have been set before. Words that the pool knows to be
    /// zero are not written.
    pub(crate) fn zero_rest(&mut self, first: usize) {
        let size = self.dtype.size();
        let (memory, _) = self.pooled();
        let start = (first * size).min(memory.words.len() * 8);
        if cfg!(any(test, debug_assertions)) {
            let rest = &bytemuck::cast_slice(&memory.words)[start..];
            assert!(rest.iter().all(|&byte: &u8| byte == POISON), "bug: zeroed after it was set");
        }
        self.zero_bytes_from(start);
    }

    fn zero_bytes_from(&mut self, start: usize) {
        let (memory, dirty) = self.pooled();
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut memory.words);
        if let Some(dirty) = bytes.get_mut(start..dirty * 8) {
            dirty.fill(0);
        }
        memory.zero_from = start.div_ceil(8);
    }

    /// The memory for writing. All of the array's words count as possibly non-zero from now on.
    fn words_mut(&mut self) -> &mut [u64] {
        let own = (self.len * self.dtype.size()).div_ceil(8);
        let (memory, dirty) = self.pooled();
        memory.zero_from = own.max(dirty);
        &mut memory.words
    }

    /// The dtype of the elements.
    pub(super) fn dtype(&self) -> DType {
        self.dtype
    }

    /// Number of elements.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
    /// The elements' bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.storage {
            Storage::Pooled { memory, .. } => &bytemuck::cast_slice(&memory.words)[..self.len * self.dtype.size()],
            Storage::Shared(memory) => memory.bytes(),
        }
    }
    /// The elements' bytes for writing.
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        let size = self.len * self.dtype.size();
        &mut bytemuck::cast_slice_mut(self.words_mut())[..size]
    }
    /// The memory as words for writing on several cores, the last of which may extend beyond the elements.
    pub(super) fn atomic_words(&mut self) -> &[AtomicU32] {
        let len = (self.len * self.dtype.size()).div_ceil(4);
        let words: *mut [u32] = &mut bytemuck::cast_slice_mut::<u64, u32>(self.words_mut())[..len];
        // SAFETY: `AtomicU32` has the size, alignment and bit validity of `u32`, and the exclusive borrow lasts as long
        // as the result.
        unsafe { &*(words as *const [AtomicU32]) }
    }
    /// The elements; `T` must be of the dtype's size (u8 for bools).
    pub(crate) fn slice<T: ArrayElement>(&self) -> &[T] {
        match &self.storage {
            Storage::Pooled { memory, .. } => &bytemuck::cast_slice(&memory.words)[..self.len],
            Storage::Shared(memory) => bytemuck::cast_slice(memory.bytes()),
        }
    }
    /// The elements for writing.
    pub(crate) fn slice_mut<T: ArrayElement>(&mut self) -> &mut [T] {
        let len = self.len;
        &mut bytemuck::cast_slice_mut(self.words_mut())[..len]
    }
}

impl AsRef<[u8]> for Array {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeroed_elements_are_zero_in_reused_memory() -> Result<()> {
        let pool = Arc::new(Pool::default());
        let n = 1 << 16;
        for (set, zeroes, sets_the_last) in [
            (n, false, false),
            (3, true, false),
            (n - 5, true, false),
            (0, true, true),
            (7, true, false),
            (n, true, false),
        ] {
            // As [`Array::uninit`] in release builds, without poison.
            let memory = pool.take("test", n / 2)?;
            let storage = Storage::Pooled { dirty: memory.zero_from, memory };
            let mut array = Array { storage, len: n, dtype: DType::U32 };
            array.slice_mut::<u32>()[..set].fill(9);
            if zeroes {
                array.zero_bytes_from(4 * set);
                let (nines, zeros) = array.slice::<u32>().split_at(set);
                assert!(nines.iter().all(|&x| x == 9) && zeros.iter().all(|&x| x == 0), "{set} of {n}");
            }
            if sets_the_last {
                array.slice_mut::<u32>()[n - 1] = 1;
            }
        }
        assert_eq!(pool.stats().pool_misses, 1, "the memory is reused");
        Ok(())
    }

    #[test]
    #[should_panic = "zeroed after it was set"]
    fn zeroing_set_elements_is_a_bug() {
        let pool = Arc::new(Pool::default());
        let mut array = Array::uninit(&pool, "test", DType::U32, 8).expect("small");
        array.slice_mut::<u32>()[5] = 1;
        array.zero_rest(5);
    }

    #[test]
    fn shared_memory_is_adopted_where_it_is_aligned() {
        let words: Arc<Vec<u64>> = Arc::new((0..8).collect());
        let slice = |range: std::ops::Range<usize>| {
            let words = words.clone();
            SharedSlice::new(Arc::new(Part(words, range)))
        };
        for dtype in DType::ALL.into_iter().filter(|dtype| *dtype != DType::Str) {
            for at in 0..16 {
                let part = slice(at..at + 40);
                let array = Array::shared(&part, dtype);
                assert_eq!(array.is_some(), at % dtype.size() == 0, "{dtype} at {at}");
                let Some(array) = array else { continue };
                assert_eq!((array.len(), array.is_shared()), (40 / dtype.size(), true));
                assert_eq!(array.bytes().as_ptr(), bytemuck::cast_slice::<u64, u8>(&words)[at..].as_ptr());
            }
        }
        assert_eq!(Arc::strong_count(&words), 1, "the owner is dropped");
    }

    #[test]
    #[should_panic = "memory of the user's program is written"]
    fn writing_shared_memory_is_a_bug() {
        let memory = SharedSlice::new(Arc::new(vec![1u8, 2]));
        Array::shared(&memory, DType::U8).expect("aligned").bytes_mut()[0] = 7;
    }

    struct Part(Arc<Vec<u64>>, std::ops::Range<usize>);

    impl AsRef<[u8]> for Part {
        fn as_ref(&self) -> &[u8] {
            &bytemuck::cast_slice(&self.0)[self.1.clone()]
        }
    }
}
