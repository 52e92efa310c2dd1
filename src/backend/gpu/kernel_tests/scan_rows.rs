//! Tests of `shaders/scan_rows.wgsl`, with a step of two phases in hand-written definitions.

use super::harness::{Mode, gpu, source};
use super::rows::{adversarial, distributions, splits};
use crate::backend::gpu::driver_limits::DriverLimits;
use crate::backend::gpu::scan_rows::{Schedule, StepCost};

/// Numbers of the state.
const INNER: u32 = 5;

/// The state, and the register of the first phase.
const ROW_WORDS: u64 = 2 * INNER as u64;

/// The template with the step `next[c] = (state[c + 1] * 3 + x[c]) ^ sum`, where `sum` is that of all columns of the first
/// phase, in order. Registers are in workgroup memory or in scratch.
fn text(in_scratch: bool, reversed: bool) -> String {
    let memory = match in_scratch {
        true => {
            "fn word(at: u32) -> u32 { return load_registers(at); }
             fn set_word(at: u32, v: u32) { store_registers(at, v); }"
        }
        false => {
            "var<workgroup> words: array<u32, 3072>;
             fn word(at: u32) -> u32 { return words[at]; }
             fn set_word(at: u32, v: u32) { words[at] = v; }"
        }
    };
    source(
        include_str!("../../../../shaders/scan_rows.wgsl"),
        "u32",
        &[("values", "u32"), ("first", "u32"), ("splits", "u32"), ("out", "u32"), ("registers", "u32")],
        &format!(
            "{memory}
            const PHASES = 2u;
            const REVERSED = {reversed};
            const IN_SCRATCH = {in_scratch};
            fn splits_at(i: u32) -> u32 {{ return load_splits(i); }}
            fn row_words() -> u32 {{ return {ROW_WORDS}u; }}
            fn stored_numbers() -> u32 {{ return {INNER}u; }}
            fn width_of(k: u32) -> u32 {{ return {INNER}u; }}
            fn lane_bits_of(k: u32) -> u32 {{ return 3u; }}
            fn base(r: u32) -> u32 {{ return first_word + r * row_words(); }}
            fn initial(i: u32, row: u32) -> u32 {{ return load_first(i); }}
            fn set_state(r: u32, c: u32, v: u32) {{ set_word(base(r) + c, v); }}
            fn next_state(r: u32, c: u32) -> u32 {{
                var sum = 0u;
                for (var k = 0u; k < {INNER}u; k++) {{ sum = sum * 7u + word(base(r) + {INNER}u + k); }}
                return word(base(r) + {INNER}u + c) ^ sum;
            }}
            fn compute(k: u32, r: u32, row: u32, element: u32, c: u32) {{
                if (k == 0u) {{
                    let after = select(c + 1u, 0u, c == {INNER}u - 1u);
                    set_word(base(r) + {INNER}u + c, word(base(r) + after) * 3u + load_values(element * {INNER}u + c) + row);
                }}
            }}"
        ),
    )
}

fn expected(lengths: &[u32], values: &[u32], first: &[u32], reversed: bool) -> Vec<u32> {
    let (all, inner) = (splits(lengths), INNER as usize);
    let mut out = vec![0; values.len()];
    for (row, ends) in all.windows(2).enumerate() {
        let mut state = first[row * inner..][..inner].to_vec();
        let (start, end) = (ends[0] as usize, ends[1] as usize);
        for k in start..end {
            let e = if reversed { start + end - 1 - k } else { k };
            let of = |c: usize| {
                let product = state[(c + 1) % inner].wrapping_mul(3);
                product.wrapping_add(values[e * inner + c]).wrapping_add(row as u32)
            };
            let next: Vec<u32> = (0..inner).map(of).collect();
            let sum = next.iter().fold(0u32, |sum, v| sum.wrapping_mul(7).wrapping_add(*v));
            state = next.into_iter().map(|v| v ^ sum).collect();
            out[e * inner..][..inner].copy_from_slice(&state);
        }
    }
    out
}

/// Runs the kernel with at most that many positions and groups per dispatch.
fn check(name: &str, lengths: &[u32], (mode, in_scratch, reversed): (Mode, bool, bool), at_once: (u32, u32)) {
    let all = splits(lengths);
    let (rows, nvals) = (lengths.len() as u32, all[lengths.len()]);
    if rows == 0 || nvals == 0 {
        return;
    }
    let numbers = |n: u32| (0..n).map(|k| k.wrapping_mul(0x9E37_79B9)).collect::<Vec<u32>>();
    let (values, first) = (numbers(nvals * INNER), numbers(rows * INNER));
    // The columns of the hand-written `next_state` are loops of their own.
    let cost = StepCost { phases: vec![(INNER, 2), (INNER, 2), (INNER, 12)], initial: 0, row_words: ROW_WORDS };
    let schedule = Schedule::new(DriverLimits::LoopIterations, &cost, rows, 1 << 30).expect("few numbers");
    let schedule = Schedule {
        positions_at_once: schedule.positions_at_once.min(at_once.0),
        groups_at_once: schedule.groups_at_once.min(at_once.1),
        ..schedule
    };
    let gpu = gpu();
    let out = gpu.junk::<u32>((nvals * INNER) as usize);
    let words = u64::from(schedule.groups_at_once * schedule.group_rows) * ROW_WORDS;
    let registers = gpu.junk::<u32>(if in_scratch { words as usize } else { 1 });
    let buffers = [&gpu.upload(&values), &gpu.upload(&first), &gpu.upload(&all), &out, &registers];
    let text = text(in_scratch, reversed);
    let longest = lengths.iter().copied().max().unwrap_or(0);
    for (head, groups) in schedule.dispatches(rows, nvals, longest) {
        let (x, y) = crate::backend::gpu::fold_grid(groups);
        gpu.kernel(&text, mode, head, &buffers).run(&[("main", (x, y, 1))]);
    }
    let got = gpu.read::<u32>(&out, (nvals * INNER) as usize);
    let want = expected(lengths, &values, &first, reversed);
    let wrong = (0..got.len()).find(|&k| got[k] != want[k]);
    assert!(wrong.is_none(), "{name}, {mode:?}, scratch {in_scratch}, reversed {reversed}: number {wrong:?}");
}

#[test]
fn rows_of_all_lengths() {
    for (name, lengths) in distributions(1500) {
        for mode in [Mode::Checked, Mode::Unchecked] {
            check(&name, &lengths, (mode, false, true), (u32::MAX, u32::MAX));
        }
        check(&name, &lengths, (Mode::Unchecked, true, false), (u32::MAX, 3));
    }
}

#[test]
fn rows_divided_among_dispatches() {
    for (positions, groups) in [(33, 1000), (100, 2)] {
        for reversed in [false, true] {
            let lengths = [vec![0, 250, 1, 2, 99, 100, 101, 0], vec![3; 70]].concat();
            check("several dispatches", &lengths, (Mode::Unchecked, false, reversed), (positions, groups));
            check("several dispatches", &lengths, (Mode::Checked, true, reversed), (positions, groups));
        }
    }
    check("mixed", &adversarial(5, 20_000), (Mode::Unchecked, false, false), (700, 3));
}
