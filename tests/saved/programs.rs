//! Programs of files: what they share with tensors, where they run, and what happens to ones that break a rule.

use ragged::opt::{keep, reversed};
use ragged::{DType, Device, Program, RaggedTensor, Result, SavedModel, Tensor, TensorSpec};
use serde_json::{Value, json};

use crate::bits;
use crate::common::devices;
use crate::fixture::inputs;
use crate::mutations::{parts, with_manifest};

/// The names of the arrays of a file.
fn arrays(bytes: &[u8]) -> Vec<String> {
    let (header, ..) = parts(bytes);
    header.as_object().expect("a header").keys().filter(|name| *name != "__metadata__").cloned().collect()
}

#[test]
fn captured_tensors_that_have_a_name_are_written_once() -> Result<()> {
    let floats =
        |rows: [[f32; 2]; 3], device: &Device| RaggedTensor::from_nested(rows, device).map(RaggedTensor::into_erased);
    for (name, device) in devices() {
        let table = floats([[0.5, 1.0], [2.0, -1.0], [0.25, 8.0]], &device)?;
        let other = floats([[0.5, 1.0], [2.0, -1.0], [0.25, 9.0]], &device)?;
        let lists = RaggedTensor::from_nested([vec![3i64, 1], vec![], vec![2, 2, 7]], &device)?.into_erased();
        let words = RaggedTensor::from_nested([vec!["a", "Ragged"], vec![], vec!["", "b"]], &device)?.into_erased();
        let program = Program::trace(&[TensorSpec::new(DType::I64, [None])], |x| {
            Ok((table.gather(&x[0])?, lists.gather(&x[0])?, words.gather(&x[0])?))
        })?;
        let model =
            SavedModel::new().with_program("p", &program).with_tensor("lists", &lists).with_tensor("words", &words);
        let bytes = model.with_tensor("table", &table).to_bytes()?;
        let want = ["lists", "lists.row_splits.0", "table", "words", "words.row_splits.0", "words.string_splits"];
        assert_eq!(arrays(&bytes), want, "{name}");
        let read = SavedModel::from_bytes(bytes.clone())?;
        let ids = RaggedTensor::from_nested([2i64, 0, 2], &device)?;
        for (got, want) in read.program("p")?.run(&ids)?.iter().zip(program.run(&ids)?) {
            assert_eq!(bits(&got.to_host()?), bits(&want.to_host()?), "{name}");
        }
        assert!(read.to_bytes()? == bytes, "{name}: another file of the model that was read");
        // Another tensor under the name: the program keeps its own.
        let replaced = read.with_tensor("table", &other).to_bytes()?;
        assert!(arrays(&replaced).contains(&"captured.0".to_owned()), "{name}: {:?}", arrays(&replaced));
        let got = SavedModel::from_bytes(replaced)?.program("p")?.run(&ids)?[0].to_host()?;
        assert_eq!(bits(&got), bits(&program.run(&ids)?[0].to_host()?), "{name}");
    }
    Ok(())
}

/// A recurrence and its gradient, with weights that the file holds, on rows of other lengths.
#[test]
fn recurrences_of_files() -> Result<()> {
    let traced = |device: &Device| -> Result<Program> {
        let weights = RaggedTensor::from_nested([[0.5f32, -0.25], [0.125, 0.75]], device)?.into_erased();
        let start = RaggedTensor::from_nested([[0.25f32, -1.0]], device)?.into_erased();
        let scanned = move |x: &Tensor| {
            x.scan_rows(ragged::opt::backwards([&start]), |states, x| {
                let state = (&states[0].matmul(&weights)? + x)?.tanh()?;
                Ok((vec![state.clone()], vec![(&state * x)?]))
            })
        };
        let spec = TensorSpec::new(DType::F32, [None, None, Some(2)]).ragged_rank(1);
        Program::trace(&[spec], |x| {
            let of_x = ragged::grad(|x| scanned(&x[0])?.outputs[0].square()?.reduce_sum(..), [&x[0]])?;
            let out = scanned(&x[0])?;
            Ok((out.outputs[0].clone(), out.states[0].clone(), of_x[0].clone()))
        })
    };
    let mut first = None;
    for (name, device) in devices() {
        let program = traced(&device)?;
        let bytes = SavedModel::new().with_program("p", &program).to_bytes()?;
        let read = SavedModel::from_bytes(bytes.clone())?;
        assert!(read.to_bytes()? == bytes, "{name}");
        let mut found = Vec::new();
        for lengths in [&[3usize, 0, 1][..], &[0], &[40, 2]] {
            let rows: Vec<Vec<[f32; 2]>> = lengths
                .iter()
                .map(|&n| (0..n).map(|k| [k as f32 / 8.0 - 1.0, 0.5 - k as f32 / 16.0]).collect())
                .collect();
            let x = RaggedTensor::from_nested(rows, &device)?;
            for (got, want) in read.program("p")?.run(&x)?.iter().zip(program.run(&x)?) {
                let got = bits(&got.to_host()?);
                assert_eq!(got, bits(&want.to_host()?), "{name}: {lengths:?}");
                found.push(got);
            }
        }
        assert!(*first.get_or_insert_with(|| found.clone()) == found, "{name}");
    }
    Ok(())
}

