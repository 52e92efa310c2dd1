//! The runtime on every adapter of this machine; a software rasteriser will do. Without any, these tests fail.

use std::{
    sync::{Arc, Barrier},
    time::Duration,
};

use super::{readback::ReadFuture, *};
use crate::{Error, Result};

fn open_with(options: &DeviceOptions) -> Arc<Runtime> {
    let adapters = adapters();
    let adapter = adapters.first().expect("a GPU adapter (mesa-vulkan-drivers has one in software)");
    Runtime::open(adapter, options).expect("opens")
}

fn open() -> Arc<Runtime> {
    open_with(&DeviceOptions::default())
}

/// `out[i] = in[i] * factor + i`, one element per invocation.
const AFFINE: &str = "
struct Params { count: u32, factor: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<u32>;
@group(0) @binding(2) var<storage, read_write> output: array<u32>;
@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = (wid.x + wid.y * grid.x) * 64u + lane;
    if (i >= params.count) { return; }
    output[i] = input[i] * params.factor + i;
}
";

/// SAFETY: the kernel has no loops, and every test's count is within both buffers.
const UNCHECKED: Checks = unsafe { Checks::ALL.without_loops().without_bounds() };

fn affine(runtime: &Runtime, input: &Buffer, output: &Buffer, count: u32, factor: u32) -> Command {
    let access = [Access::Read, Access::ReadWrite];
    let pipeline = runtime.pipeline("affine", AFFINE, "main", &access, UNCHECKED).expect("compiles");
    Command::Dispatch(Dispatch {
        pipeline,
        buffers: vec![input.clone().into(), output.clone().into()],
        params: [count, factor].into(),
        workgroups: count.div_ceil(64),
        depth: 1,
        label: "affine".into(),
    })
}

fn whole(buffer: &Buffer) -> ReadRequest {
    ReadRequest { buffer: buffer.clone(), offset: 0, bytes: buffer.bytes() }
}

fn read(runtime: &Runtime, buffer: &Buffer) -> Vec<u8> {
    runtime.submit_and_read(&[], &[whole(buffer)]).expect("reads").remove(0)
}

fn read_later(
    runtime: &Runtime,
    commands: &[Command],
    reads: &[ReadRequest],
) -> Result<impl Future<Output = Result<Vec<Vec<u8>>>> + use<>> {
    Ok(runtime.finish_read(runtime.start_read(commands, reads)?))
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

fn upload_words(runtime: &Runtime, words: &[u32]) -> Buffer {
    runtime.upload(bytemuck::cast_slice(words)).expect("uploads")
}

fn pattern(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|i| ((i + seed) * 31 % 251) as u8).collect()
}

#[test]
fn adapters_are_named_and_ordered() {
    let adapters = adapters();
    assert!(!adapters.is_empty(), "no GPU adapter");
    assert!(adapters.is_sorted_by_key(|adapter| adapter.summary.kind));
    for adapter in &adapters {
        let runtime = Runtime::open(adapter, &DeviceOptions::default()).expect("opens");
        println!("{:?} {:?}", adapter.summary, runtime.limits());
        assert!(!adapter.summary.name.is_empty() && !adapter.summary.backend.is_empty());
        assert!(runtime.limits().storage_buffers >= 8);
    }
}

#[test]
fn uploads_come_back_as_they_were() {
    let runtime = open();
    for len in [0, 1, 3, 4, 5, 255, 1 << 20, (1 << 20) + 3] {
        let data = pattern(len, len);
        let buffer = runtime.upload(&data).expect("uploads");
        assert_eq!(buffer.bytes(), len as u64);
        assert_eq!(read(&runtime, &buffer), data, "{len} bytes");
    }
    let stats = runtime.stats();
    assert_eq!(stats.bytes_uploaded, stats.bytes_read_back);
    assert_eq!(stats.buffer_bytes, 0);
    assert!(stats.buffer_bytes_peak >= (1 << 20) + 3);
}

