//! Kernels whose arrays are bound in windows are valid, and have the bindings and parameters that the windowing
//! implies.

use std::collections::HashSet;

use super::cases::{Cases, Sizes};
use super::dialect::lint_text;
use super::lowering;
use super::twins::unevaluated;
use super::validate::{limits, needed, validate};
use crate::backend::gpu::codegen::{Misses, StepModules, Windowing};
use crate::backend::gpu::launch::Launch;
use crate::backend::gpu::primitive::lower;
use crate::graph::plan::{Int64Repr, PlanOf};

/// Every windowing of an array, with its number of bindings, and whether the kernel has a vector of parameters for the
/// array.
const WINDOWINGS: [(Windowing, usize, bool); 6] = [
    (Windowing::Windows { count: 1, bits: 9 }, 1, false),
    (Windowing::Windows { count: 3, bits: 9 }, 3, false),
    (Windowing::Tiles { tile: 256 }, 1, false),
    (Windowing::Range { count: 1, bits: 9, misses: Misses::Never }, 1, true),
    (Windowing::Range { count: 2, bits: 9, misses: Misses::Latest }, 2, true),
    (Windowing::Range { count: 2, bits: 9, misses: Misses::All }, 2, true),
];

/// The inputs of the accessors of a kernel: its template and its arrays.
fn accessed(launch: &Launch) -> String {
    let stem = launch.module.label.split('(').next().unwrap_or_default();
    let arrays: Vec<String> =
        launch.arrays().iter().map(|a| format!("{:?} {}", a.element, a.binding.is_read_only())).collect();
    format!("{stem}: {arrays:?}")
}

/// Checks the kernel with that windowing of all arrays.
fn check(name: &str, launch: &Launch, (windowing, bindings, has_vector): (Windowing, usize, bool), text: &str) {
    let arrays = launch.arrays().len();
    let has_first_tile = matches!(windowing, Windowing::Tiles { .. } | Windowing::Range { .. });
    let vectors = launch.params.len() / 4 - 2 + usize::from(has_first_tile) + usize::from(has_vector) * arrays;
    let declared = format!("scalars: array<vec4<u32>, {vectors}>");
    assert!(text.contains(&declared), "{name}, {windowing:?}: no {declared}");
    let storage = text.matches("var<storage").count();
    assert_eq!(storage, bindings * arrays, "{name}, {windowing:?}: bindings");
    lint_text(name, text);
}

#[test]
fn every_kernel_is_valid_with_every_windowing() {
    let backend = unevaluated();
    let cases = Cases::all(&backend, Sizes { values: 5000, rows: 300, number: 42 });
    let (mut seen, mut checked) = (HashSet::new(), 0);
    for (name, node) in &cases {
        let plan = PlanOf::new(std::slice::from_ref(node), limits(Int64Repr::Native));
        for step in &plan.steps {
            let lowered =
                lower(step, lowering(&plan, 3, &StepModules::default())).unwrap_or_else(|e| panic!("{name}: {e}"));
            for launch in lowered.launches.iter().filter(|launch| seen.insert(accessed(launch))) {
                for windowing in WINDOWINGS {
                    for stores_after_misses in [false, true] {
                        let windowings = vec![windowing.0; launch.arrays().len()];
                        let text = launch.module.text_with(&windowings, stores_after_misses);
                        validate(name, &text, needed(step));
                        check(name, launch, windowing, &text);
                        checked += 1;
                    }
                }
            }
        }
    }
    println!("{} kernels, {checked} texts", seen.len());
    assert!(seen.len() > 100, "{}", seen.len());
}
