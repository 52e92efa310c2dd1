//! Each module is valid within the limits of core WebGPU, and declares the bindings of the host.

use std::collections::HashSet;

use naga::valid::Capabilities;

use super::cases::{Cases, Sizes};
use super::dialect::{lint_floats, lint_pairs, lint_text};
use super::guards::unguarded;
use super::lowering;
use super::translations::Translated;
use super::twins::unevaluated;
use super::validate::{limits, needed, validate};
use crate::backend::gpu::codegen::{Binding, StepModules, StorageArray, elements_per_word, storage_type};
use crate::backend::gpu::launch::{Launch, Lowered};
use crate::backend::gpu::primitive::lower;
use crate::backend::gpu::runtime::RuntimeChecks;
use crate::dtype::DType;
use crate::graph::node::Recipe;
use crate::graph::plan::{Int64Repr, PlanLimits, PlanOf, ProductRepr, Step};
use crate::graph::primitive::Map;
use crate::graph::walk::for_each_expr;

/// Limits of core WebGPU: storage buffers per stage; invocations and bytes of memory per workgroup; bytes of
/// parameters.
const STORAGE_BUFFERS: usize = 8;
const INVOCATIONS: u32 = 256;
const WORKGROUP_BYTES: u32 = 16 << 10;
const UNIFORM_BYTES: usize = 64 << 10;

/// Compares the module's declarations with the host's bindings.
fn check_bindings(name: &str, launch: &Launch, lowered: &Lowered, step: &Step, module: &naga::Module) {
    let mut layouter = naga::proc::Layouter::default();
    layouter.update(module.to_ctx()).expect("types have layouts");
    let mut bound: Vec<&naga::GlobalVariable> =
        module.global_variables.iter().map(|(_, g)| g).filter(|g| g.binding.is_some()).collect();
    bound.sort_by_key(|g| g.binding.map(|b| b.binding));
    for (k, g) in bound.iter().enumerate() {
        let place = g.binding.expect("filtered");
        assert_eq!((place.group, place.binding), (0, k as u32), "{name}: {:?}", g.name);
    }
    let (params, storage) = bound.split_first().expect("parameters");
    assert_eq!(params.space, naga::AddressSpace::Uniform, "{name}");
    assert_eq!(layouter[params.ty].size as usize, launch.params.len() * 4, "{name}: parameters");
    assert!(launch.params.len() * 4 <= UNIFORM_BYTES, "{name}: parameters");
    assert_eq!(storage.len(), launch.arrays().len(), "{name}: bindings");
    assert!(storage.len() <= STORAGE_BUFFERS, "{name}: {} storage buffers", storage.len());
    for (g, StorageArray { binding, element: declared, .. }) in storage.iter().zip(launch.arrays()) {
        let naga::AddressSpace::Storage { access } = g.space else { panic!("{name}: {:?} is no storage", g.name) };
        let reads = binding.is_read_only();
        let want =
            if reads { naga::StorageAccess::LOAD } else { naga::StorageAccess::LOAD | naga::StorageAccess::STORE };
        assert_eq!(access, want, "{name}: access of {:?}", g.name);
        let naga::TypeInner::Array { base, size: naga::ArraySize::Dynamic, stride } = module.types[g.ty].inner else {
            panic!("{name}: {:?} is no array", g.name);
        };
        assert_eq!(u64::from(stride), declared.bytes, "{name}: stride of {:?}", g.name);
        let element = match module.types[base].inner {
            naga::TypeInner::Scalar(s) => s.to_wgsl_text(),
            naga::TypeInner::Atomic(s) => format!("atomic {}", s.to_wgsl_text()),
            naga::TypeInner::Vector { size, scalar } => format!("{} {}", size as u32, scalar.to_wgsl_text()),
            naga::TypeInner::Struct { .. } => "a structure".into(),
            ref other => panic!("{name}: an array of {other:?}"),
        };
        let dtype = match binding {
            Binding::Read(n) => Some(n.dtype()),
            Binding::Output(k) => Some(step.outputs()[*k].dtype()),
            _ => None,
        };
        let shared_words = matches!(binding, Binding::Output(k) if lowered.cleared_outputs.contains(k));
        let counts = matches!((&step.recipe, binding), (Recipe::Histogram(_), Binding::Output(_)));
        match (binding, dtype) {
            (_, Some(dtype)) => {
                let packed = elements_per_word(dtype) > 1;
                let want = match (storage_type(dtype), step.limits.int64) {
                    _ if counts || shared_words && packed => "atomic u32".into(),
                    ("I64" | "U64" | "F64", Int64Repr::Pairs) => "2 u32".into(),
                    (native, _) => native.to_lowercase(),
                };
                // Bools and bytes are packed into words.
                let one = (want, dtype.size().max(4));
                let four = match dtype.size() {
                    1 => ("u32".into(), 4),
                    2 => ("2 u32".into(), 8),
                    _ => (format!("4 {}", one.0), 16),
                };
                let is_four = launch.module.label.starts_with("vector_map")
                    && match (binding, &step.recipe) {
                        // The number of its elements may depend on other arrays.
                        (Binding::Read(n), Recipe::Map(Map { value, .. })) => {
                            let mut loads = false;
                            for_each_expr(value, &mut |e| loads |= e.node() == Some(n));
                            loads
                        }
                        _ => true,
                    };
                let want = if is_four { four } else { one };
                assert_eq!((element, stride as usize), want, "{name}: {:?}", g.name);
            }
            (Binding::Status, _) => assert_eq!(element, "atomic u32", "{name}"),
            (Binding::Scratch(k) | Binding::ScratchRead(k), _) => {
                assert!(lowered.scratch[*k] > 0 && lowered.scratch[*k].is_multiple_of(4), "{name}: scratch {k}");
            }
            _ => {}
        }
    }
}

