//! From a step to launches: which template, what it binds, how large its grid is.

use std::sync::Arc;

use super::codegen::{Binding, Generated, Module, elements_per_word, storage_type, value_type};
use super::{compact, matmul, row_reduce, row_scan, row_sort, scan, sort};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{Product, Recipe, Rows};
use crate::graph::opcode::HashOp;
use crate::graph::plan::Step;

/// One kernel to start.
#[derive(Debug)]
pub(crate) struct Launch {
    /// The primitive and the operations in it.
    pub(crate) label: Arc<str>,
    /// The module.
    pub(crate) text: Arc<str>,
    /// The entry point.
    pub(crate) entry: &'static str,
    /// What it binds, from binding 1 on.
    pub(crate) bindings: Vec<Binding>,
    /// The template's words, then the numbers.
    pub(crate) params: Vec<u32>,
    /// Workgroups, folded to two dimensions.
    pub(crate) workgroups: u32,
    /// The grid's third dimension.
    pub(crate) depth: u32,
}

/// A step's launches, in order.
#[derive(Debug, Default)]
pub(crate) struct Lowered {
    pub(crate) launches: Vec<Launch>,
    /// Bytes of each scratch buffer.
    pub(crate) scratch: Vec<u64>,
    /// The scratch buffer and word that is not 0 when a scan's total did not fit.
    pub(crate) overflow: Option<(usize, u32)>,
    /// Whether the output must be 0 beforehand: several invocations set bits of one word.
    pub(crate) clears_output: bool,
}

const MAP: &str = include_str!("../../../shaders/map.wgsl");
const ROW_MAP: &str = include_str!("../../../shaders/row_map.wgsl");
const ROW_REDUCE: &str = include_str!("../../../shaders/row_reduce.wgsl");
const MATMUL: &str = include_str!("../../../shaders/matmul.wgsl");
pub(super) const SCAN: &str = include_str!("../../../shaders/scan.wgsl");
const ROW_SCAN: &str = include_str!("../../../shaders/row_scan.wgsl");
pub(super) const SORT: &str = include_str!("../../../shaders/sort.wgsl");
const ROW_HASH: &str = include_str!("../../../shaders/row_hash.wgsl");
const COMPACT: &str = include_str!("../../../shaders/compact.wgsl");
const FINGERPRINT: &str = include_str!("../../../shaders/hash/fingerprint.wgsl");
const SIP: &str = include_str!("../../../shaders/hash/sip.wgsl");
const MURMUR: &str = include_str!("../../../shaders/hash/murmur.wgsl");
const ROW_TILES: &str = include_str!("../../../shaders/lib/row_tiles.wgsl");
pub(super) const WORKGROUP_SCAN: &str = include_str!("../../../shaders/lib/workgroup_scan.wgsl");

/// Elements a workgroup of `map.wgsl` computes.
const MAP_TILE: u32 = 1024;

impl Generated {
    pub(super) fn launch(
        &self,
        label: &Arc<str>,
        entry: &'static str,
        head: [u32; 8],
        workgroups: u32,
        depth: u32,
    ) -> Launch {
        let mut params = head.to_vec();
        params.extend(&self.scalars);
        let text = self.text.as_str().into();
        Launch { label: label.clone(), text, entry, bindings: self.bindings.clone(), params, workgroups, depth }
    }
}

