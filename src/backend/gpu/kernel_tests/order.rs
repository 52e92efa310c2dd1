//! Test inputs for kernels that combine along rows: an operation whose result depends on the order, and lengths of
//! rows.

use super::harness::Mode;
use super::rows::{Random, adversarial, distributions};

/// A hash of the tree of operations, neither associative nor commutative. Its identity element is 0.
pub const COMBINE: &str =
    "select(select((a ^ (a >> 15u)) * 0x2c1b3c6du + (b ^ (b >> 13u)) * 0x297a2d39u + 1u, a, b == 0u), b, a == 0u)";

/// [`COMBINE`] in Rust.
pub fn combine(a: u32, b: u32) -> u32 {
    match (a, b) {
        (a, 0) => a,
        (0, b) => b,
        _ => {
            let (a, b) = (a ^ (a >> 15), b ^ (b >> 13));
            a.wrapping_mul(0x2c1b_3c6d).wrapping_add(b.wrapping_mul(0x297a_2d39)).wrapping_add(1)
        }
    }
}

/// Integers other than the identity.
pub fn integers(len: usize) -> Vec<u32> {
    let mut random = Random(11);
    (0..len).map(|_| random.next() as u32 | 1).collect()
}

/// Finite numbers of several magnitudes, negative zeros among them.
pub fn floats(len: usize) -> Vec<f32> {
    let mut random = Random(12);
    let number = |bits: u64| {
        let unit = (bits >> 40) as f32 / (1 << 24) as f32 - 0.4;
        if bits & 63 == 0 { -0.0 } else { unit * ((bits & 7) as f32).exp2() }
    };
    (0..len).map(|_| number(random.next())).collect()
}

/// A case: compilation mode, name, row lengths, `inner`, spare capacity in rows and values, and values.
pub type Case<'a> = (Mode, &'a str, &'a [u32], usize, (u32, u32), &'a [u32]);

pub fn every_distribution(scale: u32, check: impl Fn(Case<'_>)) {
    let values = integers(scale as usize + 1);
    for (case, lengths) in distributions(scale) {
        check((Mode::Unchecked, &case, &lengths, 1, (0, 0), &values));
    }
}

pub fn adversarial_rows(check: impl Fn(Case<'_>)) {
    let values = integers(300_000 * 3);
    for seed in 0..12 {
        let lengths = adversarial(seed, 300_000);
        let mode = if seed % 2 == 0 { Mode::Checked } else { Mode::Unchecked };
        let spare = [(0, 0), (1, 0), (5000, 0), (0, 77_777)][seed as usize % 4];
        check((mode, &format!("seed {seed}"), &lengths, 1, spare, &values));
        if seed < 4 {
            check((mode, &format!("seed {seed}"), &lengths, 2 + seed as usize % 2, spare, &values));
        }
    }
}

pub fn rows_that_do_not_exist(check: impl Fn(Case<'_>)) {
    let values = integers(600);
    for inner in [1, 2] {
        for lengths in [&[][..], &[300], &[0, 300]] {
            check((Mode::Checked, "spare rows", lengths, inner, (3000, 0), &values));
            check((Mode::Checked, "spare values", lengths, inner, (1, 90_000), &values));
        }
    }
}

/// Cases with several columns. The larger cases have about `scale` values.
pub fn columns(scale: u32, check: impl Fn(Case<'_>)) {
    let values = integers(64 * scale as usize);
    for inner in [2, 3, 16, 33] {
        for (case, lengths) in distributions(if inner < 16 { scale } else { scale / 2 }) {
            if lengths.iter().sum::<u32>() as usize * inner <= values.len() {
                check((Mode::Unchecked, &case, &lengths, inner, (3, 9), &values));
            }
        }
    }
    for inner in [5, 8, 9, 255, 256, 257, 700, 4096] {
        let lengths = adversarial(inner as u64, 15 * (scale / 2) / inner as u32);
        check((Mode::Checked, "adversarial", &lengths, inner, (2, 0), &values));
        check((Mode::Unchecked, "wide", &[0, 3, 0, 70, 1, 64, 65, 520, 200, 0], inner, (0, 0), &values));
    }
}
