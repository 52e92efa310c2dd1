//! Gradients of programs: those of the function that was traced, bit for bit, on all devices and from a file.

use ragged::{
    CpuOptions, DType, Device, DeviceOptions, Explain, Program, RaggedTensor, Result, SavedModel, Tensor, TensorSpec,
    grad, s, value_and_grad,
};

use crate::common::devices;

fn rows(device: &Device, lengths: &[usize]) -> Tensor {
    let value = |k: usize| ((k * 37 % 101) as f32 - 50.0) / 32.0;
    let mut next = (0..).map(value);
    let mut row = |length: usize| next.by_ref().take(length).collect::<Vec<f32>>();
    let rows: Vec<Vec<f32>> = lengths.iter().map(|&length| row(length)).collect();
    RaggedTensor::from_nested(rows, device).unwrap().into_erased()
}

fn scalar(device: &Device, value: f32) -> Tensor {
    RaggedTensor::from_nested(value, device).unwrap().into_erased()
}

fn specs() -> [TensorSpec; 3] {
    [
        TensorSpec::new(DType::F32, [None, None]).ragged_rank(1),
        TensorSpec::new(DType::F32, []),
        TensorSpec::new(DType::I64, [None, None]).ragged_rank(1),
    ]
}

/// Inputs of the specifications: rows, a number, and integers in rows of lengths that only the device knows.
fn inputs(device: &Device, lengths: &[usize]) -> [Tensor; 3] {
    let x = rows(device, lengths);
    let ids = lengths.iter().map(|&length| (0..length as i64).map(|k| k * 5 % 13).collect());
    let ids = RaggedTensor::from_nested(ids.collect::<Vec<Vec<i64>>>(), device).unwrap();
    [x, scalar(device, 1.25), ids.slice(s![.., ..;2]).unwrap().into_erased()]
}

fn loss(x: &[Tensor], table: &Tensor) -> Result<Tensor> {
    let weights = x[0].multiply(&x[1])?.softmax(1)?.multiply(&x[0])?.reduce_sum(1)?;
    let looked_up = table.gather(&x[2].floormod(4i64)?)?.multiply(&x[1])?.reduce_sum(1)?;
    let ends = x[0].slice(s![.., -2..])?.square()?.reduce_sum(..)?;
    weights.multiply(&looked_up)?.reduce_sum(..)?.add(&ends)
}

/// The bits of tensors.
fn bits(tensors: &[Tensor]) -> Vec<String> {
    tensors.iter().map(|x| format!("{:?}", x.to_host().unwrap())).collect()
}

#[test]
fn gradients_are_those_of_the_function_from_a_file_too() -> Result<()> {
    for (name, device) in devices() {
        let table = RaggedTensor::from_nested(vec![0.5f32, -1.0, 2.0, 0.25], &device)?.into_erased();
        let program = Program::trace(&specs(), |x| Ok([loss(x, &table)?, x[0].reduce_max(1)?]))?;
        let [gradient, all] = [program.grad([1, 0])?, program.value_and_grad(0..2)?];
        for program in [&gradient, &all] {
            assert_eq!(program.inputs(), specs());
            assert_eq!(program.replay_difference()?, None);
        }
        let model = SavedModel::new().with_program("loss", &program).with_program("gradient", &gradient).to_bytes()?;
        let read = SavedModel::from_bytes(model)?;
        for lengths in [&[3usize, 0, 1, 4][..], &[], &[0, 0], &[600, 1, 0, 300]] {
            let x = inputs(&device, lengths);
            let (value, of) =
                value_and_grad(|at| loss(&[at[0].clone(), at[1].clone(), x[2].clone()], &table), [&x[0], &x[1]])?;
            let want = bits(&[of[1].clone(), of[0].clone()]);
            assert_eq!(bits(&gradient.run(&x)?), want, "{name} {lengths:?}");
            assert_eq!(bits(&read.program("gradient")?.run(&x)?), want, "saved gradient on {name} {lengths:?}");
            let of_read = read.program("loss")?.grad([1, 0])?;
            assert_eq!(bits(&of_read.run(&x)?), want, "gradient of a saved program on {name} {lengths:?}");
            let all_want = bits(&[value, x[0].reduce_max(1)?, of[0].clone(), of[1].clone()]);
            assert_eq!(bits(&all.run(&x)?), all_want, "{name} {lengths:?}");
        }
    }
    Ok(())
}

