//! Tests of `shaders/row_sort.wgsl` on short rows and, through the generator, of long rows in passes of
//! `shaders/sort.wgsl`.

use super::harness::{Mode, gpu, source};
use super::rows::{Random, adversarial, distributions, splits};
use crate::backend::gpu as host;

const ROW_SORT: &str =
    concat!(include_str!("../../../../shaders/row_sort.wgsl"), include_str!("../../../../shaders/lib/tile_sort.wgsl"));

/// The permutation within rows, in which positions of long rows are left unchanged, and the list of long rows.
fn run(mode: Mode, splits: &[u32], keys: &[u32], live: usize) -> (Vec<u32>, Vec<u32>) {
    let gpu = gpu();
    let n = keys.len() as u32;
    let rows = splits.len() as u32 - 1;
    let text = source(
        ROW_SORT,
        "u32",
        &[("row_splits", "u32"), ("keys_in", "u32"), ("perm", "u32"), ("longs", "u32")],
        "fn splits_at(i: u32) -> u32 { return load_row_splits(min(i, rows())); }
        fn load(i: u32) -> u32 { return load_keys_in(i); }
        fn is_less(a: u32, b: u32) -> bool { return a < b; }
        fn store(i: u32, source: u32) { store_perm(i, source); }
        fn note_long(stretch: u32, at: u32, len: u32) {
            store_longs(stretch, len);
            store_longs(stretches() + 1u + stretch, at);
        }",
    );
    // Rows beyond the live ones are empty.
    let mut all = splits[..=live].to_vec();
    all.resize(splits.len(), splits[live]);
    let perm = gpu.upload(&vec![u32::MAX; keys.len()]);
    let longs = gpu.junk::<u32>(host::row_sort::longs_len(n) as usize);
    let buffers = [&gpu.upload(&all), &gpu.upload(keys), &perm, &longs];
    let kernel = gpu.kernel(&text, mode, host::row_sort::head(n, rows), &buffers);
    // One surplus workgroup.
    let (x, y) = host::fold_grid(host::row_sort::stretches(n) + 1);
    kernel.run(&[("main", (x, y, 1))]);
    (gpu.read(&perm, keys.len()), gpu.read(&longs, host::row_sort::longs_len(n) as usize))
}

fn check(mode: Mode, name: &str, lengths: &[u32], keys: &[u32], live: usize) {
    let splits = splits(lengths);
    let (perm, longs) = run(mode, &splits, keys, live);
    let mut long = Vec::new();
    for row in 0..live {
        let (start, end) = (splits[row], splits[row + 1]);
        let got = &perm[start as usize..end as usize];
        if end - start > host::row_sort::STRETCH {
            long.push((start, end - start));
            assert!(got.iter().all(|&p| p == u32::MAX), "{name}, {mode:?}: long row {row} was written");
            continue;
        }
        let mut want: Vec<u32> = (start..end).collect();
        want.sort_by_key(|&p| keys[p as usize]);
        assert!(got == want, "{name}, {mode:?}: row {row} of {} elements", end - start);
    }
    let rest = &perm[splits[live] as usize..];
    assert!(rest.iter().all(|&p| p == u32::MAX), "{name}, {mode:?}: rows that do not exist");
    let stretches = host::row_sort::stretches(keys.len() as u32) as usize;
    let (noted, starts) = (&longs[..stretches], &longs[stretches + 1..]);
    let found: Vec<_> = starts.iter().zip(noted).filter(|(_, len)| **len > 0).map(|(&at, &len)| (at, len)).collect();
    assert_eq!(found, long, "{name}, {mode:?}: long rows");
    assert!(starts.is_sorted(), "{name}, {mode:?}: starts");
}

fn keys(random: &mut Random, n: u32, bits: u32) -> Vec<u32> {
    (0..n).map(|_| (random.next() as u32).checked_shr(32 - bits).unwrap_or(0)).collect()
}

#[test]
fn rows_of_all_kinds() {
    let mut random = Random(31);
    for (name, lengths) in distributions(20_000) {
        let n = lengths.iter().sum::<u32>();
        if n == 0 {
            continue;
        }
        for (mode, bits) in [(Mode::Checked, 3), (Mode::Unchecked, 32)] {
            let keys = keys(&mut random, n, bits);
            check(mode, &name, &lengths, &keys, lengths.len());
        }
    }
}

#[test]
fn rows_at_the_edges_of_stretches() {
    let mut random = Random(32);
    for len in [1, 6, 7, 8, 127, 128, 447, 448, 449, 895, 896, 897, 1791, 1792, 1793, 3000] {
        for before in [0, 1, 895, 896, 897] {
            let lengths = [before, len, 0, 0, len, 3, len];
            let keys = keys(&mut random, lengths.iter().sum(), 4);
            check(Mode::Unchecked, &format!("{len} after {before}"), &lengths, &keys, lengths.len());
        }
    }
}

#[test]
fn mixed_rows_equal_keys_and_device_known_counts() {
    let mut random = Random(33);
    for seed in 0..4 {
        let lengths = adversarial(seed, 40_000);
        let n = lengths.iter().sum();
        for bits in [0, 1, 8, 32] {
            let live = if bits == 8 { lengths.len() / 2 } else { lengths.len() };
            check(Mode::Unchecked, &format!("mixed {seed}, {bits} bits"), &lengths, &keys(&mut random, n, bits), live);
        }
    }
    // Positions beyond the rows also have the maximum key.
    check(Mode::Unchecked, "greatest", &[5, 900, 10], &[u32::MAX; 915], 3);
}
