// The values at the positions that stay, in order: out[rank of i] = value(i) where keep(i).
//
// Idea     Reduce, then scan, over tiles of 2048 positions. `upsweep` asks which positions of a tile stay, counts them, and
//          leaves a bit for each; `spine` scans the counts in one workgroup; `downsweep` ranks the bits of a tile on top
//          of what stays before it, and stores. No workgroup waits for another. Up to 2048 positions, `small` does it
//          all in one dispatch.
//          An invocation asks for 8 positions in a row, whose bits are a byte: their ranks follow from one scan over the
//          workgroup and from counting bits. Values are loaded and stored with neighbours by neighbouring invocations.
// Traffic  What keep(i) loads, once; 1/4 of a byte a position for the bits; what value(i) loads, once and only where the
//          position stays; the output, once. Packed outputs are cleared first, and set by an atomic `or` an element: the
//          elements of a word may come from different workgroups, and bits that are set do not depend on the order.
// Limits   capacity < 2^32 - 2^12.
// Source   Blelloch 1990; ranks by counting bits: Billeter, Olsson and Assarsson 2009.
//
// Uses       lib/workgroup_scan.wgsl
// Generated  fn live() -> u32                        how many positions there are; may read a buffer
//            fn keep(i: u32, row: u32) -> bool       whether position i < live() stays; `row` is not used here
//            fn value(i: u32, row: u32) -> Elem      asked for only where it does
//            fn clear(i: u32)                        clears the word of `out` that element i begins, if it is packed
//            fn store(i: u32, v: Elem)               into a cleared word, if it is packed
// Buffers    tiles: array<u32>          65 * tile_count() words: what stays of each tile (in the end: of all tiles before),
//                                       then 64 words of bits a tile
// Head       head[0].x  capacity, of the positions and of the output
// Grid       upsweep, downsweep: tile_count() workgroups, folded; spine, small: 1

const TILE = 2048u;
const ITEMS = 8u;
const FLAG_WORDS = 64u;

/// For each 8 positions of the tile their bits, above these the number of positions before them that stay.
var<workgroup> ranked: array<u32, 256>;

fn capacity() -> u32 {
    return p.head[0].x;
}

fn tile_count() -> u32 {
    return (capacity() + (TILE - 1u)) / TILE;
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

/// Stores the tile's values from `base` on. Barriers: call it in uniform control flow.
fn store_tile(t: u32, tile: u32, base: u32, flags: u32) {
    ranked[t] = (wg_exclusive_scan(t, countOneBits(flags)) << 8u) | flags;
    workgroupBarrier(); // uniform: as the caller
    for (var k = 0u; k < ITEMS; k++) {
        let i = k * 256u + t;
        let run = ranked[i >> 3u];
        let bit = 1u << (i & 7u);
        if ((run & bit) != 0u) {
            let at = base + (run >> 8u) + countOneBits(run & (bit - 1u));
            if (at < capacity()) {
                store(at, value(tile * TILE + i, 0u));
            }
        }
    }
}

fn clear_tile(t: u32, tile: u32) {
    for (var k = 0u; k < ITEMS; k++) {
        let i = tile * TILE + k * 256u + t;
        if (i < capacity()) {
            clear(i);
        }
    }
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
    clear_tile(t, tile);
    let flags = flags_of(t, tile);
    ranked[t] = flags;
    let before = wg_exclusive_scan(t, countOneBits(flags));
    if (t == 255u) {
        tiles[tile] = before + countOneBits(flags);
    }
    // The scan's barriers lie between a byte and its reader.
    if (t < FLAG_WORDS) {
        let at = t * 4u;
        let low = ranked[at] | (ranked[at + 1u] << 8u);
        let high = ranked[at + 2u] | (ranked[at + 3u] << 8u);
        tiles[tile_count() + tile * FLAG_WORDS + t] = low | (high << 16u);
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
                own[k] = tiles[at + k];
            }
            sum += own[k];
        }
        var next = carry + wg_exclusive_scan(t, sum); // uniform: the loop's bounds are parameters
        for (var k = 0u; k < ITEMS; k++) {
            if (at + k < count) {
                tiles[at + k] = next;
            }
            next += own[k];
        }
        carry += wg_scan_total();
    }
}

@compute @workgroup_size(256)
fn downsweep(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let tile = wid.x + wid.y * groups.x;
    if (tile >= tile_count()) {
        return; // uniform: the workgroup's id and a parameter
    }
    let word = tiles[tile_count() + tile * FLAG_WORDS + (t >> 2u)];
    store_tile(t, tile, tiles[tile], (word >> ((t & 3u) * 8u)) & 0xffu);
}

/// All of it, for a capacity of up to 2048.
@compute @workgroup_size(256)
fn small(@builtin(local_invocation_index) t: u32) {
    clear_tile(t, 0u);
    storageBarrier(); // uniform: at top level; cleared words are set below
    store_tile(t, 0u, 0u, flags_of(t, 0u));
}
