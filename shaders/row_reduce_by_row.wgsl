// Row reduction by one workgroup per row, for rows of values that are expensive to load, such as numbers of products that
// are not stored: they are long, and there are many.
//
// Idea     The workgroup reduces 8 blocks at a time, each by 32 lanes, and folds the results of blocks l, l + 256, ... in
//          workgroup memory. So there are no partials in memory, which would exceed all else where the values are not
//          stored. The order of the operations is that of row_reduce.wgsl for inner = 1.
// Traffic  Loads every value once; writes every result once.
// Limits   inner = 1; elements are not mapped. Elem is at most 24 bytes. A row takes one workgroup, however long it is.
//
// Ends     As row_reduce.wgsl; blocks count to the number of blocks of a row, at most 2^24.
// Uses       lib/row_tiles.wgsl
// Generated  fn splits_at, load, identity, combine, store       see row_reduce.wgsl
// Head       as lib/row_tiles.wgsl; only the sizes are used
// Grid       by_row  rows, folded

const SHORT = 16u; // longest row that one invocation folds

var<workgroup> lanes: array<Elem, 256>;
/// The folded results of blocks l, l + 256, ...
var<workgroup> of_blocks: array<Elem, 256>;
var<workgroup> row_blocks: u32;

/// Folds elements lane_start, lane_start + 32, ... before `to`.
fn fold_lane(row: u32, lane_start: u32, to: u32) -> Elem {
    var acc = identity();
    for (var k = lane_start; k < to; k += 32u) {
        acc = combine(acc, load(k, row));
    }
    return acc;
}

@compute @workgroup_size(256)
fn by_row(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    rg_begin();
    let row = workgroup_index(wid, groups);
    if (row >= rows()) {
        return; // uniform: the workgroup's id and a parameter
    }
    let start = split(row);
    let end = split(row + 1u);
    if (t == 0u) {
        row_blocks = blocks_of(row, BLOCK_BITS);
        if (end - start <= SHORT) {
            row_blocks = 0u;
            var acc = identity();
            for (var k = start; k < end; k++) {
                acc = combine(acc, load(k, row));
            }
            store(row, row, acc);
        }
    }
    let count = workgroupUniformLoad(&row_blocks);
    of_blocks[t] = identity();

    let lane = t & 31u;
    for (var first = 0u; first < count; first += 8u) {
        let block = start + ((first + (t >> 5u)) << BLOCK_BITS);
        lanes[t] = fold_lane(row, block + lane, min(block + (1u << BLOCK_BITS), end));
        workgroupBarrier(); // uniform: `count` is the same for all
        for (var reach = 16u; reach > 0u; reach >>= 1u) {
            if (lane < reach) {
                lanes[t] = combine(lanes[t], lanes[t + reach]);
            }
            workgroupBarrier(); // uniform: as above
        }
        if (t < 8u && first + t < count) {
            let v = lanes[t << 5u];
            let at = (first + t) & 255u;
            if (count == 1u) {
                of_blocks[at] = v;
            } else {
                of_blocks[at] = combine(of_blocks[at], v);
            }
        }
        workgroupBarrier(); // uniform: as above
    }
    if (count == 0u) {
        return; // uniform: `count` is the same for all
    }
    for (var reach = 128u; reach > 0u; reach >>= 1u) {
        if (t < reach) {
            of_blocks[t] = combine(of_blocks[t], of_blocks[t + reach]);
        }
        workgroupBarrier(); // uniform: a constant
    }
    if (t == 0u) {
        store(row, row, of_blocks[0]);
    }
}
