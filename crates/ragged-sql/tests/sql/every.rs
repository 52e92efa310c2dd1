//! Every function: each row by itself, on every device, planned once.

use arrow::array::{Array, ArrayRef};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use ragged::Device;
use ragged::operation::{ArgumentKind, Owner};
use ragged_sql::Functions;

use crate::calls::{CALLS, column_for, table};
use crate::session::{Session, devices};
use crate::tables::with_a_table;

/// The calls of all functions: those that are listed, and one of columns for each other.
pub fn calls() -> Vec<String> {
    let mut calls: Vec<String> = CALLS.iter().map(|call| (*call).to_owned()).collect();
    let functions = Functions::new(&Device::cpu());
    let is_function = |name: &str| functions.all().iter().any(|function| function.name() == name.trim_end_matches('('));
    for operation in ragged::operations() {
        let name = format!("ragged_{}(", operation.name);
        let of_columns = operation.arguments.iter().all(|argument| argument.kind == ArgumentKind::Operand);
        let is_listed = CALLS.iter().any(|call| call.starts_with(&name));
        if operation.owners.contains(Owner::Row)
            && operation.is_method
            && of_columns
            && !is_listed
            && is_function(&name)
        {
            let columns: Vec<&str> =
                (0..=operation.arguments.len()).map(|k| column_for(operation.elements, k)).collect();
            calls.push(format!("{name}{})", columns.join(", ")));
        }
    }
    calls
}

/// The type and each row, with all digits of floats and one NaN.
pub fn shown(column: &ArrayRef) -> Vec<String> {
    let options = FormatOptions::new().with_null("NULL");
    let rows = ArrayFormatter::try_new(column, &options).expect("formats");
    let rows = (0..column.len()).map(|row| rows.value(row).to_string());
    std::iter::once(column.data_type().to_string()).chain(rows).collect()
}

#[test]
fn functions_compute_each_row_by_itself_on_every_device() {
    with_a_table(|place| {
        let mut first: Vec<_> = Vec::new();
        for device in devices() {
            let (whole, single) = (Session::new(&device), Session::with(&device, 1, true));
            whole.table("t", &table(), 100);
            single.table("t", &table(), 1);
            for (k, call) in calls().iter().enumerate() {
                let sql = format!("SELECT {} FROM t", call.replace("TABLE", place));
                let rows = whole.column(&sql);
                assert_eq!(rows.len(), crate::calls::LENGTHS.len(), "{sql}");
                let shown = shown(&rows);
                if device.is_cpu() {
                    assert_eq!(shown, self::shown(&single.column(&sql)), "{sql}: a row alone");
                }
                match first.get(k) {
                    Some(known) => assert_eq!(&shown, known, "{sql}: {}", device.name()),
                    None => first.push(shown),
                }
            }
        }
    });
}

#[test]
fn no_function_is_left_out() {
    let calls = calls();
    let mut missing = Vec::new();
    for function in Functions::new(&Device::cpu()).all() {
        let names: Vec<String> = std::iter::once(function.name())
            .chain(function.aliases().iter().map(String::as_str))
            .map(|name| format!("{name}("))
            .collect();
        let is_called = calls
            .iter()
            .any(|call| names.iter().any(|name| call.starts_with(name) || call.contains(&format!("({name}"))));
        if !is_called && function.name() != "ragged_program" {
            missing.push(function.name().to_owned());
        }
    }
    assert!(missing.is_empty(), "no calls in these tests: {missing:?}");
}
