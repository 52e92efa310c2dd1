// Batched matrix product with sizes per batch: out = left * right.
//
// Idea     The results of all batches are divided into square tiles, numbered across batches: `splits_at` gives each
//          batch's first tile, and one binary search finds a tile's batch. Any mix of sizes is balanced. A workgroup
//          loads slabs of both matrices into workgroup memory; each invocation keeps the sums of up to 4 x 4 results in
//          registers.
// Order    Products are added in ascending order within runs of 16 terms, those of f32 by fused multiply-adds, the sums of
//          the runs within blocks of 256 terms, those of the blocks within sections of 4096 terms, those of the sections
//          within groups of 65,536 terms, and the sums of the groups; at most 256 terms are one run. Each of these sums
//          begins with identity(), so that an absent one changes nothing, and that of one run is added to it: no result is
//          -0. The bits of a result depend on its row, its column and the number of terms alone, and equal those of the
//          CPU.
// Traffic  Writes each result once; reads the left matrix once per EDGE columns of the right one, and vice versa. Loads
//          per result and term in tiles of 64: 2 / EDGE = 1 / 32 from arrays, 2 / EACH = 1 / 2 from workgroup memory.
//          A result of several groups is read and written once per group.
// Chunks   Few tiles with many terms: the terms are divided into chunks of a block or of a group, the third dimension
//          of the grid. `main` stores the sum of each chunk in `part`; `combine` adds the chunks of each group,
//          by sections, and then the groups, if there are several.
// Terms    Sums of very many terms may be divided among several dispatches, in order. The sums of the incomplete section
//          and of the incomplete group are kept in `part`.
// Parts    Where arrays are bound in part, a dispatch adds the products whose two factors are bound. Dispatches visit
//          the parts in order, so that the products of a result are still added in ascending order. The sums of the
//          incomplete run, block, section and group are kept in `part`, and those of the complete groups in `out`;
//          `clear` sets them to the identity. If
//          no sum has more than 256 terms, its only incomplete sum is kept in `out`.
// Limits   All flat positions < 2^32. 2 * EDGE * SLAB elements and a few words of workgroup memory: 9 KiB.
// Ends     The search halves its range, since there is a batch. Terms advance by 1 or more to ends that they do not pass, and
//          chunks by 1; other loops count to constants.
// Source   Tiles with register blocking: Volkov and Demmel 2008. Balance as in row_reduce.wgsl.
//
// Generated  const RUN, BLOCK, SECTION, GROUP: u32  terms of each, as in the order above
//            const EDGE_BITS, SLAB_BITS: u32        a tile is 1 << EDGE_BITS results wide (16, 32, 64), a slab is
//                                                   1 << SLAB_BITS terms deep
//            fn splits_at(i: u32) -> u32            i <= batches: the first tile of batch i; sorted. Where only some
//                                                   batches are bound, tiles may precede the first of them
//            fn rows_of(g: u32, row: u32) -> u32, terms_of, columns_of         sizes in batch g; `row` is unused
//            fn left_start(g: u32, row: u32) -> u32, right_start, out_start    where its matrices begin
//            fn load_left(i: u32, row: u32) -> Elem, load_right                by flat position
//            const ONE_RUN: bool                    whether no sum has more than 256 terms; only for parts
//            const PARTS: bool                      whether arrays are bound in part
//            fn note_left(at: u32, is_used: bool)   entry `at` of the left slab is the value loaded last, if used
//            fn note_right(at: u32, is_used: bool)
//            fn are_bound(l: u32, r: u32) -> bool    whether both factors are bound, by their entries in the slabs
//            fn identity() -> Elem
//            fn add_product(sum: Elem, a: Elem, b: Elem) -> Elem
//            fn add_sums(a: Elem, b: Elem) -> Elem
//            fn store(i: u32, v: Elem)
//            fn partial(i: u32) -> Elem             the stored sum
//            fn chunk_sum(i: u32) -> Elem           element i of `part`; not called for parts
//            fn store_chunk_sum(i: u32, v: Elem)
//            fn kept_sums(i: u32) -> array<Elem, 4> element i of `part`: the incomplete sums of a result; called for parts
//            fn keep_sums(i: u32, v: array<Elem, 4>)
// Buffers    part: for parts and `clear`, array<array<Elem, 4>>: the incomplete run, block, section and group of each
//            result. Else array<Elem>: a sum per result and chunk, and then per result and group; for sums that are
//            divided among dispatches, the incomplete groups of each result and chunk, and then the sections
// Head       head[0]  batches (capacity, at least 1), tiles (capacity), results (capacity), flags: 1 if left is stored
//                     transposed, 2 if right is, 4 if there are chunks; 8 times the number of chunks
//            head[1]  terms per chunk (65,536 or 256; all without chunks)
//            of main: the first term of this dispatch within each chunk, a multiple of 256, and the first of the next
//            of combine: where the chunks begin in `part`, and where the groups do; 0 for groups in `out`
// Grid       tiles, folded; in the third dimension, the chunks of `main`, and the groups of `combine`, unless the
//            chunks are groups

