//! The law of rows: what an operation gives for a row in [`Tensor::map_rows`] is what it gives for that row as a tensor
//! of its own. Every operation that is offered on rows has an entry in a table.

#[path = "../common/mod.rs"]
mod common;

mod declared;
mod elementwise;
mod inputs;
mod numbers;
mod random;
mod several;
mod shapes;
mod strings;
mod table;

use std::collections::BTreeSet;

use ragged::operation::Owner;
use ragged::{Device, Result, Tensor, s};

use inputs::{Input, inputs, text};
use table::Law;

fn laws() -> Vec<Law> {
    [elementwise::laws(), numbers::laws(), shapes::laws(), strings::laws()].into_iter().flatten().collect()
}

/// Operations that some rows do not have although their tensors do, since a dimension of the rows is ragged.
const NOT_OF_RAGGED_ROWS: &[(&str, &str)] = &[
    ("bitcast", "joins elements of a uniform dimension"),
    ("one_hot", "makes a dimension below the ragged ones"),
    ("range", "takes scalars: the ranges of a vector would be rows of rows"),
    ("row_lengths", "takes a dimension with a partition"),
    ("split", "takes a uniform dimension"),
    ("transpose", "moves uniform dimensions"),
    ("unzip", "takes a uniform dimension"),
];

/// The inputs of the comparison of devices.
const ON_GPUS: [&str; 2] = ["vectors", "rows of rows"];

/// The results for all rows at once.
fn of_all(law: &Law, input: &Input) -> Result<Vec<Tensor>> {
    let [x, y, k, t] = &input.tensors;
    Tensor::map_rows_of(&[x, y, k], |rows| (law.row)(&rows[0], &rows[1], &rows[2], t))
}

/// The results for row `k` by itself.
fn of_one(law: &Law, input: &Input, k: i64) -> Result<Vec<String>> {
    let [x, y, of_row, t] = &input.tensors;
    let (x, y, of_row) = (x.slice(s![k])?, y.slice(s![k])?, of_row.slice(s![k])?);
    (law.tensor)(&x, &y, &of_row, t)?.iter().map(text).collect()
}

/// The texts of row `k` of the results for all rows.
fn row_of(results: &[Tensor], k: i64) -> Result<Vec<String>> {
    results.iter().map(|t| text(&t.slice(s![k])?)).collect()
}

#[test]
fn every_operation_on_rows_has_an_entry() {
    let laws = laws();
    let with: BTreeSet<&str> = laws.iter().map(|law| law.name).collect();
    let offered = ragged::operations().filter(|operation| operation.owners.contains(Owner::Row));
    let offered: BTreeSet<&str> = offered.map(|operation| operation.name).collect();
    let elsewhere: BTreeSet<&str> = random::NAMES.iter().chain(several::NAMES).copied().collect();
    let missing: Vec<_> = offered.iter().filter(|name| !with.contains(*name) && !elsewhere.contains(*name)).collect();
    assert!(missing.is_empty(), "without an entry: {missing:?}");
    let unknown: Vec<_> = with.union(&elsewhere).filter(|name| !offered.contains(*name)).collect();
    assert!(unknown.is_empty(), "not offered on rows: {unknown:?}");
}

#[test]
fn a_row_gives_what_its_tensor_gives() {
    let mut wrong = Vec::new();
    let cpu = Device::cpu();
    let all = inputs(&cpu);
    for law in laws() {
        let mut compared = 0;
        for input in all.iter().filter(|input| input.kind == law.kind) {
            let alone: Vec<Result<Vec<String>>> = (0..input.rows).map(|k| of_one(&law, input, k)).collect();
            let place = format!("{} of {}", law.name, input.name);
            let results =
                match of_all(&law, input).and_then(|t| t.iter().map(text).collect::<Result<Vec<_>>>().map(|_| t)) {
                    Ok(results) => results,
                    Err(e) => {
                        let is_known = NOT_OF_RAGGED_ROWS.iter().any(|(name, _)| *name == law.name);
                        if alone.iter().all(Result::is_ok) && !is_known {
                            wrong.push(format!("{place}: each row alone has a result, but all rows fail: {e}"));
                        }
                        continue;
                    }
                };
            compared += 1;
            for (k, alone) in alone.iter().enumerate() {
                let row = row_of(&results, k as i64);
                match (row, alone) {
                    (Ok(row), Ok(alone)) if row == *alone => {}
                    (row, alone) => wrong.push(format!("{place}, row {k}: {row:?}, but alone {alone:?}")),
                }
            }
        }
        if compared == 0 {
            wrong.push(format!("{}: no input was compared", law.name));
        }
    }
    let short: Vec<String> = wrong.iter().map(|w| w.chars().take(400).collect()).collect();
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), short.join("\n"));
}

#[test]
fn rows_have_the_same_bits_on_gpus() {
    let cpu = inputs(&Device::cpu());
    for (name, device) in common::gpus() {
        let gpu = inputs(&device);
        for law in laws() {
            for (input, own) in
                cpu.iter().zip(&gpu).filter(|(input, _)| input.kind == law.kind && ON_GPUS.contains(&input.name))
            {
                let texts = |input: &Input| -> Result<Vec<String>> { of_all(&law, input)?.iter().map(text).collect() };
                let Ok(want) = texts(input) else { continue };
                match texts(own) {
                    Ok(got) => assert_eq!(got, want, "{name}: {} of {}", law.name, input.name),
                    // A GPU has no host steps unless they are allowed.
                    Err(e) if e.to_string().contains("runs on the host") => {}
                    Err(e) => panic!("{name}: {} of {}: {e}", law.name, input.name),
                }
            }
        }
    }
}
