//! Compute pipelines, cached by the text of their module.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex},
};

use super::{lru::evict_oldest_quarter, runtime_checks::RuntimeChecks};

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

/// Everything compiled from one WGSL text.
#[derive(Debug, Default)]
pub(super) struct CompiledModule {
    /// One module per set of checks, since checks may be proven redundant for some sizes only.
    pub(super) wgpu: Vec<(RuntimeChecks, wgpu::ShaderModule)>,
    pub(super) pipelines: Vec<(&'static str, RuntimeChecks, Pipeline)>,
}

/// Capacity of the module cache. A typical loop uses a few dozen modules; each takes tens of kilobytes of text and
/// machine code.
const CAPACITY: usize = 1024;

/// LRU cache of modules by their text. A plan keeps its pipelines alive after their eviction.
#[derive(Debug)]
pub(super) struct ModuleCache {
    /// Keyed by the text, with the time of the last use. Each module has its own lock: different modules compile
    /// concurrently, and one module only once.
    pub(super) cached: HashMap<Arc<str>, (Arc<Mutex<CompiledModule>>, u64)>,
    clock: u64,
    pub(super) capacity: usize,
}

impl Default for ModuleCache {
    fn default() -> Self {
        Self { cached: HashMap::new(), clock: 0, capacity: CAPACITY }
    }
}

impl ModuleCache {
    /// The module of that text, which the cache keeps.
    pub(super) fn get(&mut self, wgsl: &str) -> Arc<Mutex<CompiledModule>> {
        self.clock += 1;
        if let Some((module, used)) = self.cached.get_mut(wgsl) {
            *used = self.clock;
            return Arc::clone(module);
        }
        if self.cached.len() >= self.capacity {
            evict_oldest_quarter(&mut self.cached);
        }
        let module = Arc::default();
        self.cached.insert(Arc::from(wgsl), (Arc::clone(&module), self.clock));
        module
    }
}

/// The modules, pipelines and layouts of one device.
#[derive(Debug, Default)]
pub(super) struct Pipelines {
    pub(super) modules: Mutex<ModuleCache>,
    pub(super) layouts: Mutex<HashMap<Vec<Access>, Arc<Layout>>>,
}
