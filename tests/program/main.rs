//! Programs that are traced once and run on many inputs: results, errors, devices and threads.

#[path = "../common/mod.rs"]
mod common;
mod device_sizes;
mod shared_sizes;

use common::devices;
use ragged::opt::keep;
use ragged::{
    CpuOptions, DType, Device, DeviceOptions, Error, HostTensor, HostValues, Program, RaggedTensor, Result, Str,
    Tensor, TensorSpec, Tuning, s,
};

fn ragged_f32() -> TensorSpec {
    TensorSpec::new(DType::F32, [None, None]).ragged_rank(1)
}

fn rows(device: &Device, rows: &[&[f32]]) -> RaggedTensor<f32> {
    RaggedTensor::from_nested(rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>(), device).unwrap()
}

fn softmax(x: &Tensor) -> Result<Tensor> {
    let e = x.subtract(&x.reduce_max(keep(1))?)?.exp()?;
    e.truediv(&e.reduce_sum(keep(1))?)
}

#[test]
fn one_program_runs_on_every_batch_and_device() -> Result<()> {
    let program = Program::trace(&[ragged_f32()], |x| softmax(&x[0]))?;
    for (name, device) in devices() {
        for batch in [&[&[1.0f32, 2.0][..], &[], &[3.0]][..], &[], &[&[]], &[&[0.5; 700], &[1.0, -1.0]]] {
            let x = rows(&device, batch);
            let (got, want) = (program.run(&x)?, softmax(x.erased())?);
            assert_eq!(got.len(), 1);
            assert_eq!(got[0].to_host()?, want.to_host()?, "{name}: {batch:.60?}");
            assert_eq!((got[0].shape_text(), got[0].dtype()), (want.shape_text(), want.dtype()), "{name}");
        }
    }
    Ok(())
}

#[test]
fn several_outputs_of_several_inputs_in_one_list_or_tuple() -> Result<()> {
    let ids = TensorSpec::new(DType::I64, [None]);
    let table = TensorSpec::new(DType::F32, [None, Some(2)]);
    let program = Program::trace(&[ids, table], |x| {
        let rows = x[1].gather(&x[0])?;
        Ok((rows.reduce_sum(0)?, rows, x[0].clone()))
    })?;
    for (name, device) in devices() {
        let ids = RaggedTensor::from_nested([2i64, 0, 2], &device)?;
        let table = RaggedTensor::from_nested([[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]], &device)?;
        let out = program.run((&ids, &table))?;
        assert_eq!(out[0].to_string(), "tensor([11.0, 14.0], shape=(2,), dtype=f32)", "{name}");
        assert_eq!(out[1].shape(), [Some(3), Some(2)], "{name}");
        assert_eq!(out[2].to_host()?, ids.to_host()?, "{name}");
    }
    Ok(())
}

#[test]
fn strings_and_sizes_that_only_the_device_knows() -> Result<()> {
    let words = TensorSpec::new(DType::Str, [None, None]).ragged_rank(1);
    let program = Program::trace(&[words], |x| {
        let long = x[0].boolean_mask(&x[0].string_length()?.greater(2)?)?;
        Ok([long.string_upper()?, long.row_lengths(1)?])
    })?;
    for (name, device) in devices() {
        let x = RaggedTensor::<Str>::from_nested([vec!["a", "bcd"], vec![], vec!["efgh", "ij", "klm"]], &device)?;
        let out = program.run(&x)?;
        assert_eq!(out[0].to_string(), "<ragged.RaggedTensor [[b'BCD'], [], [b'EFGH', b'KLM']]>", "{name}");
        assert_eq!(out[1].to_string(), "tensor([1, 0, 2], shape=(3,), dtype=i64)", "{name}");
        // An input whose sizes only the device knows.
        let lines = RaggedTensor::<Str>::from_nested(["no word", "three words here"], &device)?.string_split(" ")?;
        let out = program.run(&lines)?;
        assert_eq!(out[0].to_string(), "<ragged.RaggedTensor [[b'WORD'], [b'THREE', b'WORDS', b'HERE']]>", "{name}");
    }
    Ok(())
}

