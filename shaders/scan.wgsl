// Exclusive prefix sum of u32: lengths to row splits, digit counts to offsets.
//
//   out[i] = load(0) + ... + load(i - 1)     for i <= live()
//   out[i] = the total                       for live() < i <= capacity, so that rows beyond the live ones are empty
//
// Idea     Reduce, then scan, over tiles of 2048 elements. `upsweep` sums every tile, `spine` scans the tile sums in
//          one workgroup, `downsweep` scans every tile again on top of its sum. Up to 2047 elements, `small` does
//          everything in one dispatch. The scan covers capacity + 1 elements, where those from live() on are 0, so that
//          the total and its repetitions need no special case.
// Traffic  2 reads and 1 write of 4 bytes per element; at sizes that fit the L2 cache the second read is free. Where an
//          element is computed from more than 8 bytes, `upsweep` stores it in `out` (KEEPS), and `downsweep` loads it
//          from there: 2 writes and 1 read of 4 bytes, besides one read of the operands.
// Limits   capacity < 2^32 - 2^12. Sums wrap; an overflow of the total is recorded (see `tiles`).
// Ends     `spine` counts by 2048 to the number of tiles, at most 2^21; other loops count to constants.
// Source   Blelloch 1990; Merrill and Grimshaw 2009. The scan in a tile is thread-serial over 8 elements, which are
//          transposed through workgroup memory so that loads and stores coalesce.
//
// Uses       lib/workgroup_scan.wgsl
// Generated  fn live() -> u32           number of elements, at most the capacity; may read a buffer
//            fn load(i: u32) -> u32     element i < live(); called twice, or once if KEEPS; may read
//                                       `out[i]` if not KEEPS (the scan works in place)
//            const KEEPS: bool          whether `upsweep` stores the elements in `out` for `downsweep`
// Buffers    out: array<u32>            capacity + 1 words
//            tiles: array<u32>          2 * tile_count() + 1 words: the sum of each tile (after `spine`: of all
//                                       tiles before it); whether each sum overflowed; whether the total did (0 or 1)
// Head       head[0].x  capacity
// Grid       upsweep, downsweep: tile_count() workgroups, folded; spine, small: 1

const TILE = 2048u;
const ITEMS = 8u;

/// A tile, padded by a word every 32 words, so that strides of 8 hit all banks.
var<workgroup> stage: array<u32, 2112>;
var<workgroup> overflow: atomic<u32>;

fn capacity() -> u32 {
    return p.head[0].x;
}

/// Number of tiles of capacity + 1 elements: at least one.
fn tile_count() -> u32 {
    return capacity() / TILE + 1u;
}

fn place(i: u32) -> u32 {
    return i + (i >> 5u);
}

/// The elements of an invocation, which lie 256 apart; 0 from `count` on. From `out` if `again` and KEEPS. Without a branch for
/// each, so that all loads are in flight together: beyond the last element of the tile, that one is loaded.
fn elements(tile: u32, t: u32, count: u32, again: bool) -> array<u32, 8> {
    let first = tile * TILE + t;
    var out: array<u32, 8>;
    if (tile * TILE < count) {
        for (var k = 0u; k < ITEMS; k++) {
            let i = min(first + k * 256u, count - 1u);
            if (KEEPS && again) {
                out[k] = load_out(i);
            } else {
                out[k] = load(i);
            }
        }
        for (var k = 0u; k < ITEMS; k++) {
            out[k] = select(0u, out[k], first + k * 256u < count);
        }
    }
    return out;
}

/// Scans the staged tile in place, starting from `base`. Returns whether a sum of this invocation wrapped. Barriers:
/// call it in uniform control flow. Writing the stage before, or reading it after, needs no other barrier.
fn scan_stage(t: u32, base: u32) -> bool {
    workgroupBarrier(); // uniform: as the caller
    var sum = 0u;
    var wrapped = false;
    for (var k = 0u; k < ITEMS; k++) {
        let x = stage[place(t * ITEMS + k)];
        sum += x;
        wrapped = wrapped || sum < x;
    }
    let before = wg_exclusive_scan(t, sum);
    wrapped = wrapped || before + sum < sum;
    var next = base + before;
    for (var k = 0u; k < ITEMS; k++) {
        let at = place(t * ITEMS + k);
        let x = stage[at];
        stage[at] = next;
        next += x;
    }
    workgroupBarrier(); // uniform: as the caller
    return wrapped;
}

