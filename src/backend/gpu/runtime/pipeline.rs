//! Compute pipelines, cached by the text of their module.

use std::{
    collections::{
        HashMap,
        hash_map::{DefaultHasher, Entry},
    },
    fmt,
    hash::{Hash, Hasher},
    path::Path,
    sync::{Arc, Mutex},
};

use super::{
    checks::Checks,
    context::Runtime,
    link::{bug, lock},
    pipeline_cache::PipelineCache,
    pool::fresh_id,
    stats::Counters,
};
use crate::{Error, Result, trace::span};

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
    /// The label given at compilation.
    pub(crate) fn label(&self) -> &str {
        &self.inner.label
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
    pipeline: wgpu::PipelineLayout,
}

/// Everything compiled from one WGSL text.
#[derive(Debug, Default)]
struct Module {
    /// One module per set of checks: the same text may be proven to need none at some sizes, but not at others.
    wgpu: Vec<(Checks, wgpu::ShaderModule)>,
    pipelines: Vec<(&'static str, Checks, Pipeline)>,
}

/// Capacity of the module cache. A program's loop uses a few dozen modules; each takes tens of kilobytes for its text
/// and the driver's code.
const CAPACITY: usize = 1024;

/// LRU cache of modules by their text. A plan keeps its pipelines alive after their eviction.
#[derive(Debug)]
struct Modules {
    /// Keyed by the text itself, so that hash collisions are harmless. Each module has its own lock: different modules
    /// compile concurrently, and one module only once.
    cached: HashMap<Arc<str>, (Arc<Mutex<Module>>, u64)>,
    clock: u64,
    capacity: usize,
}

impl Default for Modules {
    fn default() -> Self {
        Self { cached: HashMap::new(), clock: 0, capacity: CAPACITY }
    }
}

impl Modules {
    fn get(&mut self, wgsl: &str) -> Arc<Mutex<Module>> {
        self.clock += 1;
        if let Some((module, used)) = self.cached.get_mut(wgsl) {
            *used = self.clock;
            return Arc::clone(module);
        }
        if self.cached.len() >= self.capacity {
            // Evict a quarter at a time, which amortizes the search for the oldest.
            let mut times: Vec<u64> = self.cached.values().map(|(_, used)| *used).collect();
            let (_, pivot, _) = times.select_nth_unstable(self.cached.len() / 4);
            let pivot = *pivot;
            self.cached.retain(|_, (_, used)| *used > pivot);
        }
        let module = Arc::default();
        self.cached.insert(Arc::from(wgsl), (Arc::clone(&module), self.clock));
        module
    }
}

/// The modules, pipelines and layouts of one device.
#[derive(Debug, Default)]
pub(super) struct Pipelines {
    modules: Mutex<Modules>,
    layouts: Mutex<HashMap<Vec<Access>, Arc<Layout>>>,
}

impl Runtime {
    /// The kernel `entry` of a module. Compiled at the first call with this text, entry point, checks and access list,
    /// and again after 1024 other texts came in between.
    ///
    /// Bind group 0 holds the parameters (a uniform buffer) at binding 0 and the storage buffers at bindings 1, 2, ...,
    /// with the given `access`. Workgroup memory is not cleared.
    ///
    /// # Errors
    /// [`Error::Limit`] if the kernel binds more buffers than the device allows; [`Error::Gpu`] with the message of
    /// naga or the driver if the kernel does not compile.
    pub(crate) fn pipeline(
        &self,
        label: &str,
        wgsl: &str,
        entry: &'static str,
        access: &[Access],
        checks: Checks,
    ) -> Result<Pipeline> {
        let checks = if self.checked_shaders { Checks::ALL } else { checks };
        self.health().alive()?;
        let limit = self.limits().storage_buffers as usize;
        if access.len() > limit {
            return Err(Error::Limit {
                what: format!("kernel {label}"),
                requested: access.len() as u64,
                unit: "storage buffers",
                limit: limit as u64,
                whose: self.info().name.clone(),
            });
        }
        let module = lock(&self.pipelines.modules).get(wgsl);
        let mut module = lock(&module);
        let is_same =
            |(name, with, it): &&(&str, Checks, Pipeline)| *name == entry && *with == checks && it.access() == access;
        if let Some((.., pipeline)) = module.pipelines.iter().find(is_same) {
            return Ok(pipeline.clone());
        }
        let _span = span!("compile", kernel = label, bytes = wgsl.len());
        let shader = match module.wgpu.iter().find(|(with, _)| *with == checks) {
            Some((_, shader)) => shader.clone(),
            None => {
                let shader = self.compile_module(label, wgsl, checks)?;
                module.wgpu.push((checks, shader.clone()));
                shader
            }
        };
        let pipeline = self.compile(label, &shader, entry, self.layout(access)?)?;
        module.pipelines.push((entry, checks, pipeline.clone()));
        Ok(pipeline)
    }

