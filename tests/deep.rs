//! Chains of many operations, recorded, planned, run and dropped on threads with small stacks.

mod common;

use std::time::Instant;

use common::devices;
use ragged::{Device, RaggedTensor, Result, Tensor};

const OPERATIONS: usize = 200;

/// Runs `f` on a thread with 512 KiB of stack.
fn on_a_small_stack(f: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(f).expect("a thread starts");
    thread.join().expect("no panic");
}

type Step = fn(&Tensor, usize) -> Result<Tensor>;

fn chain(device: &Device, step: Step) -> Result<Vec<i32>> {
    let rows = vec![vec![1i32, 2, 3], vec![], vec![4]];
    let start = Instant::now();
    let mut x = RaggedTensor::from_nested(rows, device)?.into_erased();
    for k in 0..OPERATIONS {
        x = step(&x, k)?;
    }
    println!("recorded {:?}", start.elapsed());
    let x: RaggedTensor<i32> = x.try_into()?;
    let y = x.flat_values()?.to_vec()?;
    println!("run {:?}", start.elapsed());
    drop(x);
    println!("dropped {:?}", start.elapsed());
    Ok(y)
}

#[test]
fn scratch_deep() {
    let steps: [(&str, Step); 4] = [
        ("add", |x, k| x + (k as i32 % 3)),
        ("cumsum", |x, _| x.cumsum(1)),
        ("reverse", |x, _| x.reverse(1)),
        ("less max", |x, _| x - &x.reduce_max(ragged::keep(1))?),
    ];
    for (name, device) in devices() {
        for (op, step) in steps {
            println!("{name} {op}");
            let device = device.clone();
            on_a_small_stack(move || println!("{:?}", chain(&device, step)));
        }
    }
}