/// Lowers the step; its conditions report from slot `first_slot` on.
///
/// # Errors
/// The step is too large for 32-bit indices.
pub(crate) fn lower(step: &Step, first_slot: u32) -> Result<Lowered> {
    let capacity = step.out.extent().capacity();
    let label = |stem: &str| -> Arc<str> { format!("{stem}({})", step.fused.join(" ")).into() };
    match &step.recipe {
        Recipe::Map { value, whole } => {
            let mut m = Module::new(step, first_slot);
            m.map_output(value.dtype());
            let live = step.live.as_ref().filter(|_| !whole);
            Ok(map(m, step, value, live, capacity, &label))
        }
        Recipe::Assert { ok, count, .. } => {
            let mut m = Module::new(step, first_slot);
            m.assert_output(first_slot + step.checks.len() as u32);
            Ok(map(m, step, ok, count.live(), count.capacity(), &label))
        }
        Recipe::Reduce { op, rows, nrows, nvals, inner, value } => {
            if nrows.capacity() == 0 || *inner == 0 {
                return Ok(Lowered::default());
            }
            let grid = row_reduce::grid(nvals.capacity(), nrows.capacity(), *inner);
            let Some(grid) = grid.map(|g| g.for_rows_up_to(rows.longest())) else {
                return Err(Error::Limit {
                    what: format!("{}: rows and values", step.out.op()),
                    requested: u64::from(nvals.capacity()) * u64::from(*inner) + u64::from(nrows.capacity()),
                    unit: "elements",
                    limit: u64::from(u32::MAX) - (1 << 14),
                    whose: "a row reduction".into(),
                });
            };
            let mut m = Module::new(step, first_slot);
            partition(&mut m, rows, nrows);
            m.value_function("load", value);
            m.monoid(*op, value.dtype(), op.identity(value.dtype()));
            m.reduction_output(value.dtype(), step.finish.as_ref());
            let ty = value_type(value.dtype());
            let is_packed = elements_per_word(step.out.dtype()) > 1;
            let out = if is_packed { "atomic<u32>" } else { storage_type(step.out.dtype()) };
            let part = format!("array<{ty}>");
            let templates = [ROW_REDUCE, ROW_TILES];
            let g = m.finish(&templates, ty, Some(out), &[("part", &part, Binding::Scratch(0))]);
            let label = label("row_reduce");
            let mut launches =
                vec![g.launch(&label, grid.entry, grid.head, grid.level1.0 * grid.level1.1, grid.level1.2)];
            if let Some((x, y, z)) = grid.level2 {
                launches.push(g.launch(&label, "level2", grid.head, x * y, z));
            }
            let scratch = vec![u64::from(grid.part_len) * value.dtype().size() as u64];
            Ok(Lowered { launches, scratch, clears_output: is_packed, ..Lowered::default() })
        }
        Recipe::Product(p) => Ok(product(step, first_slot, p, &label("matmul"))),
        Recipe::Scan { value, count } => {
            let mut m = Module::new(step, first_slot).without_row_context();
            live(&mut m, "live", count);
            m.value_function("value", value);
            m.push("fn load(i: u32) -> u32 {\n    return value(i, 0u);\n}");
            let tiles = ("tiles", "array<u32>", Binding::Scratch(0));
            let g = m.finish(&[SCAN, WORKGROUP_SCAN], "u32", Some("u32"), &[tiles]);
            within(step, count.capacity(), scan::MAX_CAPACITY, "a scan")?;
            let launches = scan_launches(&g, &label("scan"), count.capacity());
            let words = scan::scratch_len(count.capacity());
            Ok(Lowered {
                launches,
                scratch: vec![u64::from(words) * 4],
                overflow: Some((0, words - 1)),
                ..Lowered::default()
            })
        }
        Recipe::RowScan { op, rows, nrows, nvals, inner, value } => {
            let grid = row_scan::grid(nvals.capacity(), nrows.capacity(), *inner);
            let Some(grid) = grid.map(|g| g.for_rows_up_to(rows.longest())) else {
                return Err(Error::Limit {
                    what: format!("{}: rows and values", step.out.op()),
                    requested: u64::from(nvals.capacity()) * u64::from(*inner) + u64::from(nrows.capacity()),
                    unit: "elements",
                    limit: u64::from(u32::MAX) - (1 << 14),
                    whose: "a row scan".into(),
                });
            };
            let mut m = Module::new(step, first_slot);
            partition(&mut m, rows, nrows);
            m.value_function("load", value);
            m.monoid(*op, value.dtype(), op.identity(value.dtype()));
            let ty = value_type(value.dtype());
            let part = format!("array<{ty}>");
            let templates = [ROW_SCAN, ROW_TILES, WORKGROUP_SCAN];
            let g = m.finish(&templates, ty, Some(ty), &[("part", &part, Binding::Scratch(0))]);
            let label = label("row_scan");
            let launches = grid.stages().map(|(entry, (x, y, z))| g.launch(&label, entry, grid.head(), x * y, z));
            let scratch = vec![u64::from(grid.part_len()) * value.dtype().size() as u64];
            Ok(Lowered { launches: launches.collect(), scratch, ..Lowered::default() })
        }
        Recipe::Sort { key, count, bits } => {
            within(step, count.capacity(), sort::MAX_CAPACITY, "a sort")?;
            Ok(sort_launches(step, first_slot, key, count, *bits, &label("sort")))
        }
        Recipe::RowSort { nvals, .. } => {
            within(step, nvals.capacity(), sort::MAX_CAPACITY, "a sort")?;
            Ok(row_sort::lower(step, first_slot, &label("row_sort")))
        }
        Recipe::Hash { op, rows, nrows, byte } => {
            let mut m = Module::new(step, first_slot);
            partition(&mut m, rows, nrows);
            m.value_function("load", byte);
            m.push("fn store(row: u32, v: U64) {\n    out[row] = v;\n}");
            let words = |v: u64| [v as u32, (v >> 32) as u32];
            let n = nrows.capacity();
            let (piece, head) = match *op {
                HashOp::Fingerprint => (FINGERPRINT, [n, 0, 0, 0, 0, 0, 0, 0]),
                HashOp::Sip { key } => {
                    let ([a, b], [c, d]) = (words(key[0]), words(key[1]));
                    (SIP, [n, a, b, c, d, 0, 0, 0])
                }
                HashOp::Murmur { seed } => {
                    let [a, b] = words(seed);
                    (MURMUR, [n, a, b, 0, 0, 0, 0, 0])
                }
            };
            let g = m.finish(&[ROW_HASH, piece], "U64", Some("U64"), &[]);
            let launch = g.launch(&label("row_hash"), "main", head, n.div_ceil(256), 1);
            Ok(Lowered { launches: vec![launch], ..Lowered::default() })
        }
        Recipe::Compact { keep, value, count } => {
            within(step, count.capacity(), compact::MAX_CAPACITY, "a compaction")?;
            Ok(compact_launches(step, first_slot, keep, value, count, &label("compact")))
        }
    }
}

