// Inclusive scans of every row of a ragged array [nvals, inner], column by column: out has the shape of the values.
//
// Idea     Tiles and blocks of rows are those of lib/row_tiles.wgsl. The tile in which a block starts scans it; the
//          results of a row of one block are final. The block totals of longer rows are stored to `part`, where
//          `level2` replaces them by the prefix of each block, and `add` combines that prefix with the block's values.
//          Nothing must be cleared beforehand. Values of different rows are never combined: an infinity or NaN does not
//          affect other rows.
//
// Order    The order of the operations behind a result depends only on its position in the row and on whether inner =
//          1. So a prefix of a row has a prefix of the results. The row is divided into units at multiples of
//            inner = 1    8 positions (chunks), 256 (blocks), 8 blocks, 128 blocks
//            inner > 1    64 positions (blocks), 8 blocks, 128 blocks
//          The prefix of a position in its smallest unit is the left fold, from the identity, of the values up to it.
//          The prefix of a unit is the left fold of the totals of the units before it in the next larger unit (for 128
//          blocks: in the row). Prefixes are combined as
//            in the block    combine(before the chunk, in the chunk)                              (inner > 1: one fold)
//            the result      combine(combine(combine(before 128, before 8), before the block), in the block)
//                            (first block of a row: only `in the block`)
//          combine(v, identity()) and combine(identity(), v) must be v for every v that a fold from identity() can
//          give. (Float sums: the identity is 0.0, so no result is -0.0: the scan of -0.0 is 0.0.)
//
// Elem     Of a linear recurrence y[i] = a * y[i - 1] + b, Elem is the affine map of a position, a pair (a, b), and
//          combine composes maps: (a1, b1) then (a2, b2) is (a1 * a2, a2 * b1 + b2). Results are the terms b. Factors a
//          are stored for prefixes that `add` reads, those of later blocks of a row.
//
// Traffic  Reads every value and the splits once, and writes every result once. Rows of several blocks: reads and
//          writes all results but those of first blocks once more, and 4 * Elem / 256 bytes per value for the partials
//          (/ 64 if inner > 1). A recurrence writes and reads the factors of the same results.
// Limits   nvals * inner, rows * inner and nvals + alpha * rows stay below 2^32 - 2^14 (the host picks alpha). Elem is
//          at most 16 bytes. The partials of one row are scanned by one workgroup for each 16 columns, 2048 or more at a
//          time.
// Ends     A row, position or block advances by at most 256, from at most its end plus 256, to an end that is clamped to rows,
//          nvals or the capacity of a list, which stay 2^14 below 2^32; partials advance by at most 2048 to a number of
//          blocks, at most 2^26. Searches halve their range; other loops count to constants.
// Source   Balance by position: merge path (Odeh et al. 2012; Merrill and Garland 2016), with blocks aligned to the
//          rows; reduce, then scan (Blelloch 1990; Merrill and Grimshaw 2009).
//
// Uses       lib/row_tiles.wgsl, lib/workgroup_scan.wgsl
// Generated  fn splits_at(i: u32) -> u32                  see lib/row_tiles.wgsl
//            fn load(i: u32, row: u32) -> Elem            the value at flat position i = position * inner + column;
//                                                         called once; must not read `out`
//            fn identity() -> Elem
//            fn combine(a: Elem, b: Elem) -> Elem
//            fn store_prefix(i: u32, v: Elem, is_partial: bool)
//                                                         stores the result of the prefix v, and all of v if is_partial
//            fn load_prefix(i: u32) -> Elem               the partial prefix stored for i
// Buffers    out                    nvals * inner results, through store_prefix; only those in rows are written
//            part: array<Elem>      (bins + min(bins, rows)) * inner elements, bins = nvals / block + 1 (block = 256; inner > 1: 64)
// Head       as lib/row_tiles.wgsl; a tile costs 2048 in main, a power of two from 64 to 4096 in wide
// Grid       main    tiles, folded                                              for inner = 1
//            wide    tiles, folded; z = inner / 256, rounded up                 for inner > 1
//            level2  bins / 256, rounded up, folded; z = inner / columns, rounded up; only if nvals > block
//            add     as main or wide; only if nvals > block

