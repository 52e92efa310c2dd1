// Stable sort of the elements of each short row by u32 keys. Records the long rows, which sort.wgsl sorts afterwards.
//
// Idea     Positions are divided into stretches of 896. A workgroup finds the rows that start in its stretch by two
//          binary searches, and sorts their elements together by (row, key), so that the cost does not depend on the
//          number of rows. A short row has up to 896 elements, so it ends within 1792 elements of the start of its
//          stretch, the capacity of a workgroup. A longer row is always the last one of its stretch: at most one is
//          recorded per stretch, under the stretch's number.
// Traffic  Reads every key and the splits once, and writes every index once: 8 bytes per element, besides the splits.
// Limits   n < 2^32 - 2^15. 14 KiB of workgroup memory.
// Ends     Loops count to constants.
// Source   The sort of lib/tile_sort.wgsl; an odd number of items per invocation, to avoid bank conflicts, as in CUB's
//          block merge sort.
//
// Uses       lib/tile_sort.wgsl
// Generated  fn splits_at(i: u32) -> u32                        i <= rows; non-decreasing; rows beyond the live ones
//                                                               are empty
//            fn load(i: u32) -> u32                             the key at flat position i
//            fn store(i: u32, source: u32)                      entry i of the permutation is `source`
//            fn note_long(stretch: u32, at: u32, len: u32)      the long row of the stretch starts at `at`; without one
//                                                               len is 0 and `at` is where the stretch's rows end
// Head       head[0]  rows (capacity), n: elements (capacity), stretches: n / 896, rounded up
// Grid       stretches, folded

const ITEMS = 7u;
const TILE = 1792u; // 256 * ITEMS
const STRETCH = 896u;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    rg_begin();
    let stretch = workgroup_index(wid, grid);
    if (stretch >= stretches()) {
        return; // uniform: the workgroup's id and a parameter
    }
    if (t < 2u) {
        found[t] = first_row((stretch + t) * STRETCH);
    }
    let first = workgroupUniformLoad(&found[0]);
    let beyond = workgroupUniformLoad(&found[1]);
    let begin = split(first);
    var end = split(beyond);
    let last = max(beyond, 1u) - 1u;
    let last_start = split(last);
    let is_long = first < beyond && end > last_start && end - last_start > STRETCH;
    if (t == 0u) {
        note_long(stretch, select(end, last_start, is_long), select(0u, end - last_start, is_long));
    }
    end = select(end, last_start, is_long);
    let count = min(max(end, begin) - begin, TILE);
    if (first >= beyond || count == 0u) {
        return; // uniform: derived from uniform loads at uniform indices
    }

    load_tile(t, begin, count, first, last);
    sort_tile(t, count);
    // The order of the positions, so that stores coalesce.
    for (var k = 0u; k < ITEMS; k++) {
        let i = k * 256u + t;
        if (i < count) {
            store(begin + i, begin + (tags[i] & ((1u << ROW_BITS) - 1u)));
        }
    }
}