fn product(step: &Step, first_slot: u32, p: &Product, label: &Arc<str>) -> Lowered {
    let (batches, capacity) = (p.batches.capacity(), step.out.extent().capacity());
    if batches == 0 || p.tile_capacity == 0 || capacity == 0 {
        return Lowered::default();
    }
    let dtype = p.operands[0].dtype();
    let mut m = Module::new(step, first_slot).without_row_context();
    partition(&mut m, &p.tiles, &p.batches);
    for (name, e) in ["rows_of", "terms_of", "columns_of"].into_iter().zip(&p.sizes) {
        m.value_function(name, e);
    }
    for (name, e) in ["left_start", "right_start", "out_start"].into_iter().zip(&p.starts) {
        m.value_function(name, e);
    }
    for (name, e) in ["load_left", "load_right"].into_iter().zip(&p.operands) {
        m.value_function(name, e);
    }
    m.sum_of_products(dtype);
    m.push(&matmul::constants(p.tile, dtype.size()));
    m.push("fn store(i: u32, v: Elem) {\n    out[i] = v;\n}");
    let ty = value_type(dtype);
    let g = m.finish(&[MATMUL], ty, Some(ty), &[]);
    let head = matmul::head(batches, p.tile_capacity, capacity, p.transposed);
    Lowered { launches: vec![g.launch(label, "main", head, p.tile_capacity, 1)], ..Lowered::default() }
}

