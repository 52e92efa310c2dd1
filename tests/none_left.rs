//! Rows that a read has found to be none: results and errors of what is computed from them are those without the read.

mod common;

use common::{devices_and_unfused_cpu, groups};
use ragged::opt::reversed;
use ragged::{DType, RaggedTensor, Result, Tensor, s};

#[test]
fn rows_that_a_read_finds_to_be_none_are_nothing_to_do() {
    type Step = (&'static str, fn(&Tensor) -> Result<Tensor>);
    let steps: [Step; 11] = [
        ("cumsum", |x| x.cumsum(1)),
        ("linear_recurrence", |x| x.linear_recurrence(2, 1, 1)),
        ("cumsum reversed", |x| x.cumsum(reversed(1))),
        ("cummax", |x| x.cummax(1)),
        ("sum", |x| x.reduce_sum(1)),
        ("variance", |x| x.cast(DType::F32)?.reduce_variance(1)),
        ("sort", |x| x.sort(1)),
        ("argsort", |x| x.argsort(1)),
        ("top_k", |x| Ok(x.top_k(2, 1)?.0)),
        ("unique", |x| x.slice(s![.., 1..])?.set_union(x)),
        ("argmax", |x| x.argmax(1)),
    ];
    let mut wrong = Vec::new();
    for (name, device) in devices_and_unfused_cpu() {
        for (op, step) in steps {
            // No window of 3 values: as many values are expected as the rows have, and none are there.
            let x = RaggedTensor::from_nested(vec![vec![6i32], vec![2, 0], vec![-3, 7], vec![]], device);
            let read = x.and_then(|x| {
                let sums = x.into_erased().sliding_windows(3, 1)?.reduce_sum(-1)?.flat_values()?;
                let groups = sums.group_by_key(&sums)?.1;
                let result = step(&groups)?;
                let read = groups.rows_to_host(0..0)?.values.len();
                Ok((read, result.to_host()?.values.len()))
            });
            if read != Ok((0, 0)) {
                wrong.push(format!("{name}: {op}: {read:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A tensor whose check failed has no rows, as a read finds. What is computed from it fails with the same check, also
/// without an element to compute.
#[test]
fn a_result_without_elements_fails_with_its_operands() {
    type Step = fn(&Tensor, &Tensor) -> Result<Tensor>;
    let steps: [(&str, Step); 5] = [
        ("unsorted_segment_sum", |x, none| x.unsorted_segment_sum(&none.row_lengths(1)?, 2)),
        ("unsorted_segment_max", |x, none| x.unsorted_segment_max(&none.row_lengths(1)?, 2)),
        ("sum", |x, _| x.reduce_sum(1)),
        ("cumsum", |x, _| x.cumsum(1)),
        ("batch_scatter_add", |x, none| none.batch_scatter_add(none, x)),
    ];
    let mut wrong = Vec::new();
    for (name, device) in devices_and_unfused_cpu() {
        for (op, step) in steps {
            for is_read in [false, true] {
                let outcome = || {
                    let one = groups(3, device)?.into_erased();
                    let none = one.dynamic_partition(&one.row_lengths(1)?.multiply(0)?, 2)?.swap_remove(1);
                    // One row against none, which only the device sees.
                    let failing = one.broadcast_like(&none)?;
                    if is_read {
                        assert!(failing.to_host().is_err(), "{name}: the check holds");
                    }
                    step(&failing, &none)?.to_host()
                };
                let message = outcome().err().map_or_else(String::new, |e| e.to_string());
                if !message.contains("broadcast_like: shapes [None, None] and [None, None] have different sizes") {
                    wrong.push(format!("{name}: {op}, {}: {message:?}", if is_read { "read" } else { "not read" }));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
