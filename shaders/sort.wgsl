// One pass of a stable radix sort of u32 keys that carries a permutation: sorts by 8 bits of the key.
//
// Idea     Least significant digit first; every pass is stable. `count` stores the digit histograms of all tiles,
//          digit-major, so that the exclusive prefix sums (scan.wgsl, over 256 * tiles() counts) are the output
//          positions of the elements of each digit and tile. `scatter` sorts a tile by the digit in workgroup memory,
//          in two rounds of 4 bits, and stores runs of equal digits contiguously. In a round, every invocation counts
//          the digits of 8 consecutive elements, and one scan over all counts ranks them. Needs no subgroups; the only
//          atomics are integer counts, whose result does not depend on their order. The key of an element from live()
//          on is the maximum, all bits set: since the sort is stable, they stay last.
// Traffic  A pass reads a key twice and an index once, and writes both once: 20 bytes per element, and 2.5 for the
//          counts.
// Limits   n and 256 * tiles() stay below 2^32 - 2^12, thus n < 2^32 - 2^15.
// Ends     Loops count to constants.
// Source   Satish, Harris and Garland 2009; packed counters as in CUB's block ranking.
//
// Uses       lib/workgroup_scan.wgsl
// Generated  fn capacity() -> u32                         number of elements to sort, at most n; may read a buffer
//                                                         that is bound for reading only
//            fn live() -> u32                             number of live elements; later passes: capacity()
//            fn load(i: u32) -> u32                       the key of element i < live(); later passes: keys_in[i]
//            fn index(i: u32) -> u32                      entry i of the permutation: i; later passes: perm_in[i]
//            fn store(i: u32, key: u32, index: u32)       stores output i: keys_out[i], perm_out[i]
// Buffers    digits: array<u32>      256 * tiles() + 1 words: `count` writes all but the last, the scan works in place
// Head       head[0]  n, shift: the first bit of this pass's digit, a multiple of 8 below 32
// Grid       count, scatter: tiles() workgroups for n elements, folded; nothing if n = 0. Workgroups beyond tiles()
//            return

const TILE = 2048u;
const ITEMS = 8u;

var<workgroup> histogram: array<atomic<u32>, 256>;
/// Start of each digit's run in the sorted tile.
var<workgroup> run_start: array<u32, 256>;
/// Counters (two of 16 bits per word), keys, or indices of a tile, padded by a word every 32 words to avoid bank
/// conflicts.
var<workgroup> stage: array<u32, 2112>;

var<private> keys: array<u32, 8>;
var<private> indices: array<u32, 8>;

fn shift() -> u32 {
    return p.head[0].y & 31u;
}

fn tiles() -> u32 {
    return (capacity() + TILE - 1u) / TILE;
}

fn place(i: u32) -> u32 {
    return i + (i >> 5u);
}

fn key_of(i: u32, count: u32) -> u32 {
    if (i < count) {
        return load(i);
    }
    return 0xffffffffu;
}

/// Counts the tile's digits.
@compute @workgroup_size(256)
fn count(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    rg_begin();
    let tile = workgroup_index(wid, groups);
    if (tile >= tiles()) {
        return; // uniform: the workgroup's id, and a parameter or read-only data
    }
    atomicStore(&histogram[t], 0u);
    workgroupBarrier(); // uniform: top level, after a return that was uniform
    let existing = min(live(), capacity());
    for (var k = 0u; k < ITEMS; k++) {
        let i = tile * TILE + k * 256u + t;
        if (i < capacity()) {
            atomicAdd(&histogram[(key_of(i, existing) >> shift()) & 255u], 1u);
        }
    }
    workgroupBarrier(); // uniform: top level
    store_digits(t * tiles() + tile, atomicLoad(&histogram[t]));
}

