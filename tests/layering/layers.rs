//! Imports point downwards only: a module may import itself and the modules of lower layers.

use std::collections::BTreeMap;
use std::path::Path;

use crate::source::{code, files, read, src};

/// The layers, lowest first. Modules of one layer do not import each other.
const LAYERS: [&[&str]; 19] = [
    &["dtype", "trace"],
    &["error", "numerics", "stats", "tuning"],
    &["environment", "integer"],
    &["math", "setters"],
    &["graph"],
    &["backend", "explain"],
    &["device"],
    &["shape"],
    &["element"],
    &["tensor"],
    &["operation", "record"],
    &["ops"],
    &["gradient"],
    &["program"],
    &["sparse", "structured"],
    &["lod"],
    &["arguments", "iter", "opt"],
    &["prelude"],
    &["guide"],
];

/// Exceptions: file of the importer, imported module, reason.
const EXCEPTIONS: [(&str, &str, &str); 2] = [
    ("element.rs", "tensor", "an element type names its host values, which are part of a host tensor"),
    ("ops/indexing/index.rs", "arguments", "`s!` expands to the public path of an index"),
];

/// The index of a module's layer.
fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|group| group.contains(&module))
}

/// The identifier at the start of the text.
fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// The names directly after each `crate::`: one name, or the first name of each item in braces.
fn names_in_crate(code: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        let Some(list) = rest.strip_prefix('{') else {
            out.push(identifier(rest).to_owned());
            continue;
        };
        let mut depth = 0;
        let mut item = true;
        for (k, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => item = true,
                c if item && depth == 0 && !c.is_whitespace() => {
                    out.push(identifier(&list[k..]).to_owned());
                    item = false;
                }
                _ => {}
            }
        }
    }
    out
}

/// The module that a name re-exported by `lib.rs` comes from.
fn reexports(lib: &str) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for line in code(lib).split(';') {
        let Some(path) = line.trim_start().split("pub use ").nth(1) else { continue };
        let module = identifier(path).to_owned();
        for name in path.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|n| !n.is_empty()) {
            out.insert(name.to_owned(), module.clone());
        }
    }
    out
}

#[test]
fn imports_point_downwards() {
    let src = src();
    let reexported = reexports(&read(&src.join("lib.rs")));
    let mut faults = Vec::new();
    let mut used = Vec::new();
    for file in files(&src) {
        let inside = file.strip_prefix(&src).expect("a file of src");
        let first = inside.components().next().expect("a path").as_os_str().to_string_lossy();
        let importer = first.trim_end_matches(".rs").to_owned();
        if importer == "lib" {
            continue;
        }
        let Some(above) = layer(&importer) else {
            faults.push(format!("src/{importer} is in no layer: give it a place in LAYERS"));
            continue;
        };
        for name in names_in_crate(&code(&read(&file))) {
            let imported = reexported.get(&name).unwrap_or(&name);
            if *imported == importer {
                continue;
            }
            let Some(below) = layer(imported) else {
                // A macro of the crate's root.
                continue;
            };
            if below < above {
                continue;
            }
            match EXCEPTIONS.iter().position(|(a, b, _)| inside == Path::new(a) && b == imported) {
                Some(k) => used.push(k),
                None => faults.push(format!(
                    "src/{} imports {imported}, which lies {} {importer}",
                    inside.display(),
                    if below == above { "beside" } else { "above" }
                )),
            }
        }
    }
    for (k, (a, b, _)) in EXCEPTIONS.iter().enumerate() {
        if !used.contains(&k) {
            faults.push(format!("the exception for src/{a} importing {b} is no longer needed"));
        }
    }
    faults.sort();
    faults.dedup();
    assert!(faults.is_empty(), "imports must point downwards:\n{}", faults.join("\n"));
}

#[test]
fn names_are_found_in_every_form() {
    let text = code("use crate::a::B; // crate::no\nuse crate::{c::{D, E}, f, G};\nlet x = mycrate::h; $crate::i!();");
    assert_eq!(names_in_crate(&text), ["a", "c", "f", "G", "i"]);
    let lib = reexports("pub use a::b::{C, D};\npub use e::F;");
    assert_eq!((lib["C"].as_str(), lib["F"].as_str()), ("a", "e"));
}
