//! Saved models: programs and tensors come back from files, in this process, in another one, and on other devices; and
//! no file makes a load panic.

mod allocations;
#[path = "../common/mod.rs"]
mod common;
mod fixture;
mod hostile;
mod mutations;
mod programs;

use std::process::Command;

use common::devices;
use fixture::{inputs, model};
use ragged::{
    DType, Device, Error, HostTensor, HostValues, LoadOptions, Program, RaggedTensor, Result, SavedModel, Tensor,
    TensorSpec,
};

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

/// The results of every program of a model, as text: floats by their bits.
fn results(model: &SavedModel, device: &Device) -> Result<String> {
    let mut out = String::new();
    for name in model.programs() {
        let program = model.program(name)?;
        let inputs = inputs(name, device)?;
        for x in program.run(inputs.iter().collect::<Vec<_>>())? {
            out.push_str(&format!("{name}: {}\n", bits(&x.to_host()?)));
        }
    }
    for name in model.tensors() {
        out.push_str(&format!("{name}: {}\n", bits(&model.tensor(name, device)?.to_host()?)));
    }
    Ok(out)
}

fn bits(x: &HostTensor) -> String {
    let values = match &x.values {
        HostValues::F32(v) => format!("{:08x?}", v.iter().map(|v| v.to_bits()).collect::<Vec<_>>()),
        HostValues::F64(v) => format!("{:016x?}", v.iter().map(|v| v.to_bits()).collect::<Vec<_>>()),
        other => format!("{other:?}"),
    };
    format!("{:?} {:?} {:?} {values}", x.nested_row_splits, x.uniform_row_lengths, x.inner_shape)
}

#[test]
fn a_model_has_equal_bits_on_every_device() -> Result<()> {
    let bytes = model(&Device::cpu())?.to_bytes()?;
    for (name, device) in devices() {
        // Programs that captured tensors of the device.
        let made = model(&device)?;
        let read = fixture::load_options()?.from_bytes(bytes.clone())?;
        let want = results(&made, &device)?;
        assert_eq!(results(&read, &device)?, want, "{name}");
        assert_eq!(want, results(&read, &Device::cpu())?, "{name} and the CPU");
        assert!(made.to_bytes()? == bytes, "{name}: another file");
        assert!(read.to_bytes()? == bytes, "{name}: another file of the model that was read");
    }
    Ok(())
}

const FILE: &str = "RAGGED_SAVED_FILE";

/// Run by the next test in a process of its own.
#[test]
fn prints_the_results_of_a_file() -> Result<()> {
    let Some(path) = std::env::var_os(FILE) else { return Ok(()) };
    println!("{}", results(&fixture::load_options()?.load(path)?, &Device::cpu())?);
    Ok(())
}

#[test]
fn a_model_is_loaded_in_another_process() -> Result<()> {
    let path = std::env::temp_dir().join(format!("ragged-saved-{}.safetensors", std::process::id()));
    let model = model(&Device::cpu())?;
    model.save(&path)?;
    let this = std::env::current_exe().expect("this test");
    let output = Command::new(this)
        .args(["--exact", "prints_the_results_of_a_file", "--nocapture"])
        .env(FILE, &path)
        .output()
        .expect("started");
    std::fs::remove_file(&path).expect("written");
    let (printed, want) = (String::from_utf8_lossy(&output.stdout), results(&model, &Device::cpu())?);
    assert!(output.status.success() && printed.contains(&want), "{printed}\nnot\n{want}");
    Ok(())
}

/// The file of a format, and the results that it gave when it was written. `RAGGED_SAVED=write` writes both where they are
/// missing: a file that was written once is read for ever.
#[test]
fn the_file_of_format_1_is_read() -> Result<()> {
    let path = |end: &str| format!("{}/tests/saved/format-1.{end}", env!("CARGO_MANIFEST_DIR"));
    let (file, text) = (path("safetensors"), path("txt"));
    let is_new = std::env::var("RAGGED_SAVED").is_ok_and(|v| v == "write") && std::fs::metadata(&file).is_err();
    if is_new {
        let made = model(&Device::cpu())?;
        made.save(&file)?;
        std::fs::write(&text, results(&made, &Device::cpu())?).expect("written");
    }
    let want = std::fs::read_to_string(&text).expect("the results of the file");
    for (name, device) in devices() {
        assert_eq!(results(&fixture::load_options()?.load(&file)?, &device)?, want, "{name}");
    }
    Ok(())
}

#[test]
fn the_programs_use_every_primitive() -> Result<()> {
    let model = model(&Device::cpu())?;
    let text: String =
        model.programs().map(|name| model.program(name).map(|p| p.to_string())).collect::<Result<_>>()?;
    let families = [
        "map",
        "append",
        "row_reduce",
        "matmul",
        "scan",
        "row_scan",
        "sort",
        "row_sort",
        "top_k",
        "row_hash",
        "rank_bitmap",
        "compact",
        "histogram",
        "tile_fold",
        "unique_scatter",
        "assert",
    ];
    let missing: Vec<&str> = families.into_iter().filter(|family| !text.contains(&format!(" = {family} ("))).collect();
    assert!(missing.is_empty(), "no program uses {missing:?}");
    Ok(())
}

