//! Tests of `shaders/row_scan.wgsl`.

use std::fmt::Debug;

use bytemuck::Pod;

use super::harness::{Mode, gpu, source};
use super::order::{self, floats, integers};
use super::rows::{adversarial, distributions, splits};
use crate::backend::cpu::row_scan::RowScan;
use crate::backend::gpu::row_scan::{PREFIXES, grid};

/// A scan in WGSL, as the generator would define it, and in Rust.
struct Scan<V> {
    name: &'static str,
    elem: &'static str,
    identity: &'static str,
    combine: &'static str,
    identity_cpu: V,
    combine_cpu: fn(V, V) -> V,
}

/// A hash of the tree of operations. It is not associative, so that any change of the order changes the result.
const ORDER: Scan<u32> = Scan {
    name: "order",
    elem: "u32",
    identity: "0u",
    combine: order::COMBINE,
    identity_cpu: 0,
    combine_cpu: order::combine,
};

const SUM_F32: Scan<f32> = Scan {
    name: "f32 sum",
    elem: "f32",
    identity: "0.0",
    combine: "a + b",
    identity_cpu: 0.0,
    combine_cpu: |a, b| a + b,
};

const SUM_U64: Scan<u64> = Scan {
    name: "u64 sum",
    elem: "u64",
    identity: "0lu",
    combine: "a + b",
    identity_cpu: 0,
    combine_cpu: u64::wrapping_add,
};

impl<V: Pod + PartialEq + Debug> Scan<V> {
    fn text(&self) -> String {
        let template = [
            include_str!("../../../../shaders/row_scan.wgsl"),
            include_str!("../../../../shaders/lib/row_tiles.wgsl"),
            include_str!("../../../../shaders/lib/workgroup_scan.wgsl"),
        ];
        source(
            &template.join("\n"),
            self.elem,
            &[("values", "Elem"), ("splits", "u32"), ("out", "Elem"), ("part", "Elem")],
            &format!(
                "fn splits_at(i: u32) -> u32 {{ return load_splits(i); }}
                fn load(i: u32, row: u32) -> Elem {{ return load_values(i); }}
                fn identity() -> Elem {{ return {}; }}
                fn combine(a: Elem, b: Elem) -> Elem {{ return {}; }}
                {PREFIXES}",
                self.identity, self.combine
            ),
        )
    }

    /// Runs on both backends and compares bits. The capacities exceed the actual sizes by `spare` rows and values.
    /// Returns the results.
    fn check(&self, mode: Mode, case: &str, lengths: &[u32], inner: usize, spare: (u32, u32), values: &[V]) -> Vec<V> {
        self.check_with(mode, case, lengths, inner, spare, values, 4)
    }

    #[expect(clippy::too_many_arguments, reason = "a test's parameters")]
    fn check_with(
        &self,
        mode: Mode,
        case: &str,
        lengths: &[u32],
        inner: usize,
        spare: (u32, u32),
        values: &[V],
        alpha: u32,
    ) -> Vec<V> {
        let label = format!("{}, {case}, inner {inner}, {mode:?}", self.name);
        let live = splits(lengths);
        let total = live[lengths.len()];
        let values = &values[..total as usize * inner];
        let rows = lengths.len() + spare.0 as usize;
        let mut expected = values.to_vec();
        let mut scan = RowScan::new(inner, self.identity_cpu);
        for row in 0..lengths.len() {
            let range = live[row] as usize * inner..live[row + 1] as usize * inner;
            scan.restart();
            scan.push(&values[range.clone()], self.combine_cpu, &mut expected[range]);
        }
        if rows == 0 {
            assert_eq!(grid(total, 0, inner as u32), None);
            return expected;
        }
        let gpu = gpu();
        let grid = grid(total + spare.1, rows as u32, inner as u32).unwrap();
        let mut head = grid.head();
        assert_eq!(head[4], 4);
        head[4] = alpha; // tiles for a cost of 4 suffice for a lower one
        let mut padded = live.clone();
        padded.resize(rows + 1, total);
        let (values, splits) = (gpu.upload(values), gpu.upload(&padded));
        let (out, part) = (gpu.junk::<V>(expected.len()), gpu.junk::<V>(grid.part_len() as usize));
        let kernel = gpu.kernel(&self.text(), mode, head, &[&values, &splits, &out, &part]);
        let stages: Vec<_> = grid.stages().map(|(entry, (x, y, z))| (entry, (x, y + 1, z))).collect();
        kernel.run(&stages);
        let results = gpu.read::<V>(&out, expected.len());
        let (bits, twins): (&[u8], &[u8]) = (bytemuck::cast_slice(&results), bytemuck::cast_slice(&expected));
        if bits != twins {
            let at = (0..results.len()).find(|&k| results[k] != expected[k]).unwrap_or(0);
            let row = live.partition_point(|&s| s as usize * inner <= at) - 1;
            let (got, want, place) = (results[at], expected[at], at / inner - live[row] as usize);
            panic!(
                "{label}: row {row} of length {}, place {place}, column {}: {got:?}, not {want:?}",
                lengths[row],
                at % inner
            );
        }
        results
    }
}

