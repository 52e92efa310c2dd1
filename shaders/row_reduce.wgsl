// Row reduction: reduces every row of a ragged array [nvals, inner] to one value per column, [rows, inner]. Optionally
// maps the elements by the results of their rows.
//
// An Elem is the accumulator of a row. It is a number, or a structure of the accumulators of several fused reductions,
// whose results have the same bits as unfused.
//
// Idea     Tiles and blocks of rows are those of lib/row_tiles.wgsl: the tile in which a block starts reduces it. The
//          result of a row of one block is final; the partials of longer rows are stored to `part`, and reduced by
//          `level2`. Nothing must be cleared beforehand. A workgroup that has reduced a row of one block maps its
//          elements in the same dispatch, while they are cached. Elements of longer rows are mapped by `map_long`,
//          after `level2` has overwritten the row's first partial with its result. An invocation that folds a short row
//          makes uncoalesced reads. If STAGES, the workgroup first loads the tile's values to `stage` with coalesced
//          reads. If BY_POSITION, the elements of short rows are mapped by position: each invocation searches the
//          tile's rows for that of its element. Neither changes the order of operations.
//
// Order    The order of the operations in a row depends only on its length L and on `inner`, so a result does not
//          depend on the row's position or the device, and has the bits of the CPU. With fold(x...) =
//          combine(...combine(identity, x0)..., xn):
//            inner = 1, L <= 16    fold, left to right
//                       L <= 256   32 lanes, lane l folding elements l, l + 32, ...; then a halving tree over the lanes
//                                  (lane l adds lane l + 16, then + 8, 4, 2, 1)
//                       longer     blocks of 256 as above; 256 lanes fold the block partials l, l + 256, ...; then a
//                                  halving tree (+ 128, ..., 1)
//            inner > 1, L <= 64    a fold for each column
//                       longer     blocks of 64 * S, S being half of inner rounded up to a power of two, at most 8: S
//                                  lanes, lane l folding elements l, l + S, ..., and a halving tree over the lanes;
//                                  256 / min(16, inner rounded up to a power of two) lanes fold the block partials;
//                                  then a halving tree
//          combine(v, identity()) must be v for every v that a fold from identity() can give, so that lanes without
//          elements have no effect. (Float sums: the identity is 0.0, so no fold gives -0.0, and an empty row gives
//          0.0.)
//
// Traffic  Reads every value and the splits once, and writes every result once. The partials of long rows are written
//          and read in addition: at most 2 * Elem * inner / block bytes per value (block = 256; inner > 1: 64 * S). The
//          searches hit the caches. Blocks grow with `inner` since the input may be far smaller than its partials: a
//          fused table look-up reads 4 bytes for `inner` values. If MAPS, the elements of rows of several blocks and
//          the splits are read twice, and every element is written once.
// Limits   nvals * inner, rows * inner and nvals + alpha * rows stay below 2^32 - 2^14. alpha is 4 or the device's
//          tuning, or 1 or 0 if a larger one would exceed the limit; this only affects the balance. Elem is at most 52
//          bytes; a larger Elem has a smaller tile, since each block needs 8 lanes of workgroup memory. MAPS requires
//          inner = 1. One workgroup reduces the partials of one row for each 16 columns.
// Ends     Splits are clamped to nvals, 2^14 below 2^32, a margin that exceeds the step of any loop: a position that starts
//          beyond its end wraps at most once, and one that has passed its end stays there. At most STAGE values are
//          staged, and mapping by position ends at the number of values. A block starts at most 255 after a cost, which is at
//          most that of all rows, 2^13 below 2^32. Searches halve their range. The loops over
//          listed blocks and long rows are bounded by the lengths of the lists.
// Source   Balance by position: merge path (Odeh et al. 2012; Merrill and Garland 2016), with blocks aligned to the
//          rows.
//
// Uses       lib/row_tiles.wgsl; row_reduce_wide.wgsl, which has `wide`; row_reduce_long.wgsl, which has `level2` and
//            `map_long`
// Generated  fn splits_at(i: u32) -> u32                  see lib/row_tiles.wgsl
//            fn load(i: u32, row: u32) -> Elem            the value at flat position i = position * inner + column
//            fn identity() -> Elem
//            fn combine(a: Elem, b: Elem) -> Elem
//            fn store(i: u32, row: u32, v: Elem)          stores the result of i = row * inner + column; called once
//                                                         for each, from several places: keep it short
//            const MAPS: bool                             whether elements are mapped
//            fn finished(row: u32, v: Elem) -> Row        the map's input from a row
//            fn map(i: u32, row: u32, r: Row)             maps and stores the element at flat position i; called once
//                                                         for each
//            const MAIN_TILE, LANES: u32                  the cost of a tile of main, and the capacity of `lanes`
//            const STAGES: bool, STAGE: u32               whether values are staged (then load must not use `row`); the
//                                                         capacity of `stage`: MAIN_TILE + SHORT, or 1
//            const BATCH: u32                             the values that an invocation stages together: at most
//                                                         MAIN_TILE / 256
//            const COMPACT: bool                          whether `combine` and `load` are long: they are called at few
//                                                         places, since compilers inline them
//            const BY_POSITION: bool, ROWS: u32           whether short rows are mapped by position; the maximum number
//                                                         of rows of a tile: MAIN_TILE / alpha, or 1
// Buffers    part: array<Elem>      (bins + min(bins, rows)) * inner elements, bins = nvals / block + 1
// Head       as lib/row_tiles.wgsl; a tile costs MAIN_TILE in main, a power of two from 64 to 4096 in wide
// Grid       main    tiles, folded                                              for inner = 1
//            wide    tiles, folded; z = inner / 256, rounded up                  for inner > 1
//            level2  bins / 256, rounded up, folded; z = inner / columns, rounded up; only if a row may
//                    be longer than a block
//            map_long  as main, after level2; only if elements are mapped