#[test]
fn linear_recurrences_of_files() -> Result<()> {
    for (name, device) in devices() {
        let program = Program::trace(&[TensorSpec::new(DType::F32, [None, None]).ragged_rank(1)], |x| {
            let decayed = x[0].linear_recurrence(&x[0], 0.5, reversed(1))?;
            Ok((decayed, x[0].linear_recurrence(0.5, 0.0, 1)?, x[0].cumsum(1)?))
        })?;
        let bytes = SavedModel::new().with_program("p", &program).to_bytes()?;
        let read = SavedModel::from_bytes(bytes.clone())?;
        assert!(read.to_bytes()? == bytes, "{name}");
        let x = RaggedTensor::from_nested([vec![0.5f32, -1.5, 3.0], vec![], vec![0.25]], &device)?;
        let found = read.program("p")?.run(&x)?;
        assert_eq!(bits(&found[0].to_host()?), bits(&program.run(&x)?[0].to_host()?), "{name}");
        let values = |k: usize| found[k].to_host().map(|y| format!("{:?}", y.values));
        assert_eq!(values(0)?, "F32([-3.625, -8.25, 4.5, 0.375])", "{name}");
        assert_eq!(values(1)?, "F32([0.5, -1.25, 2.375, 0.25])", "{name}");
        assert_eq!(values(2)?, "F32([0.5, -1.0, 2.0, 0.25])", "{name}");
    }
    Ok(())
}

#[test]
fn a_program_without_inputs_runs_on_any_device() -> Result<()> {
    let table = RaggedTensor::from_nested([vec![0.5f32, 1.5], vec![2.0]], &Device::cpu())?;
    let sums = Program::trace(&[], |_| table.subtract(&table.reduce_mean(keep(1))?))?;
    let read = SavedModel::from_bytes(SavedModel::new().with_program("sums", &sums).to_bytes()?)?;
    let program = read.program("sums")?;
    let want = bits(&sums.run([&table; 0])?[0].to_host()?);
    for (name, device) in devices() {
        let got = &program.run_on(&device)?[0];
        assert_eq!(got.device().is_cpu(), device.is_cpu(), "{name}");
        assert_eq!(bits(&got.to_host()?), want, "{name}");
    }
    assert!(program.run([&table; 0])?[0].device().is_cpu());
    Ok(())
}

#[test]
fn outputs_that_refer_to_nothing_are_refused() -> Result<()> {
    let bytes = with_manifest(|manifest| {
        manifest["programs"]["softmax"]["outputs"][0]["levels"][0]["rows"] = json!({"splits": 1_000_000});
    })?;
    let e = SavedModel::from_bytes(bytes).expect_err("no such array").to_string();
    assert!(e.contains("program \"softmax\": output 0: a reference to nothing"), "{e}");
    Ok(())
}

/// A file whose program `positive` has its counts at places that their arrays do not have.
fn broken() -> Result<SavedModel> {
    let bytes = with_manifest(|manifest| {
        let program = &mut manifest["programs"]["positive"];
        let sizes = program["code"]["sizes"].as_array_mut().expect("sizes");
        let far = sizes.len();
        for size in sizes.iter_mut().filter(|size| !size["count"].is_null()) {
            size["count"]["at"] = far.into();
        }
        sizes.push(json!({"const": 1_000_000}));
        program["sizes"].as_array_mut().expect("origins").push(Value::Null);
    })?;
    SavedModel::from_bytes(bytes)
}