#[test]
fn gradients_of_gradients() -> Result<()> {
    for (name, device) in devices() {
        let cube = Program::trace(&[TensorSpec::new(DType::F32, [])], |x| x[0].square()?.multiply(&x[0]))?;
        let x = scalar(&device, 5.0);
        let [first, second] = [cube.grad([0])?, cube.grad([0])?.grad([0])?];
        let third = second.value_and_grad([0])?;
        let shown = |program: &Program| Ok(bits(&program.run(&x)?));
        assert_eq!(shown(&first)?, bits(&[scalar(&device, 75.0)]), "{name}");
        assert_eq!(shown(&second)?, bits(&[scalar(&device, 30.0)]), "{name}");
        assert_eq!(shown(&third)?, bits(&[scalar(&device, 30.0), scalar(&device, 6.0)]), "{name}");
        // The product of the Hessian with a vector, by a program of the gradient within a trace.
        let [of_rows, _, _] = specs();
        let energy = |x: &Tensor| x.cumsum(1)?.square()?.multiply(x)?.reduce_sum(..);
        let slope = Program::trace(std::slice::from_ref(&of_rows), |x| energy(&x[0]))?.grad([0])?;
        let along = Program::trace(&[of_rows.clone(), of_rows], |x| {
            slope.run(&x[0])?[0].multiply(&x[0].with_flat_values(&x[1].flat_values()?)?)?.reduce_sum(..)
        })?;
        let (x, v) = (rows(&device, &[3, 0, 2]), rows(&device, &[3, 0, 2]).add(1.0f32)?);
        let found = along.grad([0])?.run([&x, &v])?;
        let want = grad(|at| grad(|x| energy(&x[0]), [&at[0]])?[0].multiply(&v)?.reduce_sum(..), [&x])?;
        assert_eq!(bits(&found), bits(&want), "{name}");
    }
    Ok(())
}

/// Sizes that a trace does not know leave the order of sums as it is, and need no sort more.
#[test]
fn joined_rows_of_rows() -> Result<()> {
    for (name, device) in devices() {
        let x = Tensor::from_row_splits(&rows(&device, &[3, 0, 2, 1, 4]), [0, 2, 2, 5])?;
        let spec = TensorSpec::new(DType::F32, [None, None, None]).ragged_rank(2);
        let joined = |x: &Tensor| {
            let other = x.multiply(0.3f32)?.exp()?;
            let rows = Tensor::concat(&[x, &other, x, x], 1)?;
            let all = Tensor::concat(&[&rows, &x.multiply(0.7f32)?, &x.multiply(0.9f32)?], 1)?;
            let all = Tensor::stack(&[&all, &all.multiply(1.1f32)?], 1)?.flat_values()?.square()?.reduce_sum(..)?;
            all.add(&x.tile(&[2, 2, 2])?.flat_values()?.square()?.reduce_sum(..)?)
        };
        let step = Program::trace(&[spec], |x| joined(&x[0]))?.grad([0])?;
        assert_eq!(bits(&step.run(&x)?), bits(&grad(|x| joined(&x[0]), [&x])?), "{name}");
        let sorts = |of: &Explain| of.kernels.iter().filter(|kernel| kernel.kind.contains("sort")).count();
        assert_eq!(sorts(&step.explain(&x)?), 0, "{name}");
    }
    Ok(())
}

