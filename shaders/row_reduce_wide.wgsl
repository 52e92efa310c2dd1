// Complements row_reduce.wgsl for several columns: the tile in which a block starts reduces it, column by column.
//
// Idea     Consecutive invocations reduce consecutive columns, so that reads coalesce; the invocations of all columns
//          of an element are a team. A tile's cost falls with the number of columns, so tiles hold about as many values
//          for any width. Order, traffic, limits, contract and grid are those of row_reduce.wgsl.
// Ends     As row_reduce.wgsl, with blocks that start at most 511 after a cost.

const FOLDED = 64u; // longest row that one invocation folds per column

/// log2 of the lanes of a block: of S in the order of row_reduce.wgsl.
fn lane_bits() -> u32 {
    return min(firstLeadingBit(max(inner(), 2u) - 1u), 3u);
}

fn wide_block_bits() -> u32 {
    return WIDE_BLOCK_BITS + lane_bits();
}

/// Folds one column of the elements begin, begin + stride, ... before `end`.
fn fold_column(row: u32, column: u32, begin: u32, end: u32, stride: u32) -> Elem {
    let step = inner() * stride;
    var i = begin * inner() + column;
    var acc = identity();
    var k = begin;
    if (!COMPACT) {
        for (; k + 3u * stride < end; k += 4u * stride) {
            let x0 = load(i, row);
            let x1 = load(i + step, row);
            let x2 = load(i + 2u * step, row);
            let x3 = load(i + 3u * step, row);
            acc = combine(combine(combine(combine(acc, x0), x1), x2), x3);
            i += 4u * step;
        }
    }
    for (; k < end; k += stride) {
        acc = combine(acc, load(i, row));
        i += step;
    }
    return acc;
}

/// Folds lanes `lane`, `lane` + `teams`, ... of a block in one column, and combines them: the first levels of the tree.
/// The numbers of lanes and of teams are powers of two.
fn fold_lanes(row: u32, j: u32, column: u32, lane: u32, teams: u32) -> Elem {
    let stride = 1u << lane_bits();
    let start = split(row) + (j << wide_block_bits());
    let end = min(start + (1u << wide_block_bits()), split(row + 1u));
    var own: array<Elem, 8>;
    var count = 0u;
    for (var l = lane; l < stride; l += teams) {
        own[count & 7u] = fold_column(row, column, start + l, end, stride);
        count++;
    }
    for (var reach = count >> 1u; reach > 0u; reach >>= 1u) {
        for (var k = 0u; k < reach; k++) {
            own[k & 7u] = combine(own[k & 7u], own[(k + reach) & 7u]);
        }
    }
    return own[0];
}

var<workgroup> listed: u32;

/// Level 1 for several columns. A short row is folded by one team, a block of a longer row by one team per lane, or by
/// all teams if these are fewer.
@compute @workgroup_size(256)
fn wide(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    rg_begin();
    let tile = workgroup_index(wid, groups);
    let first_column = wid.z << 8u;
    if (tile >= tiles() || first_column >= inner()) {
        return; // uniform: the workgroup's id and parameters
    }
    let begin = tile * tile_cost();
    let bits = wide_block_bits();
    if (t == 0u) {
        atomicStore(&block_count, 0u);
    }
    find_rows(t, begin, begin + tile_cost());
    for (var row = found[0] + t; row < found[1]; row += 256u) {
        if (split(row + 1u) - split(row) > FOLDED) {
            push_block(row, 0u);
        }
    }
    // A tile may be smaller than a block.
    if (t == 0u || (t << bits) < tile_cost()) {
        push_later_block(begin + (t << bits), bits, begin + tile_cost());
    }
    workgroupBarrier(); // uniform: top level, after returns that were uniform
    if (t == 0u) {
        listed = min(atomicLoad(&block_count), MAX_BLOCKS);
    }

    let width = min(inner() - first_column, 256u);
    let teams = 256u / width;
    let team = t / width;
    let column = first_column + t - team * width;
    if (team < teams) {
        for (var row = found[0] + team; row < found[1]; row += teams) {
            let start = split(row);
            let end = split(row + 1u);
            if (end - start <= FOLDED) {
                store(row * inner() + column, row, fold_column(row, column, start, end, 1u));
            }
        }
    }

    let shared_bits = min(lane_bits(), firstLeadingBit(teams));
    let lane = team & ((1u << shared_bits) - 1u);
    let slot = team >> shared_bits;
    let slots = teams >> shared_bits;
    let count = workgroupUniformLoad(&listed);
    for (var first = 0u; first < count; first += slots) {
        let s = first + slot;
        let is_used = slot < slots && s < count;
        if (is_used) {
            lanes[t] = fold_lanes(block_row[s], block_index[s], column, lane, 1u << shared_bits);
        }
        workgroupBarrier(); // uniform: `count` is the same for all, and `slots` a parameter
        for (var reach = (1u << shared_bits) >> 1u; reach > 0u; reach >>= 1u) {
            if (is_used && lane < reach) {
                lanes[t] = combine(lanes[t], lanes[(t + reach * width) & 255u]);
            }
            workgroupBarrier(); // uniform: as above, and `shared_bits` a parameter
        }
        if (is_used && lane == 0u) {
            finish_block(block_row[s], block_index[s], column, bits, lanes[t]);
        }
    }
}
