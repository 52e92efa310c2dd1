//! Threads that record and read tensors of one device.

use ragged::opt::keep;
use ragged::{Device, HostTensor, Result, Tensor};

use crate::common;
use crate::operations::rows;

#[test]
fn threads_record_and_read_concurrently() {
    let cpu = Device::cpu();
    let compute = |x: &Tensor, k: i32| -> Result<HostTensor> {
        let y = x.multiply(k)?.subtract(&x.reduce_sum(keep(1))?)?;
        Tensor::concat(&[&y, x], 1)?.reduce_max(1)?.to_host()
    };
    for (name, device) in common::gpus() {
        let host = rows(2000, 9);
        let shared = host.to_device(&device).expect("uploads");
        // Not computed yet, and needed by all threads.
        let pending = shared.add(&shared).expect("recorded");
        let reference = host.to_device(&cpu).expect("uploads");
        let doubled = reference.add(&reference).expect("recorded");
        std::thread::scope(|scope| {
            for k in 0..8 {
                let (shared, pending, reference, doubled, name) = (&shared, &pending, &reference, &doubled, &name);
                scope.spawn(move || {
                    for round in 0..6 {
                        let factor = 1 + (k + round) % 5;
                        let got = compute(shared, factor).expect("reads");
                        assert_eq!(got, compute(reference, factor).expect("reads"), "{name}");
                        let got = compute(pending, factor).expect("reads");
                        assert_eq!(got, compute(doubled, factor).expect("reads"), "{name}");
                    }
                });
            }
        });
    }
}
