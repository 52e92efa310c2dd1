//! Tests of `shaders/row_reduce.wgsl`.

use std::fmt::Debug;

use bytemuck::Pod;

use super::harness::{Mode, gpu, source};
use super::order::{self, floats, integers};
use super::rows::{adversarial, distributions, splits};
use crate::backend::cpu::row_reduce::reference::{Plain, reduce_row};
use crate::backend::gpu::row_grid::{Tiles, grid};

/// A reduction in WGSL, as the generator would define it, and in Rust.
struct Reduction<V, E> {
    name: &'static str,
    value: &'static str,
    elem: &'static str,
    load: &'static str,
    identity: &'static str,
    combine: &'static str,
    load_cpu: fn(V) -> E,
    identity_cpu: E,
    combine_cpu: fn(E, E) -> E,
}

const SUM_U32: Reduction<u32, u32> = Reduction {
    name: "u32 sum",
    value: "u32",
    elem: "u32",
    load: "load_values(i)",
    identity: "0u",
    combine: "a + b",
    load_cpu: |x| x,
    identity_cpu: 0,
    combine_cpu: u32::wrapping_add,
};

const SUM_U64: Reduction<u32, u64> = Reduction {
    name: "u64 sum",
    value: "u32",
    elem: "u64",
    load: "u64(load_values(i)) * 0x123456789lu",
    identity: "0lu",
    combine: "a + b",
    load_cpu: |x| u64::from(x).wrapping_mul(0x1_2345_6789),
    identity_cpu: 0,
    combine_cpu: u64::wrapping_add,
};

const SUM_F32: Reduction<f32, f32> = Reduction {
    name: "f32 sum",
    value: "f32",
    elem: "f32",
    load: "load_values(i)",
    identity: "0.0",
    combine: "a + b",
    load_cpu: |x| x,
    identity_cpu: 0.0,
    combine_cpu: |a, b| a + b,
};

const SUM_OF_SQUARES: Reduction<f32, f32> = Reduction {
    name: "f32 sum of squares",
    load: "bitcast<f32>(bitcast<u32>(load_values(i) * load_values(i)) | rg_zero())",
    load_cpu: |x| x * x,
    ..SUM_F32
};

const MAX_F32: Reduction<f32, u32> = Reduction {
    name: "f32 max",
    value: "f32",
    elem: "u32",
    load: "key(bitcast<u32>(load_values(i)))",
    identity: "0x7fffffu", // the key of -inf
    combine: "max(a, b)",
    load_cpu: |x| if x.is_sign_negative() { !x.to_bits() } else { x.to_bits() | 0x8000_0000 },
    identity_cpu: 0x7f_ffff,
    combine_cpu: |a, b| a.max(b),
};

/// A hash of the tree of operations. It is not commutative, so that any change of the order changes the result.
const ORDER: Reduction<u32, u32> =
    Reduction { name: "order", combine: order::COMBINE, combine_cpu: order::combine, ..SUM_U32 };

/// How a kernel divides the work.
#[derive(Clone, Copy)]
enum Division {
    /// Tiles of equal cost, with this cost of a row.
    Tiles { alpha: u32 },
    /// A workgroup per row.
    Rows,
}

impl<V: Pod, E: Pod + PartialEq + Debug + Send + Sync> Reduction<V, E> {
    fn text(&self, division: Division) -> String {
        let tiles = include_str!("../../../../shaders/lib/row_tiles.wgsl");
        let template = match division {
            Division::Tiles { .. } => vec![
                include_str!("../../../../shaders/row_reduce.wgsl"),
                include_str!("../../../../shaders/row_reduce_wide.wgsl"),
                include_str!("../../../../shaders/row_reduce_long.wgsl"),
                tiles,
            ],
            Division::Rows => vec![include_str!("../../../../shaders/row_reduce_by_row.wgsl"), tiles],
        };
        // Larger accumulators do not fit workgroup memory.
        let stages = size_of::<E>() == 4;
        let (stage, batch) = if stages { (2064, 8) } else { (1, 1) };
        // Sums of floats take the loops that are unrolled, others those of few calls.
        let compact = self.elem != "f32";
        source(
            &template.join("\n"),
            self.elem,
            &[("values", self.value), ("splits", "u32"), ("out", "Elem"), ("part", "Elem")],
            &format!(
                "fn key(u: u32) -> u32 {{ return select(u | 0x80000000u, ~u, (u >> 31u) == 1u); }}
                fn splits_at(i: u32) -> u32 {{ return load_splits(i); }}
                fn load(i: u32, row: u32) -> Elem {{ return {}; }}
                fn identity() -> Elem {{ return {}; }}
                fn combine(a: Elem, b: Elem) -> Elem {{ return {}; }}
                fn store(i: u32, row: u32, v: Elem) {{ store_out(i, v); }}
                const MAIN_TILE = 2048u;
                const LANES = 1032u;
                const STAGES = {stages};
                const COMPACT = {compact};
                const STAGE = {stage}u;
                const BATCH = {batch}u;
                const BY_POSITION = false;
                const ROWS = 1u;
                const MAPS = false;
                struct Row {{ none: u32 }}
                fn finished(row: u32, v: Elem) -> Row {{ return Row(); }}
                fn map(i: u32, row: u32, r: Row) {{ }}",
                self.load, self.identity, self.combine,
            ),
        )
    }

