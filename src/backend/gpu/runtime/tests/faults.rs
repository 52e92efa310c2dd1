//! Adapters, lost devices and errors of the program itself.

use super::*;

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
fn a_lost_device_is_an_error_everywhere() {
    let runtime = open();
    let buffer = upload_words(&runtime, &[1, 2, 3]);
    let command = Command::Fill { buffer: buffer.clone(), word: 7 };
    let dispatch = affine(&runtime, &buffer, &runtime.buffer("a test", 12).expect("allocates"), 3, 1);
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
    lost("buffer", runtime.buffer("a test", 16).map(drop));
    lost("upload", runtime.upload(&[1]).map(drop));
    lost("pipeline", runtime.pipeline("p", AFFINE, "main", &[Access::Read], RuntimeChecks::ALL).map(drop));
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
    let buffer = runtime.buffer("a test", 16).expect("allocates");
    let commands = [Command::Fill { buffer, word: 0 }];
    runtime.submit(&commands).expect("not ours");
}
