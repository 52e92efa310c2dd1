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
    /// The least bytes of each binding, the parameters first; `None` for a module in WGSL, of which wgpu checks them.
    least_bytes: Option<Box<[u64]>>,
    label: Arc<str>,
}

impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline").field("label", &self.inner.label).field("access", &self.inner.layout.access).finish()
    }
}

impl Pipeline {
    pub(super) fn new(
        wgpu: wgpu::ComputePipeline,
        layout: Arc<Layout>,
        least_bytes: Option<Box<[u64]>>,
        label: &str,
    ) -> Self {
        Self { inner: Arc::new(Compiled { wgpu, layout, least_bytes, label: label.into() }) }
    }

    /// The first binding, with the bytes that the kernel needs, for which too few are bound. `bound` are the bytes of
    /// all bindings, the parameters first.
    pub(super) fn too_small(&self, bound: impl Iterator<Item = u64>) -> Option<(usize, u64)> {
        let least = self.inner.least_bytes.iter().flat_map(|all| all.iter().copied());
        least.zip(bound).enumerate().find(|(_, (least, bound))| bound < least).map(|(at, (least, _))| (at, least))
    }

    /// Access to the buffers at bindings 1, 2, ...
    pub(crate) fn access(&self) -> &[Access] {
        &self.inner.layout.access
    }

    pub(in crate::backend::gpu) fn as_wgpu(&self) -> &wgpu::ComputePipeline {
        &self.inner.wgpu
    }

    pub(in crate::backend::gpu) fn layout(&self) -> &Layout {
        &self.inner.layout
    }
}

/// Layout of bind group 0. Kernels with the same access list share it, and can share bind groups.
#[derive(Debug)]
pub(in crate::backend::gpu) struct Layout {
    pub(super) id: u64,
    pub(super) access: Vec<Access>,
    pub(in crate::backend::gpu) bind_group: wgpu::BindGroupLayout,
    pub(super) pipeline: wgpu::PipelineLayout,
}
