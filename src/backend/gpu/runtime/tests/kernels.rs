//! Kernels: parameters, grids, compilation.

use super::*;

#[test]
fn kernels_take_parameters_and_run_in_order() {
    let runtime = open();
    let input = upload_words(&runtime, &[1, 2, 3, 4, 5]);
    let (middle, output) =
        (runtime.buffer("a test", 20).expect("allocates"), runtime.buffer("a test", 20).expect("allocates"));
    let chain = [affine(&runtime, &input, &middle, 5, 10), affine(&runtime, &middle, &output, 5, 100)];
    let results = runtime.submit_and_read(&chain, &[whole(&output), whole(&middle)]).expect("runs");
    assert_eq!(words(&results[0]), [1000, 2101, 3202, 4303, 5404]);
    assert_eq!(words(&results[1]), [10, 21, 32, 43, 54]);
    let stats = runtime.stats();
    assert_eq!((stats.dispatches, stats.submissions, stats.waits, stats.pipelines_compiled), (2, 1, 1, 1));
    // A repetition makes no pipeline and no bind group.
    runtime.submit_and_read(&chain, &[whole(&output)]).expect("runs");
    let again = runtime.stats() - stats;
    assert_eq!((again.pipelines_compiled, again.bind_groups_created), (0, 0));
}

#[test]
fn parameters_are_those_of_the_submission() {
    let runtime = open();
    let input = upload_words(&runtime, &[1, 10, 100]);
    let outputs = [(); 2].map(|()| runtime.buffer("a test", 12).expect("is allocated"));
    let run = |factors: &[u32]| {
        let pairs = factors.iter().zip(&outputs);
        let commands: Vec<Command> = pairs.clone().map(|(&f, out)| affine(&runtime, &input, out, 3, f)).collect();
        let reads: Vec<ReadRequest> = pairs.map(|(_, out)| whole(out)).collect();
        runtime.submit_and_read(&commands, &reads).expect("runs").iter().map(|bytes| words(bytes)).collect::<Vec<_>>()
    };
    let want = |f: u32| vec![f, 10 * f + 1, 100 * f + 2];
    // Equal parameters, a prefix, a common prefix, different ones, and the first again.
    for factors in [&[2, 3][..], &[2, 3], &[2], &[2, 5], &[7], &[2, 5], &[2, 3], &[3], &[2, 3]] {
        assert_eq!(run(factors), factors.iter().map(|&f| want(f)).collect::<Vec<_>>(), "{factors:?}");
    }
}

#[test]
fn kernels_give_the_same_with_and_without_checks() {
    let other_checks = !DeviceOptions::default().checked_shaders;
    let runtime = open_with(&DeviceOptions::default().checked_shaders(other_checks));
    let input = upload_words(&runtime, &[7; 100]);
    let output = runtime.buffer("a test", 400).expect("allocates");
    let results = runtime.submit_and_read(&[affine(&runtime, &input, &output, 100, 2)], &[whole(&output)]);
    assert_eq!(words(&results.expect("runs")[0]), (0..100).map(|i| 14 + i).collect::<Vec<_>>());
}

/// Twice each number, as bits.
const DOUBLED: &str = "
@group(0) @binding(0) var<uniform> params: vec4<u32>;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < params.x { output[id.x] = input[id.x] + input[id.x]; }
}";

#[test]
fn float_controls_keep_subnormal_numbers() {
    for disabled in [false, true] {
        let runtime = open_with(&DeviceOptions::default().no_float_controls(disabled));
        let keeps = |controls: &FloatControls| controls.modes.iter().any(|(mode, _)| *mode == Mode::DenormPreserve);
        assert!(!disabled || runtime.float_controls.is_none());
        if runtime.info().name.contains("llvmpipe") {
            assert_eq!(runtime.float_controls.is_some(), !disabled, "modules of Vulkan 1.2 are SPIR-V");
        }
        let input = upload_words(&runtime, &[1, 0x7f_ffff, 0x8000_0001, 0x3f80_0000]);
        let output = runtime.buffer("a test", 16).expect("allocates");
        let pipeline =
            runtime.pipeline("doubled", DOUBLED, "main", &[Access::Read, Access::ReadWrite], RuntimeChecks::ALL);
        let command = Command::Dispatch(Dispatch {
            pipeline: pipeline.expect("compiles"),
            buffers: vec![input.into(), output.clone().into()],
            params: [4, 0, 0, 0].into(),
            workgroups: 1,
            depth: 1,
            label: "doubled".into(),
        });
        let results = runtime.submit_and_read(&[command], &[whole(&output)]).expect("runs");
        if runtime.float_controls.as_ref().is_some_and(keeps) || runtime.info().name.contains("llvmpipe") {
            assert_eq!(words(&results[0]), [2, 0xff_fffe, 0x8000_0002, 0x4000_0000], "{:?}", runtime.float_controls);
        }
    }
}

