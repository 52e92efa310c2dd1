//! Clauses that DataFusion ignores where functions of rows have them.

use datafusion::common::DataFusionError;
use ragged::Device;

use crate::calls::table;
use crate::session::Session;

#[test]
fn clauses_of_aggregates_are_refused() {
    let session = Session::new(&Device::cpu());
    session.table("t", &table(), 4);
    for (call, clause) in [
        ("ragged_mean(f) FILTER (WHERE id > 2)", "FILTER: the WHERE of the query"),
        ("ragged_sum(DISTINCT n)", "DISTINCT: ragged_unique(x)"),
        ("ragged_sum(n) OVER ()", "OVER"),
        ("ragged_sum(n) OVER (PARTITION BY id)", "OVER"),
        ("ragged_sum(n ORDER BY id)", "ORDER BY: ragged_sort(x)"),
        ("ragged_sum(n) IGNORE NULLS", "IGNORE NULLS: array_compact(x)"),
        ("ragged_sum(n IGNORE NULLS)", "IGNORE NULLS"),
        ("ragged_sum(n) RESPECT NULLS", "RESPECT NULLS"),
        ("ragged_max(n) WITHIN GROUP (ORDER BY id)", "WITHIN GROUP"),
        ("ragged_sum(1)(n)", "(1) before its arguments"),
        ("ragged_sum(n LIMIT 1)", "LIMIT 1"),
        ("id + ragged_sum(ragged_abs(DISTINCT n))", "DISTINCT"),
        ("(SELECT max(ragged_sum(DISTINCT n)) FROM t)", "DISTINCT"),
        ("Ragged_Sum(DISTINCT n)", "ragged_sum: a function"),
        (
            "ragged_program('ragged_sum($1)', n) OVER ()",
            "ragged_program: a function that computes each row takes no OVER",
        ),
    ] {
        let sql = format!("SELECT {call} FROM t");
        for sql in [sql.clone(), format!("EXPLAIN {sql}")] {
            let error = session.query(&sql).expect_err(&sql);
            assert!(matches!(error.find_root(), DataFusionError::Plan(_)), "{error:?}");
            let text = error.to_string();
            assert!(
                text.contains("a function that computes each row takes no ") && text.contains(clause),
                "{sql}: {text}"
            );
            assert!(error.diagnostic().is_some_and(|diagnostic| diagnostic.span.is_some()), "{sql}");
        }
    }
    // These are no functions of rows, or change nothing.
    for call in ["sum(v) FILTER (WHERE id > 2)", "sum(v) OVER ()", "count(DISTINCT ragged_sum(n))", "ragged_sum(ALL n)"]
    {
        session.column(&format!("SELECT {call} FROM t"));
    }
}

#[test]
fn statements_around_queries_are_seen() {
    let session = Session::new(&Device::cpu());
    session.table("t", &table(), 4);
    let plan = session.plan("SELECT ragged_sort(n, descending => true) FROM t");
    assert!(plan.contains("ragged_sort($1, NULL, true)"), "{plan}");
    let error = session.query("COPY (SELECT ragged_sum(DISTINCT n) FROM t) TO 'no.parquet'").expect_err("refused");
    assert!(error.to_string().contains("takes no DISTINCT"), "{error}");
    assert!(session.query("SELECT id FROM t WHERE ragged_sum(DISTINCT n) > 0").is_err());
}
