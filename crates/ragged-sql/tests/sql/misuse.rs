//! What queries get wrong, before any row is read.

use std::collections::BTreeSet;

use datafusion::prelude::SessionContext;
use ragged::Device;

use crate::calls::table;
use crate::session::Session;

#[test]
fn faults_of_calls_are_those_of_the_plan() {
    let session = Session::new(&Device::cpu());
    session.table("t", &table(), 4);
    for (call, says) in [
        ("ragged_sum(n, 0)", "ragged_reduce_sum: `axis` is the axis of the table's rows"),
        ("ragged_sort(n, -2)", "ragged_sort: `axis` is the axis of the table's rows"),
        ("ragged_sum(v)", "ragged_reduce_sum: a column of single values has no axis to reduce"),
        ("ragged_sum(n, 7)", "ragged_reduce_sum: axis 7"),
        ("ragged_sum()", "ragged_reduce_sum: `x` is missing"),
        ("ragged_sum(n, n)", "such as '[1, 2]'; usage: ragged_reduce_sum(x, axis?, keep?)"),
        ("ragged_sum(n, 1, true, 2)", "too many; usage: ragged_reduce_sum(x, axis?, keep?)"),
        ("ragged_sum(w)", "ragged_reduce_sum"),
        ("ragged_sum(n, axes => 1)", "axes"),
        ("ragged_cast(n, 'int7')", "\"int7\" is no type"),
        ("ragged_quantile(f, 'half')", "a list such as '[1, 2]'"),
        ("ragged_concat(1)", "requires columns"),
        ("ragged_program('nowhere.json', n)", "nowhere.json"),
        ("ragged_program('ragged_sum($2)', n)", "$2 is none of the 1 columns"),
        ("ragged_program('ragged_sum($1', n)", "ragged_program: "),
        ("ragged_program(n)", "the first argument must be a text"),
        ("ragged_program('x.json')", "a column is required"),
        ("ragged_add(n, b)", "ragged_add"),
    ] {
        let sql = format!("SELECT {call} FROM t");
        let error = session.query(&format!("EXPLAIN {sql}")).expect_err(&sql).to_string();
        assert!(error.contains(says), "{call}: {error}\nlacks {says}");
        assert!(!error.contains(".rs:"), "{error}");
    }
}

/// Calls that combine rows of the table are found on a few rows of no table.
#[test]
fn calls_of_other_rows_are_those_of_the_plan() {
    let session = Session::new(&Device::cpu());
    session.table("t", &table(), 4);
    for (call, says) in [
        (
            "ragged_ngrams(t, 2)",
            "ragged_string_ngrams: a function computes each row, and 3 rows are the result of 4: `x` is one value (str) for each row, where lists are required",
        ),
        ("ragged_length(ragged_ngrams(t, 2))", "ragged_string_ngrams: "),
        ("ragged_boolean_mask(v, v > 0)", "ragged_boolean_mask: a function computes each row"),
        ("ragged_program('ragged_string_ngrams($1, 2)', t)", "a function computes each row"),
    ] {
        let sql = format!("EXPLAIN SELECT {call} FROM t");
        let error = session.query(&sql).expect_err(&sql);
        let text = error.to_string();
        assert!(matches!(error.find_root(), datafusion::common::DataFusionError::Plan(_)), "{error:?}");
        assert!(text.contains(says), "{call}: {text}\nlacks {says}");
    }
}

#[test]
fn the_functions_of_datafusion_are_left_as_they_are() {
    let plain = SessionContext::new();
    let session = Session::new(&Device::cpu());
    let names = |context: &SessionContext| context.state().scalar_functions().keys().cloned().collect::<BTreeSet<_>>();
    let added = &names(session.context()) - &names(&plain);
    assert!(added.iter().all(|name| name.starts_with("ragged_")), "{added:?}");
    assert!(added.len() > 200);
    for (name, function) in plain.state().scalar_functions() {
        assert_eq!(session.context().state().scalar_functions().get(name), Some(function));
    }
}
