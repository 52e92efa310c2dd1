//! Compiled modules, cached by their text.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use super::{
    lru::evict_oldest_quarter,
    pipeline::{Access, Layout, Pipeline},
    runtime_checks::RuntimeChecks,
    spirv,
};

/// A text in the form that pipelines are made of.
#[derive(Debug, Default)]
pub(super) struct CompiledForms {
    /// As wgpu takes it: one module per set of checks, since checks may be proven redundant for some sizes only.
    pub(super) wgpu: Vec<(RuntimeChecks, wgpu::ShaderModule)>,
    /// For devices with float controls: the parsed text, of which each pipeline has SPIR-V of its own.
    pub(super) parsed: Option<spirv::Module>,
}

/// Everything compiled from one WGSL text.
#[derive(Debug, Default)]
pub(super) struct CompiledModule {
    pub(super) forms: CompiledForms,
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