    /// Sets the capacity of the module cache.
    #[cfg(test)]
    pub(super) fn limit_modules(&self, capacity: usize) {
        lock(&self.pipelines.modules).capacity = capacity;
    }

    /// Number of cached modules.
    #[cfg(test)]
    pub(super) fn cached_modules(&self) -> usize {
        lock(&self.pipelines.modules).cached.len()
    }

    fn compile_module(&self, label: &str, wgsl: &str, checks: Checks) -> Result<wgpu::ShaderModule> {
        if let Some(folder) = &self.dump_wgsl {
            dump(folder, label, wgsl)?;
        }
        let source = wgpu::ShaderSource::Wgsl(wgsl.into());
        let descriptor = wgpu::ShaderModuleDescriptor { label: Some(label), source };
        let module = self.link().scoped(|| checks.compile(self.device(), descriptor));
        module.map_err(|error| self.does_not_compile(label, &error))
    }

    fn compile(
        &self,
        label: &str,
        module: &wgpu::ShaderModule,
        entry: &'static str,
        layout: Arc<Layout>,
    ) -> Result<Pipeline> {
        let descriptor = wgpu::ComputePipelineDescriptor {
            label: Some(label),
            layout: Some(&layout.pipeline),
            module,
            entry_point: Some(entry),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &[],
                // On some devices clearing takes longer than the kernel, and every kernel here writes before it reads.
                zero_initialize_workgroup_memory: false,
            },
            cache: self.pipeline_cache.as_ref().map(PipelineCache::as_wgpu),
        };
        let compiled = self.link().scoped(|| self.device().create_compute_pipeline(&descriptor));
        let wgpu = compiled.map_err(|error| self.does_not_compile(label, &error))?;
        // A driver that fails here loses the whole device, without an error.
        self.health().alive()?;
        Counters::add(&self.link().counters.pipelines_compiled, 1);
        Ok(Pipeline { inner: Arc::new(Compiled { wgpu, layout, label: label.into() }) })
    }

    fn does_not_compile(&self, label: &str, error: &wgpu::Error) -> Error {
        match self.health().alive() {
            Err(lost) => lost,
            Ok(()) => Error::Gpu { label: label.to_owned(), message: error.to_string() },
        }
    }

    fn layout(&self, access: &[Access]) -> Result<Arc<Layout>> {
        let mut layouts = lock(&self.pipelines.layouts);
        let vacant = match layouts.entry(access.to_vec()) {
            Entry::Occupied(layout) => return Ok(Arc::clone(layout.get())),
            Entry::Vacant(vacant) => vacant,
        };
        let binding = |binding: usize, ty, has_dynamic_offset| wgpu::BindGroupLayoutEntry {
            binding: binding as u32,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
            count: None,
        };
        let storage = access.iter().enumerate().map(|(i, access)| {
            binding(i + 1, wgpu::BufferBindingType::Storage { read_only: *access == Access::Read }, false)
        });
        let params = binding(0, wgpu::BufferBindingType::Uniform, true);
        let entries: Vec<_> = std::iter::once(params).chain(storage).collect();
        let device = self.device();
        let made = self.link().scoped(|| {
            let bind_group =
                device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
            let pipeline = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: None,
                bind_group_layouts: &[Some(&bind_group)],
                immediate_size: 0,
            });
            (bind_group, pipeline)
        });
        let (bind_group, pipeline) = made.map_err(|error| bug("a bind group layout", error))?;
        let layout = Layout { id: fresh_id(), access: access.to_vec(), bind_group, pipeline };
        Ok(Arc::clone(vacant.insert(Arc::new(layout))))
    }
}

/// Writes a module to the dump folder.
fn dump(folder: &Path, label: &str, wgsl: &str) -> Result<()> {
    let mut hasher = DefaultHasher::new();
    wgsl.hash(&mut hasher);
    let plain = |c: char| if c.is_ascii_alphanumeric() || "_-.".contains(c) { c } else { '_' };
    let stem: String = label.chars().take(100).map(plain).collect();
    let path = folder.join(format!("{stem}-{:016x}.wgsl", hasher.finish()));
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, wgsl));
    written.map_err(|error| Error::Gpu {
        label: label.to_owned(),
        message: format!("cannot write {}: {error}", path.display()),
    })
}
