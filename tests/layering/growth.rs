//! Public structs with public fields, and public enums, may get fields and variants: they are `#[non_exhaustive]`.

use std::collections::BTreeSet;

use crate::source::{code, files, read, src};

/// Types that are complete: name, reason.
const COMPLETE: [(&str, &str); 6] = [
    ("HostSparseTensor", "the three parts of a sparse tensor, which programs put together from arrays of their own"),
    ("HostTensor", "the four parts of a tensor, which programs put together from arrays of their own"),
    ("Lengths", "the rows of a dimension have one length or not"),
    ("MaxLength", "a length or none"),
    ("Seed", "one number"),
    ("Str", "it has no values"),
];

/// The files whose `pub use` makes names public.
const FACADES: [&str; 4] = ["lib.rs", "arguments.rs", "operation/mod.rs", "opt.rs"];

/// The public names.
fn public_names() -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for file in FACADES {
        for item in code(&read(&src().join(file))).split(';') {
            let Some(list) = item.split("pub use ").nth(1) else { continue };
            out.extend(list.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned));
        }
    }
    out
}

/// A public struct with public fields, or a public enum, that the crate may not extend.
#[derive(Debug, PartialEq, Eq)]
struct Closed {
    name: String,
    line: usize,
}

/// The closed types of a file.
fn closed(text: &str) -> Vec<Closed> {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let kind = line.strip_prefix("pub struct ").map(|rest| (rest, false));
        let Some((rest, is_enum)) = kind.or(line.strip_prefix("pub enum ").map(|rest| (rest, true))) else { continue };
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
        let above = lines[..at].iter().rev().take_while(|line| line.starts_with("#[") || line.starts_with("///"));
        let mut body = lines[at..].iter().take_while(|line| !["}", ");"].contains(line));
        // A tuple struct may have its fields on one line.
        let has_fields = is_enum || body.any(|line| line.starts_with("    pub ") || line.contains("(pub "));
        let one_line = line.ends_with(';') && !line.contains("(pub ");
        if has_fields && !one_line && !above.into_iter().any(|line| line.contains("non_exhaustive")) {
            out.push(Closed { name, line: at + 1 });
        }
    }
    out
}

#[test]
fn public_types_may_grow() {
    let public = public_names();
    let mut faults = Vec::new();
    let mut complete = BTreeSet::new();
    for file in files(&src()) {
        for Closed { name, line } in closed(&read(&file)) {
            if COMPLETE.iter().any(|(known, _)| *known == name) {
                complete.insert(name);
            } else if public.contains(&name) {
                faults.push(format!("{}:{line}: {name} is not #[non_exhaustive]", file.display()));
            }
        }
    }
    for (name, _) in COMPLETE {
        if !complete.contains(name) {
            faults.push(format!("{name} need not be listed as complete"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn closed_types_are_found_in_every_form() {
    let text = "
/// An enum.
#[derive(Debug)]
pub enum A {
    /// One.
    One,
}

#[non_exhaustive]
/// May grow.
pub enum B {
    One,
}

pub struct C<'a> {
    x: &'a i32,
}

pub struct D {
    x: i32,
    pub y: i32,
}

pub struct E(pub i32);

pub struct F(i32);
";
    let names: Vec<String> = closed(text).into_iter().map(|closed| closed.name).collect();
    assert_eq!(names, ["A", "D", "E"]);
}