const SHORT = 16u; // longest row that one invocation folds

/// 8 lanes for each block of a tile, or 32 for each of a few. In `level2`, one lane per invocation.
var<workgroup> lanes: array<Elem, LANES>;

/// The tile's values from the start of its first row on, loaded with coalesced reads.
var<workgroup> stage: array<Elem, STAGE>;
var<private> stage_start: u32;
var<private> staged: u32;

/// The value at a position of the tile's rows.
fn fetch(k: u32, row: u32) -> Elem {
    if (STAGES) {
        let at = k - stage_start; // wraps for an earlier row
        if (at < staged) {
            return stage[at];
        }
    }
    return load(k, row);
}

/// The value at a position of a short row of the tile: all of these are staged, or none.
fn fetch_short(k: u32, row: u32) -> Elem {
    if (STAGES) {
        return stage[k - stage_start];
    }
    return load(k, row);
}

/// End of the positions that are staged or mapped by position by the tile that starts at cost `begin`. The tile ends
/// within its last row, unless that row is short. Call it after find_rows.
fn tile_end(begin: u32) -> u32 {
    let last = max(found[1], 1u) - 1u;
    let start = split(last);
    let end = split(last + 1u);
    if (end - start <= SHORT) {
        return end;
    }
    return min(max(begin + MAIN_TILE - alpha() * last, start), end);
}

/// The results of the tile's short rows.
var<workgroup> row_value: array<Elem, ROWS>;

/// The row of a position that lies in rows found[0] .. found[1].
fn row_at(k: u32) -> u32 {
    var a = found[0];
    var b = found[1];
    while (a + 1u < b) {
        let mid = a + ((b - a) >> 1u);
        if (split(mid) <= k) {
            a = mid;
        } else {
            b = mid;
        }
    }
    return a;
}

/// End of the staged positions, of those before `to`: 0 if `first` is not staged. Blocks of earlier rows lie before the stage.
fn staged_end(first: u32, to: u32) -> u32 {
    if (STAGES && first >= stage_start) {
        return min(to, stage_start + staged);
    }
    return 0u;
}

