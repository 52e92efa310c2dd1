//! Compiles WGSL modules and pipelines on first use.

use std::{
    collections::hash_map::{DefaultHasher, Entry},
    hash::{Hash, Hasher},
    path::Path,
    sync::Arc,
};

use super::{
    context::Runtime,
    float_controls::FloatControls,
    free_buffers::fresh_id,
    pipeline::{Access, Layout, Pipeline},
    pipeline_cache::PipelineCache,
    runtime_checks::RuntimeChecks,
    shared::{bug, lock},
    spirv,
    stats::Counters,
};
use crate::{Error, Result, trace::span};

impl Runtime {
    /// The pipeline of entry point `entry` of a module. Compiled on first use of this text, entry point, checks and
    /// access list, and again after eviction from the module cache.
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
        checks: RuntimeChecks,
    ) -> Result<Pipeline> {
        let checks = if self.checked_shaders { RuntimeChecks::ALL } else { checks };
        self.health().alive()?;
        let limit = self.limits().storage_buffers as usize;
        if access.len() > limit {
            return Err(Error::Limit {
                what: format!("the kernel {label}"),
                requested: access.len() as u64,
                unit: "storage buffers",
                limit: limit as u64,
                whose: self.info().name.clone(),
                location: crate::error::caller(),
            });
        }
        let module = lock(&self.pipelines.modules).get(wgsl);
        let mut module = lock(&module);
        let is_same = |(name, with, it): &&(&str, RuntimeChecks, Pipeline)| {
            *name == entry && *with == checks && it.access() == access
        };
        if let Some((.., pipeline)) = module.pipelines.iter().find(is_same) {
            return Ok(pipeline.clone());
        }
        let _span = span!("compile", kernel = label, bytes = wgsl.len());
        if let (Some(folder), true) = (&self.dump_wgsl, module.pipelines.is_empty()) {
            dump(folder, label, wgsl)?;
        }
        let (shader, least_bytes) = match &self.float_controls {
            Some(controls) => {
                let parsed = &mut module.forms.parsed;
                self.spirv_module(label, (wgsl, parsed), entry, access, checks, controls)?
            }
            None => (self.wgpu_module(label, wgsl, checks, &mut module.forms.wgpu)?, None),
        };
        let pipeline = self.compile(label, (&shader, least_bytes), entry, self.layout(access)?)?;
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

    /// The text as wgpu compiles it, for all entry points.
    fn wgpu_module(
        &self,
        label: &str,
        wgsl: &str,
        checks: RuntimeChecks,
        compiled: &mut Vec<(RuntimeChecks, wgpu::ShaderModule)>,
    ) -> Result<wgpu::ShaderModule> {
        if let Some((_, module)) = compiled.iter().find(|(with, _)| *with == checks) {
            return Ok(module.clone());
        }
        let source = wgpu::ShaderSource::Wgsl(wgsl.into());
        let descriptor = wgpu::ShaderModuleDescriptor { label: Some(label), source };
        let module = self.shared().scoped(|| checks.compile(self.device(), descriptor));
        let module = module.map_err(|error| self.does_not_compile(label, error.to_string()))?;
        compiled.push((checks, module.clone()));
        Ok(module)
    }

    /// One entry point of the text with the float behaviour of the CPU backend, and the least bytes of its bindings,
    /// which wgpu does not know of such a module.
    fn spirv_module(
        &self,
        label: &str,
        (wgsl, parsed): (&str, &mut Option<spirv::Module>),
        entry: &str,
        access: &[Access],
        checks: RuntimeChecks,
        controls: &FloatControls,
    ) -> Result<(wgpu::ShaderModule, Option<Box<[u64]>>)> {
        let wrong = |message| self.does_not_compile(label, message);
        let module = match parsed {
            Some(module) => module,
            None => parsed.insert(spirv::Module::parse(wgsl, self.features()).map_err(wrong)?),
        };
        let code = module.entry(entry, (access, self.limits()), checks, controls).map_err(wrong)?;
        let descriptor = wgpu::ShaderModuleDescriptorPassthrough {
            label: Some(label),
            entry_points: vec![wgpu::PassthroughShaderEntryPoint {
                name: entry.into(),
                workgroup_size: code.workgroup_size,
            }]
            .into(),
            spirv: Some(code.words.into()),
            ..Default::default()
        };
        // SAFETY: the code is naga's for a module that naga has validated, with modes that the device
        // offers or, on NVIDIA's, was seen to keep. The callers
        // of `RuntimeChecks::without_loops` and `without_bounds` have vouched for every omitted check.
        let module = self.shared().scoped(|| unsafe { self.device().create_shader_module_passthrough(descriptor) });
        Ok((module.map_err(|error| wrong(error.to_string()))?, Some(code.least_bytes)))
    }

    fn compile(
        &self,
        label: &str,
        (module, least_bytes): (&wgpu::ShaderModule, Option<Box<[u64]>>),
        entry: &'static str,
        layout: Arc<Layout>,
    ) -> Result<Pipeline> {
        let compiled = self.compiled(label, module, entry, &layout);
        let wgpu = compiled.map_err(|error| self.does_not_compile(label, error.to_string()))?;
        // A driver failure during compilation loses the device, without an error.
        self.health().alive()?;
        Counters::add(&self.shared().counters.pipelines_compiled, 1);
        Ok(Pipeline::new(wgpu, layout, least_bytes, label))
    }

    fn compiled(
        &self,
        label: &str,
        module: &wgpu::ShaderModule,
        entry: &'static str,
        layout: &Layout,
    ) -> Result<wgpu::ComputePipeline, wgpu::Error> {
        let descriptor = wgpu::ComputePipelineDescriptor {
            label: Some(label),
            layout: Some(&layout.pipeline),
            module,
            entry_point: Some(entry),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &[],
                // Every kernel of this crate writes before it reads. On some devices clearing takes longer than the
                // kernel.
                zero_initialize_workgroup_memory: false,
            },
            cache: self.pipeline_cache.as_ref().map(PipelineCache::as_wgpu),
        };
        self.shared().scoped(|| self.device().create_compute_pipeline(&descriptor))
    }

    /// Gives up a mode that the driver does not list if it refuses a kernel with it.
    pub(super) fn confirm_float_controls(&mut self) {
        const HALF: &str = "@group(0) @binding(1) var<storage, read_write> x: array<f32>;
            @compute @workgroup_size(1) fn main() { x[0] = x[0] * 0.5; }";
        let Some(controls) = self.float_controls.take_if(|controls| controls.is_unlisted) else { return };
        let (label, entry, access) = ("float controls", "main", [Access::ReadWrite]);
        let module = self.spirv_module(label, (HALF, &mut None), entry, &access, RuntimeChecks::ALL, &controls);
        let is_taken = module.and_then(|(module, _)| {
            let layout = self.layout(&access)?;
            Ok(self.compiled(label, &module, entry, &layout).is_ok())
        });
        self.float_controls = Some(if is_taken.unwrap_or(false) { controls } else { controls.listed() });
    }

    /// A pipeline of the entry point `main`, compiled as kernels are, which no counter counts; `None` if it does not compile.
    pub(super) fn uncounted_pipeline(
        &self,
        label: &str,
        wgsl: &str,
        access: &[Access],
    ) -> Option<(wgpu::ComputePipeline, Arc<Layout>)> {
        let (entry, checks) = ("main", RuntimeChecks::ALL);
        let module = match &self.float_controls {
            Some(controls) => self.spirv_module(label, (wgsl, &mut None), entry, access, checks, controls).ok()?.0,
            None => self.wgpu_module(label, wgsl, checks, &mut Vec::new()).ok()?,
        };
        let layout = self.layout(access).ok()?;
        Some((self.compiled(label, &module, entry, &layout).ok()?, layout))
    }

    fn does_not_compile(&self, label: &str, message: String) -> Error {
        match self.health().alive() {
            Err(lost) => lost,
            Ok(()) => Error::Gpu { label: label.to_owned(), message, location: crate::error::caller() },
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
        let made = self.shared().scoped(|| {
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
        message: format!("cannot write {}: {error}; check DeviceOptions::dump_wgsl", path.display()),
        location: crate::error::caller(),
    })
}