#[test]
fn a_users_device_has_the_float_controls_of_its_features() {
    for disabled in [false, true] {
        let runtime = open_with(&DeviceOptions::default().no_float_controls(disabled));
        let (device, queue) = (runtime.device().clone(), runtime.queue().clone());
        let users = Runtime::from_user(device, queue, &DeviceOptions::default()).expect("wraps");
        assert_eq!(users.float_controls, runtime.float_controls);
        let (input, output) = (upload_words(&users, &[1, 2, 3]), users.buffer("a test", 12).expect("allocates"));
        users.submit(&[affine(&users, &input, &output, 3, 5)]).expect("runs");
        assert_eq!(words(&read(&users, &output)), [5, 11, 17]);
    }
}

#[test]
fn grids_fold_beyond_one_dimension() {
    let runtime = open();
    let count = 65_535 * 64 + 64 * 3 + 1;
    let input = upload_words(&runtime, &vec![2; count as usize]);
    let output = runtime.buffer("a test", u64::from(count) * 4).expect("allocates");
    let results = runtime.submit_and_read(&[affine(&runtime, &input, &output, count, 3)], &[whole(&output)]);
    let results = words(&results.expect("runs")[0]);
    assert!(results.iter().zip(0..).all(|(&value, i)| value == 6 + i));
}

#[test]
fn empty_grids_are_skipped() {
    let runtime = open();
    let input = upload_words(&runtime, &[1]);
    let output = upload_words(&runtime, &[9]);
    let results = runtime.submit_and_read(&[affine(&runtime, &input, &output, 0, 1)], &[whole(&output)]);
    assert_eq!(words(&results.expect("runs")[0]), [9]);
    assert_eq!(runtime.stats().dispatches, 0);
}

#[test]
fn modules_that_are_not_used_any_more_are_dropped() {
    let runtime = open();
    runtime.limit_modules(8);
    let source = upload_words(&runtime, &[1, 2, 3]);
    let compile = |k: u32| {
        let text = format!("// {k}\n{AFFINE}");
        let access = [Access::Read, Access::ReadWrite];
        runtime.pipeline("affine", &text, "main", &access, RuntimeChecks::ALL).expect("compiles")
    };
    let compiled = || runtime.stats().pipelines_compiled;
    let first = compile(0);
    for k in 1..20 {
        compile(k);
        compile(0);
        assert!(runtime.cached_modules() <= 8, "{k}");
    }
    assert_eq!(compiled(), 20, "what is in use stays");
    compile(1);
    assert_eq!(compiled(), 21, "what is not goes, and comes back");
    for k in 20..40 {
        compile(k);
    }
    // A kernel held by a caller survives eviction.
    let target = runtime.buffer("a test", 12).expect("allocates");
    let Command::Dispatch(mut dispatch) = affine(&runtime, &source, &target, 3, 1) else { unreachable!() };
    dispatch.pipeline = first;
    runtime.submit(&[Command::Dispatch(dispatch)]).expect("runs");
    assert_eq!(words(&read(&runtime, &target)), [1, 3, 5]);
}

