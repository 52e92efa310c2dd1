//! Plans are made of definitions of their own: see `src/graph/planned/mod.rs`.

use crate::paths::Paths;
use crate::source::{code, files, read, src};

/// The parts of the crate that make plans and run them. They do not import the types of recordings, so that nothing of a
/// program is turned back into a recording on the way to a result, and so that no size of a plan has a value without the
/// run.
const PLANS: [&str; 6] = ["backend", "explain", "graph/plan", "graph/planned", "graph/row_fusion", "graph/step"];

/// The files among them that take recorded arrays from the caller, or publish results to them.
const OF_RECORDINGS: [&str; 6] = [
    "backend/cpu/mod.rs",
    "backend/gpu/backend.rs",
    "backend/gpu/read.rs",
    "backend/gpu/commands.rs",
    "backend/upload.rs",
    "explain/mod.rs",
];

/// The types of recordings, by the ends of their paths.
const RECORDED: [&[&str]; 11] = [
    &["graph", "Node"],
    &["graph", "Expr"],
    &["graph", "Size"],
    &["graph", "Extent"],
    &["node", "Node"],
    &["expr", "Expr"],
    &["expr", "Check"],
    &["extent", "Extent"],
    &["size", "Size"],
    &["size", "RecordedSize"],
    &["param", "ScalarParam"],
];

/// The paths in the file that end with a type of recordings.
fn recorded(text: &str) -> Vec<String> {
    let tests = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let paths = Paths::of(&text[..tests]);
    let all = paths.imports.into_iter().map(|import| import.path).chain(paths.names);
    // A name after `super` of a file in `graph` is one of `graph`.
    let is_recorded = |path: &Vec<String>| {
        let path: Vec<&str> = path.iter().map(|name| if name == "super" { "graph" } else { name }).collect();
        RECORDED.iter().any(|recorded| path.ends_with(recorded))
    };
    all.filter(is_recorded).map(|path| path.join("::")).collect()
}

#[test]
fn plans_are_made_of_their_own_definitions() {
    let mut faults = Vec::new();
    let mut seen = 0;
    for file in files(&src()) {
        let inside = file.strip_prefix(src()).expect("a file of src").to_string_lossy().replace('\\', "/");
        let is_test = ["tests", "random_"].iter().any(|of| inside.contains(of));
        if is_test || !PLANS.iter().any(|of| inside == *of || inside.starts_with(&format!("{of}/"))) {
            continue;
        }
        seen += 1;
        let found = recorded(&code(&read(&file)));
        // Files in folders name their own definitions by `super`.
        let depth = inside.matches('/').count();
        let found: Vec<String> = found.into_iter().filter(|path| depth == 1 || !path.starts_with("super")).collect();
        if !found.is_empty() && !OF_RECORDINGS.contains(&inside.as_str()) {
            faults.push(format!("{inside} names {}: use the definitions of the plan", found.join(", ")));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(seen > 100, "only {seen} files found");
}

#[test]
fn types_of_recordings_are_found() {
    assert_eq!(recorded("use crate::graph::{Node, planned::Expr};"), ["crate::graph::Node"]);
    assert_eq!(recorded("fn f(e: &crate::graph::expr::Expr) {}"), ["crate::graph::expr::Expr"]);
    assert_eq!(recorded("use super::Size;"), ["super::Size"]);
    assert!(recorded("use crate::graph::planned::{Expr, Node};\nfn f() { Expr::u32(0) }").is_empty());
}
