//! Assembly of the results of reads in host memory: counted before they are written, and allocated without aborting.

use super::HostValues;
use super::host_vec::{decode, room};
use crate::backend::host_memory::counted_allocations;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::backend::{CountedMemory, ReadBytes};
use crate::graph::recorder::Recorder;

/// Bytes of a string in a result, besides its content: its `Vec`, and the allocator's header and rounding.
const STRING_BYTES: u64 = size_of::<Vec<u8>>() as u64 + 16;

/// Host memory of one result, counted by the backend until the result is complete.
pub(crate) struct Assembly<'a> {
    rec: Recorder<'a>,
    reserved: Vec<CountedMemory>,
}

impl<'a> Assembly<'a> {
    /// Assembles a result of the recorder's operation.
    pub(crate) fn new(rec: Recorder<'a>) -> Self {
        Self { rec, reserved: Vec::new() }
    }

    /// Counts further bytes of the result.
    ///
    /// # Errors
    /// The backend's budget or the machine's available memory does not suffice.
    #[track_caller]
    pub(crate) fn reserve(&mut self, bytes: u64) -> Result<()> {
        if bytes > 0 {
            self.reserved.push(self.rec.backend.reserve_host(self.rec.op, bytes)?);
        }
        Ok(())
    }

    /// Counts further bytes of the result, which many small allocations are about to take.
    ///
    /// # Errors
    /// As [`Self::reserve`]; the allocator refuses the memory.
    #[track_caller]
    pub(crate) fn reserve_allocations(&mut self, bytes: u64) -> Result<()> {
        self.reserved.push(counted_allocations(self.rec.backend, self.rec.op, bytes)?);
        Ok(())
    }

    /// Decodes splits.
    ///
    /// # Errors
    /// As [`Self::reserve`]; the allocator refuses the memory.
    #[track_caller]
    pub(crate) fn splits(&mut self, read: &ReadBytes) -> Result<Vec<u32>> {
        self.reserve(read.len() as u64)?;
        let mut out = Vec::new();
        decode(&mut out, read)?;
        Ok(out)
    }

    /// Copies bytes.
    ///
    /// # Errors
    /// As [`Self::splits`].
    #[track_caller]
    pub(crate) fn bytes(&mut self, read: &ReadBytes) -> Result<Vec<u8>> {
        self.reserve(read.len() as u64)?;
        let mut out = Vec::new();
        decode(&mut out, read)?;
        Ok(out)
    }

    /// Copies splits that the host has.
    ///
    /// # Errors
    /// As [`Self::splits`].
    #[track_caller]
    pub(super) fn host_splits(&mut self, splits: impl ExactSizeIterator<Item = u32>) -> Result<Vec<u32>> {
        self.reserve(4 * splits.len() as u64)?;
        let mut out = Vec::new();
        room(&mut out, splits.len())?;
        out.extend(splits);
        Ok(out)
    }

    /// Decodes numbers.
    ///
    /// # Errors
    /// As [`Self::splits`].
    #[track_caller]
    pub(crate) fn numbers(&mut self, dtype: DType, read: &ReadBytes) -> Result<HostValues> {
        self.reserve(read.len() as u64)?;
        HostValues::from_bytes(dtype, read)
    }

    /// Strings from their splits, relative to the first byte, and their bytes.
    ///
    /// # Errors
    /// As [`Self::splits`]; splits that are not those of the bytes.
    #[track_caller]
    pub(crate) fn strings(&mut self, splits: &[u32], bytes: &ReadBytes) -> Result<HostValues> {
        let n = splits.len().saturating_sub(1);
        if !splits.is_sorted() || splits.last().is_none_or(|&last| last as usize > bytes.len()) {
            return Err(Error::partition(self.rec.op, "the splits of the strings are not those of their bytes"));
        }
        self.reserve_allocations(STRING_BYTES * n as u64 + bytes.len() as u64)?;
        let mut out: Vec<Vec<u8>> = Vec::new();
        room(&mut out, n)?;
        for w in splits.windows(2) {
            let mut string = Vec::new();
            decode(&mut string, &bytes[w[0] as usize..w[1] as usize])?;
            out.push(string);
        }
        Ok(HostValues::Str(out))
    }
}
