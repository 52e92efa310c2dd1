//! Every operation is declared, computed by a function beside its declaration, and in the table of
//! `ragged::guide::operations`, which is written from the declarations: `RAGGED_GUIDE=write` writes it.

use std::collections::BTreeSet;
use std::fmt::Write;

use ragged::operation::{HasGradient, Owner};
use ragged::{Operation, operations};

use crate::functions::{Function, functions};
use crate::source::{files, read, src};

/// Whether a function of a tensor, or of a type that is made of tensors, is an operation: its result is one of these, or
/// several.
fn is_operation(f: &Function) -> bool {
    let mut words = f.result_words();
    let is_tensor =
        |word: &str| ["Self", "FieldValue"].contains(&word) || Owner::ALL.iter().any(|owner| owner.name() == word);
    Owner::ALL.iter().any(|owner| owner.name() == f.owner) && words.any(|word| word == "Result") && words.any(is_tensor)
}

#[test]
fn every_operation_is_declared_once() {
    let mut methods = BTreeSet::new();
    for operation in operations() {
        for owner in operation.owners.iter().map(Owner::name) {
            assert!(methods.insert((owner, operation.name)), "two declarations of {owner}::{}", operation.name);
        }
    }
    let all = ["ops", "tensor", "sparse", "structured", "lod"].into_iter().flat_map(functions);
    let missing: Vec<String> = all
        .filter(|f| is_operation(f) && !methods.contains(&(f.owner.as_str(), f.name.as_str())))
        .map(|f| format!("{}::{} ({})", f.owner, f.name, f.place))
        .collect();
    assert!(missing.is_empty(), "declare with operations!:\n{}", missing.join("\n"));
    assert!(methods.len() > 700, "only {} methods", methods.len());
}

#[test]
fn every_list_of_declarations_is_joined() {
    let joined = read(&src().join("ops/declarations/declared.rs"));
    for file in files(&src().join("ops")) {
        let module = file.strip_prefix(src().join("ops")).unwrap().with_extension("");
        let module = module.to_string_lossy().replace("/mod", "").replace('/', "::");
        for line in read(&file).lines() {
            let Some(rest) = line.strip_prefix("    const ").filter(|rest| rest.contains(": family ")) else {
                continue;
            };
            let list = rest.split(':').next().unwrap();
            assert!(
                joined.contains(&format!("    {module}::{list},")),
                "add {module}::{list} to src/ops/declarations/declared.rs"
            );
        }
    }
}

#[test]
fn functions_of_operations_know_their_caller() {
    let names: BTreeSet<&str> = operations().map(|operation| operation.name).collect();
    let mut faults = Vec::new();
    let mut found = 0;
    for file in files(&src().join("ops")) {
        let text = read(&file);
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let Some(rest) = line.strip_prefix("fn ") else { continue };
            let name = rest.split(['(', '<']).next().unwrap();
            if names.contains(name) && rest.contains("Tensor") {
                found += 1;
                if at == 0 || lines[at - 1] != "#[track_caller]" {
                    faults.push(format!("{}:{}", file.display(), at + 1));
                }
            }
        }
    }
    assert!(faults.is_empty(), "without #[track_caller]:\n{}", faults.join("\n"));
    assert!(found > 100, "only {found} functions found");
}

#[test]
fn documentation_agrees_with_the_declaration() {
    let mut faults = Vec::new();
    for operation in operations() {
        if operation.doc.contains("host step") != operation.host_step.is_some() {
            faults.push(format!("{}: the documentation and the declaration disagree on a host step", operation.name));
        }
        if operation.doc.contains("record_async") && operation.waits.is_none() {
            faults.push(format!("{}: the documentation says that it may wait", operation.name));
        }
        let words = [operation.waits, operation.host_step].into_iter().flatten();
        let reasons = words.chain(match operation.gradient {
            HasGradient::None(reason) | HasGradient::Missing(reason) | HasGradient::FirstOrder(reason) => Some(reason),
            _ => None,
        });
        let reasons = reasons.chain(Owner::ALL.into_iter().filter_map(|owner| operation.owners.reason_without(owner)));
        for reason in reasons {
            // The table continues a sentence with it.
            if reason.is_empty() || reason.ends_with('.') {
                faults.push(format!("{}: {reason:?} does not continue a sentence", operation.name));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The families, in the order of the table.
fn families() -> Vec<&'static str> {
    let mut out: Vec<&'static str> = Vec::new();
    for operation in operations() {
        if !out.contains(&operation.family) {
            out.push(operation.family);
        }
    }
    out.sort_by_key(|family| ORDER.iter().position(|name| name == family).expect("a family without a place in ORDER"));
    out
}

const ORDER: [&str; 17] = [
    "Construction",
    "Parts, sizes and copies",
    "Indexing and gathering",
    "Masks and selection",
    "Element-wise, one operand",
    "Element-wise, several operands",
    "Reductions",
    "Along an axis",
    "Rows: pairs, windows, groups, sets, samples",
    "Joining, repeating and shapes",
    "Products and segments",
    "Counts",
    "Strings",
    "Hashes and crosses",
    "Sparse tensors",
    "Records",
    "Sequences",
];

/// The row of an operation.
fn row(operation: &Operation) -> String {
    let name = |name: Option<&str>| name.map_or("–".to_owned(), |name| format!("`{}`", name.replace('|', "\\|")));
    let device = match (operation.host_step, operation.waits) {
        (Some(part), _) => format!("host step: {part}"),
        (None, Some(when)) => format!("device; may wait {when}"),
        (None, None) => "device".to_owned(),
    };
    let rows = if operation.owners.contains(Owner::Row) { "yes" } else { "–" };
    let gradient = match operation.gradient {
        HasGradient::None(reason) => format!("none: {reason}"),
        HasGradient::FirstOrder(what) => format!("yes, but no second derivative: {what} is missing"),
        HasGradient::Missing(what) => format!("missing: {what}"),
        _ => "yes".to_owned(),
    };
    let of = operation.owners.iter().next().expect("a type that has the operation").name();
    let names = [operation.tensorflow, operation.awkward, operation.polars].map(name).join(" | ");
    format!("| [`{0}`]({of}::{0}) | {names} | {device} | {rows} | {gradient} |\n", operation.name)
}

fn table() -> String {
    let mut out = String::new();
    for family in families() {
        writeln!(out, "# {family}\n").unwrap();
        out += "| operation | TensorFlow | Awkward | Polars | computed by | on a row | gradient |\n|---|---|---|---|---|---|---|\n";
        operations().filter(|operation| operation.family == family).for_each(|operation| out += &row(operation));
        out.push('\n');
    }
    format!("{}\n", out.trim_end())
}

#[test]
fn the_table_of_the_guide_is_that_of_the_declarations() {
    let path = src().join("guide/operations.md");
    let table = table();
    if std::env::var("RAGGED_GUIDE").is_ok_and(|value| value == "write") {
        std::fs::write(&path, &table).expect("the table is written");
    }
    assert!(read(&path) == table, "run with RAGGED_GUIDE=write to write {} again", path.display());
}
