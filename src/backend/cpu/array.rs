//! Arrays in host memory: one allocation aligned for every dtype, read and written as typed slices.

use std::sync::Arc;

use super::pool::{Memory, Pool};
use crate::dtype::DType;
use crate::error::Result;

/// Numbers of one dtype in host memory. Bools are bytes of 0 and 1.
#[derive(Debug)]
pub(crate) struct Array {
    memory: Memory,
    len: usize,
    dtype: DType,
}

/// A type whose values an [`Array`] can hold: its storage is any pattern of bits of that size.
pub(crate) trait Stored: bytemuck::Pod + Send + Sync {}
impl<T: bytemuck::Pod + Send + Sync> Stored for T {}

impl Array {
    /// `len` elements that hold anything, for the operation, which is to set them all.
    ///
    /// # Errors
    /// The memory is not to be had.
    pub(crate) fn unset(pool: &Arc<Pool>, op: &str, dtype: DType, len: usize) -> Result<Self> {
        let mut memory = pool.take(op, (len * dtype.size()).div_ceil(8))?;
        if cfg!(any(test, debug_assertions)) {
            // Tests see what is read before it is set.
            memory.words.fill(0xa5a5_a5a5_a5a5_a5a5);
        }
        Ok(Self { memory, len, dtype })
    }

    /// The elements whose bytes these are, in the machine's order.
    ///
    /// # Errors
    /// The memory is not to be had.
    pub(crate) fn from_bytes(pool: &Arc<Pool>, dtype: DType, bytes: &[u8]) -> Result<Self> {
        let mut out = Self::unset(pool, "an upload", dtype, bytes.len() / dtype.size())?;
        let n = out.bytes().len();
        out.bytes_mut().copy_from_slice(&bytes[..n]);
        Ok(out)
    }

    /// Sets the elements from `first` on to zero.
    pub(crate) fn clear_from(&mut self, first: usize) {
        let start = first * self.dtype.size();
        if let Some(rest) = self.bytes_mut().get_mut(start..) {
            rest.fill(0);
        }
    }

    /// How many elements.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
    /// The elements' bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.memory.words)[..self.len * self.dtype.size()]
    }
    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.memory.words)[..self.len * self.dtype.size()]
    }
    /// The elements; `T` must be of the dtype's size (u8 for bools).
    pub(crate) fn slice<T: Stored>(&self) -> &[T] {
        &bytemuck::cast_slice(&self.memory.words)[..self.len]
    }
    /// The elements, to be written.
    pub(crate) fn slice_mut<T: Stored>(&mut self) -> &mut [T] {
        &mut bytemuck::cast_slice_mut(&mut self.memory.words)[..self.len]
    }
}
