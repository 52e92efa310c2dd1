//! Uploads host data into device buffers.
//!
//! # Why uploads into pooled buffers are safe
//! `Queue::write_buffer` copies the data to staging memory. The device copies it into the buffer at the start of the
//! *next* submission, before the commands of that submission and after all earlier submissions. An upload would
//! overwrite data in use only if a recorded but unsubmitted command read the buffer. No such command exists: commands
//! own handles of their buffers, a buffer in the pool has no handles, and uploads write only to newly acquired buffers.
//! Two uploads into one allocation between two submissions (if the first owner dropped it unused) run in the order of
//! the calls.
//!
//! # Why not `mapped_at_creation`
//! For memory that the host cannot map, wgpu uses the same staging buffer but zero-fills it first, on the host.

use std::sync::atomic::Ordering::Relaxed;

use super::{buffer::Buffer, context::Runtime, shared::bug, stats::Counters};
use crate::{Error, Result, trace::span};

/// Largest staging buffer, in bytes.
const CHUNK: usize = 32 << 20;

/// Maximum bytes of pending uploads; beyond it they are submitted.
const BACKLOG: u64 = 128 << 20;

impl Runtime {
    /// Uploads `data` into a new buffer, which commands and reads may use immediately. Blocks only if more than
    /// `BACKLOG` bytes are pending, until the previous flush has finished.
    ///
    /// # Errors
    /// As [`Runtime::buffer`].
    pub(crate) fn upload(&self, data: &[u8]) -> Result<Buffer> {
        self.health().alive()?;
        let _span = span!("upload", bytes = data.len());
        let buffer = self.buffer("an upload", data.len() as u64)?;
        let mut offset = 0;
        for chunk in data.chunks(CHUNK) {
            self.stage(&buffer, offset, chunk)?;
            offset += chunk.len() as u64;
            let waiting = self.upload_backlog.fetch_add(chunk.len() as u64, Relaxed) + chunk.len() as u64;
            if waiting > BACKLOG {
                self.flush_uploads()?;
            }
        }
        self.health().alive()?;
        Counters::add(&self.shared().counters.bytes_uploaded, data.len() as u64);
        Ok(buffer)
    }

    /// Stages one chunk; its offset is a multiple of four, its length is arbitrary.
    fn stage(&self, buffer: &Buffer, offset: u64, chunk: &[u8]) -> Result<()> {
        let (words, tail) = chunk.split_at(chunk.len() & !3);
        let queue = &self.shared().queue;
        let staged = self.shared().scoped(|| {
            if !words.is_empty() {
                queue.write_buffer(buffer.as_wgpu(), offset, words);
            }
            if !tail.is_empty() {
                // Copies consist of whole words. The allocation is longer than the data, and bytes beyond the data are
                // zero.
                let mut word = [0; 4];
                word[..tail.len()].copy_from_slice(tail);
                queue.write_buffer(buffer.as_wgpu(), offset + words.len() as u64, &word);
            }
        });
        staged.map_err(|error| match error {
            wgpu::Error::OutOfMemory { .. } => {
                let message =
                    "out of memory for the staging buffer; drop tensors, or upload fewer values at a time".into();
                Error::Gpu {
                    label: format!("an upload of {} bytes", chunk.len()),
                    message,
                    location: crate::error::caller(),
                }
            }
            other => bug("an upload", other),
        })
    }
}
