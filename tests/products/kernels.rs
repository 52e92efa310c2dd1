//! Kernels and dispatches of products: `explain`, sums that take several dispatches, an attention.

use ragged::ManyDispatches::{self, LoopLimit};
use ragged::{Device, HostTensor, HostValues};

use super::common;
use super::matrix::{bits, host, on, splits};

#[test]
fn explain_shows_the_kernels() {
    let device = Device::cpu();
    let x = on(&host(vec![], vec![30, 20], vec![1.0f32; 600]), &device, false);
    let explained = x.matmul(x.t()).and_then(|y| y.explain()).expect("explained");
    let kinds: Vec<_> = explained.kernels.iter().map(|k| k.kind).collect();
    assert_eq!(kinds, ["matmul"]);
    assert_eq!(explained.kernels[0].bytes_read + explained.kernels[0].bytes_written, 2 * 2400 + 3600);
}

/// Terms of few results are divided among workgroups, whose sums are added by further dispatches. Those of many results
/// are not, and may be more than one dispatch adds where the driver terminates long loops. The sums of whole numbers are
/// exact.
#[test]
fn sums_of_very_many_terms() {
    for (name, device) in common::devices() {
        let value = |k: usize| ((k * 7919) % 17) as i32 - 8;
        for (rows, terms, divided) in [(1, 200_003, true), (200, 2100, false)] {
            let x = HostTensor::dense(&[rows, terms], HostValues::I32((0..rows * terms).map(value).collect()));
            let x = x.to_device(&device).expect("an upload");
            let product = x.matmul(x.t()).expect("recorded");
            let explained = product.explain().expect("explained");
            let is_limited = !device.is_cpu() && device.is_software() && !divided;
            let limits: &[ManyDispatches] = if is_limited { &[LoopLimit] } else { &[] };
            assert_eq!(explained.kernels[0].limits, limits, "{name}");
            let dispatches = match (device.is_cpu(), divided) {
                (false, true) => 3,
                _ => 1 + u32::from(is_limited),
            };
            assert_eq!(u32::try_from(explained.kernels[0].dispatches), Ok(dispatches), "{name}: {explained}");
            assert_eq!(explained.to_string().contains("the driver ends loops"), is_limited, "{name}: {explained}");
            let HostValues::I32(product) = product.to_host().expect("a read").values else { panic!("integers") };
            for p in (0..rows * rows).step_by(97) {
                let term = |k: usize| value(p / rows * terms + k) * value(p % rows * terms + k);
                assert_eq!(product[p], (0..terms).map(term).sum::<i32>(), "{name}: result {p}");
            }
        }
    }
}

/// The loops of the products are bounded by the longest row, not by the number of scores.
#[test]
fn an_attention_takes_few_dispatches() {
    let lengths = (0..40).map(|row| (row * 131) % 400);
    let splits = splits(lengths);
    let tokens = *splits.last().expect("never empty") as usize;
    let value = |k: usize| ((k * 7919) % 17) as f32 / 8.0 - 1.0;
    let host = host(vec![splits], vec![tokens, 16], (0..tokens * 16).map(value).collect());
    let mut want = None;
    for (name, device) in common::devices() {
        for hidden in [false, true] {
            let x = on(&host, &device, hidden);
            let attention = || x.matmul(x.t())?.softmax(2)?.matmul(&x);
            let attention = attention().expect("recorded");
            let explained = attention.explain().expect("explained");
            let result = attention.to_host().expect("a read");
            println!("{name}: {} dispatches", explained.dispatches());
            assert!(explained.dispatches() <= 20, "{name}: {explained}");
            let want = want.get_or_insert_with(|| bits::<f32>(&result));
            assert!(*want == bits::<f32>(&result), "{name}");
        }
    }
}
