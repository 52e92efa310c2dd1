//! Tests of `shaders/matmul.wgsl`.

use bytemuck::Pod;

use super::harness::{Mode, gpu, source};
use super::rows::{Random, splits};
use crate::backend::cpu::matmul::blocked::{Panels, product};
use crate::backend::cpu::matmul::factor::Factor;
use crate::backend::cpu::number::Number;
use crate::backend::gpu as host;
use crate::backend::gpu::matmul::Chunks;

/// Rows, terms and columns of each batch.
type Sizes = Vec<[u32; 3]>;

/// The sum of a product of f32 and an earlier sum.
const FUSED: &str = "fma_f32(a, b, sum)";

/// The template with the sizes of batches in a table: rows, terms, columns, then the starts of the matrices and tiles.
fn text(elem: &str, sum: &str, zero: &str, tile: u32) -> String {
    let entry =
        |name: &str, k: u32| format!("fn {name}(g: u32, row: u32) -> u32 {{ return load_table(g * 7u + {k}u); }}\n");
    let names = ["rows_of", "terms_of", "columns_of", "left_start", "right_start", "out_start"];
    let table: String = names.iter().zip(0..).map(|(name, k)| entry(name, k)).collect();
    let size = if elem == "f64" { 8 } else { 4 };
    let library = if sum == FUSED { include_str!("../../../../shaders/lib/fma_doubles.wgsl") } else { "" };
    source(
        include_str!("../../../../shaders/matmul.wgsl"),
        elem,
        &[("a", elem), ("b", elem), ("out", elem), ("table", "u32"), ("part", elem)],
        &format!(
            "{library}{table}{}\nfn splits_at(i: u32) -> u32 {{ return load_table(i * 7u + 6u); }}\n\
             fn load_left(i: u32, row: u32) -> Elem {{ return load_a(i); }}\n\
             fn load_right(i: u32, row: u32) -> Elem {{ return load_b(i); }}\n\
             fn identity() -> Elem {{ return {zero}; }}\n\
             fn add_product(sum: Elem, a: Elem, b: Elem) -> Elem {{ return {sum}; }}\n\
             fn add_sums(a: Elem, b: Elem) -> Elem {{ return a + b; }}
             fn store(i: u32, v: Elem) {{ store_out(i, v); }}\n\
             fn partial(i: u32) -> Elem {{ return load_out(i); }}
             {}
             const PARTS = false;
             const ONE_RUN = false;
             fn note_left(at: u32, is_used: bool) {{}}
             fn note_right(at: u32, is_used: bool) {{}}
             fn are_bound(l: u32, r: u32) -> bool {{ return true; }}",
            host::matmul::constants(tile, size),
            host::matmul::CHUNK_SUMS
        ),
    )
}

fn check<T: Pod + Number + std::fmt::Debug + Sync>(
    (mode, elem, sum, zero): (Mode, &str, &str, &str),
    sizes: &Sizes,
    (tile, transposed): (u32, [bool; 2]),
    value: impl Fn(u32) -> T,
) {
    let starts = |of: &dyn Fn(&[u32; 3]) -> u32| splits(&sizes.iter().map(of).collect::<Vec<_>>());
    let (a_at, b_at) = (starts(&|[m, k, _]| m * k), starts(&|[_, k, n]| k * n));
    let (out_at, tiles) = (starts(&|[m, _, n]| m * n), starts(&|[m, _, n]| m.div_ceil(tile) * n.div_ceil(tile)));
    let batches = sizes.len();
    let mut random = Random(u64::from(tile));
    let mut values = |n: u32| (0..n).map(|_| value(random.next() as u32)).collect::<Vec<T>>();
    let (a, b) = (values(a_at[batches]), values(b_at[batches]));
    let mut expected = vec![T::default(); out_at[batches] as usize];
    for (g, size) in sizes.iter().enumerate() {
        let [m, k, n] = size.map(|s| s as usize);
        let out = &mut expected[out_at[g] as usize..][..m * n];
        let left = Factor::left(&a, a_at[g] as usize, (m, k), transposed[0]);
        let right = Factor::right(&b, b_at[g] as usize, (k, n), transposed[1]);
        let rows = &mut out.chunks_mut(n.max(1)).collect::<Vec<_>>();
        product(left, right, k, rows, &mut Panels::<T, 8>::new());
    }
    let mut table: Vec<u32> = Vec::new();
    for (g, [m, k, n]) in sizes.iter().chain([&[0; 3]]).enumerate() {
        table.extend([*m, *k, *n, a_at[g], b_at[g], out_at[g], tiles[g]]);
    }
    let gpu = gpu();
    let (a, b, table) = (gpu.upload(&a), gpu.upload(&b), gpu.upload(&table));
    // The capacity may exceed the number of tiles.
    let tiles = tiles[batches] + 5;
    let all = host::matmul::Sizes { batches: batches as u32, tiles, results: expected.len() as u32, transposed };
    let longest = sizes.iter().map(|[_, k, _]| *k).max().unwrap_or(0);
    let text = text(elem, sum, zero, tile);
    let (x, y) = host::fold_grid(tiles);
    for (chunks, at_once) in [
        (Chunks::None, u32::MAX),
        (Chunks::None, 2048),
        (Chunks::Blocks(longest.div_ceil(256).max(1)), u32::MAX),
        (Chunks::Groups(longest.div_ceil(65_536).max(1)), 2048),
    ] {
        // Short sums have one dispatch. Long ones have several, since drivers end long loops.
        let is_whole = (chunks, at_once) == (Chunks::None, u32::MAX);
        if if is_whole { longest > 2048 } else { longest <= 256 } {
            continue;
        }
        let out = gpu.junk::<T>(expected.len());
        let part = gpu.junk::<T>(chunks.sums(&all) as usize);
        let buffers = [&a, &b, &out, &table, &part];
        for first in (0..longest.max(1)).step_by(at_once as usize) {
            let head = chunks.head(&all, first..first.saturating_add(at_once));
            gpu.kernel(&text, mode, head, &buffers).run(&[("main", (x, y + 1, chunks.count()))]);
        }
        for (head, groups) in chunks.combines(&all) {
            gpu.kernel(&text, mode, head, &buffers).run(&[("combine", (x, y, groups))]);
        }
        let got = gpu.read::<T>(&out, expected.len());
        let first = got.iter().zip(&expected).position(|(a, b)| a != b);
        assert!(
            first.is_none(),
            "{elem} {mode:?} by {tile} {transposed:?} {chunks:?} {at_once}: result {first:?} of {sizes:?}"
        );
    }
}

