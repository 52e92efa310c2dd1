//! Buffers: reuse, limits and memory that runs out.

use super::*;

#[test]
fn buffers_of_the_last_time_are_taken_again_where_they_lie_unused() {
    let runtime = open();
    let (sizes, mut ids) = ([100, 100, 3000, 100], Vec::new());
    let first = runtime.buffers("a test", &sizes, &mut ids).expect("allocated");
    let all = ids.clone();
    assert_eq!(first.iter().map(Buffer::id).collect::<Vec<_>>(), all);
    drop(first);
    let before = runtime.stats();
    // In any order of their return.
    let again = runtime.buffers("a test", &sizes, &mut ids).expect("pooled");
    assert_eq!(ids, all);
    let kept = again[1].clone();
    again.into_iter().rev().for_each(drop);
    let third = runtime.buffers("a test", &sizes, &mut ids).expect("one is new");
    assert_eq!([ids[0], ids[2], ids[3]], [all[0], all[2], all[3]]);
    assert!(!all.contains(&ids[1]) && kept.id() == all[1], "what is in use stays whose it is");
    assert_eq!((runtime.stats() - before).pool_misses, 1);
    drop((third, kept));
    // Other sizes, or fewer: only buffers that fit.
    let fewer = runtime.buffers("a test", &[3000], &mut ids).expect("pooled");
    assert_eq!((fewer[0].id(), ids.len()), (all[2], 1));
    assert!(runtime.buffers("a test", &[100, u64::MAX], &mut ids).is_err());
}

/// A buffer that a list of commands still names is never reused, even if all other handles are dropped.
#[test]
fn reuse_does_not_overtake_commands() {
    let runtime = open();
    let output = runtime.buffer("a test", 4096).expect("allocates");
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
    assert_eq!(runtime.stats().pool_hits, 1, "the same allocation");
    assert_eq!(words(&read(&runtime, &second)), [2; 64]);
    // Nor does an upload whose memory is freed before the submission that would have filled it.
    drop(upload_words(&runtime, &[3; 640]));
    runtime.trim();
    assert_eq!(words(&read(&runtime, &second)), [2; 64]);
}

#[test]
fn the_pool_is_bounded() {
    let runtime = open_with(&DeviceOptions::default().max_pooled(4096));
    let buffers: Vec<_> = (0..8).map(|_| runtime.buffer("a test", 1024).expect("allocates")).collect();
    drop(buffers);
    assert_eq!(runtime.pooled_bytes(), 4096);
    runtime.trim();
    assert_eq!(runtime.pooled_bytes(), 0);
}

#[test]
fn bind_groups_do_not_outlive_their_buffers() {
    let runtime = open();
    let output = runtime.buffer("a test", 64).expect("allocates");
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
    let runtime = open_with(&DeviceOptions::default().max_buffer(1000));
    let limit = runtime.limits().max_buffer;
    assert_eq!(limit, 992, "a multiple of 16");
    assert!(runtime.buffer("a test", limit).is_ok());
    for bytes in [limit + 1, 1 << 40, u64::MAX] {
        let error = runtime.buffer("a test", bytes).expect_err("too large");
        assert!(matches!(error, Error::Limit { requested, limit: 992, .. } if requested == bytes), "{error}");
    }
    assert!(matches!(runtime.upload(&[0; 1001]), Err(Error::Limit { .. })));
    let stats = runtime.stats();
    assert_eq!(stats.pool_misses, 1, "nothing else was allocated");
    let access = vec![Access::Read; runtime.limits().storage_buffers as usize + 1];
    assert!(matches!(runtime.pipeline("wide", AFFINE, "main", &access, RuntimeChecks::ALL), Err(Error::Limit { .. })));
    let input = runtime.buffer("a test", 16).expect("allocates");
    let output = runtime.buffer("a test", 16).expect("allocates");
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
    let runtime = open_with(&DeviceOptions::default().max_buffer(256));
    let (a, b) = (upload_words(&runtime, &[0; 64]), runtime.buffer("a test", 256).expect("allocates"));
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
    drop(runtime.buffer("a test", 5000).expect("allocates"));
    assert!(runtime.pooled_bytes() > 0);
    runtime.fail_allocations(1);
    let buffer = runtime.upload(&[1, 2, 3]).expect("the second attempt succeeds");
    assert_eq!(runtime.pooled_bytes(), 0);
    runtime.fail_allocations(2);
    let error = runtime.buffer("a test", 100).expect_err("both attempts fail");
    assert!(matches!(&error, Error::Gpu { message, .. } if message.contains("out of device memory")), "{error}");
    assert_eq!(read(&runtime, &buffer), [1, 2, 3], "the device goes on");
    runtime.fail_allocations(2);
    assert!(
        runtime.submit_and_read(&[], &[whole(&runtime.buffer("a test", 1 << 20).unwrap_or(buffer.clone()))]).is_ok()
    );
    runtime.fail_allocations(0);
}

#[test]
fn core_limits_are_kept_to() {
    let runtime = open_with(&DeviceOptions::default().core_limits(true).no_int64(true).no_f64(true));
    let limits = runtime.limits();
    assert_eq!((limits.storage_buffers, limits.invocations, limits.workgroup_bytes), (8, 256, 16_384));
    assert_eq!((limits.max_binding, limits.max_buffer), (128 << 20, 256 << 20));
    assert!(!runtime.has_int64() && !runtime.has_f64());
    let wide = "@compute @workgroup_size(512) fn main() {}";
    assert!(matches!(runtime.pipeline("wide", wide, "main", &[], RuntimeChecks::ALL), Err(Error::Gpu { .. })));
    let long = "@compute @workgroup_size(64) fn main() { let x = 1li; }";
    assert!(matches!(runtime.pipeline("long", long, "main", &[], RuntimeChecks::ALL), Err(Error::Gpu { .. })));
}