trait WgslText {
    fn to_wgsl_text(self) -> String;
}
impl WgslText for naga::Scalar {
    fn to_wgsl_text(self) -> String {
        let kind = match self.kind {
            naga::ScalarKind::Sint => "i",
            naga::ScalarKind::Uint => "u",
            naga::ScalarKind::Float => "f",
            _ => "?",
        };
        format!("{kind}{}", u32::from(self.width) * 8)
    }
}

fn check_memory(name: &str, launch: &Launch, module: &naga::Module) {
    let mut layouter = naga::proc::Layouter::default();
    layouter.update(module.to_ctx()).expect("types have layouts");
    let workgroup = module.global_variables.iter().filter(|(_, g)| g.space == naga::AddressSpace::WorkGroup);
    let bytes: u32 = workgroup.map(|(_, g)| layouter[g.ty].size).sum();
    assert!(bytes <= WORKGROUP_BYTES, "{name}: {bytes} bytes of workgroup memory");
    let entry = module.entry_points.iter().find(|e| e.name == launch.entry);
    let entry = entry.unwrap_or_else(|| panic!("{name}: no entry point {}", launch.entry));
    assert_eq!(entry.stage, naga::ShaderStage::Compute, "{name}");
    assert_eq!(entry.workgroup_size, [INVOCATIONS, 1, 1], "{name}");
}

