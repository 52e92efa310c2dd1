//! Every public function has an example in its documentation.
//!
//! Exempt are functions that forward to one of the same name and say so, such as the typed twin of an operation, and
//! functions that the example of their type calls.

use std::collections::BTreeMap;

use crate::functions::{Function, functions, types};

/// The folders and files of public types: all but those whose functions set a field of options.
const EXEMPLIFIED: [&str; 16] = [
    "ops",
    "gradient",
    "record",
    "tensor",
    "shape",
    "sparse",
    "structured",
    "lod",
    "device.rs",
    "device/gpu.rs",
    "dtype.rs",
    "error.rs",
    "explain/mod.rs",
    "graph/scalar/mod.rs",
    "graph/step/fusion_barrier.rs",
    "graph/step/many_dispatches.rs",
];

/// Types to whose methods others forward.
const ORIGINS: [&str; 2] = ["Tensor", "RaggedTensor"];

/// Whether the documentation refers to a function of the same name: of another type, or without `_async`.
fn forwards(f: &Function) -> bool {
    let origin = f.name.strip_suffix("_async").unwrap_or(&f.name);
    let refers = |of: &&str| (**of != f.owner || origin != f.name) && f.doc.contains(&format!("[`{of}::{origin}`]"));
    ORIGINS.iter().any(refers)
}

/// Whether the example of the function's type calls it.
fn is_in_example_of_type(f: &Function, types: &BTreeMap<String, String>) -> bool {
    let calls = |doc: &String| {
        let called = [format!(".{}(", f.name), format!("{}::{}(", f.owner, f.name)];
        doc.contains("```") && called.iter().any(|call| doc.contains(call))
    };
    types.get(&f.owner).is_some_and(calls)
}

#[test]
fn every_function_has_an_example() {
    let types: BTreeMap<String, String> = types().into_iter().collect();
    let all = EXEMPLIFIED.map(functions);
    let lacks = |f: &&Function| {
        !f.doc.contains("```") && !f.doc.contains("#[doc(hidden)]") && !forwards(f) && !is_in_example_of_type(f, &types)
    };
    let missing: Vec<String> =
        all.iter().flatten().filter(lacks).map(|f| format!("{}::{} ({})", f.owner, f.name, f.place)).collect();
    assert!(missing.is_empty(), "without an example:\n{}", missing.join("\n"));
}
