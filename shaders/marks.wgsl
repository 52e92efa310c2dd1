// Which positions stay, as bits, and ranks: the number of positions that stay before a position.
//
//   out[tile]                      for tile < tile_count(): the rank of the tile's first position
//   out[tile_count()]              how many positions stay in all
//   out[tile_count() + 1 + i / 16] bits 0 .. 16: which of positions i, i + 1, ... stay (16 divides i); bits 16 .. 32:
//                                  the rank of i within its tile
//
// Idea     Reduce, then scan, over tiles of 2048 positions. `upsweep` asks which positions of a tile stay, ranks them
//          within it, and leaves their number; `spine` scans the numbers in one workgroup. No workgroup waits for
//          another. Up to 2047 positions, `small` does it all in one dispatch.
//          An invocation asks for 8 positions in a row; two of them make a word.
// Traffic  What keep(i) loads, once; writes a quarter of a byte a position. Reads and writes 4 bytes a tile besides.
// Limits   capacity < 2^32 - 2^12.
// Source   Directories of ranks: Jacobson 1989; by words and tiles: Vigna 2008. The scan: Blelloch 1990.
//
// Uses       lib/workgroup_scan.wgsl
// Generated  fn live() -> u32                        how many positions there are; may read a buffer
//            fn keep(i: u32, row: u32) -> bool       whether position i < live() stays; `row` is not used here
// Buffers    out: array<u32>            129 * tile_count() + 1 words
// Head       head[0].x  capacity
// Grid       upsweep: tile_count() workgroups, folded; spine, small: 1

const TILE = 2048u;
const ITEMS = 8u;
const TILE_WORDS = 128u;

/// For each 8 positions of the tile their bits, above these the number of positions before them that stay.
var<workgroup> ranked: array<u32, 256>;

fn capacity() -> u32 {
    return p.head[0].x;
}

/// One more position than the capacity, in tiles: at least one, so that the end has a rank too.
fn tile_count() -> u32 {
    return capacity() / TILE + 1u;
}

/// Which of the invocation's 8 positions stay.
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

/// Stores the words of a tile. Its last invocation returns how many positions stay. Barriers: call it in uniform
/// control flow.
fn mark_tile(t: u32, tile: u32) -> u32 {
    let flags = flags_of(t, tile);
    let before = wg_exclusive_scan(t, countOneBits(flags));
    ranked[t] = (before << 8u) | flags;
    workgroupBarrier(); // uniform: as the caller
    if (t < TILE_WORDS) {
        let low = ranked[2u * t];
        let high = ranked[2u * t + 1u];
        out[tile_count() + 1u + tile * TILE_WORDS + t] = ((low >> 8u) << 16u) | ((high & 0xffu) << 8u) | (low & 0xffu);
    }
    return before + countOneBits(flags);
}

@compute @workgroup_size(256)
fn upsweep(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let tile = wid.x + wid.y * groups.x;
    if (tile >= tile_count()) {
        return; // uniform: the workgroup's id and a parameter
    }
    let count = mark_tile(t, tile);
    if (t == 255u) {
        out[tile] = count;
    }
}

@compute @workgroup_size(256)
fn spine(@builtin(local_invocation_index) t: u32) {
    let count = tile_count();
    var carry = 0u;
    for (var first = 0u; first < count; first += TILE) {
        let at = first + t * ITEMS;
        var own: array<u32, 8>;
        var sum = 0u;
        for (var k = 0u; k < ITEMS; k++) {
            own[k] = 0u;
            if (at + k < count) {
                own[k] = out[at + k];
            }
            sum += own[k];
        }
        var next = carry + wg_exclusive_scan(t, sum); // uniform: the loop's bounds are parameters
        for (var k = 0u; k < ITEMS; k++) {
            if (at + k < count) {
                out[at + k] = next;
            }
            next += own[k];
        }
        carry += wg_scan_total();
    }
    if (t == 0u) {
        out[count] = carry;
    }
}

/// All of it, for a capacity below 2048.
@compute @workgroup_size(256)
fn small(@builtin(local_invocation_index) t: u32) {
    let count = mark_tile(t, 0u);
    if (t == 255u) {
        out[0] = 0u;
        out[1] = count;
    }
}