const SHORT = 16u; // longest row that one invocation scans
const CHUNK_BITS = 3u;
/// Capacity in chunks: a tile's blocks have at most 2048 + 255 positions, and each may end with a partial chunk.
const MAX_CHUNKS = 420u;

/// The first chunk of each block of the tile.
var<workgroup> block_chunk: array<u32, MAX_BLOCKS>;
var<workgroup> chunk_total: array<Elem, MAX_CHUNKS>;

/// Start and length of a block's values.
fn block_range(row: u32, j: u32, bits: u32) -> vec2<u32> {
    let start = split(row) + (j << bits);
    return vec2(start, min(split(row + 1u) - start, 1u << bits));
}

/// Stores a block's total for `level2`, if its row has other blocks.
fn finish_block(row: u32, j: u32, column: u32, bits: u32, total: Elem) {
    let start = split(row);
    if (split(row + 1u) - start > (1u << bits)) {
        store_part(partial_at(partials_of(row, start, bits), j) + column, total);
    }
}

/// Scans a row of at most two chunks.
fn scan_short(row: u32, start: u32, end: u32) {
    var before = identity();
    var acc = identity();
    for (var i = start; i < end; i++) {
        if (i - start == (1u << CHUNK_BITS)) {
            before = acc;
            acc = identity();
        }
        acc = combine(acc, load(i, row));
        store_prefix(i, combine(before, acc), false);
    }
}

/// The block of the tile that holds a chunk: the last one that starts at or before it.
fn block_of_chunk(chunk: u32, count: u32) -> u32 {
    var a = 0u;
    var b = count;
    while (a + 1u < b) {
        let mid = a + ((b - a) >> 1u);
        if (block_chunk[mid] <= chunk) {
            a = mid;
        } else {
            b = mid;
        }
    }
    return a;
}

/// Level 1 for one column: an invocation scans a chunk.
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
    let begin = tile * tile_cost();
    if (t == 0u) {
        atomicStore(&block_count, 0u);
    }
    find_rows(t, begin, begin + tile_cost());

    // Scan short rows, and list the first blocks of others.
    for (var row = found[0] + t; row < found[1]; row += 256u) {
        let start = split(row);
        let end = split(row + 1u);
        if (end - start <= SHORT) {
            scan_short(row, start, end);
        } else {
            push_block(row, 0u);
        }
    }
    if (t < (tile_cost() >> BLOCK_BITS)) {
        push_later_block(begin + (t << BLOCK_BITS), BLOCK_BITS, begin + tile_cost());
    }
    workgroupBarrier(); // uniform: top level, after returns that were uniform

    // Number the chunks of all listed blocks consecutively, so that all invocations are busy for any lengths of blocks.
    let count = min(atomicLoad(&block_count), MAX_BLOCKS);
    var chunks = 0u;
    if (t < count) {
        let len = block_range(block_row[t], block_index[t], BLOCK_BITS).y;
        chunks = (len + (1u << CHUNK_BITS) - 1u) >> CHUNK_BITS;
    }
    let first = wg_exclusive_scan(t, chunks);
    if (t < count) {
        block_chunk[t] = first;
    }
    workgroupBarrier(); // uniform: top level
    let total = min(wg_scan_total(), MAX_CHUNKS);

    for (var round = 0u; round < 2u; round++) {
        let chunk = round * 256u + t;
        var s = 0u;
        var row = 0u;
        var i = 0u;
        var n = 0u;
        var x: array<Elem, 8>;
        if (chunk < total) {
            s = block_of_chunk(chunk, count);
            row = block_row[s];
            let range = block_range(row, block_index[s], BLOCK_BITS);
            let offset = (chunk - block_chunk[s]) << CHUNK_BITS;
            i = range.x + offset;
            n = min(range.y - offset, 1u << CHUNK_BITS);
            for (var k = 0u; k < 8u; k++) {
                x[k] = identity();
                if (k < n) {
                    x[k] = load(i + k, row);
                }
            }
            var acc = identity();
            for (var k = 0u; k < 8u; k++) {
                acc = combine(acc, x[k]);
                x[k] = acc;
            }
            chunk_total[chunk] = acc;
        }
        workgroupBarrier(); // uniform: literal loop bounds
        if (chunk < total) {
            // Earlier chunks of the block may belong to the previous round.
            var before = identity();
            for (var c = block_chunk[s]; c < chunk; c++) {
                before = combine(before, chunk_total[c]);
            }
            for (var k = 0u; k < 8u; k++) {
                if (k < n) {
                    store_prefix(i + k, combine(before, x[k]), block_index[s] > 0u);
                }
            }
            // The block's last chunk.
            let last = select(block_chunk[min(s + 1u, MAX_BLOCKS - 1u)], total, s + 1u == count) - 1u;
            if (chunk == last) {
                finish_block(row, block_index[s], 0u, BLOCK_BITS, combine(before, x[7]));
            }
        }
    }
}

