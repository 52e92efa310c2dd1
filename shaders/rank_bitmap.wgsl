// Rank bitmap: a bit per position, set if the position is selected, and ranks. The rank of a position is the number of
// selected positions before it.
//
//   out[tile]                      for tile < tile_count(): the rank of the tile's first position
//   out[tile_count()]              the number of selected positions
//   out[tile_count() + 1 + i / 16] bits 0 .. 16: which of positions i, i + 1, ... are selected (16 divides i); bits
//                                  16 .. 32: the rank of i within its tile
//
// Idea     Reduce, then scan, over tiles of 2048 positions. `upsweep` evaluates `keep` for the positions of a tile,
//          ranks the selected ones within the tile, and stores their count; `spine` scans the counts in one workgroup.
//          No workgroup waits for another. Up to 2047 positions, `small` does everything in one dispatch. An invocation
//          evaluates 8 consecutive positions; the bits of two invocations make a word.
// Traffic  Reads the operands of keep(i) once; writes a quarter of a byte per position. Also reads and writes 4 bytes
//          per tile.
// Limits   capacity < 2^32 - 2^12.
// Ends     `spine` counts by 2048 to the number of tiles, at most 2^21; other loops count to constants.
// Source   Rank directories: Jacobson 1989; by words and tiles: Vigna 2008. Scan: Blelloch 1990.
//
// Uses       lib/workgroup_scan.wgsl
// Generated  fn live() -> u32                        number of positions; may read a buffer
//            fn keep(i: u32, row: u32) -> bool       whether position i < live() is selected; `row` is unused
// Buffers    out: array<u32>            129 * tile_count() + 1 words
// Head       head[0].x  capacity
// Grid       upsweep: tile_count() workgroups, folded; spine, small: 1

const TILE = 2048u;
const ITEMS = 8u;
const TILE_WORDS = 128u;

/// For each invocation's 8 positions of the tile: their bits, and in the bits above, their rank within the tile.
var<workgroup> ranked: array<u32, 256>;

fn capacity() -> u32 {
    return p.head[0].x;
}

/// Number of tiles of capacity + 1 positions: at least one, so that the end has a rank too.
fn tile_count() -> u32 {
    return capacity() / TILE + 1u;
}

/// The bits of the invocation's 8 positions.
fn flags_of(t: u32, tile: u32) -> u32 {
    let count = min(live(), capacity());
    let first = tile * TILE + t * ITEMS;
    var flags = 0u;
    for (var k = 0u; k < ITEMS; k++) {
        if (first + k < count) {
            flags |= u32(keep(first + k, 0u)) << k;
        }
    }
    return flags;
}

/// Stores the words of a tile. The last invocation returns the number of selected positions. Barriers: call it in
/// uniform control flow.
fn mark_tile(t: u32, tile: u32) -> u32 {
    let flags = flags_of(t, tile);
    let before = wg_exclusive_scan(t, countOneBits(flags));
    ranked[t] = (before << 8u) | flags;
    workgroupBarrier(); // uniform: as the caller
    if (t < TILE_WORDS) {
        let low = ranked[2u * t];
        let high = ranked[2u * t + 1u];
        let word = ((low >> 8u) << 16u) | ((high & 0xffu) << 8u) | (low & 0xffu);
        store_out(tile_count() + 1u + tile * TILE_WORDS + t, word);
    }
    return before + countOneBits(flags);
}

@compute @workgroup_size(256)
fn upsweep(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    rg_begin();
    let tile = workgroup_index(wid, groups);
    if (tile >= tile_count()) {
        return; // uniform: the workgroup's id and a parameter
    }
    let count = mark_tile(t, tile);
    if (t == 255u) {
        store_out(tile, count);
    }
}

@compute @workgroup_size(256)
fn spine(@builtin(local_invocation_index) t: u32) {
    rg_begin();
    let count = tile_count();
    var carry = 0u;
    for (var first = 0u; first < count; first += TILE) {
        let at = first + t * ITEMS;
        var own: array<u32, 8>;
        var sum = 0u;
        for (var k = 0u; k < ITEMS; k++) {
            own[k] = 0u;
            if (at + k < count) {
                own[k] = load_out(at + k);
            }
            sum += own[k];
        }
        var next = carry + wg_exclusive_scan(t, sum); // uniform: the loop's bounds are parameters
        for (var k = 0u; k < ITEMS; k++) {
            if (at + k < count) {
                store_out(at + k, next);
            }
            next += own[k];
        }
        carry += wg_scan_total();
    }
    if (t == 0u) {
        store_out(count, carry);
    }
}

/// The whole computation, for a capacity below 2048.
@compute @workgroup_size(256)
fn small(@builtin(local_invocation_index) t: u32) {
    rg_begin();
    let count = mark_tile(t, 0u);
    if (t == 255u) {
        store_out(0u, 0u);
        store_out(1u, count);
    }
}
