//! Declarations of operations say what their methods are: the types that have them, the names of the arguments, the
//! first sentence of the documentation. The page of each method is complete.

use std::collections::{BTreeMap, BTreeSet};

use ragged::Operation;
use ragged::operation::Owner;

use crate::functions::{Function, written};
use crate::source::{files, read, src};

/// Types whose methods declarations make, unless a line of the declaration says otherwise.
const MADE: [Owner; 3] = [Owner::Tensor, Owner::RaggedTensor, Owner::Row];

/// The line of a declaration for methods of a type that are written by hand.
fn by_hand(owner: Owner) -> &'static str {
    match owner {
        Owner::RaggedTensor => "typed hand;",
        Owner::Row => "row hand;",
        _ => "tensor hand;",
    }
}

/// The lines of each declaration of an operation on tensors, by name.
fn headers() -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for file in files(&src().join("ops")) {
        let text = read(&file);
        for block in text.split("operations! {").skip(1) {
            let mut name = String::new();
            for line in block.lines().take_while(|line| *line != "}").map(str::trim) {
                if let Some(rest) = line.strip_prefix("fn ") {
                    name = rest.split(['(', '<']).next().unwrap_or_default().to_owned();
                }
                let lines: &mut String = out.entry(name.clone()).or_default();
                *lines += line;
                lines.push('\n');
            }
        }
    }
    out
}

/// The public functions by type and name.
fn by_type_and_name() -> BTreeMap<(String, String), Function> {
    written("").into_iter().map(|f| ((f.owner.clone(), f.name.clone()), f)).collect()
}

fn key(owner: Owner, operation: &Operation) -> (String, String) {
    (owner.name().to_owned(), operation.name.to_owned())
}