#[test]
fn every_operation_of_every_recipe_gives_valid_shaders() {
    let backend = unevaluated();
    let cases = Cases::all(&backend, Sizes { values: 5000, rows: 300, number: 42 });
    let (mut modules, mut launches, mut chains) = (HashSet::new(), 0, Vec::new());
    let (mut entries, mut translated) = (HashSet::new(), Translated::default());
    let kinds = cases.iter().flat_map(|case| [(case, Int64Repr::Native), (case, Int64Repr::Pairs)]);
    for ((name, node), longs) in kinds {
        let name = &format!("{name}, {longs:?}");
        let plan = PlanOf::new(std::slice::from_ref(node), limits(longs));
        let steps = &plan.steps;
        assert!(!steps.is_empty(), "{name}");
        // Kernels without 64-bit types do not change.
        let differs = |step: &Step| {
            let of = step.dtypes();
            [DType::F64, DType::I64, DType::U64].iter().any(|dtype| of.contains(dtype))
        };
        for step in steps.iter().filter(|step| longs == Int64Repr::Native || differs(step)) {
            let lowered =
                lower(step, lowering(&plan, 3, &StepModules::default())).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(!lowered.launches.is_empty(), "{name}");
            let is_empty = matches!(step.recipe, Recipe::Assert(_));
            for launch in &lowered.launches {
                launches += 1;
                let (module, info) = validate(name, launch.text(), needed(step));
                check_bindings(name, launch, &lowered, step, &module);
                check_memory(name, launch, &module);
                let calls_user = launch.text().contains("user_test_f");
                assert_eq!(calls_user, name.starts_with("function of the user"), "{name}");
                assert!(!calls_user || launch.checks == RuntimeChecks::ALL, "{name}: runtime checks are left out");
                let writes = launch.arrays().iter().any(|a| !a.binding.is_read_only());
                assert!(writes || is_empty, "{name}: {} writes nothing", launch.entry);
                if entries.insert((launch.text().clone(), launch.entry)) {
                    translated.add(name, (&module, &info), launch.entry);
                }
                if modules.insert(launch.text().clone()) {
                    lint_text(name, launch.text());
                    lint_floats(name, &module, &info);
                    let found = unguarded(&module, &info);
                    if !found.is_empty() {
                        chains.push(format!("{name}: {found:?}"));
                    }
                    if longs == Int64Repr::Pairs {
                        lint_pairs(name, &module, &info);
                    }
                    let generated =
                        launch.text().split("struct Params").nth(1).expect("parameters follow the template");
                    assert!(!generated.contains("Barrier("), "{name}: a generated barrier");
                }
            }
        }
    }
    println!("{} graphs, {launches} launches, {} modules", cases.len(), modules.len());
    println!("{translated:?}");
    assert!(modules.len() > 500 && translated.direct3d >= modules.len() && translated.open_gl > 500);
    // Guards between the operations of different functions, which drivers inline.
    assert!(chains.is_empty(), "{} modules with unguarded float operations:\n{}", chains.len(), chains.join("\n"));
}

#[test]
fn products_of_each_representation_give_valid_shaders() {
    let backend = unevaluated();
    let cases = Cases::all(&backend, Sizes { values: 5000, rows: 300, number: 42 });
    for (products, function) in [(ProductRepr::Doubles, "fma_f32("), (ProductRepr::Split, "sum + guard_f32(a * b)")] {
        let (mut found, mut translated) = (0, Translated::default());
        for (name, node) in &cases {
            let limits = PlanLimits { products, ..limits(Int64Repr::Native) };
            let plan = PlanOf::new(std::slice::from_ref(node), limits);
            for step in &plan.steps {
                let name = &format!("{name}, {products:?}");
                let lowered =
                    lower(step, lowering(&plan, 3, &StepModules::default())).unwrap_or_else(|e| panic!("{name}: {e}"));
                for launch in lowered.launches.iter().filter(|launch| launch.text().contains(function)) {
                    let doubles = Capabilities::FLOAT64 | Capabilities::SHADER_INT64;
                    let (module, info) = validate(name, launch.text(), needed(step) | doubles);
                    lint_text(name, launch.text());
                    lint_floats(name, &module, &info);
                    assert!(unguarded(&module, &info).is_empty(), "{name}: {:?}", unguarded(&module, &info));
                    translated.add(name, (&module, &info), launch.entry);
                    found += 1;
                }
            }
        }
        println!("{products:?}: {found} launches, {translated:?}");
        assert!(found > 20, "{products:?}: {found} launches");
    }
}
