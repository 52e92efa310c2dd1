// Histogram: out[b] is the number of positions i < live() with key(i) == b, for b < bins().
//
// Idea     A workgroup counts the keys of a tile of 8192 positions. `few`: in workgroup memory, whose counts are then
//          added to the output, one atomic operation per bin that occurs in the tile. `many`: in the output at once.
//          Counts are integers, so the order of the additions does not matter.
// Traffic  The loads of key(i), once; the output is cleared beforehand. `few` adds to at most bins() words per tile.
// Limits   capacity < 2^32 - 2^14. `few`: bins() <= 2048.
//
// Ends     Loops count to a constant, or by 256 to an end that is at most that of a tile, a multiple of 8192.
// Generated  fn live() -> u32                        number of positions; may read a buffer
//            fn key(i: u32, row: u32) -> u32         the key of position i < live(); `row` is not used here
// Buffers    out: array<atomic<u32>>    bins() words, 0 beforehand
// Head       head[0]  capacity of the positions, number of bins
// Grid       capacity / 8192 workgroups, rounded up, folded

const TILE = 8192u;
const MOST = 2048u;

var<workgroup> counts: array<atomic<u32>, 2048>;

fn capacity() -> u32 {
    return p.head[0].x;
}

fn bins() -> u32 {
    return p.head[0].y;
}

fn tile_count() -> u32 {
    return (capacity() + TILE - 1u) / TILE;
}

@compute @workgroup_size(256)
fn few(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    rg_begin();
    let tile = workgroup_index(wid, groups);
    if (tile >= tile_count()) {
        return; // uniform: the workgroup's id and a parameter
    }
    let bins = min(bins(), MOST);
    for (var b = t; b < bins; b += 256u) {
        atomicStore(&counts[b], 0u);
    }
    workgroupBarrier(); // uniform: after a return that depends on the workgroup's id and a parameter
    let count = min(live(), capacity());
    for (var i = tile * TILE + t; i < min(count, (tile + 1u) * TILE); i += 256u) {
        let b = key(i, 0u);
        if (b < bins) {
            atomicAdd(&counts[b], 1u);
        }
    }
    workgroupBarrier(); // uniform: as above
    for (var b = t; b < bins; b += 256u) {
        let n = atomicLoad(&counts[b]);
        if (n != 0u) {
            add_out(b, n);
        }
    }
}

@compute @workgroup_size(256)
fn many(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    rg_begin();
    let tile = workgroup_index(wid, groups);
    let count = min(live(), capacity());
    if (tile >= tile_count()) {
        return;
    }
    for (var i = tile * TILE + t; i < min(count, (tile + 1u) * TILE); i += 256u) {
        let b = key(i, 0u);
        if (b < bins()) {
            add_out(b, 1u);
        }
    }
}