/// Scans block j of a row in one column.
fn scan_column(row: u32, j: u32, column: u32) {
    let step = inner();
    let range = block_range(row, j, WIDE_BLOCK_BITS);
    var left = range.y;
    var i = range.x * step + column;
    let is_partial = j > 0u;
    var acc = identity();
    for (; left >= 4u; left -= 4u) {
        let x0 = load(i, row);
        let x1 = load(i + step, row);
        let x2 = load(i + 2u * step, row);
        let x3 = load(i + 3u * step, row);
        let y0 = combine(acc, x0);
        let y1 = combine(y0, x1);
        let y2 = combine(y1, x2);
        acc = combine(y2, x3);
        store_prefix(i, y0, is_partial);
        store_prefix(i + step, y1, is_partial);
        store_prefix(i + 2u * step, y2, is_partial);
        store_prefix(i + 3u * step, acc, is_partial);
        i += 4u * step;
    }
    for (; left > 0u; left--) {
        acc = combine(acc, load(i, row));
        store_prefix(i, acc, is_partial);
        i += step;
    }
    finish_block(row, j, column, WIDE_BLOCK_BITS, acc);
}

/// Level 1 for several columns: an invocation scans one column of one block, consecutive invocations consecutive
/// columns.
@compute @workgroup_size(256)
fn wide(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    rg_begin();
    let tile = workgroup_index(wid, groups);
    let first_column = wid.z << 8u;
    if (tile >= tiles() || first_column >= inner()) {
        return; // uniform: the workgroup's id and parameters
    }
    let begin = tile * tile_cost();
    if (t == 0u) {
        atomicStore(&block_count, 0u);
    }
    find_rows(t, begin, begin + tile_cost());
    if (t < (tile_cost() >> WIDE_BLOCK_BITS)) {
        push_later_block(begin + (t << WIDE_BLOCK_BITS), WIDE_BLOCK_BITS, begin + tile_cost());
    }
    workgroupBarrier(); // uniform: top level, after returns that were uniform

    let width = min(inner() - first_column, 256u);
    let teams = 256u / width;
    let team = t / width;
    let column = first_column + t - team * width;
    if (team < teams) {
        for (var row = found[0] + team; row < found[1]; row += teams) {
            scan_column(row, 0u, column);
        }
        let count = min(atomicLoad(&block_count), MAX_BLOCKS);
        for (var s = team; s < count; s += teams) {
            scan_column(block_row[s], block_index[s], column);
        }
    }
}

const GROUP_BITS = 4u; // lanes of 8 blocks in 128 blocks

var<workgroup> many_blocks: u32;
/// Totals of 8 blocks, lane-major, and totals of 128 blocks.
var<workgroup> lane_total: array<Elem, 256>;
var<workgroup> group_total: array<Elem, 16>;

/// Replaces 8 partials of a row, from block j on, by their exclusive prefixes, each combined with `base`. Returns their
/// total.
fn scan_eight(partials: u32, j: u32, count: u32, column: u32, base: Elem, store: bool) -> Elem {
    var x: array<Elem, 8>;
    for (var k = 0u; k < 8u; k++) {
        x[k] = identity();
        if (j + k < count) {
            x[k] = load_part(partial_at(partials, j + k) + column);
        }
    }
    var before = identity();
    for (var k = 0u; k < 8u; k++) {
        if (store && j + k < count) {
            store_part(partial_at(partials, j + k) + column, combine(base, before));
        }
        before = combine(before, x[k]);
    }
    return before;
}