#[test]
fn types_have_the_operations_that_are_declared_for_them() {
    let (headers, functions) = (headers(), by_type_and_name());
    let mut faults = Vec::new();
    for operation in ragged::operations() {
        for owner in Owner::ALL {
            let is_written = functions.contains_key(&key(owner, operation));
            let of_tensors = MADE.iter().any(|made| operation.owners.contains(*made));
            // Names of operations in macros are `$name`: their methods are made.
            let is_by_hand =
                !of_tensors || headers.get(operation.name).is_some_and(|header| header.contains(by_hand(owner)));
            let name = format!("{}::{}", owner.name(), operation.name);
            if operation.owners.contains(owner) && is_by_hand != is_written {
                faults.push(format!("{name}: by hand in the declaration: {is_by_hand}, in the source: {is_written}"));
            }
            if !operation.owners.contains(owner) && of_tensors && MADE.contains(&owner) {
                if is_written {
                    faults.push(format!("{name} exists, but is not declared"));
                }
                if operation.owners.reason_without(owner).is_none() {
                    faults.push(format!("{name} is not declared, without a reason"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn arguments_have_the_names_of_the_methods() {
    let functions = by_type_and_name();
    let (mut faults, mut compared) = (Vec::new(), 0);
    for operation in ragged::operations() {
        let Some(owner) = operation.owners.iter().next() else { continue };
        let Some(function) = functions.get(&key(owner, operation)) else { continue };
        let declared: Vec<&str> = operation.arguments.iter().map(|argument| argument.name).collect();
        // A macro makes several methods, and names their arguments.
        if function.arguments.iter().any(|name| name.starts_with('$')) {
            continue;
        }
        compared += 1;
        if function.arguments != declared {
            faults.push(format!(
                "{}::{} ({}): declared {declared:?}, written {:?}",
                function.owner, function.name, function.place, function.arguments
            ));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(compared > 20, "only {compared} methods are written by hand");
}

/// The first sentence of the documentation.
fn first_sentence(doc: &str) -> String {
    let lines = doc.lines().map(str::trim).take_while(|line| !line.is_empty());
    let paragraph = lines.collect::<Vec<_>>().join(" ");
    paragraph.split(". ").next().unwrap_or_default().trim_end_matches('.').to_owned()
}

#[test]
fn summaries_are_those_of_the_methods() {
    let functions = by_type_and_name();
    let (mut faults, mut compared) = (Vec::new(), BTreeSet::new());
    for operation in ragged::operations() {
        let Some(owner) = operation.owners.iter().next() else { continue };
        let Some(function) = functions.get(&key(owner, operation)) else { continue };
        // Documentation that a macro composes is not in the source as text.
        if function.doc.contains("concat!(") {
            continue;
        }
        compared.insert(operation.name);
        let (declared, written) = (first_sentence(operation.doc), first_sentence(&function.doc));
        if declared != written {
            faults.push(format!("{} ({}): {declared:?}, but {written:?}", operation.name, function.place));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(compared.len() > 20, "only {compared:?}");
}

/// What the page of a function lacks.
fn missing(doc: &str, can_fail: bool) -> Vec<&'static str> {
    let mut out = Vec::new();
    if can_fail && !doc.contains("# Errors") {
        out.push("# Errors");
    }
    if !doc.contains("# Cost") {
        out.push("# Cost");
    }
    if !doc.contains("```") {
        out.push("an example");
    }
    out
}

/// Whether a page names another one in place of its own errors or its own cost.
fn refers(doc: &str) -> bool {
    let one_line = doc.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    ["Costs as", "# Errors As [", "# Cost As ["].iter().any(|text| one_line.contains(text))
}

#[test]
fn pages_are_complete_where_they_are_read() {
    let functions = by_type_and_name();
    let (mut faults, mut by_hand) = (Vec::new(), 0);
    for operation in ragged::operations() {
        for owner in operation.owners.iter() {
            let name = format!("{}::{}", owner.name(), operation.name);
            let (doc, can_fail) = match functions.get(&key(owner, operation)) {
                Some(function) => {
                    by_hand += 1;
                    (function.doc.as_str(), function.result_words().any(|word| word == "Result"))
                }
                None => (operation.doc, true),
            };
            let missing = missing(doc, can_fail);
            if !missing.is_empty() {
                faults.push(format!("{name}: no {}", missing.join(", no ")));
            }
            if refers(doc) {
                faults.push(format!("{name}: its errors or its cost are on another page"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(by_hand > 150, "only {by_hand} pages of methods by hand");
}

#[test]
fn what_pages_lack_is_found() {
    assert_eq!(missing("Sum.\n# Cost\nOne pass.", true), ["# Errors", "an example"]);
    assert_eq!(missing("Sum.\n```\n```", false), ["# Cost"]);
    assert!(missing("Sum.\n# Errors\n# Cost\n```\n```", true).is_empty());
    assert!(refers("Sum.\n\n# Cost\nAs [`add`](Self::add).") && refers("Any dtype. Costs\nas [`add`](Self::add)."));
    assert!(!refers("Sum, as [`add`](Self::add).\n# Cost\nOne map."));
}

#[test]
fn pages_of_rows_have_the_names_elsewhere() {
    let functions = by_type_and_name();
    let (mut faults, mut compared) = (Vec::new(), 0);
    for operation in ragged::operations() {
        let of_rows = operation.owners.contains(Owner::Row);
        let Some(function) = functions.get(&key(Owner::Row, operation)).filter(|_| of_rows) else { continue };
        let names =
            [("TensorFlow", operation.tensorflow), ("Awkward", operation.awkward), ("Polars", operation.polars)];
        for (library, name) in names {
            compared += 1;
            let line = name.map(|name| format!("{library}: `{name}`."));
            let written = function.doc.lines().find(|line| line.starts_with(&format!("{library}: ")));
            if line.as_deref() != written {
                faults.push(format!("Row::{} ({}): {line:?}, but {written:?}", operation.name, function.place));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(compared > 100, "only {compared} names");
}
