// Batched matrix product with sizes per batch: out = left * right.
//
// Idea     The results of all batches are divided into square tiles, numbered across batches: `splits_at` gives each
//          batch's first tile, and one binary search finds a tile's batch. Any mix of sizes is balanced. A workgroup
//          loads slabs of both matrices into workgroup memory; each invocation keeps the sums of up to 4 x 4 results in
//          registers.
// Order    A result is a left fold from identity() of the products in ascending order, each rounded before it is added.
//          Its bits do not depend on the batch, the tile or the device, and equal those of the CPU.
// Traffic  Writes each result once; reads the left matrix once per EDGE columns of the right one, and vice versa. Loads
//          per result and term in tiles of 64: 2 / EDGE = 1 / 32 from arrays, 2 / EACH = 1 / 2 from workgroup memory.
// Terms    Sums of very many terms may be divided among several dispatches, in order: all but the first continue from
//          the contents of `out`. An element of `out` has the type of the accumulator, so this changes no bits.
// Parts    Where arrays are bound in part, a dispatch adds to `out` the products whose two factors are bound.
//          Dispatches visit the parts in order, so that the products of a result are still added in ascending order.
// Limits   All flat positions < 2^32. 2 * EDGE * SLAB elements and a few words of workgroup memory: 9 KiB. A product
//          with few results and very many terms occupies few workgroups.
// Source   Tiles with register blocking: Volkov and Demmel 2008. Balance as in row_reduce.wgsl.
//
// Generated  const EDGE_BITS, SLAB_BITS: u32        a tile is 1 << EDGE_BITS results wide (16, 32, 64), a slab is
//                                                   1 << SLAB_BITS terms deep
//            fn splits_at(i: u32) -> u32            i <= batches: the first tile of batch i; sorted. Where only some
//                                                   batches are bound, tiles may precede the first of them
//            fn rows_of(g: u32, row: u32) -> u32, terms_of, columns_of         sizes in batch g; `row` is unused
//            fn left_start(g: u32, row: u32) -> u32, right_start, out_start    where its matrices begin
//            fn load_left(i: u32, row: u32) -> Elem, load_right                by flat position
//            const PARTS: bool                      whether arrays are bound in part
//            fn note_left(at: u32, is_used: bool)   entry `at` of the left slab is the value loaded last, if used
//            fn note_right(at: u32, is_used: bool)
//            fn are_bound(l: u32, r: u32) -> bool    whether both factors are bound, by their entries in the slabs
//            fn identity() -> Elem
//            fn add_product(sum: Elem, a: Elem, b: Elem) -> Elem
//            fn store(i: u32, v: Elem)
//            fn partial(i: u32) -> Elem             the stored sum
// Head       head[0]  batches (capacity, at least 1), tiles (capacity), results (capacity), whether left is stored
//                     transposed
//            head[1]  whether right is; the first term of this dispatch, a multiple of 16, and the first of the next
// Grid       tiles, folded

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
    let tile = workgroup_index(wid, groups);
    if (tile < splits_at(0u) || tile >= min(splits_at(p.head[0].x), p.head[0].y)) {
        return; // uniform: the tile and the number of tiles are the same for the whole workgroup
    }
    if (t == 0u) {
        find(tile);
    }
    let depth = workgroupUniformLoad(&terms);
    let first_term = p.head[1].y;
    if (first_term > 0u && first_term >= depth) {
        return; // uniform: a parameter, and `depth` is the same for all
    }
    let end = min(depth, p.head[1].z);
    let g = job[0];
    let first_row = job[1];
    let first_column = job[2];
    let rows = rows_of(g, 0u);
    let columns = columns_of(g, 0u);
    let left_at = left_start(g, 0u);
    let right_at = right_start(g, 0u);
    let out_at = out_start(g, 0u);
    let is_left_transposed = p.head[0].w != 0u;
    let is_right_transposed = p.head[1].x != 0u;
    let y = t >> 4u;
    let x = t & 15u;
    var sums: array<Elem, EACH * EACH>;
    for (var r = 0u; r < EACH; r++) {
        for (var c = 0u; c < EACH; c++) {
            let row = first_row + y + 16u * r;
            let column = first_column + x + 16u * c;
            let at = out_at + row * columns + column;
            var sum = identity();
            if ((PARTS || first_term > 0u) && row < rows && column < columns && at < p.head[0].z) {
                sum = partial(at);
            }
            sums[r * EACH + c] = sum;
        }
    }
    for (var base = first_term; base < end; base += SLAB) {
        // Loads coalesce in either storage order.
        for (var e = t; e < EDGE * SLAB; e += 256u) {
            let i = select(e >> SLAB_BITS, e & (EDGE - 1u), is_left_transposed);
            let l = select(e & (SLAB - 1u), e >> EDGE_BITS, is_left_transposed);
            let row = first_row + i;
            let term = base + l;
            var v = identity();
            if (row < rows && term < end) {
                v = load_left(left_at + select(row * depth + term, term * rows + row, is_left_transposed), 0u);
            }
            left[l * PITCH + i] = v;
            note_left(l * PITCH + i, row < rows && term < end);
        }
        for (var e = t; e < EDGE * SLAB; e += 256u) {
            let j = select(e & (EDGE - 1u), e >> SLAB_BITS, is_right_transposed);
            let l = select(e >> EDGE_BITS, e & (SLAB - 1u), is_right_transposed);
            let column = first_column + j;
            let term = base + l;
            var v = identity();
            if (column < columns && term < end) {
                let at = select(term * columns + column, column * depth + term, is_right_transposed);
                v = load_right(right_at + at, 0u);
            }
            right[l * PITCH + j] = v;
            note_right(l * PITCH + j, column < columns && term < end);
        }
        workgroupBarrier(); // uniform: `end` is the same for all
        // Beyond the last term both factors are 0: adding 0 * 0 to a sum that began with 0 does not change it.
        for (var l = 0u; l < SLAB; l++) {
            var b: array<Elem, EACH>;
            for (var c = 0u; c < EACH; c++) {
                b[c] = right[l * PITCH + x + 16u * c];
            }
            for (var r = 0u; r < EACH; r++) {
                let a = left[l * PITCH + y + 16u * r];
                for (var c = 0u; c < EACH; c++) {
                    if (are_bound(l * PITCH + y + 16u * r, l * PITCH + x + 16u * c)) {
                        sums[r * EACH + c] = add_product(sums[r * EACH + c], a, b[c]);
                    }
                }
            }
        }
        workgroupBarrier(); // uniform: `end` is the same for all; the slabs have been read
    }
    for (var r = 0u; r < EACH; r++) {
        for (var c = 0u; c < EACH; c++) {
            let row = first_row + y + 16u * r;
            let column = first_column + x + 16u * c;
            let at = out_at + row * columns + column;
            if (row < rows && column < columns && at < p.head[0].z) {
                store(at, sums[r * EACH + c]);
            }
        }
    }
}
