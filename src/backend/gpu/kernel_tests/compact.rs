//! `shaders/compact.wgsl`, with values of a word and packed ones.

use super::harness::{Mode, gpu, source};
use super::rows::Random;
use crate::backend::gpu as host;

fn text(packed: bool) -> String {
    let output = if packed {
        "fn clear(i: u32) { if ((i & 3u) == 0u) { atomicStore(&out[i >> 2u], 0u); } }
         fn store(i: u32, v: u32) { atomicOr(&out[i >> 2u], (v & 0xffu) << ((i & 3u) * 8u)); }"
    } else {
        "fn clear(i: u32) { } fn store(i: u32, v: u32) { out[i] = v; }"
    };
    source(
        concat!(
            include_str!("../../../../shaders/compact.wgsl"),
            include_str!("../../../../shaders/lib/workgroup_scan.wgsl")
        ),
        "u32",
        &[
            ("flags", "u32"),
            ("values", "u32"),
            ("out", if packed { "atomic<u32>" } else { "u32" }),
            ("tiles", "u32"),
            ("size", "u32"),
        ],
        &format!(
            "fn live() -> u32 {{ return size[0]; }}
             fn keep(i: u32, row: u32) -> bool {{ return flags[i] != 0u; }}
             fn value(i: u32, row: u32) -> u32 {{ return values[i]; }}
             {output}"
        ),
    )
}

/// The output's first words.
fn run(mode: Mode, flags: &[u32], live: u32, packed: bool, small: bool, words: usize) -> Vec<u32> {
    let gpu = gpu();
    let capacity = flags.len() as u32;
    let values: Vec<u32> = (0..capacity).map(|i| i.wrapping_mul(0x9e37_79b1)).collect();
    let (flags, values) = (gpu.upload(flags), gpu.upload(&values));
    let room = if packed { capacity.div_ceil(4) } else { capacity } as usize;
    let out = gpu.junk::<u32>(room);
    let tiles = gpu.junk::<u32>(host::compact::scratch_len(capacity) as usize);
    let size = gpu.upload(&[live]);
    let bound = [&flags, &values, &out, &tiles, &size];
    let kernel = gpu.kernel(&text(packed), mode, [capacity, 0, 0, 0, 0, 0, 0, 0], &bound);
    if small {
        assert!(host::compact::is_small(capacity));
        kernel.run(&[("small", (1, 1, 1))]);
    } else {
        let (x, y) = host::fold_grid(host::compact::tiles(capacity));
        // more workgroups than tiles must do no harm
        kernel.run(&[("upsweep", (x, y + 1, 1)), ("spine", (1, 1, 1)), ("downsweep", (x, y + 1, 1))]);
    }
    let mut read = gpu.read(&out, room);
    read.truncate(words);
    read
}

fn check(mode: Mode, flags: &[u32], live: u32) {
    let capacity = flags.len() as u32;
    let kept = (0..live).filter(|&i| flags[i as usize] != 0).map(|i| i.wrapping_mul(0x9e37_79b1));
    let want: Vec<u32> = kept.collect();
    let mut bytes: Vec<u8> = want.iter().map(|&v| v as u8).collect();
    // What lies beyond the last value in its word is clear.
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    for small in [false, true].into_iter().filter(|s| !s || host::compact::is_small(capacity)) {
        let label = format!("{} of {live} of {capacity}, small {small}, {mode:?}", want.len());
        assert!(run(mode, flags, live, false, small, want.len()) == want, "{label}");
        let packed = run(mode, flags, live, true, small, bytes.len() / 4);
        assert!(bytemuck::cast_slice::<u32, u8>(&packed) == bytes, "packed, {label}");
    }
}

#[test]
fn positions_stay_in_order_at_every_size_class() {
    let mut random = Random(41);
    for mode in [Mode::Checked, Mode::Unchecked] {
        for capacity in [1u32, 2, 3, 4, 5, 8, 255, 256, 257, 2047, 2048, 2049, 4096, 4097, 20_000] {
            for percent in [0, 3, 50, 100] {
                let flags: Vec<u32> = (0..capacity).map(|_| u32::from(random.below(100) < percent)).collect();
                for live in [capacity, capacity / 3] {
                    check(mode, &flags, live);
                }
            }
        }
    }
}

#[test]
fn the_spine_carries_across_its_own_tiles() {
    let mut random = Random(42);
    // More than 2 * 2048 tiles; a stretch of which nothing stays, and one of which everything does.
    let flags: Vec<u32> = (0..8_500_000u32)
        .map(|i| match i {
            1_000_000..2_000_000 => 0,
            3_000_000..3_500_000 => 1,
            _ => u32::from(random.below(5) == 0),
        })
        .collect();
    check(Mode::Unchecked, &flags, 8_450_001);
}
