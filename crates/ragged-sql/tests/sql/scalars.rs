//! Every function of columns that are no lists: each row by itself as in a list of one, or a fault of the plan.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ListArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::Field;
use datafusion::common::DataFusionError;
use ragged::Device;

use crate::calls::table;
use crate::every::{calls, shown};
use crate::session::Session;
use crate::tables::with_a_table;

/// The columns of the table with the first values of their lists, a value for each row.
fn scalars() -> Vec<(&'static str, ArrayRef)> {
    let rows = crate::calls::LENGTHS.len();
    let first = |(name, column): (&'static str, ArrayRef)| match column.as_any().downcast_ref::<ListArray>() {
        Some(lists) => (name, lists.values().slice(0, rows)),
        None => (name, column),
    };
    table().into_iter().filter(|(name, _)| *name != "nn").map(first).collect()
}

/// The same columns as lists of one value.
fn lists_of_one() -> Vec<(&'static str, ArrayRef)> {
    let list = |(name, values): (&'static str, ArrayRef)| {
        let field = Arc::new(Field::new_list_field(values.data_type().clone(), true));
        let offsets = OffsetBuffer::from_repeated_length(1, values.len());
        (name, Arc::new(ListArray::new(field, offsets, values, None)) as ArrayRef)
    };
    scalars().into_iter().map(list).collect()
}

#[test]
fn functions_of_scalars_compute_each_row_or_are_faults_of_the_plan() {
    with_a_table(|place| {
        let [whole, single, listed] = [8192, 1, 8192].map(|rows| Session::with(&Device::cpu(), rows, true));
        whole.table("t", &scalars(), 100);
        single.table("t", &scalars(), 1);
        listed.table("t", &lists_of_one(), 100);
        let mut computed = 0;
        let mut wrong = Vec::new();
        for call in calls().iter().filter(|call| !call.contains("(nn")) {
            let sql = format!("SELECT {} FROM t", call.replace("TABLE", place));
            if let Err(error) = whole.query(&format!("EXPLAIN {sql}")) {
                if !matches!(error.find_root(), DataFusionError::Plan(_)) || !error.to_string().contains("ragged_") {
                    wrong.push(format!("{call}: {error}"));
                }
                continue;
            }
            let rows = match whole.query(&sql) {
                Ok(rows) => shown(rows.column(0)),
                Err(error) => {
                    wrong.push(format!("{call}: {error}"));
                    continue;
                }
            };
            computed += 1;
            match single.query(&sql) {
                Ok(alone) if shown(alone.column(0)) == rows => {}
                other => wrong.push(format!("{call}: {rows:?} but alone {other:?}")),
            }
            let Ok(lists) = listed.query(&sql) else {
                wrong.push(format!("{call}: of scalars only"));
                continue;
            };
            let want: Vec<String> = rows[1..].iter().map(|row| format!("[{row}]")).collect();
            if shown(lists.column(0))[1..] != want {
                wrong.push(format!("{call}: {rows:?} but of lists {:?}", shown(lists.column(0))));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(computed > 100, "{computed}");
    });
}
