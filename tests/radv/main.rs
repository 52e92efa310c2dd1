//! The modules of the conformance cases and of the benchmark's operations, compiled by AMD's driver in Mesa for GPUs
//! that are not there: each compiles, and no guard between two float operations is missing or optimized away.
//!
//! A device that runs nothing records the modules, with the limits and the tuning of a GPU. The modules of the shader
//! tests are compiled likewise, by `src/backend/gpu/shader_tests/radv.rs`.
#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;
#[allow(dead_code, reason = "the shader tests use the rest")]
mod compiler;

#[path = "../conformance/case.rs"]
#[allow(dead_code, reason = "the suite itself uses the rest")]
mod case;
#[path = "../conformance/families/mod.rs"]
#[allow(dead_code, reason = "the suite itself uses the rest")]
mod families;
#[path = "../conformance/got.rs"]
#[allow(dead_code, reason = "the suite itself uses the rest")]
mod got;

#[path = "../../crates/ragged-bench/src/inputs.rs"]
#[allow(dead_code, reason = "the benchmark uses the rest")]
mod inputs;
#[path = "../../crates/ragged-bench/src/least.rs"]
#[allow(dead_code, reason = "the benchmark uses the rest")]
mod least;
#[path = "../../crates/ragged-bench/src/rows.rs"]
#[allow(dead_code, reason = "the benchmark uses the rest")]
mod rows;
#[path = "../../crates/ragged-bench/src/workloads.rs"]
#[allow(dead_code, reason = "the benchmark uses the rest")]
mod workloads;

mod statistics;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use case::Case;
use compiler::{Jobs, On, compile_for_every_family, compile_jobs, manifest};
use inputs::{Inputs, Rows};
use ragged::{Device, DeviceOptions, ElementFunction, RaggedTensor};
use rows::Distribution;

/// Values of the benchmark's inputs.
const VALUES: u32 = 1 << 16;

/// Environment variable that selects conformance families.
const FAMILY: &str = "RAGGED_CONFORMANCE_FAMILY";

/// A device that compiles no kernel and runs none, but has the features of a GPU and the limits of AMD's. Kernels' results
/// are zeros.
fn idle(options: &DeviceOptions) -> Device {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::NOOP;
    descriptor.backend_options.noop = wgpu::NoopBackendOptions { enable: true, ..Default::default() };
    let instance = wgpu::Instance::new(descriptor);
    let adapter =
        pollster::block_on(instance.request_adapter(&Default::default())).expect("an adapter that runs nothing");
    let required_limits = wgpu::Limits {
        max_storage_buffers_per_shader_stage: 32,
        max_storage_buffer_binding_size: 1 << 30,
        max_buffer_size: 1 << 30,
        ..wgpu::Limits::defaults()
    };
    let required_features = wgpu::Features::SHADER_INT64 | wgpu::Features::SHADER_F64;
    let descriptor = wgpu::DeviceDescriptor { required_features, required_limits, ..Default::default() };
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).expect("its device");
    Device::from_wgpu(&device, &queue, options).expect("limits of WebGPU")
}

/// Whether the conformance family is selected: all are, unless the environment names some.
fn is_selected(family: &str) -> bool {
    std::env::var(FAMILY).map_or(true, |text| family.contains(&text))
}

/// Runs every conformance case for its modules. Most results are wrong: some operations refuse them, and some reads panic.
fn run_conformance(device: &Device) {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    let files = std::fs::read_dir(folder).expect("the suite").map(|entry| entry.expect("an entry").path());
    for file in files.filter(|file| file.extension().is_some_and(|e| e == "jsonl")) {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let Some(family) = families::family(&name).filter(|_| is_selected(&name)) else { continue };
        let text = std::fs::read_to_string(&file).expect("the family has cases");
        for line in text.lines().filter(|line| !line.is_empty()) {
            let case = Case::parse(line).expect("a case");
            let _ = catch_unwind(AssertUnwindSafe(|| (family.run)(&case, device).and_then(|got| got.read())));
        }
    }
    std::panic::set_hook(hook);
}

/// Runs the benchmark's operations.
fn run_workloads(device: &Device) {
    for distribution in Distribution::ALL {
        let inputs = Inputs::new(device, Rows::new(distribution.lengths(VALUES))).expect("valid inputs");
        for workload in workloads::ALL {
            let _ = (workload.record)(&inputs).and_then(|t| t.eval());
        }
    }
}

/// Evaluates a result for its modules.
fn evaluate(result: ragged::Result<RaggedTensor<f32>>) {
    result.and_then(|t| t.to_vec()).expect("the operations are valid");
}

