// The rows that start in a stretch of positions, and a stable sort of their elements in one workgroup.
//
// Idea     A stable merge sort by (row, key) of up to TILE elements: every invocation sorts ITEMS consecutive elements,
//          then runs are merged pairwise by merge path: every invocation finds the split of its diagonal by a binary
//          search, and merges ITEMS elements. Runs that are already in order are not merged; since rows are in order,
//          short rows cost few comparisons.
// Ends     Searches halve their range; runs double up to the tile; other loops count to constants.
// Source   Merge path (Odeh et al. 2012), as in CUB's block merge sort; composite keys in place of a segmented sort.
//
// Generated  alias Elem                                  the type of the keys
//            fn splits_at(i: u32) -> u32                 i <= rows; non-decreasing; rows beyond the live ones are empty
//            fn load(i: u32) -> Elem                     the key at position i
//            fn is_less(a: Elem, b: Elem) -> bool        the order of the keys
// Template   const ITEMS, TILE: u32                      elements per invocation and per workgroup: TILE is 256 * ITEMS,
//                                                        at most 2^ROW_BITS
// Head       head[0]  rows (capacity), n: elements (capacity), stretches

const ROW_BITS = 11u; // bits of a position in the tile

/// The first row that starts in this stretch, and in the next one.
var<workgroup> found: array<u32, 2>;
var<workgroup> keys: array<Elem, TILE>;
/// For each element: its row's start in the tile, shifted by ROW_BITS, and its own position in the tile. Padding has all
/// bits set, and sorts last.
var<workgroup> tags: array<u32, TILE>;

var<private> key: array<Elem, ITEMS>;
var<private> tag: array<u32, ITEMS>;

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

/// Loads the keys of the `count` positions from `begin` on, of the rows low ..= high, and pads the tile. A row that starts
/// before `begin` counts from there. Contains a barrier: must be called uniformly.
fn load_tile(t: u32, begin: u32, count: u32, low: u32, high: u32) {
    for (var k = 0u; k < ITEMS; k++) {
        let i = k * 256u + t;
        // Padding sorts last in the tile.
        var own_key = Elem();
        var own_tag = 0xffffffffu;
        if (i < count) {
            own_key = load(begin + i);
            let start = max(split(row_between(low, high, begin + i)), begin);
            own_tag = ((start - begin) << ROW_BITS) | i;
        }
        keys[i] = own_key;
        tags[i] = own_tag;
    }
    workgroupBarrier(); // uniform: called uniformly
}

/// Whether the element of key `ka` and tag `ta` sorts before that of `kb` and `tb`.
fn comes_before(ka: Elem, ta: u32, kb: Elem, tb: u32) -> bool {
    let row_a = ta >> ROW_BITS;
    let row_b = tb >> ROW_BITS;
    return row_a < row_b || (row_a == row_b && is_less(ka, kb));
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

/// Sorts the first `count` elements of `keys` and `tags`, stably, and stores the sorted tags. Padding beyond them must sort
/// last. Contains barriers: the count must be uniform, and the elements visible to all invocations.
fn sort_tile(t: u32, count: u32) {
    for (var k = 0u; k < ITEMS; k++) {
        key[k] = keys[t * ITEMS + k];
        tag[k] = tags[t * ITEMS + k];
    }
    sort_own();
    for (var owners = 1u; owners * ITEMS < count; owners <<= 1u) {
        workgroupBarrier(); // uniform: the loop's bound is uniform; the runs have been read
        for (var k = 0u; k < ITEMS; k++) {
            keys[t * ITEMS + k] = key[k];
            tags[t * ITEMS + k] = tag[k];
        }
        workgroupBarrier(); // uniform: as above
        // A run belongs to `owners` invocations, a power of two.
        let lane = t & (2u * owners - 1u);
        merge_own((t - lane) * ITEMS, owners * ITEMS, lane * ITEMS);
    }
    workgroupBarrier(); // uniform: as above
    for (var k = 0u; k < ITEMS; k++) {
        keys[t * ITEMS + k] = key[k];
        tags[t * ITEMS + k] = tag[k];
    }
    workgroupBarrier(); // uniform: as above
}
