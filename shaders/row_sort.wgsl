// Stable sort of the elements of each short row by u32 keys. Records the long rows, which sort.wgsl sorts afterwards.
//
// Idea     Positions are divided into stretches of 896. A workgroup finds the rows that start in its stretch by two
//          binary searches, and sorts their elements together by (row, key), so that the cost does not depend on the
//          number of rows. A short row has up to 896 elements, so it ends within 1792 elements of the start of its
//          stretch, the capacity of a workgroup. A longer row is always the last one of its stretch: at most one is
//          recorded per stretch, under the stretch's number. The sort is a stable merge sort: every invocation sorts 7
//          consecutive elements, then runs are merged pairwise by merge path: every invocation finds the split of its
//          diagonal by a binary search, and merges 7 elements. Runs that are already in order are not merged; since
//          rows are in order, short rows cost few comparisons.
// Traffic  Reads every key and the splits once, and writes every index once: 8 bytes per element, besides the splits.
// Limits   n < 2^32 - 2^15. 14 KiB of workgroup memory.
// Source   Merge path (Odeh et al. 2012); an odd number of items per invocation, to avoid bank conflicts, as in CUB's
//          block merge sort; composite keys in place of a segmented sort.
//
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
const ROW_BITS = 11u; // bits of a position in the tile

/// The first row that starts in this stretch, and in the next one.
var<workgroup> found: array<u32, 2>;
var<workgroup> keys: array<u32, 1792>;
/// For each element: its row's start in the tile, shifted by ROW_BITS, and its own position in the tile.
var<workgroup> tags: array<u32, 1792>;

var<private> key: array<u32, 7>;
var<private> tag: array<u32, 7>;

fn rows() -> u32 {
    return p.head[0].x;
}

fn stretches() -> u32 {
    return p.head[0].z;
}

/// The splits, clamped so that no access is out of bounds.
fn split(i: u32) -> u32 {
    return min(splits_at(i), p.head[0].y);
}

/// The first row that starts at `at` or later; rows() if none does.
fn first_row(at: u32) -> u32 {
    var a = 0u;
    var b = rows();
    while (a < b) {
        let mid = a + ((b - a) >> 1u);
        if (split(mid) >= at) {
            b = mid;
        } else {
            a = mid + 1u;
        }
    }
    return a;
}

/// The last row in low ..= high that starts at or before `at`; `low` if none does.
fn row_between(low: u32, high: u32, at: u32) -> u32 {
    var a = low;
    var b = high;
    while (a < b) {
        let mid = a + ((b - a + 1u) >> 1u);
        if (split(mid) <= at) {
            a = mid;
        } else {
            b = mid - 1u;
        }
    }
    return a;
}

/// Whether the element of key `ka` and tag `ta` sorts before that of `kb` and `tb`.
fn comes_before(ka: u32, ta: u32, kb: u32, tb: u32) -> bool {
    let row_a = ta >> ROW_BITS;
    let row_b = tb >> ROW_BITS;
    return row_a < row_b || (row_a == row_b && ka < kb);
}

/// Sorts this invocation's elements by odd-even transposition.
fn sort_own() {
    for (var round = 0u; round < ITEMS; round++) {
        for (var k = round & 1u; k + 1u < ITEMS; k += 2u) {
            if (comes_before(key[k + 1u], tag[k + 1u], key[k], tag[k])) {
                let spare_key = key[k];
                let spare_tag = tag[k];
                key[k] = key[k + 1u];
                tag[k] = tag[k + 1u];
                key[k + 1u] = spare_key;
                tag[k + 1u] = spare_tag;
            }
        }
    }
}

/// Merges two adjacent runs of `width`, the first one at `a_start`, and keeps this invocation's elements of the result:
/// those from `before` on.
fn merge_own(a_start: u32, width: u32, before: u32) {
    let b_start = a_start + width;
    let a_last = b_start - 1u;
    if (!comes_before(keys[b_start], tags[b_start], keys[a_last], tags[a_last])) {
        return; // in order already
    }
    // Number of elements of the first run among the first `before` of the result.
    var a = max(before, width) - width;
    var high = min(before, width);
    while (a < high) {
        let mid = (a + high) >> 1u;
        let x = a_start + mid;
        let y = b_start + before - 1u - mid;
        if (comes_before(keys[y], tags[y], keys[x], tags[x])) {
            high = mid;
        } else {
            a = mid + 1u;
        }
    }
    var b = before - a;
    for (var k = 0u; k < ITEMS; k++) {
        let x = a_start + min(a, width - 1u);
        let y = b_start + min(b, width - 1u);
        let takes_b = a >= width || (b < width && comes_before(keys[y], tags[y], keys[x], tags[x]));
        let taken = select(x, y, takes_b);
        key[k] = keys[taken];
        tag[k] = tags[taken];
        a += select(1u, 0u, takes_b);
        b += select(0u, 1u, takes_b);
    }
}

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
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

    for (var k = 0u; k < ITEMS; k++) {
        let i = k * 256u + t;
        // Padding beyond the rows sorts last in the tile.
        var own_key = 0xffffffffu;
        var own_tag = 0xffffffffu;
        if (i < count) {
            own_key = load(begin + i);
            let row = row_between(first, last, begin + i);
            own_tag = ((split(row) - begin) << ROW_BITS) | i;
        }
        keys[i] = own_key;
        tags[i] = own_tag;
    }
    workgroupBarrier(); // uniform: after returns that were uniform
    for (var k = 0u; k < ITEMS; k++) {
        key[k] = keys[t * ITEMS + k];
        tag[k] = tags[t * ITEMS + k];
    }
    sort_own();
    for (var owners = 1u; owners * ITEMS < count; owners <<= 1u) {
        workgroupBarrier(); // uniform: the loop's bound was loaded uniformly; the runs have been read
        for (var k = 0u; k < ITEMS; k++) {
            keys[t * ITEMS + k] = key[k];
            tags[t * ITEMS + k] = tag[k];
        }
        workgroupBarrier(); // uniform: as above
        // A run belongs to `owners` invocations, a power of two.
        let lane = t & (2u * owners - 1u);
        merge_own((t - lane) * ITEMS, owners * ITEMS, lane * ITEMS);
    }
    // Transpose through workgroup memory, so that stores coalesce.
    workgroupBarrier(); // uniform: after returns that were uniform; the runs have been read
    for (var k = 0u; k < ITEMS; k++) {
        tags[t * ITEMS + k] = tag[k];
    }
    workgroupBarrier(); // uniform: after returns that were uniform
    for (var k = 0u; k < ITEMS; k++) {
        let i = k * 256u + t;
        if (i < count) {
            store(begin + i, begin + (tags[i] & ((1u << ROW_BITS) - 1u)));
        }
    }
}
