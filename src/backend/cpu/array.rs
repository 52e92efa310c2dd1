//! Arrays in host memory: one allocation aligned for every dtype, read and written as typed slices.

use crate::dtype::DType;
use crate::error::{Error, Result};

/// Numbers of one dtype in host memory. Bools are bytes of 0 and 1.
#[derive(Debug)]
pub(crate) struct Array {
    words: Box<[u64]>,
    len: usize,
    dtype: DType,
}

/// A type whose values an [`Array`] can hold: its storage is any pattern of bits of that size.
pub(crate) trait Stored: bytemuck::Pod + Send + Sync {}
impl<T: bytemuck::Pod + Send + Sync> Stored for T {}

impl Array {
    /// `len` zeros, for the operation.
    ///
    /// # Errors
    /// The memory is not to be had.
    pub(crate) fn zeroed(op: &str, dtype: DType, len: usize) -> Result<Self> {
        let words = (len * dtype.size()).div_ceil(8);
        // A trial, given back at once: `vec!` below asks the system for zeroed pages, but aborts if there are none.
        if Vec::<u64>::new().try_reserve_exact(words).is_err() {
            return Err(Error::Limit {
                what: op.into(),
                requested: words as u64 * 8,
                unit: "bytes",
                limit: isize::MAX as u64,
                whose: "what this machine can address; it is out of memory before".into(),
            });
        }
        Ok(Self { words: vec![0; words].into_boxed_slice(), len, dtype })
    }

    /// The elements whose bytes these are, in the machine's order.
    ///
    /// # Errors
    /// The memory is not to be had.
    pub(crate) fn from_bytes(dtype: DType, bytes: &[u8]) -> Result<Self> {
        let mut out = Self::zeroed("an upload", dtype, bytes.len() / dtype.size())?;
        let n = out.bytes().len();
        bytemuck::cast_slice_mut::<u64, u8>(&mut out.words)[..n].copy_from_slice(&bytes[..n]);
        Ok(out)
    }

    /// How many elements.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
    /// The elements' bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len * self.dtype.size()]
    }
    /// The elements; `T` must be of the dtype's size (u8 for bools).
    pub(crate) fn slice<T: Stored>(&self) -> &[T] {
        &bytemuck::cast_slice(&self.words)[..self.len]
    }
    /// The elements, to be written.
    pub(crate) fn slice_mut<T: Stored>(&mut self) -> &mut [T] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.len]
    }
}