/// Whether `flag` is set anywhere in the workgroup. Barriers: call it in uniform control flow.
fn any_overflow(t: u32, flag: bool) -> bool {
    if (t == 0u) {
        atomicStore(&overflow, 0u);
    }
    workgroupBarrier(); // uniform: as the caller
    if (flag) {
        atomicOr(&overflow, 1u);
    }
    workgroupBarrier(); // uniform: as the caller
    return atomicLoad(&overflow) != 0u;
}

/// Scans the staged tile into `out`, starting from `base`. Barriers: call it in uniform control flow.
fn scan_tile(t: u32, tile: u32, base: u32) -> bool {
    let wrapped = scan_stage(t, base);
    for (var k = 0u; k < ITEMS; k++) {
        let i = k * 256u + t;
        if (tile * TILE + i <= capacity()) {
            store_out(tile * TILE + i, stage[place(i)]);
        }
    }
    return wrapped;
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
    let count = min(live(), capacity());
    let own = elements(tile, t, count, false);
    var sum = 0u;
    var wrapped = false;
    for (var k = 0u; k < ITEMS; k++) {
        let i = tile * TILE + k * 256u + t;
        if (KEEPS && i < count) {
            store_out(i, own[k]);
        }
        sum += own[k];
        wrapped = wrapped || sum < own[k];
    }
    let before = wg_exclusive_scan(t, sum);
    wrapped = any_overflow(t, wrapped || before + sum < sum);
    if (t == 0u) {
        store_tiles(tile, wg_scan_total());
        store_tiles(tile_count() + tile, u32(wrapped));
    }
}

@compute @workgroup_size(256)
fn spine(@builtin(local_invocation_index) t: u32) {
    rg_begin();
    let count = tile_count();
    var carry = 0u;
    var wrapped = false;
    for (var first = 0u; first < count; first += TILE) {
        for (var k = 0u; k < ITEMS; k++) {
            let i = k * 256u + t;
            var sum = 0u;
            if (first + i < count) {
                sum = load_tiles(first + i);
                wrapped = wrapped || load_tiles(count + first + i) != 0u;
            }
            stage[place(i)] = sum;
        }
        wrapped = scan_stage(t, carry) || wrapped; // uniform: the loop's bounds are parameters
        for (var k = 0u; k < ITEMS; k++) {
            let i = k * 256u + t;
            if (first + i < count) {
                store_tiles(first + i, stage[place(i)]);
            }
        }
        let total = wg_scan_total();
        carry += total;
        wrapped = wrapped || carry < total;
        workgroupBarrier(); // uniform: the loop's bounds are parameters; the stage has been read
    }
    wrapped = any_overflow(t, wrapped);
    if (t == 0u) {
        store_tiles(2u * count, u32(wrapped));
    }
}

@compute @workgroup_size(256)
fn downsweep(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    rg_begin();
    let tile = workgroup_index(wid, groups);
    if (tile >= tile_count()) {
        return; // uniform: the workgroup's id and a parameter
    }
    let count = min(live(), capacity());
    let own = elements(tile, t, count, true);
    for (var k = 0u; k < ITEMS; k++) {
        stage[place(k * 256u + t)] = own[k];
    }
    scan_tile(t, tile, load_tiles(tile));
}

/// The whole scan, for a capacity below 2048.
@compute @workgroup_size(256)
fn small(@builtin(local_invocation_index) t: u32) {
    rg_begin();
    let count = min(live(), capacity());
    let own = elements(0u, t, count, false);
    for (var k = 0u; k < ITEMS; k++) {
        stage[place(k * 256u + t)] = own[k];
    }
    let wrapped = any_overflow(t, scan_tile(t, 0u, 0u));
    if (t == 0u) {
        store_tiles(2u, u32(wrapped));
    }
}
