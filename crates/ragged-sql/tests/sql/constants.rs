//! Constants of a query as arguments that must be literals.

use ragged::Device;

use crate::calls::table;
use crate::session::Session;

#[test]
fn constants_are_their_literals() {
    let session = Session::new(&Device::cpu());
    session.table("t", &table(), 4);
    for (call, literal) in [
        ("ragged_add(n, 2 + 1)", "ragged_add(n, 3)"),
        ("ragged_add(n, -(2 + 1) * 2)", "ragged_add(n, -6)"),
        ("ragged_add(n, 7 / 2 % 2)", "ragged_add(n, 1)"),
        ("ragged_add(f, 1 / 2.0)", "ragged_add(f, 0.5)"),
        ("ragged_multiply(f, -0.5)", "ragged_multiply(f, -1.0 / 2)"),
        ("ragged_multiply(d, +2e-3)", "ragged_multiply(d, 0.002)"),
        ("ragged_add(n, other => 2 + 1)", "ragged_add(n, 3)"),
        ("ragged_quantile(f, 0.25 * 2)", "ragged_quantile(f, 0.5)"),
        ("ragged_quantile(f, [0.25, 0.75])", "ragged_quantile(f, '[0.25, 0.75]')"),
        ("ragged_quantile(f, ARRAY[0.25, 3.0 / 4])", "ragged_quantile(f, '[0.25, 0.75]')"),
        ("ragged_quantile(f, make_array(0.25, 0.75))", "ragged_quantile(f, '[0.25, 0.75]')"),
        ("ragged_quantile(f, ([0.5]))", "ragged_quantile(f, '[0.5]')"),
        ("ragged_histogram_bins(f, [-1, 1], 2 * 2)", "ragged_histogram_bins(f, '[-1, 1]', 4)"),
        ("ragged_sum(nn, [1, 1 + 1])", "ragged_sum(nn, '[1, 2]')"),
        ("ragged_sum(nn, 3 - 1)", "ragged_sum(nn, 2)"),
        ("ragged_sum(nn, axis => [-1])", "ragged_sum(nn, '[-1]')"),
        ("ragged_ngrams(w, [1, 2])", "ragged_ngrams(w, '[1, 2]')"),
        ("ragged_top_k(f, 1 + 1)", "ragged_top_k(f, 2)"),
        ("ragged_concat(n, m, -(1))", "ragged_concat(n, m, -1)"),
        ("ragged_one_hot(ragged_abs(n), 2 * 3)", "ragged_one_hot(ragged_abs(n), 6)"),
        ("ragged_pad_rows(n, 2 + 2, 0 - 1)", "ragged_pad_rows(n, 4, -1)"),
    ] {
        let rows = |call: &str| session.column(&format!("SELECT {call} FROM t"));
        assert_eq!(rows(call).to_data(), rows(literal).to_data(), "{call} is not {literal}");
    }
}

/// What is no number of SQL remains a column, or says what to write.
#[test]
fn other_expressions_say_what_to_write() {
    let session = Session::new(&Device::cpu());
    session.table("t", &table(), 4);
    for (call, says) in [
        (
            "ragged_quantile(f, sqrt(0.25))",
            "ragged_quantile: `q` must be a literal: a number, or a list as a text such as '[1, 2]'",
        ),
        ("ragged_quantile(f, [id, 0.5])", "`q` must be a literal"),
        ("ragged_top_k(f, id)", "`k` must be a literal"),
        ("ragged_top_k(f, 1 / 0)", "`k` must be a literal"),
        ("ragged_top_k(f, 9223372036854775807 + 1)", "`k` must be a literal"),
    ] {
        let sql = format!("EXPLAIN SELECT {call} FROM t");
        let error = session.query(&sql).expect_err(&sql).to_string();
        assert!(error.contains(says), "{call}: {error}\nlacks {says}");
    }
    let sums = session.column("SELECT ragged_sum(ragged_add(arrow_cast(n, 'List(Int64)'), id + 1)) FROM t");
    let want = session.column("SELECT ragged_sum(arrow_cast(n, 'List(Int64)')) + ragged_length(n) * (id + 1) FROM t");
    assert_eq!(sums.to_data(), want.to_data());
}
