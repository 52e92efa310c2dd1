//! Limits of an opened device.

/// Device limits that the layers above must respect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeviceLimits {
    /// Storage buffers that one kernel can bind.
    pub(crate) storage_buffers: u32,
    /// Bytes that one binding can hold: a multiple of 16.
    pub(crate) max_binding: u64,
    /// Bytes that one buffer can hold: a multiple of 16.
    pub(crate) max_buffer: u64,
    /// Bytes of parameters that one dispatch can have.
    pub(crate) max_params: u64,
    /// Workgroups along one dimension of the grid. A dispatch has at most the square of this number.
    pub(crate) workgroups_per_dimension: u32,
    /// Invocations of one workgroup.
    pub(crate) invocations: u32,
    /// Bytes of workgroup memory.
    pub(crate) workgroup_bytes: u32,
}

impl DeviceLimits {
    /// The largest allocation for a buffer of `bytes` bytes. A buffer that fits one binding is bound whole, so its
    /// allocation must fit too.
    pub(crate) fn max_capacity_for(&self, bytes: u64) -> u64 {
        if bytes <= self.max_binding { self.max_binding.min(self.max_buffer) } else { self.max_buffer }
    }
}
