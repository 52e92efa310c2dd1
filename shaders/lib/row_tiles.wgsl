// Tiles of equal cost over the rows of a ragged array, and the blocks of rows that start in each.
//
// Idea     cost(i) = splits[i] + alpha * i grows with the row, so a binary search finds a tile's rows, and any
//          distribution of lengths is balanced. Rows are divided into blocks of fixed length, counted from the row's
//          start; a block belongs to the tile in which it starts.
// Memory   About 1.1 KiB of workgroup memory.
// Ends     Searches halve their range, or divide it by 128. `found` is 0, or follows a row whose cost is below the tile's
//          bound, whatever the splits are: what starts in a tile does so far below 2^32.
// Source   Balance by position: merge path (Odeh et al. 2012; Merrill and Garland 2016), with blocks aligned to the
//          rows.
// Barriers In `find_rows` and `list_long_rows` only.
//
// Generated  fn splits_at(i: u32) -> u32      i <= rows; non-decreasing; rows beyond the live ones are empty
// Head       head[0]  rows (capacity), nvals (capacity), inner, tiles
//            head[1]  alpha, cost of a tile, log2 of the columns of partials per workgroup (+ 256 if the partials lie by
//                     rows), reserved

/// Capacity of a tile's list of blocks. Later blocks of a row lie a block apart. Listed first blocks lie at least 17
/// apart (8 later and 121 first blocks in a tile of 2048) or, in tiles of 4096, at least 65 apart (64 of each, with
/// blocks of 64).
const MAX_BLOCKS = 132u;
const BLOCK_BITS = 8u; // inner = 1
const WIDE_BLOCK_BITS = 6u; // inner > 1
const NONE = 0xffffffffu;

var<workgroup> found: array<u32, 2>;
var<workgroup> block_count: atomic<u32>;
var<workgroup> block_row: array<u32, MAX_BLOCKS>;
var<workgroup> block_index: array<u32, MAX_BLOCKS>;

fn rows() -> u32 {
    return p.head[0].x;
}

fn nvals() -> u32 {
    return p.head[0].y;
}

fn inner() -> u32 {
    return p.head[0].z;
}

fn tiles() -> u32 {
    return p.head[0].w;
}

fn alpha() -> u32 {
    return p.head[1].x;
}

fn tile_cost() -> u32 {
    return p.head[1].y;
}

fn column_bits() -> u32 {
    return p.head[1].z & 255u;
}

/// Whether the partials lie by rows, of which there are fewer than bins.
fn are_partials_by_row() -> bool {
    return p.head[1].z > 255u;
}

fn block_bits() -> u32 {
    return select(WIDE_BLOCK_BITS, BLOCK_BITS, inner() == 1u);
}

/// The splits, clamped so that no access is out of bounds.
fn split(i: u32) -> u32 {
    return min(splits_at(i), nvals());
}

fn cost(i: u32) -> u32 {
    return split(i) + alpha() * i;
}

fn blocks_of(row: u32, bits: u32) -> u32 {
    return (split(row + 1u) - split(row) + (1u << bits) - 1u) >> bits;
}

/// Where the partials of a row lie. A bin is a block's length of all positions. No two first blocks of long rows start in
/// the same bin, and no two later blocks, but a first and a later one may: each bin has two partials. Few rows have one
/// for each bin and row instead: at least that many lie between the starts of two rows.
fn partials_of(row: u32, start: u32, bits: u32) -> u32 {
    let bin = start >> bits;
    return select(2u * bin, bin + row, are_partials_by_row());
}

/// Index of the partial of a row's block j, for column 0, among those of the row.
fn partial_at(partials: u32, j: u32) -> u32 {
    let at = select(2u * j + select(0u, 1u, j == 0u), j, are_partials_by_row());
    return (partials + at) * inner();
}