const EDGE = 1u << EDGE_BITS;
const SLAB = 1u << SLAB_BITS;
/// Results per invocation along an edge, at a stride of 16, so that accesses coalesce.
const EACH = EDGE / 16u;
/// Pitch of a slab, padded so that filling it along its terms causes no bank conflicts.
const PITCH = EDGE + 1u;

/// The slabs, term-major: for each term, all rows (columns) of the tile.
var<workgroup> left: array<Elem, SLAB * PITCH>;
var<workgroup> right: array<Elem, SLAB * PITCH>;
/// The tile's batch, and its first row and column.
var<workgroup> job: array<u32, 3>;
var<workgroup> terms: u32;

/// Finds the tile's batch.
fn find(tile: u32) {
    var g = 0u;
    var last = p.head[0].x - 1u;
    while (g < last) {
        let mid = g + ((last - g + 1u) >> 1u);
        if (splits_at(mid) <= tile) {
            g = mid;
        } else {
            last = mid - 1u;
        }
    }
    let columns = columns_of(g, 0u);
    let across = max((columns >> EDGE_BITS) + (((columns & (EDGE - 1u)) + EDGE - 1u) >> EDGE_BITS), 1u);
    let local = tile - splits_at(g);
    job[0] = g;
    job[1] = (local / across) << EDGE_BITS;
    job[2] = (local % across) << EDGE_BITS;
    terms = terms_of(g, 0u);
}

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    rg_begin();
    let tile = workgroup_index(wid, groups);
    if (tile < splits_at(0u) || tile >= min(splits_at(p.head[0].x), p.head[0].y)) {
        return; // uniform: the tile and the number of tiles are the same for the whole workgroup
    }
    if (t == 0u) {
        find(tile);
    }
    let depth = workgroupUniformLoad(&terms);
    let is_left_transposed = (p.head[0].w & 1u) != 0u;
    let is_right_transposed = (p.head[0].w & 2u) != 0u;
    let has_chunks = (p.head[0].w & 4u) != 0u;
    // The terms of the chunk in this dispatch.
    let chunk = wid.z * p.head[1].x;
    let len = min(depth - min(depth, chunk), p.head[1].x);
    let skipped = p.head[1].y;
    if (chunk + skipped > 0u && skipped >= len) {
        return; // uniform: parameters and the workgroup's id, and `depth` is the same for all
    }
    let end = chunk + min(len, p.head[1].z);
    let g = job[0];
    let first_row = job[1];
    let first_column = job[2];
    let rows = rows_of(g, 0u);
    let columns = columns_of(g, 0u);
    let left_at = left_start(g, 0u);
    let right_at = right_start(g, 0u);
    let out_at = out_start(g, 0u);
    let part_at = wid.z * p.head[0].z;
    let sections_at = (p.head[0].w >> 3u) * p.head[0].z;
    let y = t >> 4u;
    let x = t & 15u;
    // The sums of the incomplete run, block, section and group, and of the groups; the last only for parts.
    var sums: array<Elem, EACH * EACH>;
    var of_runs: array<Elem, EACH * EACH>;
    var of_blocks: array<Elem, EACH * EACH>;
    var of_sections: array<Elem, EACH * EACH>;
    var of_groups: array<Elem, EACH * EACH>;
    let is_kept = (skipped & (GROUP - 1u)) != 0u;
    for (var r = 0u; r < EACH; r++) {
        for (var c = 0u; c < EACH; c++) {
            let k = r * EACH + c;
            let row = first_row + y + 16u * r;
            let column = first_column + x + 16u * c;
            let at = out_at + row * columns + column;
            let is_result = row < rows && column < columns && at < p.head[0].z;
            sums[k] = identity();
            of_runs[k] = identity();
            of_blocks[k] = identity();
            of_sections[k] = identity();
            if (PARTS && is_result) {
                let kept = kept_sums(at);
                sums[k] = kept[0];
                of_runs[k] = kept[1];
                of_blocks[k] = kept[2];
                of_sections[k] = kept[3];
                if (!ONE_RUN) {
                    of_groups[k] = partial(at);
                }
            } else if (is_kept && is_result) {
                of_blocks[k] = chunk_sum(sections_at + part_at + at);
                of_sections[k] = chunk_sum(part_at + at);
            }
        }
    }
    let run = select(RUN, BLOCK, depth <= BLOCK);
    var base = chunk + skipped;
    loop {
        // The rest of the group.
        let group_end = base + min(end - base, GROUP - (base & (GROUP - 1u)));
        for (var slab = base; slab < group_end; slab += min(SLAB, group_end - slab)) {
            let slab_end = slab + min(SLAB, group_end - slab);
            // Loads coalesce in either storage order.
            for (var e = t; e < EDGE * SLAB; e += 256u) {
                let i = select(e >> SLAB_BITS, e & (EDGE - 1u), is_left_transposed);
                let l = select(e & (SLAB - 1u), e >> EDGE_BITS, is_left_transposed);
                let row = first_row + i;
                let term = slab + l;
                let is_used = row < rows && l < slab_end - slab;
                var v = identity();
                if (is_used) {
                    v = load_left(left_at + select(row * depth + term, term * rows + row, is_left_transposed), 0u);
                }
                left[l * PITCH + i] = v;
                note_left(l * PITCH + i, is_used);
            }
            for (var e = t; e < EDGE * SLAB; e += 256u) {
                let j = select(e & (EDGE - 1u), e >> SLAB_BITS, is_right_transposed);
                let l = select(e >> EDGE_BITS, e & (SLAB - 1u), is_right_transposed);
                let column = first_column + j;
                let term = slab + l;
                let is_used = column < columns && l < slab_end - slab;
                var v = identity();
                if (is_used) {
                    let at = select(term * columns + column, column * depth + term, is_right_transposed);
                    v = load_right(right_at + at, 0u);
                }
                right[l * PITCH + j] = v;
                note_right(l * PITCH + j, is_used);
            }
            workgroupBarrier(); // uniform: the bounds of the loops are the same for all
            // Beyond the last term both factors are 0: adding 0 * 0 changes a sum of -0 only, which becomes the 0 that its
            // sum with 0 is.
            for (var l = 0u; l < SLAB; l++) {
                var b: array<Elem, EACH>;
                for (var c = 0u; c < EACH; c++) {
                    b[c] = right[l * PITCH + x + 16u * c];
                }
                for (var r = 0u; r < EACH; r++) {
                    let a = left[l * PITCH + y + 16u * r];
                    for (var c = 0u; c < EACH; c++) {
                        if (are_bound(l * PITCH + y + 16u * r, l * PITCH + x + 16u * c)) {
                            let k = r * EACH + c;
                            sums[k] = add_product(sums[k], a, b[c]);
                            if (PARTS && ONE_RUN && slab + l + 1u == depth) {
                                sums[k] = add_sums(identity(), sums[k]);
                            }
                            if (PARTS && !ONE_RUN) {
                                // The terms of a result are bound in ascending order: the last one completes sums.
                                let next = slab + l + 1u;
                                if (next == depth || (next & (run - 1u)) == 0u) {
                                    of_runs[k] = add_sums(of_runs[k], sums[k]);
                                    sums[k] = identity();
                                }
                                if (next == depth || (next & (BLOCK - 1u)) == 0u) {
                                    of_blocks[k] = add_sums(of_blocks[k], of_runs[k]);
                                    of_runs[k] = identity();
                                }
                                if (next == depth || (next & (SECTION - 1u)) == 0u) {
                                    of_sections[k] = add_sums(of_sections[k], of_blocks[k]);
                                    of_blocks[k] = identity();
                                }
                                if (next == depth || (next & (GROUP - 1u)) == 0u) {
                                    of_groups[k] = add_sums(of_groups[k], of_sections[k]);
                                    of_sections[k] = identity();
                                }
                            }
                        }
                    }
                }
            }
            workgroupBarrier(); // uniform: as above; the slabs have been read
            // A dispatch ends with a block, and a chunk with all of its sums.
            let is_last = slab_end == chunk + len;
            if (!PARTS && (is_last || (slab_end & (run - 1u)) == 0u)) {
                for (var k = 0u; k < EACH * EACH; k++) {
                    of_runs[k] = add_sums(of_runs[k], sums[k]);
                    sums[k] = identity();
                }
                if (is_last || (slab_end & (BLOCK - 1u)) == 0u) {
                    for (var k = 0u; k < EACH * EACH; k++) {
                        of_blocks[k] = add_sums(of_blocks[k], of_runs[k]);
                        of_runs[k] = identity();
                    }
                }
                if (is_last || (slab_end & (SECTION - 1u)) == 0u) {
                    for (var k = 0u; k < EACH * EACH; k++) {
                        of_sections[k] = add_sums(of_sections[k], of_blocks[k]);
                        of_blocks[k] = identity();
                    }
                }
            }
        }
        let is_complete = group_end == chunk + len || (group_end & (GROUP - 1u)) == 0u;
        for (var r = 0u; r < EACH; r++) {
            for (var c = 0u; c < EACH; c++) {
                let k = r * EACH + c;
                let row = first_row + y + 16u * r;
                let column = first_column + x + 16u * c;
                let at = out_at + row * columns + column;
                if (row < rows && column < columns && at < p.head[0].z) {
                    if (PARTS) {
                        keep_sums(at, array<Elem, 4>(sums[k], of_runs[k], of_blocks[k], of_sections[k]));
                        if (!ONE_RUN) {
                            store(at, of_groups[k]);
                        }
                    } else if (!is_complete) {
                        store_chunk_sum(sections_at + part_at + at, of_blocks[k]);
                        store_chunk_sum(part_at + at, of_sections[k]);
                    } else if (has_chunks) {
                        store_chunk_sum(part_at + at, of_sections[k]);
                    } else if (base >= GROUP) {
                        store(at, add_sums(partial(at), of_sections[k]));
                    } else {
                        store(at, of_sections[k]);
                    }
                }
                if (!PARTS) {
                    of_sections[k] = identity();
                }
            }
        }
        base = group_end;
        if (base >= end) {
            break; // uniform: `end` is the same for all
        }
    }
}

