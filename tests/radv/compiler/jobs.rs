//! The pipelines to compile: SPIR-V of each entry point of each module, as files in a folder.

use std::collections::HashMap;
use std::collections::hash_map::{DefaultHasher, Entry};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use naga::back::spv;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ValidationFlags, Validator};

use super::FAMILIES;
use super::execution_modes::{Mode, with_modes};

/// Name of the job whose sum of a product has no guard.
const CONTROL: &str = "unguarded control";

/// A kernel whose product compilers contract into its sum.
const UNGUARDED: &str = "@group(0) @binding(0) var<uniform> p: vec4<f32>;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(256) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    out[id.x] = a[id.x] * a[id.x + 256u] + p.x;
}";

/// The families of GPUs that a module is compiled for. Pipelines without floats, which have nothing to contract, are compiled
/// for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "the shader tests compile each pipeline for one family")]
pub enum On {
    Every,
    /// One for each pipeline, by the hash of its code: many modules of similar kernels meet every family together.
    One,
}

/// The jobs of a test, in a folder that is removed with them.
pub struct Jobs {
    folder: PathBuf,
    list: String,
    /// The jobs, by the hash of their SPIR-V: many modules have entry points in common.
    known: HashMap<u64, ()>,
    modules: HashMap<u64, ()>,
}

/// A pipeline to compile.
pub(super) struct Job {
    pub(super) name: String,
    pub(super) entry: String,
    pub(super) code: Vec<u32>,
    /// Number of storage buffers, from binding 1 on; binding 0 is the uniform buffer of the parameters.
    pub(super) buffers: u32,
    /// Whether the code has no guards, so that the checks must find something.
    pub(super) is_control: bool,
    /// The index of the only family that compiles it.
    only: Option<usize>,
}

impl Job {
    /// Whether the code has fused multiply-adds of its own: the extended instruction `Fma`.
    pub(super) fn fuses(&self) -> bool {
        const EXTENDED: u32 = 12;
        const FMA: u32 = 50;
        let mut rest = self.code.get(5..).unwrap_or_default();
        while let Some(&first) = rest.first() {
            if first & 0xffff == EXTENDED && rest.get(4) == Some(&FMA) {
                return true;
            }
            rest = rest.get((first >> 16).max(1) as usize..).unwrap_or_default();
        }
        false
    }

    /// Whether the family of this index compiles the pipeline.
    pub(super) fn is_for(&self, family: usize) -> bool {
        self.only.is_none_or(|only| only == family)
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl Jobs {
    /// No jobs but the control. `name` distinguishes the tests of a process.
    pub fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("ragged-radv-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for the jobs");
        let mut jobs = Self { folder, list: String::new(), known: HashMap::new(), modules: HashMap::new() };
        jobs.add(CONTROL, UNGUARDED, On::Every);
        jobs
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Number of different pipelines.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Number of different modules.
    pub fn modules(&self) -> usize {
        self.modules.len()
    }

    /// The job that a process of the family has started last.
    pub(super) fn last_started(&self, family: &str) -> String {
        std::fs::read_to_string(self.folder.join(family)).unwrap_or_default()
    }

    /// Adds the entry points of a module, to be compiled for some families.
    ///
    /// # Panics
    /// If the module is invalid.
    pub fn add(&mut self, name: &str, wgsl: &str, on: On) {
        if self.modules.insert(hash(&wgsl), ()).is_some() {
            return;
        }
        let module =
            naga::front::wgsl::parse_str(wgsl).unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(wgsl)));
        let validated = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module);
        let info = validated.unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(wgsl)));
        let buffers = module.global_variables.iter().filter_map(|(_, v)| v.binding).map(|b| b.binding).max();
        for entry in &module.entry_points {
            let code = spirv(name, &module, &info, &entry.name);
            let hash = hash(&code);
            let Entry::Vacant(vacant) = self.known.entry(hash) else { continue };
            vacant.insert(());
            let only = match on {
                On::Every if has_floats(&code) => String::new(),
                On::Every | On::One => (hash % FAMILIES.len() as u64).to_string(),
            };
            let bytes: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
            let file = format!("{}.spv", self.known.len());
            std::fs::write(self.folder.join(&file), bytes).expect("the job is written");
            let name = name.replace(['\t', '\n'], " ");
            self.list.push_str(&format!("{file}\t{name}\t{}\t{}\t{only}\n", entry.name, buffers.unwrap_or(0)));
        }
        std::fs::write(self.folder.join("list"), &self.list).expect("the list of jobs is written");
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Whether SPIR-V declares a type of floats.
fn has_floats(code: &[u32]) -> bool {
    const HEADER: usize = 5;
    const OP_TYPE_FLOAT: u32 = 22;
    let mut at = HEADER;
    while let Some(word) = code.get(at) {
        if word & 0xffff == OP_TYPE_FLOAT {
            return true;
        }
        // The length of an instruction is at least one word.
        at += (word >> 16).max(1) as usize;
    }
    false
}

/// The SPIR-V of an entry point, with the modes that RADV offers and without injected checks: they stop the driver from
/// unrolling loops and hide operations from its optimizer.
fn spirv(name: &str, module: &naga::Module, info: &naga::valid::ModuleInfo, entry: &str) -> Vec<u32> {
    let mut binding_map = spv::BindingMap::default();
    for binding in module.global_variables.iter().filter_map(|(_, v)| v.binding) {
        let info =
            spv::BindingInfo { descriptor_set: binding.group, binding: binding.binding, binding_array_size: None };
        binding_map.insert(binding, info);
    }
    let unchecked = BoundsCheckPolicy::Unchecked;
    let options = spv::Options {
        // Of Vulkan 1.3.
        lang_version: (1, 6),
        flags: spv::WriterFlags::LABEL_VARYINGS,
        bounds_check_policies: BoundsCheckPolicies {
            index: unchecked,
            buffer: unchecked,
            image_load: unchecked,
            binding_array: unchecked,
        },
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        force_loop_bounding: false,
        binding_map,
        emit_int_div_checks: true,
        ..Default::default()
    };
    let stage = naga::ShaderStage::Compute;
    let none = Default::default();
    let (module, info) = naga::back::pipeline_constants::process_overrides(module, info, Some((stage, entry)), &none)
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    let pipeline = spv::PipelineOptions { shader_stage: stage, entry_point: entry.to_owned() };
    let code = spv::write_vec(&module, &info, &options, Some(&pipeline)).unwrap_or_else(|e| panic!("{name}: {e}"));
    with_modes(&code, &[(Mode::DenormPreserve, 32), (Mode::SignedZeroInfNanPreserve, 32)])
}

/// Notes which job a process starts.
pub(super) fn note_start(folder: &Path, family: &str, name: &str) {
    std::fs::write(folder.join(family), name).expect("the folder of the jobs is writable");
}

/// The jobs in a folder.
pub(super) fn read(folder: &Path) -> Vec<Job> {
    let list = std::fs::read_to_string(folder.join("list")).expect("the folder has jobs");
    let job = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[file, name, entry, buffers, only] = fields.as_slice() else { panic!("five fields: {line}") };
        let bytes = std::fs::read(folder.join(file)).expect("the job has code");
        Job {
            name: format!("{name} {entry}"),
            entry: entry.to_owned(),
            code: bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().expect("four bytes"))).collect(),
            buffers: buffers.parse().expect("a number"),
            is_control: name == CONTROL,
            only: (!only.is_empty()).then(|| only.parse().expect("an index")),
        }
    };
    list.lines().map(job).collect()
}