fn assert_is_guarded<T>(what: &str, outcome: Result<T>) {
    let e = outcome.err().unwrap_or_else(|| panic!("{what}: the rule is kept")).to_string();
    assert!(e.contains("the program breaks a rule that recorded ones keep"), "{what}: {e}");
    assert!(e.contains("tests/saved/programs.rs"), "{what}: {e}");
}

#[test]
fn programs_that_break_a_rule_are_errors() -> Result<()> {
    let (device, model) = (Device::cpu(), broken()?);
    let program = model.program("positive")?;
    let given = inputs("positive", &device)?;
    assert_is_guarded("run", program.run(&given));
    // Within another program, and within one in that.
    let outer = Program::trace(program.inputs(), |x| program.run(x))?;
    assert_is_guarded("run in a program", outer.run(&given));
    let outermost = Program::trace(program.inputs(), |x| outer.run(x))?;
    assert_is_guarded("run in two programs", outermost.run(&given));
    // Not computed before its outputs are read, on inputs that the run records.
    let recorded = given[0].add(1.0)?;
    assert_is_guarded("run on a recording", program.run(&recorded));
    Ok(())
}

/// The text of an error, without the place.
fn text<T>(outcome: Result<T>) -> String {
    let e = outcome.err().expect("a check that fails").to_string();
    e.split(", at ").next().unwrap_or_default().to_owned()
}

#[test]
fn failed_checks_say_the_same_as_in_the_original() -> Result<()> {
    let (ids, rows) = (TensorSpec::new(DType::I64, [None]), TensorSpec::new(DType::I64, [None, None]).ragged_rank(1));
    let words = TensorSpec::new(DType::Str, [None]);
    let lists = RaggedTensor::from_nested([vec![3i64, 1], vec![]], &Device::cpu())?.into_erased();
    let numerals = RaggedTensor::from_nested(["12", "twelve"], &Device::cpu())?.into_erased();
    let gather = Program::trace(&[ids.clone(), rows.clone()], |x| x[1].gather(&x[0]))?;
    let captured = Program::trace(std::slice::from_ref(&ids), |x| lists.gather(&x[0]))?;
    let sum = Program::trace(&[rows.clone(), rows.clone()], |x| x[0].add(&x[1]))?;
    let number = Program::trace(std::slice::from_ref(&words), |x| x[0].string_to_number(DType::I32))?;
    let divide = Program::trace(&[ids.clone(), ids.clone()], |x| x[0].floordiv(&x[1]))?;
    let constant = Program::trace(std::slice::from_ref(&ids), |x| numerals.string_to_number(DType::I64)?.add(&x[0]))?;
    let programs =
        [("gather", &gather), ("captured", &captured), ("sum", &sum), ("number", &number), ("divide", &divide)];
    let mut model = SavedModel::new();
    for (name, program) in programs {
        model = model.with_program(name, program);
    }
    let read = SavedModel::from_bytes(model.with_program("constant", &constant).to_bytes()?)?;
    for (device_name, device) in devices() {
        let ints = |v: Vec<i64>| RaggedTensor::from_nested(v, &device).map(RaggedTensor::into_erased);
        let ragged = |v: Vec<Vec<i64>>| RaggedTensor::from_nested(v, &device).map(RaggedTensor::into_erased);
        let inputs = |name: &str| -> Result<Vec<Tensor>> {
            Ok(match name {
                "gather" => vec![ints(vec![0, 5])?, ragged(vec![vec![1], vec![2, 3]])?],
                "captured" => vec![ints(vec![0, 5])?],
                "sum" => vec![ragged(vec![vec![1], vec![2, 3]])?, ragged(vec![vec![1, 1, 1], vec![2, 3]])?],
                "number" => vec![RaggedTensor::from_nested(["1", "one"], &device)?.into_erased()],
                "divide" => vec![ints(vec![1, 2])?, ints(vec![1, 0])?],
                _ => vec![ints(vec![1, 2])?],
            })
        };
        for (name, program) in programs.into_iter().chain([("constant", &constant)]) {
            let given = inputs(name)?;
            let fails = |program: &Program| text(program.run(&given).and_then(|out| out[0].to_host()));
            let (got, want) = (fails(&read.program(name)?), fails(program));
            println!("{device_name}, {name}: {want}");
            assert_eq!(got, want, "{device_name}, {name}");
        }
    }
    Ok(())
}