#[test]
fn large_uploads_are_flushed_in_parts() {
    let runtime = open_with(&DeviceOptions::default().max_pooled(Some(0)));
    let most = runtime.limits().max_binding.min(96 << 20) as usize;
    let buffers: Vec<_> =
        (0..3).map(|seed| (seed, runtime.upload(&pattern(most - 5, seed)).expect("uploads"))).collect();
    assert!(runtime.stats().submissions >= 1, "the backlog was sent");
    for (seed, buffer) in buffers {
        let bytes = read(&runtime, &buffer);
        assert!(bytes == pattern(most - 5, seed), "upload {seed}");
    }
}

#[test]
fn reads_may_start_and_end_anywhere() {
    let runtime = open();
    let data = pattern(1000, 7);
    let buffer = runtime.upload(&data).expect("uploads");
    let ranges = [(0, 1000), (1, 1), (3, 2), (5, 0), (999, 1), (1000, 0), (2, 997), (17, 64)];
    let requests: Vec<_> =
        ranges.iter().map(|&(offset, bytes)| ReadRequest { buffer: buffer.clone(), offset, bytes }).collect();
    let before = runtime.stats();
    let results = runtime.submit_and_read(&[], &requests).expect("reads");
    for ((offset, bytes), result) in ranges.iter().zip(&results) {
        assert_eq!(result, &data[*offset as usize..(offset + bytes) as usize], "{bytes} from {offset}");
    }
    let spent = runtime.stats() - before;
    assert_eq!((spent.submissions, spent.waits), (1, 1));
    for (offset, bytes) in [(0, 1001), (1001, 0), (u64::MAX, 2)] {
        let outside = ReadRequest { buffer: buffer.clone(), offset, bytes };
        assert!(matches!(runtime.submit_and_read(&[], &[outside]), Err(Error::Gpu { .. })));
    }
}

#[test]
fn nothing_to_read_waits_for_nothing() {
    let runtime = open();
    let buffer = runtime.upload(&[]).expect("uploads");
    assert_eq!(runtime.submit_and_read(&[], &[whole(&buffer)]).expect("reads"), [Vec::<u8>::new()]);
    assert!(runtime.submit_and_read(&[], &[]).expect("reads").is_empty());
    runtime.submit(&[]).expect("submits");
    assert_eq!((runtime.stats().submissions, runtime.stats().waits), (0, 0));
}

