//! Runs on inputs whose sizes only the device knows: a trace saw their sizes as numbers of the host.

use super::common::devices;
use ragged::opt::keep;
use ragged::{DType, Device, Error, Program, RaggedTensor, Result, Tensor, TensorSpec, s};

/// Functions of a ragged matrix of f32 and of a vector.
#[allow(clippy::type_complexity)] // a table
const FUNCTIONS: &[(&str, fn(&Tensor, &Tensor) -> Result<Tensor>)] = &[
    ("sum of all", |x, _| x.reduce_sum(..)),
    ("maximum of all", |x, _| x.reduce_max(..)),
    ("mean of all", |x, _| x.reduce_mean(..)),
    ("sum of a vector", |_, v| v.reduce_sum(0)),
    ("sum of rows", |x, _| x.reduce_sum(1)),
    ("sum of columns", |x, _| x.reduce_sum(0)),
    ("variance", |x, _| x.reduce_variance(..)),
    ("softmax", |x, _| x.softmax(1)),
    ("centered", |x, _| x.subtract(&x.reduce_mean(keep(1))?)),
    ("cumsum of a vector", |_, v| v.cumsum(0)),
    ("sort of a vector", |_, v| v.sort(0)),
    ("reversed", |_, v| v.reverse(0)),
    ("sum over twice", |_, v| Tensor::concat(&[v, v], 0)?.reduce_sum(0)),
    ("repeat", |_, v| Tensor::stack(&[v, v], 1)?.reduce_sum(1)),
    ("all of two columns", |_, v| Tensor::stack(&[v, v], 1)?.reduce_sum(..)),
    ("columns of two", |_, v| Tensor::stack(&[v, v], 1)?.reduce_max(0)),
    ("two rows", |_, v| Tensor::stack(&[v, v], 0)?.reduce_max(1)),
    ("cumsum of two rows", |_, v| Tensor::stack(&[v, v], 0)?.cumsum(1)),
    ("sort of two rows", |_, v| Tensor::stack(&[v, v], 0)?.sort(1)),
    ("softmax of two rows", |_, v| Tensor::stack(&[v, v], 0)?.softmax(1)),
    ("reversed two rows", |_, v| Tensor::stack(&[v, v], 0)?.reverse(1)),
    ("product of two rows", |_, v| {
        let m = Tensor::stack(&[v, v], 0)?;
        m.matmul(m.t())
    }),
    ("argmax", |_, v| v.argmax(0)),
    ("top_k", |_, v| Tensor::stack(&[v, v], 0)?.reduce_min(1)),
    ("unique", |_, v| v.unique(0)),
    ("gather", |_, v| v.gather(&v.argsort(0)?)),
    ("after the first", |_, v| v.slice(s![1..])?.reduce_sum(0)),
    ("size", |x, v| v.multiply(2.0f32)?.add(&x.reduce_sum(..)?)?.reduce_sum(0)),
];

#[test]
fn runs_on_sizes_that_only_the_device_knows() -> Result<()> {
    let specs = [TensorSpec::new(DType::F32, [None, None]).ragged_rank(1), TensorSpec::new(DType::F32, [None])];
    let inputs = |device: &Device, n: usize| -> Result<(Tensor, Tensor)> {
        let rows: Vec<Vec<f32>> =
            (0..n).map(|r| (0..r * 5 % 7).map(|k| (r * 3 + k) as f32 % 11.0 - 2.0).collect()).collect();
        let x = RaggedTensor::from_nested(rows, device)?.into_erased();
        let v = RaggedTensor::from_nested((0..3 * n).map(|k| (k % 13) as f32 - 4.0).collect::<Vec<_>>(), device)?
            .into_erased();
        let (even, positive) = (x.slice(s![.., ..;2])?, v.boolean_mask(&v.greater(0.0f32)?)?);
        Ok((even, positive))
    };
    let mut wrong = Vec::new();
    for (name, device) in devices() {
        for &(what, f) in FUNCTIONS {
            let program = Program::trace(&specs, |x| f(&x[0], &x[1]))?;
            for n in [0, 1, 5, 400] {
                let (x, v) = inputs(&device, n)?;
                let got = program.run((&x, &v)).and_then(|out| out[0].to_host());
                let (x, v) = inputs(&device, n)?;
                let want = f(&x, &v)?.to_host()?;
                // As text, in which NaN equals NaN.
                let [got, want] = [format!("{got:?}"), format!("{:?}", Ok::<_, Error>(want))];
                if got != want {
                    wrong.push(format!("{name}: {what}, {n}: {got:.300} instead of {want:.300}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

#[test]
fn a_run_within_a_trace_has_no_sizes_to_read() -> Result<()> {
    let spec = [TensorSpec::new(DType::F32, [None])];
    let sum = Program::trace(&spec, |x| x[0].reduce_sum(0))?;
    assert!(Program::trace(&spec, |x| sum.run(&x[0])).is_ok());
    let line = line!() + 1;
    let error = Program::trace(&spec, |x| sum.run(&x[0].boolean_mask(&x[0].greater(0.0f32)?)?)).unwrap_err();
    assert!(matches!(error, Error::Traced { .. }), "{error}");
    let want = format!(
        "Program::run needs values of an input of a program that is traced, which has none, at {}:{line}",
        file!()
    );
    assert_eq!(error.to_string(), want);
    Ok(())
}

#[test]
fn a_recording_that_must_not_block_awaits_the_sizes() -> Result<()> {
    let spec = [TensorSpec::new(DType::F32, [None])];
    let sum = Program::trace(&spec, |x| x[0].reduce_sum(0))?;
    for (name, device) in devices() {
        let v = RaggedTensor::from_nested([1.0f32, -2.0, 3.0], &device)?.into_erased();
        let positive = v.boolean_mask(&v.greater(0.0f32)?)?;
        let out = pollster::block_on(ragged::record_async(|| sum.run(&positive)))?;
        assert_eq!(out[0].to_string(), "tensor(4.0, shape=(), dtype=f32)", "{name}");
    }
    Ok(())
}
