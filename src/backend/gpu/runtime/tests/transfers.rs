//! Uploads, reads, fills and copies.

use super::*;

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
    let runtime = open_with(&DeviceOptions::default().max_pooled(0));
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
        assert_eq!(**result, data[*offset as usize..(offset + bytes) as usize], "{bytes} from {offset}");
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
    let read = runtime.submit_and_read(&[], &[whole(&buffer)]).expect("reads");
    assert!(read.len() == 1 && read[0].is_empty());
    assert!(runtime.submit_and_read(&[], &[]).expect("reads").is_empty());
    runtime.submit(&[]).expect("submits");
    assert_eq!((runtime.stats().submissions, runtime.stats().waits), (0, 0));
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
    assert_eq!(*results[0], vec![0; 1003]);
    let commands = [fill(u32::MAX), copy(8, 4, 16), copy(0, 1000, 3), copy(0, 0, 0)];
    let results = runtime.submit_and_read(&commands, &[whole(&target)]).expect("runs");
    let mut expected = vec![255; 1003];
    expected[4..20].copy_from_slice(&pattern(64, 5)[8..24]);
    expected[1000..].copy_from_slice(&pattern(64, 5)[..3]);
    assert_eq!(*results[0], expected);
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
    let buffer = runtime.buffer("a test", bytes).expect("allocates");
    let results =
        runtime.submit_and_read(&[Command::Fill { buffer: buffer.clone(), word: 0x0102_0304 }], &[whole(&buffer)]);
    assert!(words(&results.expect("runs")[0]).iter().all(|&word| word == 0x0102_0304));
}

#[test]
fn times_are_told_where_there_are_timestamps() {
    let runtime = open();
    let count = 1 << 20;
    let input = upload_words(&runtime, &vec![1; count as usize]);
    let output = runtime.buffer("a test", u64::from(count) * 4).expect("allocates");
    let time = runtime.submit_timed(&[affine(&runtime, &input, &output, count, 1)]).expect("runs");
    assert_eq!(time.is_some(), runtime.has_timestamps());
    assert!(time.is_none_or(|ms| ms > 0.0 && ms < 10_000.0), "{time:?}");
    let without = open_with(&DeviceOptions::default().no_timestamps(true));
    assert_eq!(without.submit_timed(&[]).expect("runs"), None);
}