pub(super) fn live(m: &mut Module<'_>, name: &str, extent: &Extent) {
    // A known count is the capacity.
    let count = extent.live().cloned();
    match count {
        Some(e) => {
            let e = e.min(Expr::u32(extent.capacity()));
            m.count_function(name, &e);
        }
        None => {
            let n = m.number(crate::graph::scalar::Scalar::U32(extent.capacity()));
            m.push(&format!("fn {name}() -> u32 {{\n    return {n};\n}}"));
        }
    }
}

pub(super) fn partition(m: &mut Module<'_>, rows: &Rows, nrows: &Extent) {
    match rows {
        Rows::Splits(node) => m.splits_function(node),
        Rows::Uniform(len) => {
            live(m, "live_rows", nrows);
            m.uniform_splits_function(*len);
        }
    }
}

/// A map into `out`, or a condition, whose output functions the module has already.
fn map(
    mut m: Module<'_>,
    step: &Step,
    value: &Expr,
    count: Option<&Expr>,
    capacity: u32,
    label: &dyn Fn(&str) -> Arc<str>,
) -> Lowered {
    let is_assert = matches!(step.recipe, Recipe::Assert { .. });
    let extent = count.map_or_else(|| Extent::known(capacity), |e| Extent::bounded(capacity, e.clone()));
    live(&mut m, "live", &extent);
    m.value_function("value", value);
    let out = (!is_assert).then(|| storage_type(value.dtype()));
    let ty = value_type(value.dtype());
    let (g, head, stem) = match m.row_context().cloned() {
        Some((splits, inner)) => {
            m.splits_function(&splits);
            let rows = splits.extent().capacity().saturating_sub(1);
            (m.finish(&[ROW_MAP], ty, out, &[]), [capacity, rows, inner, 0, 0, 0, 0, 0], "row_map")
        }
        None => (m.finish(&[MAP], ty, out, &[]), [capacity, 0, 0, 0, 0, 0, 0, 0], "map"),
    };
    debug_assert!(MAP_TILE.is_multiple_of(elements_per_word(DType::U8)), "a tile has whole words");
    let launch = g.launch(&label(stem), "main", head, capacity.div_ceil(MAP_TILE), 1);
    Lowered { launches: vec![launch], ..Lowered::default() }
}

/// Fails if the step has more elements than the template's indices allow.
fn within(step: &Step, elements: u32, limit: u32, whose: &str) -> Result<()> {
    if elements <= limit {
        return Ok(());
    }
    Err(Error::Limit {
        what: step.out.op().into(),
        requested: u64::from(elements),
        unit: "elements",
        limit: u64::from(limit),
        whose: whose.into(),
    })
}

/// The launches of a scan of up to `capacity` elements.
pub(super) fn scan_launches(g: &Generated, label: &Arc<str>, capacity: u32) -> Vec<Launch> {
    let tiles = scan::tiles(capacity);
    let head = [capacity, 0, 0, 0, 0, 0, 0, 0];
    if scan::is_small(capacity) {
        vec![g.launch(label, "small", head, 1, 1)]
    } else {
        vec![
            g.launch(label, "upsweep", head, tiles, 1),
            g.launch(label, "spine", head, 1, 1),
            g.launch(label, "downsweep", head, tiles, 1),
        ]
    }
}

/// The positions that stay are counted a tile at a time, the counts are scanned, and each tile stores its values.
fn compact_launches(
    step: &Step,
    first_slot: u32,
    keep: &Expr,
    value: &Expr,
    count: &Extent,
    label: &Arc<str>,
) -> Lowered {
    let n = count.capacity();
    if n == 0 {
        return Lowered::default();
    }
    let mut m = Module::new(step, first_slot).without_row_context();
    live(&mut m, "live", count);
    m.value_function("keep", keep);
    m.value_function("value", value);
    m.compact_output(value.dtype());
    let out = match elements_per_word(value.dtype()) {
        1 => storage_type(value.dtype()),
        _ => "atomic<u32>",
    };
    let tiles = ("tiles", "array<u32>", Binding::Scratch(0));
    let g = m.finish(&[COMPACT, WORKGROUP_SCAN], value_type(value.dtype()), Some(out), &[tiles]);
    let head = [n, 0, 0, 0, 0, 0, 0, 0];
    let launches = if compact::is_small(n) {
        vec![g.launch(label, "small", head, 1, 1)]
    } else {
        vec![
            g.launch(label, "upsweep", head, compact::tiles(n), 1),
            g.launch(label, "spine", head, 1, 1),
            g.launch(label, "downsweep", head, compact::tiles(n), 1),
        ]
    };
    Lowered { launches, scratch: vec![u64::from(compact::scratch_len(n)) * 4], ..Lowered::default() }
}