/// Sizes that refer to each other many times take no walk over every path; long chains are refused.
#[test]
fn sizes_of_many_operations_are_loaded_or_refused() -> Result<()> {
    let loaded = |n: u64, is_doubled: bool| {
        let def = |k: u64| serde_json::json!({"op": ["add", k, if is_doubled { k } else { 0 }]});
        let bytes = mutations::with_manifest(|manifest| {
            let sizes = manifest["programs"]["softmax"]["code"]["sizes"].as_array_mut().expect("sizes");
            let first = sizes.len() as u64;
            sizes.push(serde_json::json!({"const": 1}));
            sizes.extend((first..first + n).map(def));
            let origins = manifest["programs"]["softmax"]["sizes"].as_array_mut().expect("origins");
            origins.extend((0..=n).map(|_| serde_json::Value::Null));
        })?;
        SavedModel::from_bytes(bytes)
    };
    let x = RaggedTensor::from_nested(vec![vec![1.0f32, 2.0], vec![]], &Device::cpu())?;
    let doubled = loaded(60, true)?;
    assert_eq!(doubled.program("softmax")?.run(&x)?.len(), 1);
    let e = loaded(3000, false).expect_err("too large a size").to_string();
    assert!(e.contains("nested"), "{e}");
    Ok(())
}

#[test]
fn a_loaded_program_records_nothing_and_plans_once() -> Result<()> {
    let device = Device::cpu();
    let read = SavedModel::from_bytes(model(&device)?.to_bytes()?)?;
    let (program, plans) = (read.program("softmax")?, |d: &Device| d.stats().plans);
    for n in 1..20 {
        let x = RaggedTensor::from_nested(vec![vec![0.5f32; n], vec![], vec![1.0; 2 * n]], &device)?;
        let before = plans(&device);
        program.run(&x)?[0].to_host()?;
        assert!(plans(&device) <= before + u64::from(n == 1), "run {n}");
    }
    Ok(())
}

#[test]
fn an_element_function_needs_its_rust_side_on_the_cpu_only() -> Result<()> {
    let bytes = model(&Device::cpu())?.to_bytes()?;
    let read = SavedModel::from_bytes(bytes.clone())?;
    let program = read.program("element_function")?;
    for (name, device) in devices() {
        let inputs = inputs("element_function", &device)?;
        let got = program.run(&inputs[0]);
        if device.is_cpu() {
            let e = got.expect_err("a function without a Rust side");
            assert!(e.to_string().contains("LoadOptions::element_function"), "{e}");
            assert!(e.to_string().contains("tests/saved/main.rs"), "{e}");
        } else {
            let want = fixture::load_options()?.from_bytes(bytes.clone())?.program("element_function")?;
            assert_eq!(
                got?[0].to_host()?,
                want.run(&fixture::inputs("element_function", &Device::cpu())?[0])?[0].to_host()?,
                "{name}"
            );
        }
    }
    let other = ragged::ElementFunction::new("steps", "fn steps(x: u32) -> u32 { return x; }", |x: u32| x)?;
    let e = LoadOptions::new().element_function(&other).from_bytes(bytes).expect_err("another function");
    assert!(e.to_string().contains("steps has another text or signature"), "{e}");
    Ok(())
}

#[test]
fn a_file_of_another_program_has_dense_tensors() -> Result<()> {
    // {"w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}
    let header = br#"{"w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}"#;
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header);
    bytes.extend([1.0f32, 2.0, 3.0, -0.0].iter().flat_map(|v| v.to_le_bytes()));
    let model = SavedModel::from_bytes(bytes)?;
    assert_eq!(model.tensors().collect::<Vec<_>>(), ["w"]);
    let w = model.tensor("w", &Device::cpu())?;
    assert_eq!(w.to_string(), "tensor([[1.0, 2.0], [3.0, -0.0]], shape=(2, 2), dtype=f32)");
    Ok(())
}