#[test]
fn captured_tensors_are_constants_on_every_device() -> Result<()> {
    for (name, home) in devices() {
        let weights = RaggedTensor::from_nested([[1.0f32, 0.5], [0.0, 2.0]], &home)?;
        let bias = RaggedTensor::from_nested([0.25f32, -1.0], &home)?.multiply(2.0)?;
        let program = Program::trace(&[TensorSpec::new(DType::F32, [None, Some(2)])], |x| {
            weights.erased().add(&bias)?;
            x[0].matmul(&weights)?.add(&bias)
        })?;
        for (other, device) in devices() {
            let x = RaggedTensor::from_nested([[1.0f32, 1.0], [2.0, 0.0]], &device)?;
            let want = "tensor([[1.5, 0.5], [2.5, -1.0]], shape=(2, 2), dtype=f32)";
            assert_eq!(program.run(&x)?[0].to_string(), want, "captured on {name}, run on {other}");
        }
    }
    Ok(())
}

#[test]
fn several_ragged_levels_and_levels_of_one_length() -> Result<()> {
    let nested = TensorSpec::new(DType::I32, [None, None, None]).ragged_rank(2);
    let program = Program::trace(&[nested], |x| x[0].reduce_sum(2)?.reverse(1))?;
    let uniform = TensorSpec::new(DType::I32, [None, Some(2), None]).ragged_rank(2);
    let pairs = Program::trace(std::slice::from_ref(&uniform), |x| x[0].reduce_sum(1))?;
    for (name, device) in devices() {
        let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![]], vec![], vec![vec![3]]], &device)?;
        assert_eq!(program.run(&x)?[0].to_string(), "<ragged.RaggedTensor [[0, 3], [], [3]]>", "{name}");
        assert!(!uniform.accepts(&x));
        let p = ragged::RowPartition::from_uniform_row_length(2, 4, &device)?;
        let q = ragged::RowPartition::from_row_lengths([1, 2, 0, 1], &device)?;
        let flat = RaggedTensor::from_nested([1, 2, 3, 4], &device)?;
        let y = Tensor::from_row_partitions(&flat, &[p, q])?;
        assert!(uniform.accepts(&y), "{}", y.shape_text());
        assert_eq!(pairs.run(&y)?[0].to_host()?, y.reduce_sum(1)?.to_host()?, "{name}");
    }
    Ok(())
}

#[test]
fn a_failed_check_names_the_line_of_the_closure() -> Result<()> {
    let program = Program::trace(&[TensorSpec::new(DType::I64, [None]), TensorSpec::new(DType::F32, [None])], |x| {
        x[1].gather(&x[0])
    })?;
    let line = line!() - 2;
    for (name, device) in devices() {
        let values = RaggedTensor::from_nested([1.0f32, 2.0], &device)?;
        let out = program.run((&RaggedTensor::from_nested([0i64, 7], &device)?, &values))?;
        let error = out[0].to_host().unwrap_err();
        assert!(matches!(error, Error::Check { .. }), "{name}: {error}");
        assert_eq!(error.location().map(|at| at.line()), Some(line), "{name}: {error}");
        let out = program.run((&RaggedTensor::from_nested([1i64], &device)?, &values))?;
        assert_eq!(out[0].to_string(), "tensor([2.0], shape=(1,), dtype=f32)", "{name}");
    }
    Ok(())
}