/// Folds elements lane_start, lane_start + 32, ... before `to`.
fn fold_lane(row: u32, lane_start: u32, to: u32) -> Elem {
    var acc = identity();
    var k = lane_start;
    if (!COMPACT) {
        let staged_to = staged_end(k, to);
        for (; k < staged_to; k += 32u) {
            acc = combine(acc, stage[k - stage_start]);
        }
        for (; k + 96u < to; k += 128u) {
            let x0 = load(k, row);
            let x1 = load(k + 32u, row);
            let x2 = load(k + 64u, row);
            let x3 = load(k + 96u, row);
            acc = combine(combine(combine(combine(acc, x0), x1), x2), x3);
        }
    }
    for (; k < to; k += 32u) {
        acc = combine(acc, fetch(k, row));
    }
    return acc;
}

/// Folds lanes `lane`, `lane` + 8, + 16 and + 24 of a block, and combines them: the first two levels of the tree.
fn fold_four_lanes(row: u32, lane_start: u32, to: u32) -> Elem {
    if (COMPACT) {
        var of_lanes: array<Elem, 4>;
        for (var l = 0u; l < 4u; l++) {
            of_lanes[l] = fold_lane(row, lane_start + 8u * l, to);
        }
        for (var reach = 2u; reach > 0u; reach >>= 1u) {
            for (var l = 0u; l < reach; l++) {
                of_lanes[l] = combine(of_lanes[l], of_lanes[l + reach]);
            }
        }
        return of_lanes[0];
    }
    var acc0 = identity();
    var acc1 = acc0;
    var acc2 = acc0;
    var acc3 = acc0;
    var k = lane_start;
    let staged_to = staged_end(k, to);
    for (; k + 24u < staged_to; k += 32u) {
        let at = k - stage_start;
        acc0 = combine(acc0, stage[at]);
        acc1 = combine(acc1, stage[at + 8u]);
        acc2 = combine(acc2, stage[at + 16u]);
        acc3 = combine(acc3, stage[at + 24u]);
    }
    for (; k + 24u < to; k += 32u) {
        let x0 = fetch(k, row);
        let x1 = fetch(k + 8u, row);
        let x2 = fetch(k + 16u, row);
        let x3 = fetch(k + 24u, row);
        acc0 = combine(acc0, x0);
        acc1 = combine(acc1, x1);
        acc2 = combine(acc2, x2);
        acc3 = combine(acc3, x3);
    }
    if (k < to) {
        acc0 = combine(acc0, fetch(k, row));
    }
    if (k + 8u < to) {
        acc1 = combine(acc1, fetch(k + 8u, row));
    }
    if (k + 16u < to) {
        acc2 = combine(acc2, fetch(k + 16u, row));
    }
    return combine(combine(acc0, acc2), combine(acc1, acc3));
}

/// Combines lanes at, at + apart, ..., 2 * half in all, by a tree.
fn combine_lanes(at: u32, apart: u32, half: u32) {
    for (var reach = half; reach > 0u; reach >>= 1u) {
        for (var l = 0u; l < reach; l++) {
            let to = at + l * apart;
            lanes[to] = combine(lanes[to], lanes[to + reach * apart]);
        }
    }
}

