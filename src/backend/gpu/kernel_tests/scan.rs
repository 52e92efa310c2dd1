//! Tests of `shaders/scan.wgsl`.

use super::harness::{Mode, gpu, source};
use super::rows::Random;
use crate::backend::{cpu, gpu as host};

/// The source of a scan's elements.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Elements {
    /// A separate array, read by both passes.
    Apart,
    /// A separate array, from which the first pass copies the elements into the output.
    Copied,
    /// The output.
    InPlace,
}

fn text(elements: Elements) -> String {
    let load = if elements == Elements::InPlace { "load_out(i)" } else { "load_values(i)" };
    let keeps = elements == Elements::Copied;
    source(
        concat!(
            include_str!("../../../../shaders/scan.wgsl"),
            include_str!("../../../../shaders/lib/workgroup_scan.wgsl")
        ),
        "u32",
        &[("values", "u32"), ("out", "u32"), ("tiles", "u32"), ("size", "u32")],
        &format!(
            "fn live() -> u32 {{ return load_size(0u); }}\n\
             fn load(i: u32) -> u32 {{ return {load}; }}\n\
             const KEEPS = {keeps};"
        ),
    )
}

/// The prefix sums and the overflow flag.
fn run(mode: Mode, values: &[u32], capacity: u32, small: bool, elements: Elements) -> (Vec<u32>, u32) {
    let gpu = gpu();
    let mut padded = values.to_vec();
    padded.resize(capacity as usize + 1, 0xa5a5_a5a5);
    let input = gpu.upload(values);
    let out = if elements == Elements::InPlace { gpu.upload(&padded) } else { gpu.junk::<u32>(capacity as usize + 1) };
    let scratch = host::scan::scratch_len(capacity) as usize;
    let tiles = gpu.junk::<u32>(scratch);
    let size = gpu.upload(&[values.len() as u32]);
    let text = text(elements);
    let kernel = gpu.kernel(&text, mode, [capacity, 0, 0, 0, 0, 0, 0, 0], &[&input, &out, &tiles, &size]);
    if small {
        assert!(host::scan::is_small(capacity));
        kernel.run(&[("small", (1, 1, 1))]);
    } else {
        let (x, y) = host::fold_grid(host::scan::tiles(capacity));
        // The grid may exceed the number of tiles.
        kernel.run(&[("upsweep", (x, y + 1, 1)), ("spine", (1, 1, 1)), ("downsweep", (x, y + 1, 1))]);
    }
    (gpu.read(&out, capacity as usize + 1), gpu.read::<u32>(&tiles, scratch)[scratch - 1])
}

fn check(mode: Mode, values: &[u32], capacity: u32) {
    let mut expected = vec![0; capacity as usize + 1];
    let some = |start: usize, out: &mut [u32]| out.copy_from_slice(&values[start..start + out.len()]);
    let overflow = cpu::scan::exclusive_sum(values.len(), some, &mut expected) > u64::from(u32::MAX);
    let variants = [Elements::Apart, Elements::Copied, Elements::InPlace].map(|e| [(false, e), (true, e)]);
    for (small, elements) in variants.into_iter().flatten().filter(|v| !v.0 || host::scan::is_small(capacity)) {
        let (sums, flag) = run(mode, values, capacity, small, elements);
        let first = sums.iter().zip(&expected).position(|(a, b)| a != b);
        assert!(first.is_none(), "{} of {capacity}, {small} {elements:?} {mode:?}: entry {first:?}", values.len());
        assert_eq!(flag != 0, overflow, "{} of {capacity}, {small} {elements:?} {mode:?}", values.len());
    }
}

#[test]
fn sums_at_every_size_class() {
    let mut random = Random(1);
    for mode in [Mode::Checked, Mode::Unchecked] {
        for capacity in [0, 1, 2, 255, 256, 257, 2047, 2048, 2049, 4095, 4096, 70_000] {
            for live in [0, capacity / 3, capacity] {
                let values: Vec<_> = (0..live).map(|_| random.below(50)).collect();
                check(mode, &values, capacity);
            }
        }
    }
}

#[test]
fn spine_carries_across_its_own_tiles() {
    let mut random = Random(2);
    let values: Vec<_> = (0..4_300_000).map(|_| random.below(900)).collect();
    check(Mode::Unchecked, &values, 4_300_000);
    check(Mode::Unchecked, &values[..2_100_000], 4_300_000);
}

#[test]
fn totals_beyond_32_bits_wrap_and_are_recorded() {
    let mut random = Random(3);
    for len in [2usize, 300, 2000, 2100, 50_000] {
        for at in 0..6 {
            // One value, at a random index, brings the total to the limit or one past it.
            let mut values: Vec<_> = (0..len).map(|_| random.below(5)).collect();
            let place = random.below(len as u32) as usize;
            values[place] = 0;
            let rest: u32 = values.iter().sum();
            values[place] = (u32::MAX - rest).saturating_add(at % 2);
            check(Mode::Unchecked, &values, len as u32 + 10 * (at / 2));
        }
    }
    let many: Vec<_> = (0..100_000).map(|_| random.next() as u32).collect();
    check(Mode::Unchecked, &many, 100_000);
}
