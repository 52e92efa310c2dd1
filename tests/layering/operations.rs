//! The table of `ragged::guide::operations` has every operation.

use std::collections::BTreeMap;

use crate::functions::{Function, functions};
use crate::source::{read, src};

/// Whether a method of [`ragged::Tensor`] is an operation: its result is a tensor, or several.
fn is_operation(f: &Function) -> bool {
    let mut words = f.result_words();
    f.owner == "Tensor"
        && words.any(|word| word == "Result")
        && words.any(|word| ["Self", "Tensor", "RaggedTensor", "SparseTensor"].contains(&word))
}

/// The row of each operation that the table links.
fn table() -> BTreeMap<String, String> {
    let page = read(&src().join("guide/operations.rs"));
    let mut out = BTreeMap::new();
    for row in page.lines().filter(|line| line.starts_with("//! | [`")) {
        for link in row.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let again = out.insert(link.to_owned(), row.to_owned());
            assert!(again.is_none(), "two rows of {link}");
        }
    }
    out
}

#[test]
fn every_operation_is_in_the_table() {
    let table = table();
    let all: Vec<Function> = functions("ops").into_iter().chain(functions("tensor")).filter(is_operation).collect();
    let missing: Vec<String> = all
        .iter()
        .filter(|f| !table.contains_key(&format!("Tensor::{}", f.name)))
        .map(|f| format!("{} ({})", f.name, f.place))
        .collect();
    assert!(missing.is_empty(), "add to src/guide/operations.rs:\n{}", missing.join("\n"));
    assert!(all.len() > 250, "only {} operations found", all.len());
}

#[test]
fn the_table_says_where_operations_are_computed() {
    let table = table();
    let mut faults = Vec::new();
    for f in functions("ops").iter().filter(|f| is_operation(f)) {
        let Some(row) = table.get(&format!("Tensor::{}", f.name)) else { continue };
        if f.doc.contains("host step;") && !row.contains("host step") {
            faults.push(format!("{} is a host step: {}", f.name, f.place));
        }
        if f.doc.contains("record_async") && !row.contains("may wait") {
            faults.push(format!("{} may wait: {}", f.name, f.place));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