#[test]
fn compile_errors_give_the_cause() {
    let runtime = open();
    let message = |wgsl: &str, entry, access: &[Access]| match runtime.pipeline(
        "broken",
        wgsl,
        entry,
        access,
        RuntimeChecks::ALL,
    ) {
        Err(Error::Gpu { label, message, .. }) if label == "broken" => message,
        other => panic!("{other:?}"),
    };
    assert!(message("fn f( {", "main", &[]).contains("expected"));
    assert!(message("fn f() -> u32 { return 1.5; }", "main", &[]).contains("return"));
    message(AFFINE, "absent", &[Access::Read, Access::ReadWrite]);
    message(AFFINE, "main", &[Access::Read, Access::Read]);
    message(AFFINE, "main", &[Access::Read]);
    assert_eq!(runtime.stats().pipelines_compiled, 0);
    assert!(runtime.pipeline("sound", AFFINE, "main", &[Access::Read, Access::ReadWrite], RuntimeChecks::ALL).is_ok());
}

#[test]
fn faulty_dispatches_are_called_bugs() {
    let runtime = open();
    let a = runtime.buffer("a test", 64).expect("allocates");
    let b = runtime.buffer("a test", 64).expect("allocates");
    let Command::Dispatch(good) = affine(&runtime, &a, &b, 1, 1) else { panic!("a dispatch") };
    let foreign = open().buffer("a test", 64).expect("allocates");
    for buffers in [vec![], vec![a.clone()], vec![a.clone(), a.clone()], vec![a.clone(), foreign]] {
        let buffers = buffers.into_iter().map(Into::into).collect();
        let error = runtime.submit(&[Command::Dispatch(Dispatch { buffers, ..good.clone() })]).expect_err("is refused");
        assert!(
            matches!(&error, Error::Gpu { label, message, .. } if label == "affine" && message.starts_with("bug: "))
        );
    }
    runtime.submit(&[Command::Dispatch(good)]).expect("runs");
}

/// The sizes of bindings, which wgpu checks for modules in WGSL only.
#[test]
fn bindings_that_are_too_small_are_refused() {
    const PAIRS: &str = "
struct Params { first: vec4<u32>, second: vec4<u32> }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<u32, 16>;
@group(0) @binding(2) var<storage, read_write> output: array<vec4<u32>>;
@compute @workgroup_size(1) fn main() { output[0] = params.second + vec4<u32>(input[15]); }";
    for disabled in [false, true] {
        let runtime = open_with(&DeviceOptions::default().no_float_controls(disabled));
        let access = [Access::Read, Access::ReadWrite];
        let pipeline = runtime.pipeline("pairs", PAIRS, "main", &access, RuntimeChecks::ALL).expect("compiles");
        let output = runtime.buffer("a test", 16).expect("allocates");
        let submit = |words: usize, bytes: u64, most: u64| {
            let input = runtime.buffer("a test", most).expect("allocates");
            let command = Command::Dispatch(Dispatch {
                pipeline: pipeline.clone(),
                buffers: vec![BufferSlice::window(input, 0..bytes), output.clone().into()],
                params: vec![0; words].into(),
                workgroups: 1,
                depth: 1,
                label: "pairs".into(),
            });
            runtime.submit(&[command])
        };
        submit(8, 64, 64).expect("fits");
        let refused = |outcome: Result<()>, says: &str| {
            let Err(Error::Gpu { label, message, .. }) = outcome else { panic!("{outcome:?}") };
            assert!(disabled || label == "pairs" && message.contains(says), "{label}: {message}");
        };
        refused(submit(8, 60, 64), "binding 1 needs 64 bytes");
        if !disabled {
            refused(submit(4, 64, 64), "binding 0 needs 32 bytes");
        }
    }
}

#[test]
fn modules_are_dumped_on_demand() {
    let folder = std::env::temp_dir().join(format!("ragged-dump-{}", std::process::id()));
    let runtime = open_with(&DeviceOptions::default().dump_wgsl(folder.clone()));
    runtime
        .pipeline("a/b c", AFFINE, "main", &[Access::Read, Access::ReadWrite], RuntimeChecks::ALL)
        .expect("compiles");
    let names: Vec<_> = std::fs::read_dir(&folder)
        .expect("was made")
        .map(|entry| entry.expect("is listed").file_name().into_string().expect("is plain"))
        .collect();
    assert_eq!(names.len(), 1);
    assert!(names[0].starts_with("a_b_c-") && names[0].ends_with(".wgsl"));
    let text = std::fs::read_to_string(folder.join(&names[0])).expect("is text");
    std::fs::remove_dir_all(&folder).expect("goes");
    assert_eq!(text, AFFINE);
}