/// Sets found[0] and found[1] to the first rows whose costs are at least `low` and `high`: each half of the workgroup
/// narrows one of the two searches by 128 probes per round. Barriers: call it in uniform control flow.
fn find_rows(t: u32, low: u32, high: u32) {
    let side = t >> 7u;
    let k = t & 127u;
    let bound = select(low, high, side == 1u);
    if (k == 0u) {
        found[side] = 0u;
    }
    // Invariant: the answer lies in first ..= first + span.
    var span = rows();
    loop {
        workgroupBarrier(); // uniform: `span` derives from a parameter alone
        if (span == 0u) {
            break;
        }
        let first = found[side];
        let last = min(first + span, rows());
        let stride = (span >> 7u) + 1u;
        let probe = first + (k + 1u) * stride - 1u;
        let next = probe + stride;
        let is_below = probe < last && cost(min(probe, rows())) < bound;
        let is_next_below = k < 127u && next < last && cost(min(next, rows())) < bound;
        workgroupBarrier(); // uniform: as above
        if (is_below && !is_next_below) {
            found[side] = probe + 1u; // at most one invocation of each half
        }
        span = stride - 1u;
    }
}

/// Appends a block to the tile's list. The order of the list is nondeterministic, so results must not depend on it.
fn push_block(row: u32, j: u32) {
    let slot = atomicAdd(&block_count, 1u);
    if (slot < MAX_BLOCKS) {
        block_row[slot] = row;
        block_index[slot] = j;
    }
}

/// Appends the block, other than the first of its row, that starts at a cost in x .. x + block and before `limit`, if
/// any. Later blocks lie a block apart, so at most one does. It belongs to the last row that starts before x.
fn push_later_block(x: u32, bits: u32, limit: u32) {
    var a = found[0];
    var b = found[1];
    while (a < b) {
        let mid = a + ((b - a) >> 1u);
        if (cost(mid) < x) {
            a = mid + 1u;
        } else {
            b = mid;
        }
    }
    if (a == 0u) {
        return;
    }
    let row = a - 1u;
    let start = split(row);
    let j = (x - cost(row) + (1u << bits) - 1u) >> bits;
    if ((j << bits) < split(row + 1u) - start && cost(row) + (j << bits) < limit) {
        push_block(row, j);
    }
}

/// The row of several blocks that starts in a bin, or NONE. Such a row also holds the first position of the next bin,
/// so it is the last row that starts before that position.
fn long_row(bin: u32, bits: u32) -> u32 {
    var a = 0u;
    var b = rows();
    while (a < b) {
        let mid = a + ((b - a) >> 1u);
        if (split(mid) < ((bin + 1u) << bits)) {
            a = mid + 1u;
        } else {
            b = mid;
        }
    }
    if (a == 0u) {
        return NONE;
    }
    let start = split(a - 1u);
    let is_long = split(a) - start > (1u << bits);
    return select(NONE, a - 1u, is_long && (start >> bits) == bin);
}

const FEW = 16u; // maximum number of blocks of a row whose partials one invocation processes

var<workgroup> long_rows: array<u32, 256>; // rows of up to FEW blocks from the front, others from the back
var<workgroup> few_count: atomic<u32>;
var<workgroup> many_count: atomic<u32>;
var<workgroup> many: u32;

/// Lists the rows of several blocks that start in the next 256 bins. Returns the number of rows with more than FEW
/// blocks. Barriers: call it in uniform control flow.
fn list_long_rows(t: u32, first_bin: u32, bins: u32, bits: u32) -> u32 {
    if (t == 0u) {
        atomicStore(&few_count, 0u);
        atomicStore(&many_count, 0u);
    }
    workgroupBarrier(); // uniform: as the caller
    if (first_bin + t < bins) {
        let row = long_row(first_bin + t, bits);
        if (row != NONE) {
            if (blocks_of(row, bits) <= FEW) {
                long_rows[atomicAdd(&few_count, 1u) & 255u] = row;
            } else {
                long_rows[255u - (atomicAdd(&many_count, 1u) & 255u)] = row;
            }
        }
    }
    workgroupBarrier(); // uniform: as above
    if (t == 0u) {
        many = atomicLoad(&many_count);
    }
    return workgroupUniformLoad(&many);
}
