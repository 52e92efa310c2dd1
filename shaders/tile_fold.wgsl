// Folds of values by slot within tiles of 2048 positions: out[tile * slots() + s] is the fold of value(i) over the
// positions i of the tile with key(i) == s, in ascending order.
//
// Idea     One workgroup per tile. Each invocation owns the slots that are equal to its index modulo 256, so that no two
//          invocations combine into one slot and the order is fixed. The workgroup evaluates 512 keys and values at a
//          time into its own memory; every invocation then walks them and combines those of its slots.
// Traffic  The loads of key(i) and value(i), once; slots() results per tile.
// Limits   capacity < 2^32 - 2^14; slots() <= 1024. 14 KiB of workgroup memory.
//
// Ends     Chunks meet the end of the tile, of which they are a part; other loops count to constants.
// Generated  fn live() -> u32                        number of positions; may read a buffer
//            fn key(i: u32, row: u32) -> u32         the slot of position i < live(); `row` is not used here
//            fn value(i: u32, row: u32) -> Elem      its value
//            fn identity() -> Elem, fn combine(a: Elem, b: Elem) -> Elem
// Buffers    out: array<Elem>    slots() results per tile
// Head       head[0]  capacity of the positions, number of slots
// Grid       capacity / 2048 workgroups, rounded up, folded

const TILE = 2048u;
const CHUNK = 512u;
const MOST = 1024u;
const NONE = 0xffffffffu;

var<workgroup> results: array<Elem, 1024>;
var<workgroup> keys: array<u32, 512>;
var<workgroup> values: array<Elem, 512>;

fn capacity() -> u32 {
    return p.head[0].x;
}

fn slots() -> u32 {
    return min(p.head[0].y, MOST);
}

@compute @workgroup_size(256)
fn main(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    rg_begin();
    let tile = workgroup_index(wid, groups);
    if (tile >= (capacity() + TILE - 1u) / TILE) {
        return; // uniform: the workgroup's id and a parameter
    }
    for (var s = t; s < slots(); s += 256u) {
        results[s] = identity();
    }
    let count = min(live(), capacity());
    for (var start = tile * TILE; start < (tile + 1u) * TILE; start += CHUNK) {
        for (var c = t; c < CHUNK; c += 256u) {
            let i = start + c;
            var slot = NONE;
            if (i < count) {
                slot = key(i, 0u);
                values[c] = value(i, 0u);
            }
            keys[c] = slot;
        }
        workgroupBarrier(); // uniform: the loop's bounds are the workgroup's id and constants
        for (var c = 0u; c < min(CHUNK, max(count, start) - start); c++) {
            let slot = keys[c];
            if ((slot & 255u) == t && slot < slots()) {
                results[slot] = combine(results[slot], values[c]);
            }
        }
        workgroupBarrier(); // uniform: as above
    }
    for (var s = t; s < slots(); s += 256u) {
        store_out(tile * slots() + s, results[s]);
    }
}