/// One pass a byte of the keys; keys and permutation alternate between two pairs of scratch buffers.
fn sort_launches(step: &Step, first_slot: u32, key: &Expr, count: &Extent, bits: u32, label: &Arc<str>) -> Lowered {
    let n = count.capacity();
    if n == 0 {
        return Lowered::default();
    }
    let passes = sort::passes(bits).max(1);
    let tiles = sort::tiles(n);
    let digits = sort::counts_len(n);
    // Scratch: digits, the sums' tiles, then keys and permutation, two of each.
    let (digits_at, tiles_at, keys_at, perm_at) = (0, 1, [2, 3], [4, 5]);
    let mut launches = Vec::new();
    for pass in 0..passes {
        let is_first = pass == 0;
        let is_last = pass + 1 == passes;
        let (to, from) = (pass as usize % 2, 1 - pass as usize % 2);
        let mut m = Module::new(step, first_slot).without_row_context();
        let capacity = "fn capacity() -> u32 {\n    return p.head[0].x;\n}";
        let mut scratch = vec![("digits", "array<u32>", Binding::Scratch(digits_at))];
        if is_first {
            live(&mut m, "live", count);
            m.value_function("value", key);
            m.push("fn load(i: u32) -> u32 {\n    return value(i, 0u);\n}");
            m.push("fn index(i: u32) -> u32 {\n    return i;\n}");
        } else {
            m = Module::empty(step, first_slot);
            m.push("fn live() -> u32 {\n    return capacity();\n}");
            m.push("fn load(i: u32) -> u32 {\n    return keys_in[i];\n}");
            m.push("fn index(i: u32) -> u32 {\n    return perm_in[i];\n}");
            scratch.push(("keys_in", "array<u32>", Binding::ScratchRead(keys_at[from])));
            scratch.push(("perm_in", "array<u32>", Binding::ScratchRead(perm_at[from])));
        }
        m.push(capacity);
        m.push("fn store(i: u32, key: u32, index: u32) {\n    keys_out[i] = key;\n    perm_out[i] = index;\n}");
        scratch.push(("keys_out", "array<u32>", Binding::Scratch(keys_at[to])));
        let perm_out = if is_last { Binding::Output } else { Binding::Scratch(perm_at[to]) };
        scratch.push(("perm_out", "array<u32>", perm_out));
        let g = m.finish(&[SORT, WORKGROUP_SCAN], "u32", None, &scratch);
        let head = sort::head(n, pass);
        launches.push(g.launch(label, "count", head, tiles, 1));
        let mut m = Module::empty(step, first_slot);
        m.push("fn live() -> u32 {\n    return p.head[0].x;\n}");
        m.push("fn load(i: u32) -> u32 {\n    return out[i];\n}");
        let scan_scratch =
            [("out", "array<u32>", Binding::Scratch(digits_at)), ("tiles", "array<u32>", Binding::Scratch(tiles_at))];
        let scan = m.finish(&[SCAN, WORKGROUP_SCAN], "u32", None, &scan_scratch);
        launches.extend(scan_launches(&scan, label, digits));
        launches.push(g.launch(label, "scatter", head, tiles, 1));
    }
    let array = u64::from(n) * 4;
    let spare = if passes > 1 { array } else { 4 };
    let scratch = vec![u64::from(digits + 1) * 4, u64::from(scan::scratch_len(digits)) * 4, array, spare, array, spare];
    Lowered { launches, scratch, ..Lowered::default() }
}