/// Level 2: scans the partials of rows of several blocks that start in 256 bins, for a slice of the columns.
@compute @workgroup_size(256)
fn level2(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    rg_begin();
    let bits = block_bits();
    let bins = (nvals() >> bits) + 1u;
    let first_bin = workgroup_index(wid, groups) << 8u;
    if (first_bin >= bins) {
        return; // uniform: the workgroup's id and a parameter
    }
    let rows_left = list_long_rows(t, first_bin, bins, bits); // uniform: top level, after a return that was uniform

    let columns = 1u << column_bits();
    let stride = 256u >> column_bits();
    let lane = t >> column_bits();
    let slice = t & (columns - 1u);
    let column = (wid.z << column_bits()) + slice;
    if (column < inner()) {
        let few = atomicLoad(&few_count);
        for (var k = lane; k < few; k += stride) {
            let row = long_rows[k & 255u];
            let partials = partials_of(row, split(row), bits);
            let count = blocks_of(row, bits);
            let before = scan_eight(partials, 0u, count, column, identity(), true);
            scan_eight(partials, 8u, count, column, before, true);
        }
    }

    for (var r = 0u; r < rows_left; r++) {
        let row = long_rows[255u - (r & 255u)];
        let partials = partials_of(row, split(row), bits);
        if (t == 0u) {
            many_blocks = blocks_of(row, bits);
        }
        let count = workgroupUniformLoad(&many_blocks);
        // The prefix of the first 128 blocks of this round.
        var carry = identity();
        for (var first = 0u; first < count; first += stride << 3u) {
            let j = first + (lane << 3u);
            var total = identity();
            if (column < inner()) {
                total = scan_eight(partials, j, count, column, identity(), false);
            }
            lane_total[t] = total;
            workgroupBarrier(); // uniform: `count` is the same for all, and `stride` a parameter
            let group = lane >> GROUP_BITS;
            var before = identity();
            for (var k = group << GROUP_BITS; k < lane; k++) {
                before = combine(before, lane_total[(k << column_bits()) | slice]);
            }
            if ((lane & 15u) == 15u) {
                group_total[(group << column_bits()) | slice] = combine(before, total);
            }
            workgroupBarrier(); // uniform: as above
            var base = carry;
            for (var k = 0u; k < (stride >> GROUP_BITS); k++) {
                if (k == group) {
                    base = carry;
                }
                carry = combine(carry, group_total[(k << column_bits()) | slice]);
            }
            if (column < inner()) {
                scan_eight(partials, j, count, column, combine(base, before), true);
            }
            workgroupBarrier(); // uniform: as above; the totals have been read
        }
    }
}

/// Level 3: combines the prefix of each block, other than the first of its row, with its values, consecutive
/// invocations consecutive values.
@compute @workgroup_size(256)
fn add(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    rg_begin();
    let tile = workgroup_index(wid, groups);
    let first_column = wid.z << 8u;
    if (tile >= tiles() || first_column >= inner()) {
        return; // uniform: the workgroup's id and parameters
    }
    let bits = block_bits();
    let begin = tile * tile_cost();
    if (t == 0u) {
        atomicStore(&block_count, 0u);
    }
    find_rows(t, begin, begin + tile_cost());
    if (t < (tile_cost() >> bits)) {
        push_later_block(begin + (t << bits), bits, begin + tile_cost());
    }
    workgroupBarrier(); // uniform: top level, after returns that were uniform

    let width = min(inner() - first_column, 256u);
    let teams = 256u / width;
    let team = t / width;
    let column = first_column + t - team * width;
    if (team < teams) {
        let count = min(atomicLoad(&block_count), MAX_BLOCKS);
        for (var s = 0u; s < count; s++) {
            let row = block_row[s];
            let range = block_range(row, block_index[s], bits);
            let partials = partials_of(row, split(row), bits);
            let before = load_part(partial_at(partials, block_index[s]) + column);
            for (var k = team; k < range.y; k += teams) {
                let i = (range.x + k) * inner() + column;
                store_prefix(i, combine(before, load_prefix(i)), false);
            }
        }
    }
}
