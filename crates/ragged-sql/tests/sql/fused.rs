//! Nested calls are one program.

use arrow::array::{Array, AsArray};

use crate::calls::table;
use crate::session::{Session, own_devices};

const NESTED: &str = "SELECT ragged_sum(ragged_multiply(ragged_softmax(f), ragged_cumsum(f))) AS s, \
                      ragged_top_k(ragged_abs(n), 2) AS best FROM t";

#[test]
fn nested_calls_are_one_program_with_one_submission_and_upload_a_batch() {
    for device in own_devices() {
        let fused = Session::new(&device);
        let plain = Session::with(&device, 8192, false);
        fused.table("t", &table(), 100);
        plain.table("t", &table(), 100);
        let plan = fused.plan(NESTED);
        let text =
            "ragged_program(Utf8(\"ragged_reduce_sum(ragged_multiply(ragged_softmax($1), ragged_cumsum($1)))\"), t.f)";
        assert!(plan.contains(text), "{plan}");
        assert!(!plain.plan(NESTED).contains("ragged_program"));
        let want = plain.query(NESTED).expect("without the rule");
        assert_eq!(fused.query(NESTED).expect("with the rule"), want);
        let one = "SELECT ragged_sum(ragged_multiply(ragged_softmax(f), ragged_cumsum(f))) FROM t";
        fused.column(one);
        let before = device.stats();
        fused.column(one);
        let after = device.stats();
        assert_eq!(after.plans, before.plans);
        if !device.is_cpu() {
            assert_eq!(after.submissions - before.submissions, 1);
            assert_eq!(after.waits - before.waits, 1);
        }
    }
}

/// By the counters of the device: for each batch one submission, and an upload of each array of its column, once.
#[test]
fn each_batch_is_one_submission_and_one_upload() {
    const ROWS: usize = 2;
    const NESTED: &str = "SELECT ragged_sum(ragged_multiply(ragged_softmax(f), ragged_cumsum(f))) FROM t";
    for device in own_devices().into_iter().filter(|device| !device.is_cpu()) {
        let (fused, plain) = (Session::new(&device), Session::with(&device, 8192, false));
        let of_batches = |session: &Session| {
            session.table("t", &table(), ROWS);
            // Plans and tables.
            session.column(NESTED);
            let before = device.stats();
            session.column(NESTED);
            device.stats() - before
        };
        let (_, column) = table().into_iter().find(|(name, _)| *name == "f").expect("a column");
        let lists = column.as_list::<i32>();
        let batches = lists.len().div_ceil(ROWS);
        assert!(batches > 2);
        // The offsets of each batch have one number more than it has rows.
        let numbers = lists.values().len() + lists.len() + batches;
        let used = of_batches(&fused);
        assert_eq!(used.submissions, batches as u64, "{used:?}");
        assert_eq!(used.waits, batches as u64, "{used:?}");
        assert_eq!(used.bytes_uploaded, 4 * numbers as u64, "{used:?}");
        let used = of_batches(&plain);
        assert!(used.submissions > 3 * batches as u64, "a submission for each call: {used:?}");
        assert!(used.bytes_uploaded > 8 * numbers as u64, "{used:?}");
    }
}

/// Programs that are too deep for one text are several.
#[test]
fn deep_calls_are_several_programs() {
    let session = Session::new(&ragged::Device::cpu());
    session.table("t", &table(), 100);
    let call = format!("{}n{}", "ragged_negative(".repeat(41), ")".repeat(41));
    let got = session.column(&format!("SELECT {call} FROM t"));
    assert_eq!(got.to_data(), session.column("SELECT ragged_negative(n) FROM t").to_data());
}