/// Sorts the tile by 4 bits of the keys. Before and after, every invocation holds 8 consecutive elements in `keys` and
/// `indices`. Barriers: call it in uniform control flow.
fn sort_by_nibble(t: u32, first_bit: u32) {
    workgroupBarrier(); // uniform: as the caller; the stage has been read
    for (var k = 0u; k < ITEMS; k++) {
        stage[place(k * 256u + t)] = 0u;
    }
    workgroupBarrier(); // uniform: as the caller

    // The counter of digit d is half d / 8 of this invocation's word d % 8. Words are stored word-major.
    var rank: array<u32, 8>;
    for (var k = 0u; k < ITEMS; k++) {
        let digit = (keys[k] >> first_bit) & 15u;
        let at = place((digit & 7u) * 256u + t);
        let half = (digit >> 3u) << 4u;
        let counts = stage[at];
        rank[k] = (counts >> half) & 0xffffu;
        stage[at] = counts + (1u << half);
    }
    workgroupBarrier(); // uniform: as the caller

    // Exclusive sums of all counters in that order, where digits 8 to 15 follow digits 0 to 7.
    var sum = 0u;
    for (var k = 0u; k < ITEMS; k++) {
        sum += stage[place(t * ITEMS + k)];
    }
    var next = wg_exclusive_scan(t, sum);
    next += wg_scan_total() << 16u;
    for (var k = 0u; k < ITEMS; k++) {
        let at = place(t * ITEMS + k);
        let counts = stage[at];
        stage[at] = next;
        next += counts;
    }
    workgroupBarrier(); // uniform: as the caller

    for (var k = 0u; k < ITEMS; k++) {
        let digit = (keys[k] >> first_bit) & 15u;
        let half = (digit >> 3u) << 4u;
        rank[k] += (stage[place((digit & 7u) * 256u + t)] >> half) & 0xffffu;
    }
    workgroupBarrier(); // uniform: as the caller
    for (var k = 0u; k < ITEMS; k++) {
        stage[place(rank[k])] = keys[k];
    }
    workgroupBarrier(); // uniform: as the caller
    for (var k = 0u; k < ITEMS; k++) {
        keys[k] = stage[place(t * ITEMS + k)];
    }
    workgroupBarrier(); // uniform: as the caller
    for (var k = 0u; k < ITEMS; k++) {
        stage[place(rank[k])] = indices[k];
    }
    workgroupBarrier(); // uniform: as the caller
    for (var k = 0u; k < ITEMS; k++) {
        indices[k] = stage[place(t * ITEMS + k)];
    }
}

/// Sorts the tile and stores its elements at their output positions. `digits` holds the exclusive prefix sums of the
/// counts.
@compute @workgroup_size(256)
fn scatter(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    rg_begin();
    let tile = workgroup_index(wid, groups);
    if (tile >= tiles()) {
        return; // uniform: the workgroup's id, and a parameter or read-only data
    }
    let existing = min(live(), capacity());
    for (var k = 0u; k < ITEMS; k++) {
        // Padding beyond the capacity sorts last in the tile, and is not written.
        let i = tile * TILE + t * ITEMS + k;
        keys[k] = key_of(i, existing);
        indices[k] = 0u;
        if (i < capacity()) {
            indices[k] = index(i);
        }
    }
    sort_by_nibble(t, shift());
    sort_by_nibble(t, shift() + 4u);

    // Transpose from consecutive elements to a stride of 256, so that stores coalesce, and record the starts of runs.
    workgroupBarrier(); // uniform: top level, after a return that was uniform
    for (var k = 0u; k < ITEMS; k++) {
        stage[place(t * ITEMS + k)] = keys[k];
    }
    workgroupBarrier(); // uniform: top level
    for (var k = 0u; k < ITEMS; k++) {
        let i = k * 256u + t;
        keys[k] = stage[place(i)];
        let digit = (keys[k] >> shift()) & 255u;
        if (i == 0u || digit != ((stage[place(max(i, 1u) - 1u)] >> shift()) & 255u)) {
            run_start[digit] = i;
        }
    }
    workgroupBarrier(); // uniform: top level
    for (var k = 0u; k < ITEMS; k++) {
        stage[place(t * ITEMS + k)] = indices[k];
    }
    workgroupBarrier(); // uniform: top level
    let left = capacity() - tile * TILE;
    for (var k = 0u; k < ITEMS; k++) {
        let i = k * 256u + t;
        let digit = (keys[k] >> shift()) & 255u;
        let to = load_digits(digit * tiles() + tile) + i - run_start[digit];
        if (i < left && to < capacity()) {
            store(to, keys[k], stage[place(i)]);
        }
    }
}