/// Runs products and sums around functions of the user and mathematical functions.
fn run_products(device: &Device) {
    let numbers =
        |by: f32| (0..40).map(|r| (0..r % 7).map(|k| 0.1 + by * k as f32).collect::<Vec<f32>>()).collect::<Vec<_>>();
    let x = &RaggedTensor::from_nested(numbers(0.013), device).expect("rows");
    let y = &RaggedTensor::from_nested(numbers(0.017), device).expect("rows");
    let scaled: ElementFunction<fn(f32) -> f32> =
        ElementFunction::new("scaled", "fn scaled(x: f32) -> f32 { return x * 1.1f; }", |x: f32| x * 1.1)
            .expect("valid");
    let product: ElementFunction<fn(f32, f32) -> f32> =
        ElementFunction::new("product", "fn product(x: f32, y: f32) -> f32 { return x * y; }", |x: f32, y: f32| x * y)
            .expect("valid");
    let sum: ElementFunction<fn(f32, f32) -> f32> =
        ElementFunction::new("sum", "fn sum(x: f32, y: f32) -> f32 { return x + y; }", |x: f32, y: f32| x + y)
            .expect("valid");
    evaluate((|| &scaled.call(x)? + y)());
    evaluate((|| y + &scaled.call(x)?)());
    evaluate((|| scaled.call(x)?.reduce_sum(1))());
    evaluate((|| product.call(x, y)?.cumsum(1))());
    evaluate((|| &product.call(x, y)? - x)());
    evaluate((|| sum.call(&product.call(x, y)?, x))());
    evaluate((|| sum.call(&(x * y)?, &(x * x)?))());
    evaluate((|| &x.reduce_prod(1)? + 1f32)());
    evaluate((|| sum.call(&x.reduce_prod(1)?, &y.reduce_sum(1)?))());
    evaluate((|| (x + y)?.reduce_prod(1))());
    evaluate((|| &(x * y)? + &(y * x)?)());
    evaluate((|| &(x * y)? / x)());
    macro_rules! unary {
        ($($f:ident)*) => {$(
            evaluate((|| (x * y)?.$f())());
            evaluate((|| &x.$f()? + y)());
            evaluate((|| x.$f()?.reduce_sum(1))());
            evaluate((|| x.reduce_prod(1)?.$f())());
        )*};
    }
    unary!(exp expm1 log log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sigmoid log_sigmoid softplus
        erf erfc erfinv erfcinv ndtri lgamma digamma bessel_i0 bessel_i0e bessel_i1 bessel_i1e sqrt rsqrt floor ceil round
        gelu gelu_tanh square reciprocal);
}

/// Adds the modules of a run on an idle device to the jobs.
fn record(jobs: &mut Jobs, (name, on): (&str, On), options: DeviceOptions, run: impl Fn(&Device)) {
    let folder: PathBuf = std::env::temp_dir().join(format!("ragged-modules-{name}-{}", std::process::id()));
    let device = idle(&options.host_steps(true).dump_wgsl(&folder));
    run(&device);
    let (modules, pipelines) = (jobs.modules(), jobs.len());
    for entry in std::fs::read_dir(&folder).expect("modules were compiled") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("readable");
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        jobs.add(&format!("{name} {stem}"), &text, on);
    }
    let compiled = device.stats().pipelines_compiled;
    let (modules, pipelines) = (jobs.modules() - modules, jobs.len() - pipelines);
    println!("{name}: {compiled} pipelines used; new: {modules} modules, {pipelines} entry points");
    std::fs::remove_dir_all(folder).expect("removable");
}

#[test]
fn conformance_and_workloads_compile_and_keep_their_guards() {
    let Some(manifest) = manifest() else { return };
    let mut jobs = Jobs::new("conformance");
    record(&mut jobs, ("workloads", On::Every), DeviceOptions::default(), run_workloads);
    record(&mut jobs, ("products", On::Every), DeviceOptions::default(), run_products);
    // Thousands of modules of few kinds. The shader tests compile every kind with every operation for every family.
    record(&mut jobs, ("conformance", On::One), DeviceOptions::default(), run_conformance);
    // 64-bit integers as pairs of words.
    let pairs = DeviceOptions::default().core_limits(true).no_int64(true).no_f64(true);
    record(&mut jobs, ("pairs", On::One), pairs, run_conformance);
    println!("{} modules, {} different entry points", jobs.modules(), jobs.len());
    assert!(jobs.modules() > 1500 || std::env::var_os(FAMILY).is_some(), "{} modules", jobs.modules());
    compile_for_every_family(&jobs, &manifest, "compile_in_this_process");
}

#[test]
#[ignore = "a process per family, which the other test starts"]
fn compile_in_this_process() {
    compile_jobs();
}
