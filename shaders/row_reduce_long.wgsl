// Complements row_reduce.wgsl for rows of several blocks: reduces their partials, and maps their elements.
//
// Idea     A workgroup of `level2` reduces the long rows that start in 256 bins: a row of up to 16 blocks by one
//          invocation per column, a longer row by all invocations, which fold partials and combine them by a tree.
//          Order, traffic, limits, contract and grid are those of row_reduce.wgsl.
// Ends     As row_reduce.wgsl.

/// Stores the result of a row of several blocks, all of whose partials have been read.
fn finish_row(row: u32, column: u32, bits: u32, v: Elem) {
    store(row * inner() + column, row, v);
    if (MAPS) {
        store_part(partial_at(partials_of(row, split(row), bits), 0u) + column, v);
    }
}

/// Reduces the partials of a row of at most 16 blocks.
fn reduce_few(row: u32, column: u32, bits: u32) {
    let count = blocks_of(row, bits);
    let partials = partials_of(row, split(row), bits);
    var x: array<Elem, 16>;
    for (var j = 0u; j < 16u; j++) {
        x[j] = identity();
        if (j < count) {
            x[j] = combine(x[j], load_part(partial_at(partials, j) + column));
        }
    }
    if (COMPACT) {
        for (var reach = 8u; reach > 0u; reach >>= 1u) {
            for (var j = 0u; j < reach; j++) {
                x[j] = combine(x[j], x[j + reach]);
            }
        }
        finish_row(row, column, bits, x[0]);
    } else {
        for (var j = 0u; j < 8u; j++) {
            x[j] = combine(x[j], x[j + 8u]);
        }
        for (var j = 0u; j < 4u; j++) {
            x[j] = combine(x[j], x[j + 4u]);
        }
        finish_row(row, column, bits, combine(combine(x[0], x[2]), combine(x[1], x[3])));
    }
}

/// Folds the partials lane, lane + stride, ... of a row.
fn fold_partials(row: u32, column: u32, bits: u32, lane: u32, stride: u32) -> Elem {
    let count = blocks_of(row, bits);
    var acc = identity();
    if (lane >= count) {
        return acc;
    }
    let partials = partials_of(row, split(row), bits);
    acc = combine(acc, load_part(partial_at(partials, lane) + column));
    // The remaining partials are those of later blocks, which are contiguous.
    var j = lane + stride;
    let step = select(2u, 1u, are_partials_by_row()) * stride * inner();
    var i = partial_at(partials, j) + column;
    if (!COMPACT) {
        for (; j + 7u * stride < count; j += 8u * stride) {
            let x0 = load_part(i);
            let x1 = load_part(i + step);
            let x2 = load_part(i + 2u * step);
            let x3 = load_part(i + 3u * step);
            let x4 = load_part(i + 4u * step);
            let x5 = load_part(i + 5u * step);
            let x6 = load_part(i + 6u * step);
            let x7 = load_part(i + 7u * step);
            acc = combine(combine(combine(combine(acc, x0), x1), x2), x3);
            acc = combine(combine(combine(combine(acc, x4), x5), x6), x7);
            i += 8u * step;
        }
    }
    for (; j < count; j += stride) {
        acc = combine(acc, load_part(i));
        i += step;
    }
    return acc;
}

/// Level 2: reduces the rows of several blocks that start in 256 bins, for a slice of the columns.
@compute @workgroup_size(256)
fn level2(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    rg_begin();
    let bits = select(wide_block_bits(), BLOCK_BITS, inner() == 1u);
    let bins = (nvals() >> bits) + 1u;
    let first_bin = workgroup_index(wid, groups) << 8u;
    if (first_bin >= bins) {
        return; // uniform: the workgroup's id and a parameter
    }
    let count = list_long_rows(t, first_bin, bins, bits); // uniform: top level, after a return that was uniform

    let columns = 1u << column_bits();
    let stride = 256u >> column_bits();
    let lane = t >> column_bits();
    let column = (wid.z << column_bits()) + (t & (columns - 1u));
    if (column < inner()) {
        let few = atomicLoad(&few_count);
        for (var k = lane; k < few; k += stride) {
            reduce_few(long_rows[k & 255u], column, bits);
        }
    }

    for (var k = 0u; k < count; k++) {
        let row = long_rows[255u - (k & 255u)];
        var acc = identity();
        if (column < inner()) {
            acc = fold_partials(row, column, bits, lane, stride);
        }
        lanes[t] = acc;
        workgroupBarrier(); // uniform: `count` is the same for all
        for (var reach = stride >> 1u; reach > 0u; reach >>= 1u) {
            if (lane < reach) {
                lanes[t] = combine(lanes[t], lanes[t + (reach << column_bits())]);
            }
            workgroupBarrier(); // uniform: `count` is the same for all, and `stride` a parameter
        }
        if (lane == 0u && column < inner()) {
            finish_row(row, column, bits, lanes[t]);
        }
    }
}

/// Maps the elements of rows of several blocks by the results that `level2` stored: the blocks that start in a tile.
@compute @workgroup_size(256)
fn map_long(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    rg_begin();
    let tile = workgroup_index(wid, groups);
    if (tile >= tiles()) {
        return; // uniform: the workgroup's id and a parameter
    }
    let begin = tile * MAIN_TILE;
    if (t == 0u) {
        atomicStore(&block_count, 0u);
    }
    find_rows(t, begin, begin + MAIN_TILE);
    for (var row = found[0] + t; row < found[1]; row += 256u) {
        if (blocks_of(row, BLOCK_BITS) > 1u) {
            push_block(row, 0u);
        }
    }
    if (t < (MAIN_TILE >> BLOCK_BITS)) {
        push_later_block(begin + (t << BLOCK_BITS), BLOCK_BITS, begin + MAIN_TILE);
    }
    workgroupBarrier(); // uniform: top level, after returns that were uniform
    let count = min(atomicLoad(&block_count), MAX_BLOCKS);
    for (var s = t >> 5u; s < count; s += 8u) {
        let row = block_row[s];
        let start = split(row);
        let r = finished(row, load_part(partial_at(partials_of(row, start, BLOCK_BITS), 0u)));
        let first = start + (block_index[s] << BLOCK_BITS);
        let end = min(first + (1u << BLOCK_BITS), split(row + 1u));
        for (var k = first + (t & 31u); k < end; k += 32u) {
            map(k, row, r);
        }
    }
}
