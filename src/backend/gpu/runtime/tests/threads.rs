//! Concurrent submissions and reads.

use super::*;

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
                    let output = runtime.buffer("a test", 1200).expect("allocates");
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
    let (a, b) = (upload_words(&runtime, &[0; 64]), runtime.buffer("a test", 256).expect("allocates"));
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

#[test]
fn no_wait_has_a_timeout() {
    // See `Shared::wait_for`: a wait that times out while another thread polls makes wgpu-core panic.
    for text in [include_str!("../shared.rs"), include_str!("../poller.rs"), include_str!("../readback.rs")] {
        assert!(!text.contains("timeout: Some"), "a wait with a timeout");
    }
}