/// Level 1 for one column.
@compute @workgroup_size(256)
fn main(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    rg_begin();
    let tile = workgroup_index(wid, groups);
    if (tile >= tiles()) {
        return; // uniform: the workgroup's id and a parameter
    }
    let begin = tile * MAIN_TILE;
    if (t == 0u) {
        atomicStore(&block_count, 0u);
    }
    find_rows(t, begin, begin + MAIN_TILE);
    if (STAGES) {
        stage_start = split(found[0]);
        staged = select(0u, min(tile_end(begin) - stage_start, STAGE), found[0] < found[1]);
        var first = t;
        if (BATCH > 1u && staged > 0u) {
            // Without a branch for each, so that all loads are in flight together: beyond the last value, that one is loaded.
            var values: array<Elem, BATCH>;
            for (var k = 0u; k < BATCH; k++) {
                values[k] = load(stage_start + min(t + k * 256u, staged - 1u), 0u);
            }
            for (var k = 0u; k < BATCH; k++) {
                stage[t + k * 256u] = values[k];
            }
            first = BATCH * 256u + t;
        }
        for (var k = first; k < staged; k += 256u) {
            stage[k] = load(stage_start + k, 0u);
        }
        workgroupBarrier(); // uniform: a constant
    }

    // Fold short rows, and list the first blocks of others.
    for (var row = found[0] + t; row < found[1]; row += 256u) {
        let start = split(row);
        let end = split(row + 1u);
        if (end - start <= SHORT) {
            var acc = identity();
            for (var k = start; k < end; k++) {
                acc = combine(acc, fetch_short(k, row));
            }
            store(row, row, acc);
            if (BY_POSITION) {
                row_value[min(row - found[0], ROWS - 1u)] = acc;
            } else if (MAPS) {
                let r = finished(row, acc);
                for (var k = start; k < end; k++) {
                    map(k, row, r);
                }
            }
        } else {
            push_block(row, 0u);
        }
    }
    if (t < (MAIN_TILE >> BLOCK_BITS)) {
        push_later_block(begin + (t << BLOCK_BITS), BLOCK_BITS, begin + MAIN_TILE);
    }
    workgroupBarrier(); // uniform: top level, after returns that were uniform
    if (BY_POSITION && found[0] < found[1]) {
        let end = tile_end(begin);
        for (var k = split(found[0]) + t; k < end; k += 256u) {
            let row = row_at(k);
            if (split(row + 1u) - split(row) <= SHORT) {
                map(k, row, finished(row, row_value[min(row - found[0], ROWS - 1u)]));
            }
        }
    }

    // Few blocks: 32 invocations per block, each with one lane. Many blocks: 8 invocations, each with 4 lanes.
    let count = min(atomicLoad(&block_count), LANES >> 3u);
    let is_few = count <= min(LANES >> 5u, 16u);
    let width_bits = select(3u, 5u, is_few);
    let lane = t & ((1u << width_bits) - 1u);
    for (var s = t >> width_bits; s < count; s += 256u >> width_bits) {
        let row = block_row[s];
        let start = split(row) + (block_index[s] << BLOCK_BITS);
        let end = min(start + (1u << BLOCK_BITS), split(row + 1u));
        if (is_few) {
            lanes[s * 32u + lane] = fold_lane(row, start + lane, end);
        } else {
            lanes[s * 8u + lane] = fold_four_lanes(row, start + lane, end);
        }
    }
    workgroupBarrier(); // uniform: top level
    if (is_few && t < count * 8u) {
        let at = (t >> 3u) * 32u + (t & 7u); // no other invocation reads it, or lanes 8, 16 and 24 from it on
        if (COMPACT) {
            combine_lanes(at, 8u, 2u);
        } else {
            lanes[at] = combine(combine(lanes[at], lanes[at + 16u]), combine(lanes[at + 8u], lanes[at + 24u]));
        }
    }
    workgroupBarrier(); // uniform: top level

    if (t < count) {
        let at = t << width_bits;
        var v: Elem;
        if (COMPACT) {
            combine_lanes(at, 1u, 4u);
            v = lanes[at];
        } else {
            let even = combine(combine(lanes[at], lanes[at + 4u]), combine(lanes[at + 2u], lanes[at + 6u]));
            let odd = combine(combine(lanes[at + 1u], lanes[at + 5u]), combine(lanes[at + 3u], lanes[at + 7u]));
            v = combine(even, odd);
        }
        finish_block(block_row[t], block_index[t], 0u, BLOCK_BITS, v);
        if (MAPS) {
            lanes[at] = v;
        }
    }
    if (!MAPS) {
        return; // uniform: a constant
    }
    workgroupBarrier(); // uniform: top level, after a return that was uniform
    for (var s = t >> width_bits; s < count; s += 256u >> width_bits) {
        let row = block_row[s];
        let start = split(row);
        let end = split(row + 1u);
        if (end - start <= (1u << BLOCK_BITS)) {
            let r = finished(row, lanes[s << width_bits]);
            for (var k = start + lane; k < end; k += 1u << width_bits) {
                map(k, row, r);
            }
        }
    }
}

/// Stores the reduced block: as the result of a row of one block, otherwise as a partial.
fn finish_block(row: u32, j: u32, column: u32, bits: u32, v: Elem) {
    let start = split(row);
    if (split(row + 1u) - start <= (1u << bits)) {
        store(row * inner() + column, row, v);
    } else {
        store_part(partial_at(partials_of(row, start, bits), j) + column, v);
    }
}