    /// Runs on both backends and compares bits. The capacities exceed the actual sizes by `spare` rows and values.
    /// Returns the results.
    fn check(&self, mode: Mode, case: &str, lengths: &[u32], inner: usize, spare: (u32, u32), values: &[V]) -> Vec<E> {
        self.check_with(mode, case, lengths, inner, spare, values, Division::Tiles { alpha: 4 })
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
        division: Division,
    ) -> Vec<E> {
        let label = format!("{}, {case}, inner {inner}, {mode:?}", self.name);
        let live = splits(lengths);
        let total = live[lengths.len()];
        let values = &values[..total as usize * inner];
        let rows = lengths.len() + spare.0 as usize;
        let mut expected = vec![self.identity_cpu; rows * inner];
        let loaded: Vec<E> = values.iter().map(|&x| (self.load_cpu)(x)).collect();
        for (row, out) in expected.chunks_exact_mut(inner).enumerate().take(lengths.len()) {
            let range = live[row] as usize * inner..live[row + 1] as usize * inner;
            reduce_row(&loaded[range], inner, Plain { identity: self.identity_cpu, combine: self.combine_cpu }, out);
        }
        if rows == 0 {
            assert_eq!(grid(total, 0, inner as u32, Tiles::DEFAULT), None);
            return expected;
        }
        let gpu = gpu();
        let mut grid = grid(total + spare.1, rows as u32, inner as u32, Tiles::DEFAULT).unwrap();
        assert_eq!(grid.head[4], 4);
        match division {
            Division::Tiles { alpha } => grid.head[4] = alpha, // tiles for a cost of 4 suffice for a lower one
            Division::Rows => grid = grid.by_row(),
        }
        let mut padded = live;
        padded.resize(rows + 1, total);
        let (values, splits) = (gpu.upload(values), gpu.upload(&padded));
        let (out, part) = (gpu.junk::<E>(rows * inner), gpu.junk::<E>(grid.part_len as usize));
        let kernel = gpu.kernel(&self.text(division), mode, grid.head, &[&values, &splits, &out, &part]);
        let (x, y, z) = grid.level1;
        let mut stages = vec![(grid.entry, (x, y + 1, z))];
        stages.extend(grid.level2.map(|(x, y, z)| ("level2", (x, y + 1, z))));
        kernel.run(&stages);
        let results = gpu.read::<E>(&out, rows * inner);
        let (bits, twins): (&[u8], &[u8]) = (bytemuck::cast_slice(&results), bytemuck::cast_slice(&expected));
        if bits != twins {
            let at = (0..results.len()).find(|&k| results[k] != expected[k]).unwrap_or(0);
            let row = at / inner;
            let (got, want) = (results[at], expected[at]);
            panic!("{label}: row {row} of length {:?}, column {}: {got:?}, not {want:?}", lengths.get(row), at % inner);
        }
        results
    }
}

impl Reduction<u32, u32> {
    fn check_case(&self, (mode, case, lengths, inner, spare, values): order::Case<'_>) {
        self.check(mode, case, lengths, inner, spare, values);
    }
}

#[test]
fn order_is_canonical_for_every_distribution() {
    order::every_distribution(1 << 21, |case| ORDER.check_case(case));
}

#[test]
fn order_is_canonical_for_adversarial_rows() {
    order::adversarial_rows(|case| ORDER.check_case(case));
}

