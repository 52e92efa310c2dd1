//! Errors name the user's line: functions that can fail have `#[track_caller]`, closures do not ask for their caller, and
//! the tests of errors misuse every public function that can fail.

use std::path::Path;

use crate::functions::{Function, functions};
use crate::source::{all_files, code, files, read, src};

/// The folders and files of the public functions that can fail.
const PUBLIC: [&str; 12] = [
    "ops",
    "gradient",
    "record",
    "tensor",
    "program",
    "shape",
    "sparse",
    "structured",
    "lod",
    "device.rs",
    "device/gpu.rs",
    "graph/run/recording.rs",
];

/// Functions that no argument and no tensor makes fail on a device that has the dtype, or that fail without a line.
const EXEMPT: [(&str, &str); 32] = [
    ("zeros", "fails for a dtype that the device lacks"),
    ("ones", "fails for a dtype that the device lacks"),
    ("gpu", "fails without an adapter"),
    ("gpu_with", "fails without an adapter"),
    ("best", "fails without an adapter that works"),
    ("all", "fails without an adapter that works"),
    ("each", "fails without an adapter that works"),
    ("named", "the error names the devices that exist"),
    ("from_wgpu", "fails for a device without the least limits"),
    ("save_pipeline_cache", "fails where the folder cannot be written"),
    ("wait", "fails for a lost device: tests/faults"),
    ("numerics", "fails for a lost device: tests/faults"),
    ("eval_timed", "fails as eval"),
    ("eval_profiled", "fails as eval"),
    ("lengths", "fails as the read"),
    ("lod", "fails as the read"),
    ("lod_async", "fails as the read"),
    ("recursive_sequence_lengths", "fails as the read"),
    ("recursive_sequence_lengths_async", "fails as the read"),
    ("data", "of valid offsets, fails as the memory"),
    ("to_list", "of valid offsets, fails as the read"),
    ("from_shape", "fails as zeros"),
    ("sequence_reverse", "of valid offsets, fails as the memory"),
    ("sequence_first_step", "of valid offsets, fails as the memory"),
    ("sequence_last_step", "of valid offsets, fails as the memory"),
    ("nested_row_splits", "gives no splits for a dense tensor"),
    ("nested_row_lengths", "gives no lengths for a dense tensor"),
    ("nested_value_rowids", "gives no ids for a dense tensor"),
    ("bounding_shape", "fails as bounding_size, whose axes it gives itself"),
    ("reorder", "of valid coordinates, fails as the memory"),
    ("coalesce", "of valid coordinates, fails as the memory"),
    ("shrink_shape", "of valid coordinates, fails as the memory"),
];

fn can_fail(f: &Function) -> bool {
    // Names that macros take as arguments: functions of the crate, and parameters.
    let is_argument = f.name.ends_with("_on") || f.name == "epsilon";
    f.result_words().any(|word| word == "Result") && !f.doc.contains("#[doc(hidden)]") && !is_argument
}

#[test]
fn every_function_that_can_fail_is_misused() {
    let tests: String =
        all_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors")).iter().map(|f| read(f)).collect();
    let called: Vec<&str> = tests.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let all: Vec<Function> = PUBLIC.iter().flat_map(|inside| functions(inside)).filter(can_fail).collect();
    let is_missing =
        |f: &&Function| !called.contains(&f.name.as_str()) && !EXEMPT.iter().any(|(name, _)| *name == f.name);
    let missing: Vec<String> =
        all.iter().filter(is_missing).map(|f| format!("{}::{} ({})", f.owner, f.name, f.place)).collect();
    assert!(missing.is_empty(), "without a case in tests/errors:\n{}", missing.join("\n"));
    assert!(all.len() > 500, "only {} functions found", all.len());
    for (name, _) in EXEMPT {
        assert!(all.iter().any(|f| f.name == name), "the exception for {name} is no longer needed");
    }
}

/// Types whose functions have no type before their names in errors: they have one name on all three.
const PLAIN: [&str; 4] = ["Tensor", "RaggedTensor", "Row", ""];

/// Types whose methods have no type before their names in errors: kinds of tensors, on the device and in host memory, and
/// operands.
const TENSORS: [&str; 10] = [
    "SparseTensor",
    "HostSparseTensor",
    "StructuredTensor",
    "FieldValue",
    "LodTensor",
    "HostTensor",
    "Operand",
    "Factor",
    "RowFactor",
    "Transposed",
];