#[test]
fn only_the_first_of_runs_of_many_sizes_is_planned() -> Result<()> {
    // Devices of this test alone: their plans are counted.
    let gpu = Device::gpu_with(&DeviceOptions::default()).map(|device| ("gpu", device));
    for (name, device) in [("cpu", Device::cpu_with(&CpuOptions::default()))].into_iter().chain(gpu) {
        let table = RaggedTensor::from_nested(vec![0.5f32, -1.0, 2.0, 0.25], &device)?.into_erased();
        let step = Program::trace(&specs(), |x| loss(x, &table))?.value_and_grad([0, 1])?;
        let run = |n: usize| -> Result<u64> {
            let x = inputs(&device, &[n, 0, 2 * n, 1]);
            ragged::eval(&x)?;
            let before = device.stats().plans;
            step.run(&x)?.iter().try_for_each(|output| output.to_host().map(|_| ()))?;
            Ok(device.stats().plans - before)
        };
        assert!(run(1)? > 0, "{name}: the first run is planned");
        for n in 2..20 {
            assert_eq!(run(n)?, 0, "{name}: run {n}");
        }
    }
    Ok(())
}

#[test]
fn conditions_of_the_value_are_those_of_the_gradient() -> Result<()> {
    for (name, device) in devices() {
        let [of_rows, _, ids] = specs();
        let program = Program::trace(&[of_rows, ids], |x| x[0].flat_values()?.gather(&x[1])?.reduce_sum(..))?;
        let gradient = program.grad([0])?;
        let x = rows(&device, &[2, 1]);
        let ids = |at: i64| RaggedTensor::from_nested([vec![2i64, 0], vec![at]], &device).unwrap().into_erased();
        let found = &gradient.run([&x, &ids(2)])?[0];
        assert_eq!(found.to_string(), "<ragged.RaggedTensor [[1.0, 0.0], [2.0]]>", "{name}");
        let error = gradient.run([&x, &ids(3)])?[0].to_host().expect_err("an index out of range").to_string();
        assert!(error.contains("gather") && error.contains("tests/gradients/programs.rs"), "{name}: {error}");
    }
    Ok(())
}

#[test]
fn mistakes_are_named() -> Result<()> {
    let text = |result: Result<Program>| result.map(|_| ()).expect_err("an error").to_string();
    let program = Program::trace(&specs(), |x| Ok([x[0].reduce_sum(1)?, x[0].reduce_sum(..)?]))?;
    let error = text(program.grad([2]));
    let want = "Program::grad is not defined for i64: input 2 does not hold floats, which alone have derivatives";
    assert!(error.starts_with(want) && error.contains("tests/gradients/programs.rs"), "{error}");
    let error = text(program.value_and_grad([0, 3]));
    assert!(error.starts_with("Program::value_and_grad: input 3 of a program that has 3 inputs"), "{error}");
    let error = text(program.grad([1, 0, 1]));
    assert!(error.starts_with("Program::grad: input 1 is named twice"), "{error}");
    let error = text(program.grad([]));
    assert!(error.starts_with("Program::grad: no input is named"), "{error}");
    let error = text(program.grad([0]));
    let want = "Program::grad: output 0 of the program is a f32 of shape [None], not one float; reduce it";
    assert!(error.starts_with(want) && error.contains("tests/gradients/programs.rs"), "{error}");
    let nothing = Program::trace(&specs(), |_| Ok(Vec::<Tensor>::new()))?;
    let error = text(nothing.grad([0]));
    assert!(error.starts_with("Program::grad: the program has no output"), "{error}");
    let counts = Program::trace(&specs(), |x| x[0].count_nonzero(..))?;
    let error = text(counts.grad([0]));
    assert!(error.starts_with("Program::grad: output 0 of the program is a i64 of shape []"), "{error}");
    let missing = Program::trace(&specs(), |x| x[0].digamma()?.reduce_sum(..))?.grad([0])?;
    let twice = Program::trace(&specs(), |x| missing.run(x)?[0].reduce_sum(..))?.grad([0]);
    assert!(text(twice).contains("it has no gradient"));
    Ok(())
}