impl Scan<u32> {
    fn check_case(&self, (mode, case, lengths, inner, spare, values): order::Case<'_>) {
        self.check(mode, case, lengths, inner, spare, values);
    }
}

#[test]
fn order_is_canonical_for_every_distribution() {
    order::every_distribution(1 << 20, |case| ORDER.check_case(case));
}

#[test]
fn order_is_canonical_for_adversarial_rows() {
    order::adversarial_rows(|case| ORDER.check_case(case));
}

/// Lower costs of a row, for sizes at which a cost of 4 would not fit 32 bits, and tiles with the maximum number of
/// blocks and chunks.
#[test]
fn order_is_canonical_for_lower_costs_of_a_row() {
    let values = integers(600_000);
    for alpha in [0, 1, 4] {
        let dense = [vec![17; 9000], vec![0; 50_000], vec![257; 40], vec![25; 3000], vec![0, 5000, 0]].concat();
        for (seed, lengths) in [dense, adversarial(99, 200_000)].into_iter().enumerate() {
            for inner in [1, 2] {
                let case = format!("alpha {alpha}, set {seed}");
                ORDER.check_with(Mode::Checked, &case, &lengths, inner, (10, 0), &values, alpha);
            }
        }
    }
}

/// One row that needs many iterations of `level2`, at every width with a different number of lanes.
#[test]
fn order_is_canonical_for_giant_rows() {
    let values = integers(4_300_000);
    for (inner, len) in [(1, 4_200_003), (2, 300_000), (3, 300_000), (5, 70_000), (16, 60_000), (33, 20_000)] {
        for lengths in [vec![len], vec![0, 3, len, 700, 0, 70_000u32.min(100_000 / inner as u32)]] {
            ORDER.check(Mode::Unchecked, "giant", &lengths, inner, (0, 0), &values);
        }
    }
}

#[test]
fn rows_that_do_not_exist_are_empty() {
    order::rows_that_do_not_exist(|case| ORDER.check_case(case));
}

#[test]
fn order_is_canonical_with_columns() {
    order::columns(1 << 16, |case| ORDER.check_case(case));
}

#[test]
fn float_sums_have_the_bits_of_the_twin_and_are_accurate() {
    let values = floats(1 << 19);
    for (case, lengths) in distributions(1 << 18) {
        let sums = SUM_F32.check(Mode::Unchecked, &case, &lengths, 1, (0, 0), &values);
        let ends = splits(&lengths);
        for w in ends.windows(2) {
            let (mut exact, mut size) = (0.0, 0.0);
            for at in w[0] as usize..w[1] as usize {
                exact += f64::from(values[at]);
                size += f64::from(values[at]).abs();
                assert!((f64::from(sums[at]) - exact).abs() <= size * 2e-6, "{case}: {} for {exact}", sums[at]);
                assert!(sums[at].to_bits() != 0x8000_0000, "{case}: a sum of -0.0");
            }
        }
    }
    // An infinity does not affect other rows.
    let values = [1.0, f32::INFINITY, 2.0, 3.0, f32::NEG_INFINITY, 5.0];
    let sums = SUM_F32.check(Mode::Checked, "infinities", &[1, 2, 1, 1, 1], 1, (0, 0), &values);
    assert_eq!(sums, [1.0, f32::INFINITY, f32::INFINITY, 3.0, f32::NEG_INFINITY, 5.0]);
}

#[test]
fn wide_integers_are_exact() {
    let values: Vec<u64> = integers(1 << 18).into_iter().map(|x| u64::from(x).wrapping_mul(0x1_2345_6789)).collect();
    for inner in [1, 2, 16, 33] {
        let lengths = adversarial(inner as u64, (1 << 18) / inner as u32);
        let sums = SUM_U64.check(Mode::Unchecked, "adversarial", &lengths, inner, (0, 0), &values);
        for w in splits(&lengths).windows(2) {
            let (from, to) = (w[0] as usize * inner, w[1] as usize * inner);
            for at in from..to {
                let before = if at < from + inner { 0 } else { sums[at - inner] };
                assert_eq!(sums[at], before.wrapping_add(values[at]), "inner {inner}");
            }
        }
    }
}
