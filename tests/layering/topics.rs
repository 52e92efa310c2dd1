//! The methods of every public type are grouped by topic: each `impl` block with public methods has a heading.

use std::collections::BTreeSet;

use crate::functions::owner_of;
use crate::source::{files, read, src};

/// The names that the crate exports: those of `pub use` in the files of the root.
fn exported() -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for file in ["lib.rs", "arguments.rs", "iter.rs", "opt.rs", "operation/mod.rs"] {
        for declaration in read(&src().join(file)).split(';') {
            let Some((_, path)) = declaration.split_once("pub use ") else { continue };
            out.extend(path.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned));
        }
    }
    // Declared where they are public.
    out.insert("Operation".to_owned());
    out
}

/// The `impl` blocks of a file that have public methods: line, type, and whether a heading is above. The type of a block
/// that a macro makes is empty.
fn blocks(text: &str) -> Vec<(usize, String, bool)> {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let mut out = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(rest) = line.trim_start().strip_prefix("impl") else { continue };
        if !line.contains('{') || line.contains(" for ") || !rest.starts_with([' ', '<', '$']) {
            continue;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let end = format!("{indent}}}");
        let is_public = |line: &&str| ["pub fn ", "pub async fn ", "pub const fn "].iter().any(|f| line.contains(f));
        let has_methods = lines[at..].iter().take_while(|line| !line.starts_with(&end)).any(is_public);
        let above = lines[..at].iter().rev().map(|line| line.trim()).find(|line| !line.starts_with("#["));
        let headings = ["/// ", "$(#[doc = $topic])+", "$(#[$topic])+"];
        let has_topic = above.is_some_and(|line| headings.iter().any(|heading| line.starts_with(heading)));
        if has_methods {
            let owner = if line.contains('$') { String::new() } else { owner_of(rest) };
            out.push((at + 1, owner, has_topic));
        }
    }
    out
}

#[test]
fn methods_are_grouped_by_topic() {
    let exported = exported();
    let mut missing = Vec::new();
    let mut found = 0;
    for file in files(&src()) {
        for (line, owner, has_topic) in blocks(&read(&file)) {
            let is_public = owner.is_empty() || exported.contains(&owner);
            found += usize::from(is_public);
            if is_public && !has_topic {
                missing.push(format!("{}:{line}: impl {owner}", file.display()));
            }
        }
    }
    assert!(missing.is_empty(), "write a heading above the block, such as `/// Reductions.`:\n{}", missing.join("\n"));
    assert!(found > 150, "only {found} blocks found");
}

#[test]
fn blocks_are_found() {
    let text = "/// Topic.\n#[cfg(feature = \"x\")]\nimpl<T: Element> A<T> {\n    pub fn f() {}\n}\n\nimpl B {\n    fn g() {}\n}\n\n\
                impl B {\n    pub fn g() {}\n}\n\nimpl From<B> for C {\n    pub fn h() {}\n}\n\n    $(#[$topic])+\n    \
                impl $crate::tensor::Tensor {$(\n        pub fn $name() {}\n    )+}\n";
    let found = blocks(text);
    let found: Vec<(&str, bool)> = found.iter().map(|(_, owner, has)| (owner.as_str(), *has)).collect();
    assert_eq!(found, [("A", true), ("B", false), ("", true)]);
}
