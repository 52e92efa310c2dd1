//! Compute pipelines and their layouts.

use std::{fmt, sync::Arc};

/// How a kernel uses one of its buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Access {
    /// `var<storage, read>`
    Read,
    /// `var<storage, read_write>`
    ReadWrite,
}

/// A compiled kernel. Clones are handles.
#[derive(Clone)]
pub(crate) struct Pipeline {
    inner: Arc<Compiled>,
}

struct Compiled {
    wgpu: wgpu::ComputePipeline,
    layout: Arc<Layout>,
    label: Arc<str>,
}

impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline").field("label", &self.inner.label).field("access", &self.inner.layout.access).finish()
    }
}

impl Pipeline {
    pub(super) fn new(wgpu: wgpu::ComputePipeline, layout: Arc<Layout>, label: &str) -> Self {
        Self { inner: Arc::new(Compiled { wgpu, layout, label: label.into() }) }
    }

    /// Access to the buffers at bindings 1, 2, ...
    pub(crate) fn access(&self) -> &[Access] {
        &self.inner.layout.access
    }

    pub(super) fn as_wgpu(&self) -> &wgpu::ComputePipeline {
        &self.inner.wgpu
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.inner.layout
    }
}

/// Layout of bind group 0. Kernels with the same access list share it, and can share bind groups.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) id: u64,
    pub(super) access: Vec<Access>,
    pub(super) bind_group: wgpu::BindGroupLayout,
    pub(super) pipeline: wgpu::PipelineLayout,
}