/// Lower costs of a row, for sizes at which a cost of 4 would not fit 32 bits.
#[test]
fn order_is_canonical_for_lower_costs_of_a_row() {
    let values = integers(600_000);
    for alpha in [0, 1] {
        // The maximum number of blocks of a tile, and many empty rows.
        let dense = [vec![17; 9000], vec![0; 50_000], vec![257; 40], vec![0, 5000, 0]].concat();
        for (seed, lengths) in [dense, adversarial(99, 200_000)].into_iter().enumerate() {
            for inner in [1, 3] {
                let case = format!("alpha {alpha}, set {seed}");
                let division = Division::Tiles { alpha };
                ORDER.check_with(Mode::Checked, &case, &lengths, inner, (10, 0), &values, division);
            }
        }
    }
}

/// Rows around the edges of lanes, blocks and lists of blocks, by a workgroup each.
#[test]
fn order_is_canonical_for_a_workgroup_per_row() {
    let edges = vec![0, 1, 16, 17, 0, 31, 255, 256, 257, 2048, 2049, 4096, 4097, 65_536, 65_537, 70_000, 3];
    for (seed, lengths) in [edges, adversarial(7, 200_000)].into_iter().enumerate() {
        let values = integers(400_000);
        for spare in [(0, 0), (5, 77)] {
            let case = format!("by row, set {seed}");
            ORDER.check_with(Mode::Checked, &case, &lengths, 1, spare, &values, Division::Rows);
        }
    }
}

#[test]
fn rows_that_do_not_exist_are_empty() {
    order::rows_that_do_not_exist(|case| ORDER.check_case(case));
}

#[test]
fn order_is_canonical_with_columns() {
    order::columns(1 << 17, |case| ORDER.check_case(case));
}

#[test]
fn float_sums_have_the_bits_of_the_twin_and_are_accurate() {
    let values = floats(1 << 20);
    for (case, lengths) in distributions(1 << 19) {
        let sums = SUM_F32.check(Mode::Unchecked, &case, &lengths, 1, (0, 0), &values);
        SUM_OF_SQUARES.check(Mode::Unchecked, &case, &lengths, 1, (0, 0), &values);
        let ends = splits(&lengths);
        for (row, &sum) in sums.iter().enumerate() {
            let row = &values[ends[row] as usize..ends[row + 1] as usize];
            let exact: f64 = row.iter().map(|&x| f64::from(x)).sum();
            let size: f64 = row.iter().map(|&x| f64::from(x).abs()).sum();
            assert!((f64::from(sum) - exact).abs() <= size * 2e-6, "{case}: {sum} for {exact}");
            assert!(sum.to_bits() != 0x8000_0000, "{case}: a sum of -0.0");
        }
    }
    for inner in [2, 3, 16, 33] {
        for (seed, mode) in [(1, Mode::Checked), (2, Mode::Unchecked)] {
            let lengths = adversarial(seed, (values.len() / inner / 2) as u32);
            SUM_F32.check(mode, "adversarial", &lengths, inner, (10, 10), &values);
            SUM_OF_SQUARES.check(mode, "adversarial", &lengths, inner, (0, 0), &values);
        }
    }
}

#[test]
fn integer_sums_and_maxima_are_exact() {
    let (numbers, values) = (integers(1 << 20), floats(1 << 20));
    for inner in [1, 2, 3, 16, 33] {
        let mut cases = distributions((1 << 18) / inner as u32);
        cases.push(("adversarial".into(), adversarial(inner as u64, (1 << 19) / inner as u32)));
        for (case, lengths) in cases {
            let ends = splits(&lengths);
            if ends[lengths.len()] as usize * inner > numbers.len() {
                continue;
            }
            let sums = SUM_U32.check(Mode::Unchecked, &case, &lengths, inner, (0, 0), &numbers);
            let wide = SUM_U64.check(Mode::Unchecked, &case, &lengths, inner, (0, 0), &numbers);
            let maxima = MAX_F32.check(Mode::Unchecked, &case, &lengths, inner, (0, 0), &values);
            for at in 0..lengths.len() * inner {
                let (row, column) = (at / inner, at % inner);
                let row = ends[row] as usize..ends[row + 1] as usize;
                let column = row.map(|j| j * inner + column);
                let sum: u64 = column.clone().map(|i| u64::from(numbers[i])).sum();
                assert_eq!(sums[at], sum as u32, "{case}, inner {inner}");
                assert_eq!(wide[at], sum.wrapping_mul(0x1_2345_6789), "{case}, inner {inner}");
                let max = column.map(|i| values[i]).fold(f32::NEG_INFINITY, f32::max);
                let key = maxima[at];
                let found = f32::from_bits(if key >> 31 == 1 { key & 0x7fff_ffff } else { !key });
                assert_eq!(found, max, "{case}, inner {inner}");
            }
        }
    }
}
