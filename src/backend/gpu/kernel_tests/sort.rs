//! Tests of `shaders/sort.wgsl`, with `shaders/scan.wgsl` between its two kernels.

use super::harness::{Mode, gpu, source};
use super::rows::Random;
use crate::backend::{cpu, gpu as host};

const SCAN: &str =
    concat!(include_str!("../../../../shaders/scan.wgsl"), include_str!("../../../../shaders/lib/workgroup_scan.wgsl"));
const SORT: &str =
    concat!(include_str!("../../../../shaders/sort.wgsl"), include_str!("../../../../shaders/lib/workgroup_scan.wgsl"));

/// The whole permutation, including elements beyond the live ones.
fn run(mode: Mode, keys: &[u32], capacity: u32, key_bits: u32) -> Vec<u32> {
    let gpu = gpu();
    let buffers = [
        ("keys_in", "u32"),
        ("perm_in", "u32"),
        ("keys_out", "u32"),
        ("perm_out", "u32"),
        ("digits", "u32"),
        ("size", "u32"),
    ];
    let store = "fn store(i: u32, key: u32, index: u32) { store_keys_out(i, key); store_perm_out(i, index); }
        fn capacity() -> u32 { return p.head[0].x; }
        fn load(i: u32) -> u32 { return load_keys_in(i); }\n";
    let first = "fn live() -> u32 { return load_size(0u); } fn index(i: u32) -> u32 { return i; }";
    let later = "fn live() -> u32 { return capacity(); } fn index(i: u32) -> u32 { return load_perm_in(i); }";
    let counts = host::sort::counts_len(capacity);
    let digits = gpu.junk::<u32>(counts as usize + 1);
    let sums = gpu.junk::<u32>(host::scan::scratch_len(counts) as usize);
    let size = gpu.upload(&[keys.len() as u32]);
    let scan = source(
        SCAN,
        "u32",
        &[("out", "u32"), ("tiles", "u32")],
        "fn live() -> u32 { return capacity(); } fn load(i: u32) -> u32 { return load_out(i); } const KEEPS = false;",
    );
    let scan = gpu.kernel(&scan, mode, [counts, 0, 0, 0, 0, 0, 0, 0], &[&digits, &sums]);
    let (x, y) = host::fold_grid(host::scan::tiles(counts));
    let (tx, ty) = host::fold_grid(host::sort::tiles(capacity));

    let mut input = (gpu.upload(keys), gpu.junk::<u32>(capacity as usize));
    for pass in 0..host::sort::passes(key_bits) {
        let output = (gpu.junk::<u32>(capacity as usize), gpu.junk::<u32>(capacity as usize));
        let text = source(SORT, "u32", &buffers, &(store.to_string() + if pass == 0 { first } else { later }));
        let bound = [&input.0, &input.1, &output.0, &output.1, &digits, &size];
        let kernel = gpu.kernel(&text, mode, host::sort::head(capacity, pass), &bound);
        kernel.run(&[("count", (tx, ty + 1, 1))]);
        scan.run(&[("upsweep", (x, y, 1)), ("spine", (1, 1, 1)), ("downsweep", (x, y, 1))]);
        kernel.run(&[("scatter", (tx, ty + 1, 1))]);
        input = output;
    }
    gpu.read(&input.1, capacity as usize)
}

fn check(mode: Mode, keys: &[u32], capacity: u32, key_bits: u32) {
    let permutation = run(mode, keys, capacity, key_bits);
    let label = format!("{} of {capacity} keys of {key_bits} bits, {mode:?}", keys.len());
    let mut expected: Vec<u32> = (0..keys.len() as u32).collect();
    expected.sort_by_key(|&k| keys[k as usize]);
    assert!(cpu::sort::sort_permutation(keys, key_bits) == expected, "{label}: twin");
    assert!(permutation[..keys.len()] == expected, "{label}");
    // Elements beyond the live ones follow in order.
    assert!(permutation[keys.len()..].iter().copied().eq(keys.len() as u32..capacity), "{label}");
}

#[test]
fn permutations_are_stable_and_sorted() {
    let mut random = Random(21);
    for mode in [Mode::Checked, Mode::Unchecked] {
        for capacity in [1, 2, 256, 2047, 2048, 2049, 10_000] {
            for live in [0, capacity / 3, capacity] {
                for key_bits in if mode == Mode::Checked { [9, 32] } else { [1, 8] } {
                    let keys: Vec<_> = (0..live).map(|_| random.next() as u32 >> (32 - key_bits)).collect();
                    check(mode, &keys, capacity, key_bits);
                }
            }
        }
    }
}

#[test]
fn large_and_adversarial_keys() {
    let mut random = Random(22);
    let len = 300_000;
    let sets: [(&str, Vec<u32>); 6] = [
        ("random", (0..len).map(|_| random.next() as u32).collect()),
        ("equal", vec![0x1234_5678; len]),
        ("greatest", vec![u32::MAX; len]),
        ("rising", (0..len as u32).collect()),
        ("falling", (0..len as u32).rev().collect()),
        ("few", (0..len).map(|_| [0, 1, 0xff, 0x100, u32::MAX, 1 << 31][random.below(6) as usize]).collect()),
    ];
    for (name, keys) in sets {
        eprintln!("{name}");
        check(Mode::Unchecked, &keys, len as u32, 32);
        check(Mode::Unchecked, &keys[..123_457], len as u32, 32);
    }
    let rows: Vec<_> = (0..2_000_000).map(|_| random.below(1 << 12)).collect();
    check(Mode::Unchecked, &rows, 2_000_000, 12);
}
