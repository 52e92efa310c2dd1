// Computes every element of a ragged array from its position and its row: out[i] = value(i, row).
//
// Idea     A workgroup finds the rows of the first and last element of its tile of MAP_TILE elements by two binary
//          searches in the splits; each invocation then searches the rows of its elements between these two. Empty and
//          giant rows only cost additional search steps.
// Traffic  As map.wgsl, plus the splits of the tile's rows; repeated loads of these hit the cache.
// Limits   n < 2^32 - MAP_TILE. 2 words of workgroup memory, one barrier.
//
// Ends     The search halves its range; the other loop counts to a constant.
// Generated  const MAP_TILE, fn live() -> u32, fn place, fn value, fn store        as in map.wgsl
//            fn splits_at(i: u32) -> u32                  i <= rows, sorted
//            const ONE_COLUMN: bool                       whether inner is 1
// Head       head[0]  capacity, rows (capacity), inner (a flat position divided by it is one that the splits
//                     count)
// Grid       capacity / MAP_TILE workgroups, rounded up, folded; or a part of them

var<workgroup> tile_rows: array<u32, 2>;

/// The position, of those that the splits count, of an element.
fn position(i: u32) -> u32 {
    if (ONE_COLUMN) {
        return i;
    }
    return i / max(p.head[0].z, 1u);
}

/// The last row in low ..= high that starts at or before `at`; `low` if none does.
fn row_between(low: u32, high: u32, at: u32) -> u32 {
    var a = low;
    var b = high;
    while (a < b) {
        let mid = a + ((b - a + 1u) >> 1u);
        if (splits_at(mid) <= at) {
            a = mid;
        } else {
            b = mid - 1u;
        }
    }
    return a;
}

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    rg_begin();
    let tile = workgroup_index(wid, grid);
    let n = min(live(), p.head[0].x);
    if (tile > n / MAP_TILE) {
        return; // uniform: the tile and the live count are the same for the whole workgroup
    }
    let last_row = max(p.head[0].y, 1u) - 1u;
    if (t < 2u) {
        let last = max(n, 1u) - 1u;
        let edge = select(tile * MAP_TILE, min(tile * MAP_TILE + (MAP_TILE - 1u), last), t == 1u);
        tile_rows[t] = row_between(0u, last_row, position(edge));
    }
    workgroupBarrier(); // uniform: only whole workgroups returned above
    let low = tile_rows[0];
    let high = tile_rows[1];
    for (var k = 0u; k < MAP_TILE / 256u; k++) {
        let i = place(tile, t, k);
        if (i < n) {
            let row = row_between(low, high, position(i));
            store(i, row, value(i, row));
        }
    }
}