#[test]
fn every_kind_of_tensor_comes_back() -> Result<()> {
    let device = Device::cpu();
    let pick = |values: HostValues| HostTensor::from_row_splits(vec![0, 2, 2, values.len() as u32], values);
    let mut hosts = vec![
        pick(HostValues::Bool(vec![true, false, true])),
        pick(HostValues::U8(vec![1, 2, 255])),
        pick(HostValues::I8(vec![-1, 2, -128])),
        pick(HostValues::U16(vec![1, 2, 65535])),
        pick(HostValues::I16(vec![-1, 2, 3])),
        pick(HostValues::I32(vec![-1, 2, 3])),
        pick(HostValues::U32(vec![1, 2, u32::MAX])),
        pick(HostValues::I64(vec![i64::MIN, 2, 3])),
        pick(HostValues::U64(vec![u64::MAX, 2, 3])),
        pick(HostValues::F16(vec![ragged::f16::NAN, ragged::f16::MIN, ragged::f16::ZERO])),
        pick(HostValues::BF16(vec![ragged::bf16::ONE; 3])),
        pick(HostValues::F32(vec![f32::NAN, -0.0, 3.5])),
        pick(HostValues::F64(vec![f64::NAN, -0.0, 3.5])),
        pick(HostValues::Str(vec![b"".to_vec(), vec![0, 255], b"c".to_vec()])),
        HostTensor::dense(&[], HostValues::F32(vec![2.5])),
        HostTensor::dense(&[2, 0, 3], HostValues::I32(vec![])),
        HostTensor::dense(&[], HostValues::Str(vec![b"alone".to_vec()])),
        HostTensor::from_nested_row_splits(vec![vec![0, 2, 2], vec![0, 1, 1]], HostValues::I32(vec![9])),
    ];
    hosts.push(HostTensor {
        uniform_row_lengths: vec![Some(2), None],
        ..HostTensor::from_nested_row_splits(vec![vec![0, 2, 4], vec![0, 1, 1, 3, 3]], HostValues::I32(vec![1, 2, 3]))
    });
    let mut model = SavedModel::new();
    for (k, host) in hosts.iter().enumerate() {
        model = model.with_tensor(format!("tensor {k}"), &host.to_device(&device)?);
    }
    let read = SavedModel::from_bytes(model.to_bytes()?)?;
    for (k, host) in hosts.iter().enumerate() {
        let got = read.tensor(&format!("tensor {k}"), &device)?.to_host()?;
        assert_eq!(bits(&got), bits(host), "{k}");
    }
    Ok(())
}

#[test]
fn mistakes_teach() -> Result<()> {
    let device = Device::cpu();
    let model = model(&device)?;
    let missing = model.program("softmacs").expect_err("no such program").to_string();
    assert!(
        missing.contains("the model has no program \"softmacs\"; its programs: ") && missing.contains("softmax"),
        "{missing}"
    );
    let missing = model.tensor("w", &device).expect_err("no such tensor").to_string();
    assert!(missing.contains("its tensors: ") && missing.contains("words"), "{missing}");
    let e = SavedModel::load("/nowhere/model.safetensors").expect_err("no such file");
    assert!(matches!(e, Error::Io { .. }) && e.to_string().contains("tests/saved/main.rs"), "{e}");
    let e = model.save("/nowhere/model.safetensors").expect_err("no such folder");
    assert!(matches!(e, Error::Io { .. }) && e.to_string().contains("tests/saved/main.rs"), "{e}");
    let e = SavedModel::from_bytes(b"no model".to_vec()).expect_err("no model");
    assert!(e.to_string().contains("no safetensors file") && e.to_string().contains("tests/saved/main.rs"), "{e}");
    let x = RaggedTensor::from_nested([1, 2], &device)?;
    let named = SavedModel::new().with_tensor("a", &RaggedTensor::from_nested([vec![1], vec![]], &device)?);
    let e = named.with_tensor("a.row_splits.0", &x).to_bytes().expect_err("one name twice");
    assert!(e.to_string().contains("two arrays are called \"a.row_splits.0\""), "{e}");
    let deep = HostTensor::dense(&[1; 65], HostValues::I32(vec![1])).to_device(&device)?;
    let e = SavedModel::new().with_tensor("deep", &deep).to_bytes().expect_err("many dimensions").to_string();
    assert!(e.contains("tensor \"deep\" has more than 64 dimensions"), "{e}");
    // A row of the input's kind.
    let spec = TensorSpec::new(DType::F32, [None]);
    let twice = Program::trace(&[spec], |x| x[0].multiply(2.0))?;
    let read = SavedModel::from_bytes(SavedModel::new().with_program("twice", &twice).to_bytes()?)?;
    let e = read.program("twice")?.run(&x).expect_err("integers").to_string();
    assert!(e.contains("TensorSpec(shape=[None], dtype=f32)"), "{e}");
    Ok(())
}

#[test]
fn an_assertion_of_a_loaded_program_fails_with_its_message() -> Result<()> {
    let (ids, table) = (TensorSpec::new(DType::I64, [None]), TensorSpec::new(DType::F32, [None]));
    let gather = Program::trace(&[ids, table], |x| x[1].gather(&x[0]))?;
    let read = SavedModel::from_bytes(SavedModel::new().with_program("gather", &gather).to_bytes()?)?;
    for (name, device) in devices() {
        let (ids, table) = (
            RaggedTensor::from_nested([0i64, 5], &device)?.into_erased(),
            RaggedTensor::from_nested([1.0f32, 2.0], &device)?.into_erased(),
        );
        let outcome = read.program("gather")?.run((&ids, &table)).and_then(|out: Vec<Tensor>| out[0].to_host());
        let e = outcome.expect_err("an index out of range").to_string();
        assert!(e.contains("out of range") && e.contains("tests/saved/main.rs"), "{name}: {e}");
    }
    Ok(())
}
