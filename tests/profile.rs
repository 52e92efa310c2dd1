//! The scopes of the feature `wgpu-profiler`: `cargo test --release --features wgpu-profiler --test profile`.

mod common;

use ragged::{Device, HostTensor, HostValues, Tensor};

fn scanned(device: &Device) -> Tensor {
    let x = HostTensor::dense(&[1, 5000], HostValues::I32((0..5000).collect())).to_device(device).expect("uploads");
    x.cumsum(1).and_then(|x| x.reduce_sum(1)).expect("recorded")
}

#[test]
fn each_kernel_has_a_scope() {
    for (_, device) in common::gpus() {
        let before = device.stats();
        let sums = scanned(&device);
        let scopes = sums.eval_profiled().expect("computes");
        let done = device.stats() - before;
        assert_eq!((done.submissions, done.waits), (1, 1), "{}", device.name());
        assert_eq!(sums.to_host().expect("reads"), scanned(&Device::cpu()).to_host().expect("reads"));
        // Without timestamps there are no scopes.
        if scanned(&device).eval_timed().expect("computes").is_none() {
            assert_eq!(scopes.map(|s| s.len()), None);
            continue;
        }
        let scopes = scopes.expect("the device has timestamps");
        assert_eq!(scopes.len() as u64, done.dispatches, "{}", device.name());
        assert!(scopes[0].label.contains("cumsum"), "{:?}", scopes[0].label);
        assert!(scopes[scopes.len() - 1].label.contains("reduce_sum"), "{:?}", scopes[scopes.len() - 1].label);
        let mut last = 0.0;
        for scope in scopes {
            let time = scope.time.expect("a time");
            assert!(last <= time.start && time.start <= time.end, "{}: {time:?} after {last}", scope.label);
            last = time.start;
        }
        // An evaluated tensor has no kernels.
        assert_eq!(sums.eval_profiled().expect("computed").map(|s| s.len()), Some(0));
    }
}

#[test]
fn the_cpu_computes_without_scopes() {
    let sums = scanned(&Device::cpu());
    assert!(sums.eval_profiled().expect("computes").is_none());
    assert!(sums.explain().expect("explained").kernels.is_empty(), "it is computed");
}
