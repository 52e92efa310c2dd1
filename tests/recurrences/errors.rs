//! Misuse of functions along rows.

use ragged::{Device, RaggedTensor, Result, Row, Tensor};

type Step = fn(&[Row], &Row) -> Result<(Vec<Row>, Vec<Row>)>;

/// The error of a scan of `x` from `initial`.
fn error(x: &Tensor, initial: &[Tensor], step: Step) -> String {
    let out =
        x.scan_rows(initial, step).and_then(|out| out.outputs.iter().chain(&out.states).try_for_each(Tensor::eval));
    out.expect_err("an error").to_string()
}

#[test]
fn misuse() -> Result<()> {
    let device = Device::cpu();
    let x = RaggedTensor::from_nested([vec![1.0f32, 2.0], vec![], vec![3.0]], &device)?.into_erased();
    let zero = RaggedTensor::from_nested([0.0f32], &device)?.into_erased();
    let two = RaggedTensor::from_nested([0.0f32, 1.0], &device)?.into_erased();
    let pair = RaggedTensor::from_nested([[0.0f32, 1.0]], &device)?.into_erased();
    let integer = RaggedTensor::from_nested([0], &device)?.into_erased();
    let vector = RaggedTensor::from_nested([1.0f32, 2.0], &device)?.into_erased();
    let words = RaggedTensor::from_nested([vec!["a"], vec![]], &device)?.into_erased();
    let scalar = zero.reduce_sum(..)?;
    let keep: Step = |states, _| Ok((states.to_vec(), vec![]));
    let one = std::slice::from_ref;
    for (found, want) in [
        (error(&vector, one(&zero), keep), "scan_rows: a tensor of shape [2] has no rows"),
        (error(&words, one(&zero), keep), "scan_rows is not defined for str, at tests/recurrences"),
        (error(&x, &[], keep), "scan_rows: there must be at least one state"),
        (
            error(&x, one(&scalar), keep),
            "scan_rows: initial state 0 is a scalar; it needs a dimension of one entry per row",
        ),
        (error(&x, one(&two), keep), "scan_rows: initial state 0 has 2 entries for 3 rows"),
        (error(&x, &[zero.clone(), integer.clone()], keep), "scan_rows: state 1 is of i32, but state 0 of f32"),
        (error(&x, one(&zero), |_, _| Ok((vec![], vec![]))), "scan_rows: the step gives 0 states of 1"),
        (
            error(&x, one(&pair), |_, x| Ok((vec![x.clone()], vec![]))),
            "scan_rows: state 0 has the initial shape [1, 2], but another one after the step: [3]",
        ),
        (
            error(&x, one(&zero), |states, _| Ok((vec![states[0].cast(ragged::DType::F64)?], vec![]))),
            "scan_rows: state 0 is of f32, but of f64 after the step",
        ),
        (
            error(&x, one(&pair), |states, _| Ok((vec![states[0].sort(0)?], vec![]))),
            "scan_rows: `sort` of a state is no operation of a recurrence",
        ),
    ] {
        assert!(found.starts_with(want), "{found}\n{want}");
    }
    Ok(())
}