#[test]
fn kernels_take_parameters_and_run_in_order() {
    let runtime = open();
    let input = upload_words(&runtime, &[1, 2, 3, 4, 5]);
    let (middle, output) = (runtime.buffer(20).expect("allocates"), runtime.buffer(20).expect("allocates"));
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
fn parameters_are_those_of_the_submission_whatever_was_written_before() {
    let runtime = open();
    let input = upload_words(&runtime, &[1, 10, 100]);
    let outputs = [(); 2].map(|()| runtime.buffer(12).expect("is allocated"));
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
fn buffers_of_the_last_time_are_taken_again_where_they_lie_unused() {
    let runtime = open();
    let (sizes, mut ids) = ([100, 100, 3000, 100], Vec::new());
    let first = runtime.buffers(&sizes, &mut ids).expect("allocated");
    let all = ids.clone();
    assert_eq!(first.iter().map(Buffer::id).collect::<Vec<_>>(), all);
    drop(first);
    let before = runtime.stats();
    // Whatever the order of their return.
    let again = runtime.buffers(&sizes, &mut ids).expect("pooled");
    assert_eq!(ids, all);
    let kept = again[1].clone();
    again.into_iter().rev().for_each(drop);
    let third = runtime.buffers(&sizes, &mut ids).expect("one is new");
    assert_eq!([ids[0], ids[2], ids[3]], [all[0], all[2], all[3]]);
    assert!(!all.contains(&ids[1]) && kept.id() == all[1], "what is in use stays whose it is");
    assert_eq!((runtime.stats() - before).pool_misses, 1);
    drop((third, kept));
    // Other sizes, or fewer: only buffers that fit.
    let fewer = runtime.buffers(&[3000], &mut ids).expect("pooled");
    assert_eq!((fewer[0].id(), ids.len()), (all[2], 1));
    assert!(runtime.buffers(&[100, u64::MAX], &mut ids).is_err());
}

#[test]
fn unchecked_kernels_give_the_same() {
    let runtime = open_with(&DeviceOptions::default().checked_shaders(false));
    let input = upload_words(&runtime, &[7; 100]);
    let output = runtime.buffer(400).expect("allocates");
    let results = runtime.submit_and_read(&[affine(&runtime, &input, &output, 100, 2)], &[whole(&output)]);
    assert_eq!(words(&results.expect("runs")[0]), (0..100).map(|i| 14 + i).collect::<Vec<_>>());
}

#[test]
fn grids_fold_beyond_one_dimension() {
    let runtime = open();
    let count = 65_535 * 64 + 64 * 3 + 1;
    let input = upload_words(&runtime, &vec![2; count as usize]);
    let output = runtime.buffer(u64::from(count) * 4).expect("allocates");
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
fn fills_and_copies() {
    let runtime = open();
    let target = runtime.upload(&pattern(1003, 0)).expect("uploads");
    let source = runtime.upload(&pattern(64, 5)).expect("uploads");
    let fill = |word| Command::Fill { buffer: target.clone(), word };
    let copy = |from_offset, to_offset, bytes| Command::Copy {
        from: source.clone(),
        from_offset,
        to: target.clone(),
        to_offset,
        bytes,
    };
    let results = runtime.submit_and_read(&[fill(0)], &[whole(&target)]).expect("runs");
    assert_eq!(results[0], vec![0; 1003]);
    let commands = [fill(u32::MAX), copy(8, 4, 16), copy(0, 1000, 3), copy(0, 0, 0)];
    let results = runtime.submit_and_read(&commands, &[whole(&target)]).expect("runs");
    let mut expected = vec![255; 1003];
    expected[4..20].copy_from_slice(&pattern(64, 5)[8..24]);
    expected[1000..].copy_from_slice(&pattern(64, 5)[..3]);
    assert_eq!(results[0], expected);
    for wrong in [copy(0, 0, 3), copy(1, 0, 4), copy(0, 2, 4), copy(0, 0, 65), copy(u64::MAX, 0, 4), copy(0, 1004, 4)] {
        assert!(matches!(runtime.submit(&[wrong]), Err(Error::Gpu { .. })));
    }
    let itself = Command::Copy { from: source.clone(), from_offset: 0, to: source.clone(), to_offset: 32, bytes: 4 };
    assert!(matches!(runtime.submit(&[itself]), Err(Error::Gpu { .. })));
    runtime.check().expect("wgpu saw none of them");
}

#[test]
fn a_large_fill_reaches_every_word() {
    let runtime = open();
    let bytes = (65_535u64 * 1024 * 4 / 8).min(runtime.limits().max_binding) - 4;
    let buffer = runtime.buffer(bytes).expect("allocates");
    let results =
        runtime.submit_and_read(&[Command::Fill { buffer: buffer.clone(), word: 0x0102_0304 }], &[whole(&buffer)]);
    assert!(words(&results.expect("runs")[0]).iter().all(|&word| word == 0x0102_0304));
}

/// A buffer that a list of commands still names is never reused, whatever other handles are dropped.
#[test]
fn reuse_does_not_overtake_commands() {
    let runtime = open();
    let output = runtime.buffer(4096).expect("allocates");
    for round in 0..50u32 {
        let input = upload_words(&runtime, &[round; 1024]);
        let recorded = [affine(&runtime, &input, &output, 1024, 1)];
        drop(input);
        // While the recorded command holds the buffer, no upload may take it; afterwards one may.
        let other = upload_words(&runtime, &[u32::MAX; 1024]);
        runtime.submit(&recorded).expect("submits");
        drop(recorded);
        let reused = upload_words(&runtime, &[!round; 1024]);
        let results = runtime.submit_and_read(&[], &[whole(&output), whole(&other), whole(&reused)]).expect("reads");
        assert!(words(&results[0]).iter().zip(0..).all(|(&value, i)| value == round + i), "round {round}");
        assert_eq!(words(&results[1]), [u32::MAX; 1024]);
        assert_eq!(words(&results[2]), [!round; 1024]);
    }
    let stats = runtime.stats();
    assert!(stats.pool_hits > 100 && stats.pool_misses < 20, "{stats:?}");
}

#[test]
fn an_upload_that_nobody_used_leaves_nothing_behind() {
    let runtime = open();
    drop(upload_words(&runtime, &[1; 64]));
    let second = upload_words(&runtime, &[2; 64]);
    assert_eq!(runtime.stats().pool_hits, 1, "the same slot");
    assert_eq!(words(&read(&runtime, &second)), [2; 64]);
    // Nor does an upload whose memory is freed before the submission that would have filled it.
    drop(upload_words(&runtime, &[3; 640]));
    runtime.trim();
    assert_eq!(words(&read(&runtime, &second)), [2; 64]);
}

#[test]
fn the_pool_is_bounded() {
    let runtime = open_with(&DeviceOptions::default().max_pooled(Some(4096)));
    let buffers: Vec<_> = (0..8).map(|_| runtime.buffer(1024).expect("allocates")).collect();
    drop(buffers);
    assert_eq!(runtime.pooled_bytes(), 4096);
    runtime.trim();
    assert_eq!(runtime.pooled_bytes(), 0);
}

#[test]
fn bind_groups_do_not_outlive_their_buffers() {
    let runtime = open();
    let output = runtime.buffer(64).expect("allocates");
    let inputs: Vec<_> = (0..3).map(|i| upload_words(&runtime, &[i; 16])).collect();
    for input in &inputs {
        runtime.submit(&[affine(&runtime, input, &output, 16, 1)]).expect("runs");
    }
    assert_eq!(runtime.cached_bind_groups(), 3);
    drop(inputs);
    runtime.trim();
    runtime.submit(&[Command::Fill { buffer: output.clone(), word: 1 }]).expect("runs");
    assert_eq!(runtime.cached_bind_groups(), 1, "only the fill's");
}

#[test]
fn sizes_over_the_limits_are_refused() {
    let runtime = open_with(&DeviceOptions::default().max_buffer(Some(1000)));
    let limit = runtime.limits().max_buffer;
    assert_eq!(limit, 992, "a multiple of 16");
    assert!(runtime.buffer(limit).is_ok());
    for bytes in [limit + 1, 1 << 40, u64::MAX] {
        let error = runtime.buffer(bytes).expect_err("too large");
        assert!(matches!(error, Error::Limit { requested, limit: 992, .. } if requested == bytes), "{error}");
    }
    assert!(matches!(runtime.upload(&[0; 1001]), Err(Error::Limit { .. })));
    let stats = runtime.stats();
    assert_eq!(stats.pool_misses, 1, "nothing else was allocated");
    let access = vec![Access::Read; runtime.limits().storage_buffers as usize + 1];
    assert!(matches!(runtime.pipeline("wide", AFFINE, "main", &access, Checks::ALL), Err(Error::Limit { .. })));
    let input = runtime.buffer(16).expect("allocates");
    let output = runtime.buffer(16).expect("allocates");
    let Command::Dispatch(mut dispatch) = affine(&runtime, &input, &output, 1, 1) else { panic!("a dispatch") };
    dispatch.workgroups = u32::MAX;
    assert!(matches!(runtime.submit(&[Command::Dispatch(dispatch.clone())]), Err(Error::Limit { .. })));
    dispatch.workgroups = 1;
    dispatch.params = vec![0; 1 << 20].into();
    assert!(matches!(runtime.submit(&[Command::Dispatch(dispatch)]), Err(Error::Limit { .. })));
}

/// The size limit applies to callers' buffers, not to the runtime's own.
#[test]
fn small_buffers_do_not_limit_submissions() {
    let runtime = open_with(&DeviceOptions::default().max_buffer(Some(256)));
    let (a, b) = (upload_words(&runtime, &[0; 64]), runtime.buffer(256).expect("allocates"));
    let commands: Vec<_> =
        (0..1000).flat_map(|_| [affine(&runtime, &a, &b, 64, 1), affine(&runtime, &b, &a, 64, 1)]).collect();
    let requests: Vec<_> = (0..10).map(|_| whole(&a)).collect();
    for result in runtime.submit_and_read(&commands, &requests).expect("runs") {
        assert_eq!(words(&result), (0..64).map(|i| i * 2000).collect::<Vec<_>>());
    }
    assert_eq!(runtime.stats().submissions, 1);
}

#[test]
fn running_out_of_memory_empties_the_pool_and_tries_again() {
    let runtime = open();
    drop(runtime.buffer(5000).expect("allocates"));
    assert!(runtime.pooled_bytes() > 0);
    runtime.fail_allocations(1);
    let buffer = runtime.upload(&[1, 2, 3]).expect("the second attempt succeeds");
    assert_eq!(runtime.pooled_bytes(), 0);
    runtime.fail_allocations(2);
    let error = runtime.buffer(100).expect_err("both attempts fail");
    assert!(matches!(&error, Error::Gpu { message, .. } if message.contains("out of device memory")), "{error}");
    assert_eq!(read(&runtime, &buffer), [1, 2, 3], "the device goes on");
    runtime.fail_allocations(2);
    assert!(runtime.submit_and_read(&[], &[whole(&runtime.buffer(1 << 20).unwrap_or(buffer.clone()))]).is_ok());
    runtime.fail_allocations(0);
}

#[test]
fn a_lost_device_is_an_error_everywhere() {
    let runtime = open();
    let buffer = upload_words(&runtime, &[1, 2, 3]);
    let command = Command::Fill { buffer: buffer.clone(), word: 7 };
    let dispatch = affine(&runtime, &buffer, &runtime.buffer(12).expect("allocates"), 3, 1);
    let early = read_later(&runtime, std::slice::from_ref(&command), &[whole(&buffer)]).expect("submits");
    runtime.lose();
    let lost = |what: &str, result: Result<()>| {
        assert!(matches!(result, Err(Error::DeviceLost { .. })), "{what}: {result:?}");
    };
    lost("submit", runtime.submit(std::slice::from_ref(&command)));
    lost("submit", runtime.submit(&[dispatch]));
    lost("read", runtime.submit_and_read(&[], &[whole(&buffer)]).map(drop));
    lost("async read", read_later(&runtime, std::slice::from_ref(&command), &[whole(&buffer)]).map(drop));
    lost("timed", runtime.submit_timed(&[command]).map(drop));
    lost("buffer", runtime.buffer(16).map(drop));
    lost("upload", runtime.upload(&[1]).map(drop));
    lost("pipeline", runtime.pipeline("p", AFFINE, "main", &[Access::Read], Checks::ALL).map(drop));
    lost("check", runtime.check());
    // The read under way may have finished before the loss.
    let early = pollster::block_on(early).map(drop);
    assert!(matches!(early, Ok(()) | Err(Error::DeviceLost { .. })), "{early:?}");
    // Another device of the same adapter works.
    let fresh = open();
    assert_eq!(read(&fresh, &fresh.upload(&[5]).expect("uploads")), [5]);
}

/// A loss outside of the runtime's calls: the device is destroyed through wgpu.
#[test]
fn a_loss_is_found_by_the_next_read() {
    let runtime = open();
    let buffer = upload_words(&runtime, &[1, 2, 3]);
    runtime.device().destroy();
    let result = runtime.submit_and_read(&[], &[whole(&buffer)]);
    assert!(matches!(result, Err(Error::DeviceLost { .. })), "{result:?}");
    assert!(matches!(runtime.upload(&[1]), Err(Error::DeviceLost { .. })));
}

#[test]
fn errors_of_the_programs_own_calls_fail_none_of_ours() {
    let runtime = open();
    let wrong = wgpu::BufferDescriptor {
        label: None,
        size: 16,
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::STORAGE,
        mapped_at_creation: false,
    };
    let _dead = runtime.device().create_buffer(&wrong);
    let buffer = runtime.buffer(16).expect("allocates");
    let commands = [Command::Fill { buffer, word: 0 }];
    runtime.submit(&commands).expect("not ours");
}

#[test]
fn modules_that_are_not_used_any_more_are_dropped() {
    let runtime = open();
    runtime.limit_modules(8);
    let source = upload_words(&runtime, &[1, 2, 3]);
    let compile = |k: u32| {
        let text = format!("// {k}\n{AFFINE}");
        let access = [Access::Read, Access::ReadWrite];
        runtime.pipeline("affine", &text, "main", &access, Checks::ALL).expect("compiles")
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
    let target = runtime.buffer(12).expect("allocates");
    let Command::Dispatch(mut dispatch) = affine(&runtime, &source, &target, 3, 1) else { unreachable!() };
    dispatch.pipeline = first;
    runtime.submit(&[Command::Dispatch(dispatch)]).expect("runs");
    assert_eq!(words(&read(&runtime, &target)), [1, 3, 5]);
}

#[test]
fn what_does_not_compile_says_why() {
    let runtime = open();
    let message =
        |wgsl: &str, entry, access: &[Access]| match runtime.pipeline("broken", wgsl, entry, access, Checks::ALL) {
            Err(Error::Gpu { label, message }) if label == "broken" => message,
            other => panic!("{other:?}"),
        };
    assert!(message("fn f( {", "main", &[]).contains("expected"));
    assert!(message("fn f() -> u32 { return 1.5; }", "main", &[]).contains("return"));
    message(AFFINE, "absent", &[Access::Read, Access::ReadWrite]);
    message(AFFINE, "main", &[Access::Read, Access::Read]);
    message(AFFINE, "main", &[Access::Read]);
    assert_eq!(runtime.stats().pipelines_compiled, 0);
    assert!(runtime.pipeline("sound", AFFINE, "main", &[Access::Read, Access::ReadWrite], Checks::ALL).is_ok());
}

#[test]
fn faulty_dispatches_are_called_bugs() {
    let runtime = open();
    let a = runtime.buffer(64).expect("allocates");
    let b = runtime.buffer(64).expect("allocates");
    let Command::Dispatch(good) = affine(&runtime, &a, &b, 1, 1) else { panic!("a dispatch") };
    let foreign = open().buffer(64).expect("allocates");
    for buffers in [vec![], vec![a.clone()], vec![a.clone(), a.clone()], vec![a.clone(), foreign]] {
        let buffers = buffers.into_iter().map(Into::into).collect();
        let error = runtime.submit(&[Command::Dispatch(Dispatch { buffers, ..good.clone() })]).expect_err("is refused");
        assert!(matches!(&error, Error::Gpu { label, message } if label == "affine" && message.starts_with("bug: ")));
    }
    runtime.submit(&[Command::Dispatch(good)]).expect("runs");
}

#[test]
fn threads_submit_at_once() {
    let runtime = open();
    let barrier = Barrier::new(4);
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let (runtime, barrier) = (&runtime, &barrier);
            scope.spawn(move || {
                barrier.wait();
                for round in 0..40 {
                    let seed = thread * 1000 + round;
                    let input = upload_words(runtime, &[seed; 300]);
                    let output = runtime.buffer(1200).expect("allocates");
                    let commands = [affine(runtime, &input, &output, 300, 2)];
                    drop(input);
                    let request = whole(&output);
                    let result = if round % 2 == 0 {
                        runtime.submit_and_read(&commands, &[request])
                    } else {
                        read_later(runtime, &commands, &[request]).and_then(pollster::block_on)
                    };
                    let expected: Vec<u32> = (0..300).map(|i| seed * 2 + i).collect();
                    assert_eq!(words(&result.expect("runs")[0]), expected, "thread {thread}, round {round}");
                }
            });
        }
    });
    assert_eq!(runtime.stats().pipelines_compiled, 1, "one thread compiled for all");
}

#[test]
fn many_submissions_are_throttled() {
    let runtime = open();
    let (a, b) = (upload_words(&runtime, &[0; 64]), runtime.buffer(256).expect("allocates"));
    let commands = [affine(&runtime, &a, &b, 64, 1), affine(&runtime, &b, &a, 64, 1)];
    for _ in 0..150 {
        runtime.submit(&commands).expect("submits");
    }
    let stats = runtime.stats();
    assert!(stats.throttles >= 80 && stats.waits == 0, "{stats:?}");
    let expected: Vec<u32> = (0..64).map(|i| i * 300).collect();
    assert_eq!(words(&read(&runtime, &a)), expected);
}

#[test]
fn futures_may_be_dropped_or_outlive_the_runtime() {
    let runtime = open();
    let buffer = upload_words(&runtime, &[4, 5, 6]);
    drop(read_later(&runtime, &[], &[whole(&buffer)]).expect("submits"));
    assert_eq!(words(&read(&runtime, &buffer)), [4, 5, 6]);
    let request = whole(&buffer);
    let future = read_later(&runtime, &[], &[request]).expect("submits");
    drop((runtime, buffer));
    assert_eq!(words(&pollster::block_on(future).expect("reads")[0]), [4, 5, 6]);
}

#[test]
fn core_limits_are_kept_to() {
    let runtime = open_with(&DeviceOptions::default().core_limits(true).no_int64(true).no_f64(true));
    let limits = runtime.limits();
    assert_eq!((limits.storage_buffers, limits.invocations, limits.workgroup_bytes), (8, 256, 16_384));
    assert_eq!((limits.max_binding, limits.max_buffer), (128 << 20, 256 << 20));
    assert!(!runtime.has_int64() && !runtime.has_f64());
    let wide = "@compute @workgroup_size(512) fn main() {}";
    assert!(matches!(runtime.pipeline("wide", wide, "main", &[], Checks::ALL), Err(Error::Gpu { .. })));
    let long = "@compute @workgroup_size(64) fn main() { let x = 1li; }";
    assert!(matches!(runtime.pipeline("long", long, "main", &[], Checks::ALL), Err(Error::Gpu { .. })));
}

#[test]
fn times_are_told_where_there_are_timestamps() {
    let runtime = open();
    let count = 1 << 20;
    let input = upload_words(&runtime, &vec![1; count as usize]);
    let output = runtime.buffer(u64::from(count) * 4).expect("allocates");
    let time = runtime.submit_timed(&[affine(&runtime, &input, &output, count, 1)]).expect("runs");
    assert_eq!(time.is_some(), runtime.has_timestamps());
    assert!(time.is_none_or(|ms| ms > 0.0 && ms < 10_000.0), "{time:?}");
    let without = open_with(&DeviceOptions::default().no_timestamps(true));
    assert_eq!(without.submit_timed(&[]).expect("runs"), None);
}

#[test]
fn modules_are_dumped_on_demand() {
    let folder = std::env::temp_dir().join(format!("ragged-dump-{}", std::process::id()));
    let runtime = open_with(&DeviceOptions::default().dump_wgsl(Some(folder.clone())));
    runtime.pipeline("a/b c", AFFINE, "main", &[Access::Read, Access::ReadWrite], Checks::ALL).expect("compiles");
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

#[test]
fn handles_cross_threads() {
    fn crosses<T: Send + Sync + 'static>() {}
    crosses::<Runtime>();
    crosses::<Buffer>();
    crosses::<Pipeline>();
    crosses::<Command>();
    crosses::<Adapter>();
    fn moves<T: Send + 'static>() {}
    moves::<ReadFuture>();
    let runtime = open();
    let buffer = upload_words(&runtime, &[1]);
    std::thread::spawn(move || drop(buffer)).join().expect("drops there");
    std::thread::sleep(Duration::from_millis(1));
    assert_eq!(runtime.stats().buffer_bytes, 0);
}