/// `tests/errors` compares the names of its cases with the errors.
#[test]
fn functions_of_a_type_are_misused_under_its_name() {
    let tests: String =
        all_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors")).iter().map(|f| read(f)).collect();
    let all = PUBLIC.iter().flat_map(|inside| functions(inside)).filter(can_fail);
    let is_named =
        |f: &Function| !(PLAIN.contains(&f.owner.as_str()) || f.is_method && TENSORS.contains(&f.owner.as_str()));
    let is_missing = |f: &Function| {
        !EXEMPT.iter().any(|(name, _)| *name == f.name) && !tests.contains(&format!("(\"{}::{}", f.owner, f.name))
    };
    let missing: Vec<String> = all
        .filter(|f| is_named(f) && is_missing(f))
        .map(|f| format!("{}::{} ({})", f.owner, f.name, f.place))
        .collect();
    assert!(missing.is_empty(), "without a case of that name in tests/errors:\n{}", missing.join("\n"));
}

#[test]
fn functions_that_can_fail_know_their_caller() {
    let all = PUBLIC.iter().flat_map(|inside| functions(inside));
    // An async function has no caller; it takes its location from an argument.
    let lacks = |f: &Function| can_fail(f) && !f.doc.contains("#[track_caller]") && f.name != "record_async";
    let lacking: Vec<String> = all.filter(lacks).map(|f| format!("{}::{} ({})", f.owner, f.name, f.place)).collect();
    assert!(lacking.is_empty(), "without #[track_caller]:\n{}", lacking.join("\n"));
}

/// Whether the text, up to some place in a function, ends inside a closure.
fn ends_in_closure(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (mut depth, mut end) = (0, bytes.len());
    while let Some(at) = end.checked_sub(1) {
        match bytes[at] {
            b')' | b']' | b'}' => depth += 1,
            b'(' | b'[' | b'{' if depth > 0 => depth -= 1,
            b';' if depth == 0 => {
                // The start of the block: earlier statements of it are no closures around the place.
                let (mut nested, mut open) = (0, at);
                while let Some(k) = open.checked_sub(1) {
                    match bytes[k] {
                        b')' | b']' | b'}' => nested += 1,
                        b'(' | b'[' | b'{' if nested > 0 => nested -= 1,
                        b'(' | b'[' | b'{' => break,
                        _ => {}
                    }
                    open = k;
                }
                end = open;
                continue;
            }
            b'|' if depth == 0 => {
                // `||` opens a closure without parameters where no operand is before it.
                let start = if text[..at].ends_with('|') { at - 1 } else { at };
                let before = text[..start].trim_end();
                if ["(", ",", "=", "move"].iter().any(|s| before.ends_with(s)) {
                    return true;
                }
                end = start;
                continue;
            }
            _ => {}
        }
        end = at;
        if depth == 0 && text[..end].ends_with("fn ") {
            return false;
        }
    }
    false
}

/// The graph and the operations: errors of a backend get their line at the call of the backend.
#[test]
fn closures_do_not_ask_for_their_caller() {
    let mut faults = Vec::new();
    for file in files(&src())
        .iter()
        .filter(|f| !f.ends_with("error/call.rs") && !f.components().any(|c| c.as_os_str() == "backend"))
    {
        let text = code(&read(file));
        for (at, _) in text.match_indices("caller()") {
            let start = text[..at].rfind("\n    fn ").into_iter().chain(text[..at].rfind("fn ")).max().unwrap_or(0);
            if ends_in_closure(&text[start..at]) {
                let line = text[..at].matches('\n').count() + 1;
                faults.push(format!("{}:{line}", file.strip_prefix(src()).unwrap_or(file).display()));
            }
        }
    }
    assert!(faults.is_empty(), "take the location before the closure:\n{}", faults.join("\n"));
}

#[test]
fn closures_are_found() {
    for inside in [
        "fn f() { let e = |x| Error::Shape { op, location: ",
        "fn f() { a.map(|(a, b)| ",
        "fn f() { let e = || { let a = 1; g(a, ",
    ] {
        assert!(ends_in_closure(inside), "{inside}");
    }
    for outside in [
        "fn f() { let e = |x| { g(x) }; Err(Error { location: ",
        "fn f() { if a || b { return ",
        "fn f() { match x { A | B => ",
    ] {
        assert!(!ends_in_closure(outside), "{outside}");
    }
}
