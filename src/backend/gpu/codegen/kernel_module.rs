//! Complete WGSL modules, with their arrays and parameters, and the cache of the modules of a step.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use super::accessors::{Declarations, Windowing};
use super::storage::StorageArray;
use crate::backend::gpu::runtime::{Pipeline, RuntimeChecks};
use crate::graph::plan::Step;
use crate::graph::planned::{Param, Size};

/// A parameter word that follows the template's own eight.
#[derive(Debug, Clone)]
pub(crate) enum ParamWord {
    /// A constant, equal in every run.
    Constant(u32),
    /// The value of a size in the run: a capacity.
    Size(Size),
    /// The lower half of the bits of a scalar parameter in the run.
    Low(Param),
    /// The upper half.
    High(Param),
}

/// A complete WGSL module of a kernel; the same for every run.
#[derive(Debug)]
pub(crate) struct KernelModule {
    /// The primitive, and the operations fused into it.
    pub(crate) label: Arc<str>,
    /// WGSL, with every array in one binding.
    pub(crate) text: Arc<str>,
    templates: Vec<&'static str>,
    /// The generated functions.
    functions: String,
    /// WGSL type of `Elem`.
    elem: String,
    /// The arrays, in the order of their bindings, from binding 1 on.
    pub(crate) arrays: Vec<StorageArray>,
    /// The parameter words that follow the template's own eight.
    pub(crate) scalars: Vec<ParamWord>,
    /// Elements per tile, if the text contains that number; else 0.
    pub(crate) tile: u32,
    /// Whether the kernel calls functions of the user, which may index arrays of their own and need not end.
    calls_user: bool,
    /// The compiled pipelines, by entry point and runtime checks.
    pub(in crate::backend::gpu) pipelines: Mutex<Vec<(&'static str, RuntimeChecks, Pipeline)>>,
}

/// The runtime checks of a template that calls no functions of the user.
///
/// SAFETY: every loop ends for any contents of the buffers: the headers of the templates and of the library say why (`Ends`).
/// Loops of the functions that expressions call end too: a search halves the remaining range, a remainder or a power has fewer
/// bits left after each iteration, and the terms of a product are counted up to an end that stays.
const CHECKS: RuntimeChecks = unsafe { RuntimeChecks::ALL.without_loops() };

impl KernelModule {
    /// A module without a label. `scalars` has a multiple of four words.
    pub(super) fn new(
        templates: &[&'static str],
        elem: &str,
        arrays: Vec<StorageArray>,
        scalars: Vec<ParamWord>,
        functions: String,
    ) -> Self {
        let mut out = Self {
            label: "".into(),
            text: "".into(),
            templates: templates.to_vec(),
            functions,
            elem: elem.into(),
            arrays,
            scalars,
            tile: 0,
            calls_user: false,
            pipelines: Mutex::default(),
        };
        out.text = out.text_with(&vec![Windowing::Whole; out.arrays.len()], true).into();
        out
    }

    /// Marks the kernel as one that calls functions of the user.
    pub(super) fn with_user_functions(self) -> Self {
        Self { calls_user: true, ..self }
    }

    /// The runtime checks of the kernel.
    pub(in crate::backend::gpu) fn checks(&self) -> RuntimeChecks {
        if self.calls_user { RuntimeChecks::ALL } else { CHECKS }
    }

    /// The runtime checks of the kernel, without those of bounds if it calls no functions of the user.
    ///
    /// # Safety
    /// As [`RuntimeChecks::without_bounds`], but for functions of the user.
    pub(in crate::backend::gpu) unsafe fn checks_without_bounds(&self) -> RuntimeChecks {
        // SAFETY: the caller vouches for the kernel's own indices.
        if self.calls_user { RuntimeChecks::ALL } else { unsafe { CHECKS.without_bounds() } }
    }

    /// Sets the number of elements per tile that the text contains.
    pub(in crate::backend::gpu) fn with_tile(self, tile: u32) -> Self {
        Self { tile, ..self }
    }

    /// The WGSL with the arrays bound by `windowings`. `stores_after_misses`: an invocation stores even after a miss.
    pub(crate) fn text_with(&self, windowings: &[Windowing], stores_after_misses: bool) -> String {
        let declarations = Declarations {
            elem: &self.elem,
            vectors: self.scalars.len() / 4,
            arrays: &self.arrays,
            windowings,
            stores_after_misses,
        };
        let mut text = self.templates.join("\n");
        text.push('\n');
        declarations.push(&mut text);
        text.push_str(&self.functions);
        text
    }
}

/// A kernel of a primitive, with everything by which the modules of one step differ. The file of the primitive defines
/// the type, so that no list has all kernels.
pub(in crate::backend::gpu) trait Kernel: Copy + Eq + Hash + Send + 'static {
    /// The name of the kernel in `explain`, in profiles and in dumps.
    fn name(self) -> &'static str;
}

/// The modules of the kernels of one type.
type ModulesOf<K> = HashMap<K, Arc<KernelModule>>;

/// Cache of the modules of one step by their kernels, shared by all runs.
#[derive(Debug, Default)]
pub(crate) struct StepModules(Mutex<HashMap<TypeId, Box<dyn Any + Send>>>);

impl StepModules {
    /// The module of that kernel, generated on first use.
    pub(in crate::backend::gpu) fn get<K: Kernel>(
        &self,
        step: &Step,
        kernel: K,
        generate: impl FnOnce() -> KernelModule,
    ) -> Arc<KernelModule> {
        let new = || {
            let mut module = generate();
            module.label = format!("{}({})", kernel.name(), step.fused.join(" ")).into();
            Arc::new(module)
        };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_type = all.entry(TypeId::of::<K>()).or_insert_with(|| Box::new(ModulesOf::<K>::new()));
        let of_type = of_type.downcast_mut::<ModulesOf<K>>().expect("bug: modules under the type of other kernels");
        of_type.entry(kernel).or_insert_with(new).clone()
    }
}