/// Adds the sums of chunks: blocks within the sections of each group, or groups.
@compute @workgroup_size(256)
fn combine(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    rg_begin();
    let tile = workgroup_index(wid, groups);
    if (tile < splits_at(0u) || tile >= min(splits_at(p.head[0].x), p.head[0].y)) {
        return; // uniform: as in main
    }
    if (t == 0u) {
        find(tile);
    }
    let depth = workgroupUniformLoad(&terms);
    let span = p.head[1].x;
    let chunks = depth / span + min(depth % span, 1u);
    let first = wid.z * (GROUP / BLOCK);
    let end = select(min(chunks, first + GROUP / BLOCK), chunks, span == GROUP);
    if (first > 0u && first >= end) {
        return;
    }
    let rows = rows_of(job[0], 0u);
    let columns = columns_of(job[0], 0u);
    let out_at = out_start(job[0], 0u);
    for (var k = 0u; k < EACH * EACH; k++) {
        let row = job[1] + (t >> 4u) + 16u * (k / EACH);
        let column = job[2] + (t & 15u) + 16u * (k % EACH);
        let at = out_at + row * columns + column;
        if (row < rows && column < columns && at < p.head[0].z) {
            var sum = identity();
            var of_section = identity();
            for (var chunk = first; chunk < end; chunk++) {
                of_section = add_sums(of_section, chunk_sum(p.head[1].y + chunk * p.head[0].z + at));
                if (span == BLOCK && ((chunk + 1u) & (SECTION / BLOCK - 1u)) == 0u) {
                    sum = add_sums(sum, of_section);
                    of_section = identity();
                }
            }
            sum = add_sums(sum, of_section);
            if (p.head[1].z == 0u) {
                store(at, sum);
            } else {
                store_chunk_sum(p.head[1].z + wid.z * p.head[0].z + at, sum);
            }
        }
    }
}

/// Sets the sums that are kept for parts to the identity.
@compute @workgroup_size(256)
fn clear(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    rg_begin();
    let tile = workgroup_index(wid, groups);
    if (tile < splits_at(0u) || tile >= min(splits_at(p.head[0].x), p.head[0].y)) {
        return; // uniform: as in main
    }
    if (t == 0u) {
        find(tile);
    }
    workgroupBarrier(); // uniform: as above
    let rows = rows_of(job[0], 0u);
    let columns = columns_of(job[0], 0u);
    let out_at = out_start(job[0], 0u);
    for (var k = 0u; k < EACH * EACH; k++) {
        let row = job[1] + (t >> 4u) + 16u * (k / EACH);
        let column = job[2] + (t & 15u) + 16u * (k % EACH);
        let at = out_at + row * columns + column;
        if (row < rows && column < columns && at < p.head[0].z) {
            keep_sums(at, array<Elem, 4>(identity(), identity(), identity(), identity()));
            store(at, identity());
        }
    }
}
