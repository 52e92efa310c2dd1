//! State that persists between submissions: parameter buffers and bind groups.

use super::{bind_groups::BindGroups, free_buffers::fresh_id, in_flight::Submitted};

/// State of encoding.
///
/// Its lock is released before a command buffer is submitted: `Queue::submit` runs the program's callbacks, which may
/// call into this crate.
#[derive(Debug, Default)]
pub(super) struct Submitter {
    /// The parameter buffer of the command buffer that is being encoded.
    pub(super) params: Option<ParamsBuffer>,
    /// Parameter buffers that no unsubmitted command buffer refers to.
    pub(super) spare_params: Vec<ParamsBuffer>,
    pub(super) bind_groups: BindGroups,
    pub(super) last_flush: Option<Submitted>,
    /// Number of submissions recorded so far.
    pub(super) submitted: u64,
}

impl Submitter {
    /// Returns the parameter buffer to the spares once its command buffer is submitted.
    pub(super) fn put_back(&mut self, params: Option<ParamsBuffer>) {
        self.spare_params.extend(params);
    }

    /// Resets the caches after an error: cached bind groups may be invalid, and pending writes of parameters may be
    /// lost.
    pub(super) fn reset_after_error(&mut self, params: Option<ParamsBuffer>) {
        self.bind_groups = BindGroups::default();
        self.put_back(params.map(|params| ParamsBuffer { written: Vec::new(), ..params }));
    }
}

/// The uniform buffer with the parameters of all kernels of a submission.
///
/// A submitting thread owns the buffer until its command buffer is submitted. Writes run at the start of the next
/// submission, after all earlier submissions that read the buffer. The next thread can therefore take the buffer
/// immediately, and there are as many buffers as threads that submit concurrently. Since the buffer persists, its bind
/// groups can be cached, and unchanged parameters are not written again.
#[derive(Debug)]
pub(super) struct ParamsBuffer {
    pub(super) buffer: wgpu::Buffer,
    pub(super) id: u64,
    pub(super) capacity: u64,
    /// The known prefix of the contents.
    written: Vec<u8>,
}

/// Maximum bytes of parameters of which the host keeps a copy, to skip writes of unchanged parameters.
const KEPT_PARAMS: usize = 64 << 10;

impl ParamsBuffer {
    /// A buffer of that many bytes with unknown contents.
    pub(super) fn new(buffer: wgpu::Buffer, capacity: u64) -> Self {
        Self { buffer, id: fresh_id(), capacity, written: Vec::new() }
    }

    /// Whether the buffer begins with these bytes.
    pub(super) fn holds(&self, params: &[u8]) -> bool {
        self.written.starts_with(params)
    }

    /// Records that these bytes were written to the start of the buffer.
    pub(super) fn wrote(&mut self, params: &[u8]) {
        if params.len() > KEPT_PARAMS {
            self.written.clear();
            return;
        }
        let common = self.written.len().min(params.len());
        let (over, further) = params.split_at(common);
        self.written[..common].copy_from_slice(over);
        self.written.extend_from_slice(further);
    }
}