const TRANSPOSED: [[bool; 2]; 4] = [[false, false], [true, false], [false, true], [true, true]];

fn edges() -> Sizes {
    vec![[0, 3, 2], [15, 16, 17], [1, 0, 9], [33, 7, 31], [2, 5, 0], [64, 17, 65], [1, 130, 1], [63, 1, 64], [0, 0, 0]]
}

/// A float whose products and sums are inexact.
fn float(bits: u32) -> f32 {
    (bits as f32 - 2e9) / 3.0e3
}

#[test]
fn floats_have_the_bits_of_the_twin() {
    for mode in [Mode::Checked, Mode::Unchecked] {
        for tile in [16, 32, 64] {
            for transposed in TRANSPOSED {
                let kind = (mode, "f32", FUSED, "f32(rg_zero())");
                check(kind, &edges(), (tile, transposed), float);
            }
        }
    }
}

/// Numbers of terms around the ends of blocks and groups, which differ between the batches.
#[test]
fn many_terms_have_the_bits_of_the_twin() {
    let blocks = vec![[3, 255, 2], [1, 256, 9], [17, 257, 1], [2, 0, 2], [2, 511, 3], [1, 512, 1], [4, 5000, 16]];
    let groups = vec![[1, 65_535, 1], [2, 65_537, 1], [1, 1, 1], [1, 65_536, 3], [1, 131_329, 2]];
    let kind = (Mode::Unchecked, "f32", FUSED, "f32(rg_zero())");
    for transposed in TRANSPOSED {
        for tile in [16, 64] {
            check(kind, &blocks, (tile, transposed), float);
        }
    }
    check(kind, &groups, (32, [true, false]), float);
}

#[test]
fn integers_wrap() {
    for tile in [16, 64] {
        for transposed in TRANSPOSED {
            let kind = (Mode::Unchecked, "u32", "sum + a * b", "0u");
            check(kind, &edges(), (tile, transposed), |v: u32| v);
        }
    }
}

#[test]
fn wide_floats_have_shallower_slabs() {
    let sum = "sum + bitcast<f64>(bitcast<u64>(a * b) | u64(rg_zero()))";
    for transposed in TRANSPOSED {
        let kind = (Mode::Unchecked, "f64", sum, "f64(rg_zero())");
        let value = |v: u32| f64::from(v) / 7.0 - 1e8;
        check(kind, &edges(), (64, transposed), value);
    }
}

#[test]
fn one_giant_batch_beside_many_empty_ones() {
    let mut sizes: Sizes = vec![[0, 4, 3]; 3000];
    sizes[1234] = [300, 70, 200];
    sizes.extend((0..500).map(|k| [k % 4, 3, 2]));
    let kind = (Mode::Unchecked, "f32", FUSED, "f32(rg_zero())");
    check(kind, &sizes, (16, [false, false]), float);
}

/// Loads per invocation in a product of 2 by 2 full tiles, as `edits` of the kernel count them in `loads`.
fn loads(tile: u32, terms: u32, edits: &[(&str, &str)]) -> u32 {
    let mut text = text("u32", "sum + a * b", "0u", tile) + "\nvar<private> loads: u32;\n";
    for (from, to) in edits.iter().chain(&[("store_out(i, v)", "store_out(i, loads)")]) {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let size = 2 * tile;
    let values = vec![1u32; (size * terms) as usize];
    let gpu = gpu();
    let table = gpu.upload(&[size, terms, size, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4]);
    let (a, b, out) = (gpu.upload(&values), gpu.upload(&values), gpu.junk::<u32>((size * size) as usize));
    let part = gpu.junk::<u32>(1);
    let sizes = host::matmul::Sizes { batches: 1, tiles: 4, results: size * size, transposed: [false; 2] };
    let head = Chunks::None.head(&sizes, 0..u32::MAX);
    gpu.kernel(&text, Mode::Unchecked, head, &[&a, &b, &out, &table, &part]).run(&[("main", (4, 1, 1))]);
    let got = gpu.read::<u32>(&out, (size * size) as usize);
    assert!(got.iter().all(|&loads| loads == got[0]), "invocations differ");
    got[0]
}

#[test]
fn loads_per_result_are_those_of_the_documentation() {
    let from_arrays =
        [("return load_a(i)", "loads++; return load_a(i)"), ("return load_b(i)", "loads++; return load_b(i)")];
    let from_slabs = [("b[c] = right[", "loads++; b[c] = right["), ("let a = left[", "loads++; let a = left[")];
    let terms = 96;
    for tile in [16, 32, 64] {
        let results = (tile / 16) * (tile / 16);
        assert_eq!(loads(tile, terms, &from_arrays), results * 2 * terms / tile);
        assert_eq!(loads(tile, terms, &from_slabs), results * 32 * terms / tile);
    }
}