#[test]
fn nothing_is_read_while_a_program_is_traced() {
    let read = |f: fn(&Tensor) -> Result<Tensor>| Program::trace(&[ragged_f32()], |x| f(&x[0])).unwrap_err();
    type Case = (&'static str, fn(&Tensor) -> Result<Tensor>);
    let cases: [Case; 5] = [
        ("a read", |x| x.to_host().map(|_: HostTensor| x.clone())),
        ("a read", |x| x.eval().map(|()| x.clone())),
        ("a read", |x| x.row_to_host(0).map(|_| x.clone())),
        ("a read", |x| x.reduce_sum(1)?.check().map(|()| x.clone())),
        ("to_tensor", |x| x.to_tensor(0.0)),
    ];
    for (op, f) in cases {
        match read(f) {
            Error::Traced { op: named, location } => {
                assert_eq!(named, op);
                assert!(location.file().ends_with("program/main.rs"), "{location}");
            }
            other => panic!("{op}: {other}"),
        }
    }
}

#[test]
fn inputs_that_do_not_fit_are_named() -> Result<()> {
    let program = Program::trace(&[ragged_f32(), TensorSpec::new(DType::I64, [Some(3)])], |x| Ok([x[0].clone()]))?;
    let device = Device::cpu();
    let x = rows(&device, &[&[1.0]]);
    let three = RaggedTensor::from_nested([1i64, 2, 3], &device)?;
    assert!(program.run((&x, &three)).is_ok());
    let error = program.run((&x, &RaggedTensor::from_nested([1i64, 2], &device)?)).unwrap_err();
    let want = "input 1 of the program must be TensorSpec(shape=[3], dtype=i64), but is a tensor of shape [2], dtype i64 \
                and ragged rank 0, at ";
    assert!(error.to_string().starts_with(want), "{error}");
    let error = program.run((&three, &three)).unwrap_err();
    assert!(error.to_string().starts_with("input 0 of the program must be TensorSpec(shape=[None, None]"), "{error}");
    let error = program.run(&x).unwrap_err();
    assert!(error.to_string().contains("it has 2 inputs, not 1"), "{error}");
    Ok(())
}

#[test]
fn specifications_that_are_no_tensors_are_refused() {
    let trace = |spec: TensorSpec| Program::trace(&[spec], |x| Ok([x[0].clone()])).unwrap_err().to_string();
    let error = trace(TensorSpec::new(DType::F32, [None, None]));
    assert!(error.contains("dimension 1 of TensorSpec(shape=[None, None], dtype=f32) is uniform"), "{error}");
    let error = trace(TensorSpec::new(DType::F32, [None]).ragged_rank(1));
    assert!(error.contains("must have more than 1 dimensions, but has 1"), "{error}");
}

#[test]
fn runs_with_inputs_of_many_sizes_have_one_plan() -> Result<()> {
    for device in [Device::cpu_with(&CpuOptions::default())].into_iter().chain(Device::gpu_with(&Default::default())) {
        let program = Program::trace(&[ragged_f32(), TensorSpec::new(DType::F32, [])], |x| {
            x[0].subtract(&x[0].reduce_mean(keep(1))?.multiply(&x[1])?)?.reduce_sum(1)
        })?;
        let mut plans = None;
        for n in 0..if device.is_cpu() { 100 } else { 10 } {
            let lengths = (0..2 + n).map(|k| (0..(k * 7 + n) % 11).map(|v| v as f32).collect::<Vec<_>>());
            let x = RaggedTensor::from_nested(lengths.collect::<Vec<_>>(), &device)?;
            let rate = RaggedTensor::from_nested(n as f32, &device)?;
            let want = x.subtract(&x.reduce_mean(keep(1))?.multiply(&rate)?)?.reduce_sum(1)?.to_vec()?;
            let before = device.stats().plans;
            let out = program.run((&x, &rate))?;
            assert_eq!(out[0].to_host()?.values, HostValues::F32(want), "{n}");
            let made = device.stats().plans - before;
            assert!(made == 0 || plans.replace(n).is_none() && made == 1, "batch {n} makes {made} plans");
        }
    }
    Ok(())
}

#[test]
fn a_run_leaves_nothing_to_compute() -> Result<()> {
    // A scalar that varies, an output of known size, and outputs whose sizes only the device knows.
    let record = |x: &Tensor, rate: &Tensor| {
        let scaled = x.multiply(rate)?;
        let large = scaled.boolean_mask(&scaled.greater(2.0)?)?;
        Ok((softmax(x)?, large.clone(), large.reduce_sum(1)?, large.reverse(1)?))
    };
    let program = Program::trace(&[ragged_f32(), TensorSpec::new(DType::F32, [])], |x| record(&x[0], &x[1]))?;
    let fresh = [Device::cpu_with(&CpuOptions::default())].into_iter().chain(Device::gpu_with(&Default::default()));
    for device in fresh {
        let mut plans = 0;
        for n in 0..8 {
            let lengths = (0..5 + n).map(|k| (0..(k * 5 + n) % 7).map(|v| v as f32).collect::<Vec<_>>());
            let x = RaggedTensor::from_nested(lengths.collect::<Vec<_>>(), &device)?;
            let rate = RaggedTensor::from_nested(1.0 + n as f32, &device)?;
            let before = device.stats();
            let out = program.run((&x, &rate))?;
            let spent = device.stats() - before;
            plans += spent.plans;
            assert_eq!((plans, spent.waits), (1, 0), "{}: batch {n}", device.name());
            assert!(spent.dispatches > 0, "{}: batch {n}", device.name());
            for x in &out {
                assert!(x.explain()?.kernels.is_empty(), "{}: {}", device.name(), x.explain()?);
            }
            let want = record(x.erased(), rate.erased())?;
            for (got, want) in out.iter().zip([&want.0, &want.1, &want.2, &want.3]) {
                assert_eq!((got.shape_text(), got.dtype()), (want.shape_text(), want.dtype()));
                // Operations on the result, before and after its sizes are read.
                let negative = got.multiply(-1.0)?.to_host()?;
                assert_eq!(got.to_host()?, want.to_host()?, "{}: batch {n}", device.name());
                assert_eq!(negative, want.multiply(-1.0)?.to_host()?, "{}: batch {n}", device.name());
                assert_eq!(got.nrows()?.to_host()?, want.nrows()?.to_host()?, "{}: batch {n}", device.name());
            }
        }
    }
    Ok(())
}

#[test]
fn sizes_whose_bounds_would_take_much_memory_are_read_in_a_run() -> Result<()> {
    let words = TensorSpec::new(DType::I32, [None, None]).ragged_rank(1);
    let pairs = |x: &Tensor| {
        let few = x.boolean_mask(&x.greater(6)?)?;
        few.add(1)?.boolean_mask(&few.floormod(2)?.equal(0)?)?.reduce_sum(1)
    };
    let program = Program::trace(&[words], |x| pairs(&x[0]))?;
    let staged = DeviceOptions::default().tuning(Tuning::default().stage_bytes(1 << 10));
    for device in Device::gpu_with(&staged).into_iter() {
        for n in [3, 4000] {
            let data: Vec<Vec<i32>> = (0..n).map(|k| (0..k % 9).collect()).collect();
            let x = RaggedTensor::from_nested(data, &device)?;
            assert_eq!(program.run(&x)?[0].to_host()?, pairs(x.erased())?.to_host()?, "{n} rows");
        }
    }
    Ok(())
}

#[test]
fn an_explanation_has_the_kernels_of_the_recorded_program() -> Result<()> {
    let program = Program::trace(&[ragged_f32()], |x| softmax(&x[0]))?;
    for (name, device) in devices() {
        let x = rows(&device, &[&[1.0, 2.0], &[], &[3.0]]);
        let (traced, recorded) = (program.explain(&x)?, softmax(x.erased())?.explain()?);
        assert!(!traced.kernels.is_empty(), "{name}");
        assert_eq!(traced.kernels.len(), recorded.kernels.len(), "{name}:\n{traced}\n{recorded}");
    }
    Ok(())
}

#[test]
fn threads_run_one_program_with_inputs_of_their_own() -> Result<()> {
    let program = Program::trace(&[ragged_f32()], |x| softmax(&x[0].slice(s![.., ..3])?))?;
    for (name, device) in devices() {
        std::thread::scope(|scope| {
            for t in 0..4 {
                let (program, device, name) = (&program, &device, &name);
                scope.spawn(move || {
                    for n in 0..20 {
                        let data: Vec<Vec<f32>> = (0..n).map(|k| vec![(k + t) as f32; k % 5]).collect();
                        let x = RaggedTensor::from_nested(data, device).unwrap();
                        let want = softmax(&x.erased().slice(s![.., ..3]).unwrap()).unwrap();
                        let got = program.run(&x).unwrap();
                        assert_eq!(got[0].to_host().unwrap(), want.to_host().unwrap(), "{name}");
                    }
                });
            }
        });
    }
    Ok(())
}

#[test]
fn a_program_is_traced_within_another_and_run_there() -> Result<()> {
    let inner = Program::trace(&[ragged_f32()], |x| softmax(&x[0]))?;
    let outer = Program::trace(&[ragged_f32()], |x| inner.run(&x[0])?[0].reduce_sum(1))?;
    let x = rows(&Device::cpu(), &[&[1.0, 2.0], &[], &[3.0]]);
    assert_eq!(outer.run(&x)?[0].to_string(), "tensor([1.0, 0.0, 1.0], shape=(3,), dtype=f32)");
    assert_eq!(outer.replay_difference()?, None);
    Ok(())
}
