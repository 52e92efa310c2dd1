//! Tests of `shaders/rank_bitmap.wgsl` and `shaders/compact.wgsl`, with word-sized and with packed values.

use super::harness::{ATOMIC, Mode, gpu, source};
use super::rows::Random;
use crate::backend::gpu::{compact, fold_grid, rank_bitmap};
use crate::graph::rank_bitmap::{TILE, tiles, words};

const LIVE: &str = "fn live() -> u32 { return load_size(0u); }";

fn rank_bitmap_text() -> String {
    source(
        concat!(
            include_str!("../../../../shaders/rank_bitmap.wgsl"),
            include_str!("../../../../shaders/lib/workgroup_scan.wgsl")
        ),
        "u32",
        &[("flags", "u32"), ("out", "u32"), ("size", "u32")],
        &format!("{LIVE} fn keep(i: u32, row: u32) -> bool {{ return load_flags(i) != 0u; }}"),
    )
}

fn compact_text(packed: bool) -> String {
    let store = if packed { "or_out(i >> 2u, (v & 0xffu) << ((i & 3u) * 8u));" } else { "store_out(i, v);" };
    source(
        include_str!("../../../../shaders/compact.wgsl"),
        "u32",
        &[("bitmap", "u32"), ("values", "u32"), ("out", if packed { ATOMIC } else { "u32" }), ("size", "u32")],
        &format!(
            "{LIVE}
             fn bitmap(k: u32) -> u32 {{ return load_bitmap(k); }}
             fn value(i: u32, row: u32) -> u32 {{ return load_values(i); }}
             fn store(i: u32, v: u32) {{ {store} }}"
        ),
    )
}

/// The rank bitmap, computed naively.
fn naive_rank_bitmap(flags: &[u32], live: u32) -> Vec<u32> {
    let capacity = flags.len() as u32;
    let selected = |i: u32| u32::from(i < live && flags[i as usize] != 0);
    let before = |from: u32, to: u32| (from..to.min(capacity)).map(selected).sum::<u32>();
    let starts = (0..tiles(capacity)).map(|tile| tile * TILE);
    let mut out = vec![0];
    for start in starts.clone() {
        out.push(out[out.len() - 1] + before(start, start + TILE));
    }
    for tile in starts {
        let mut rank = 0;
        for word in (tile..tile + TILE).step_by(16) {
            let bits = (word..word + 16).map(|i| if i < capacity { selected(i) << (i - word) } else { 0 }).sum::<u32>();
            out.push((rank << 16) | bits);
            rank += bits.count_ones();
        }
    }
    out
}

/// The first words of the output, with `inner` values per position.
fn run(mode: Mode, flags: &[u32], live: u32, (packed, small, inner): (bool, bool, u32), out_words: usize) -> Vec<u32> {
    let gpu = gpu();
    let capacity = flags.len() as u32;
    let numbers = capacity * inner;
    let values: Vec<u32> = (0..numbers).map(|i| i.wrapping_mul(0x9e37_79b1)).collect();
    let bound_flags = gpu.upload(flags);
    let bitmap = gpu.junk::<u32>(words(capacity) as usize);
    let size = gpu.upload(&[live]);
    let head = [capacity, inner, tiles(capacity), numbers, 0, 0, 0, 0];
    let kernel = gpu.kernel(&rank_bitmap_text(), mode, head, &[&bound_flags, &bitmap, &size]);
    if small {
        assert!(rank_bitmap::is_small(capacity));
        kernel.run(&[("small", (1, 1, 1))]);
    } else {
        let (x, y) = fold_grid(tiles(capacity));
        // The grid may exceed the number of tiles.
        kernel.run(&[("upsweep", (x, y + 1, 1)), ("spine", (1, 1, 1))]);
    }
    let read = gpu.read::<u32>(&bitmap, words(capacity) as usize);
    assert!(read == naive_rank_bitmap(flags, live), "bitmap of {live} of {capacity}, small {small}, {mode:?}");
    let room = if packed { numbers.div_ceil(4) } else { numbers } as usize;
    let values = gpu.upload(&values);
    let out = if packed { gpu.upload(&vec![0u32; room]) } else { gpu.junk::<u32>(room) };
    let kernel = gpu.kernel(&compact_text(packed), mode, head, &[&bitmap, &values, &out, &size]);
    let (x, y) = fold_grid(compact::groups(numbers));
    kernel.run(&[("main", (x, y + 1, 1))]);
    let mut read = gpu.read(&out, room);
    read.truncate(out_words);
    read
}

fn check(mode: Mode, flags: &[u32], live: u32, inner: u32) {
    let capacity = flags.len() as u32;
    let kept = (0..live).filter(|&i| flags[i as usize] != 0).flat_map(|i| i * inner..(i + 1) * inner);
    let want: Vec<u32> = kept.map(|i| i.wrapping_mul(0x9e37_79b1)).collect();
    let mut bytes: Vec<u8> = want.iter().map(|&v| v as u8).collect();
    // Bytes after the last value in its word are 0.
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    for small in [false, true].into_iter().filter(|s| !s || rank_bitmap::is_small(capacity)) {
        let label = format!("{} of {live} of {capacity}, inner {inner}, small {small}, {mode:?}", want.len());
        assert!(run(mode, flags, live, (false, small, inner), want.len()) == want, "{label}");
        let packed = run(mode, flags, live, (true, small, inner), bytes.len() / 4);
        assert!(bytemuck::cast_slice::<u32, u8>(&packed) == bytes, "packed, {label}");
    }
}

#[test]
fn compaction_keeps_the_order_at_every_size_class() {
    let mut random = Random(41);
    for mode in [Mode::Checked, Mode::Unchecked] {
        for capacity in [1u32, 2, 3, 4, 5, 8, 255, 256, 257, 2047, 2048, 2049, 4096, 4097, 20_000] {
            for percent in [0, 3, 50, 100] {
                let flags: Vec<u32> = (0..capacity).map(|_| u32::from(random.below(100) < percent)).collect();
                for live in [capacity, capacity / 3] {
                    check(mode, &flags, live, if capacity % 2 == 0 { 1 } else { 3 });
                }
            }
        }
    }
}

#[test]
fn the_spine_carries_across_its_own_tiles() {
    let mut random = Random(42);
    // More than 2 * 2048 tiles, with a range without selected positions and one with selected positions only.
    let flags: Vec<u32> = (0..8_500_000u32)
        .map(|i| match i {
            1_000_000..2_000_000 => 0,
            3_000_000..3_500_000 => 1,
            _ => u32::from(random.below(5) == 0),
        })
        .collect();
    check(Mode::Unchecked, &flags, 8_450_001, 1);
}
