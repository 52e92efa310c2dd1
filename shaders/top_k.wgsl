// Positions of the k smallest keys of each row, of equal keys the first: those of a stable sort.
//
// Idea     Positions are divided into stretches of 512. A workgroup finds the rows that start in its stretch by two
//          binary searches, sorts their elements together by (row, key), and stores the first k of each row. A short row
//          has up to 512 elements, so it ends within 1024 elements of the start of its stretch, the capacity of a
//          workgroup. A longer row is divided at the stretches; its parts are sorted with the short rows of the same
//          stretch, and the first k of each part are candidates. A stretch has at most two such parts: the first part
//          of the row that starts in it, and a part of the row that started before. `merge` selects from the candidates
//          of each long row, in one workgroup: the candidates are read in the order of their parts, and sorted together
//          with the best so far, if any of them is better. The cost follows the number of elements, whatever the row
//          lengths are.
// Traffic  Reads every key and the splits once, and writes k positions per row. Long rows: writes and reads k candidates
//          per 512 elements, and reads their keys again.
// Limits   n < 2^32 - 2^15; k <= 16. 12 KiB of workgroup memory.
// Ends     Candidates are at most 16 for each stretch, of which there are at most 2^23; other loops count to constants.
// Source   The sort of lib/tile_sort.wgsl.
//
// Uses       lib/tile_sort.wgsl
// Generated  alias Elem                                  u32 or U64
//            fn splits_at(i: u32) -> u32                 i <= rows; non-decreasing; rows beyond the live ones are empty
//            fn load(i: u32) -> Elem                     the key at flat position i
//            fn is_less(a: Elem, b: Elem) -> bool        the order of the keys
//            fn store(i: u32, at: u32)                   entry i of the output is the position `at`
//            fn store_candidate(i: u32, at: u32), fn candidate(i: u32) -> u32     scratch, 2 * k positions per stretch
// Head       head[0]  rows (capacity), n: elements (capacity), stretches: n / 512, rounded up, k
// Grid       stretches, folded; for `merge` as well
// Entry points  main, then merge if there may be long rows

const ITEMS = 4u;
const TILE = 1024u; // 256 * ITEMS
const STRETCH = 512u;
const MOST = 16u;

/// Positions of the best candidates so far.
var<workgroup> best: array<u32, 16>;
/// Whether a candidate is better than the last of the best, and a copy of it.
var<workgroup> improves: atomic<u32>;
var<workgroup> is_improved: u32;

fn most() -> u32 {
    return min(p.head[0].w, MOST);
}

/// Base-2 logarithm of the candidates that are read per part: k, rounded up to a power of two.
fn part_bits() -> u32 {
    return 32u - countLeadingZeros(max(most(), 1u) - 1u);
}

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
    let begins = stretch * STRETCH;
    // The row that started before, if it is long and reaches into this stretch.
    let before = max(first, 1u) - 1u;
    let first_start = split(first);
    let continues = first > 0u && first_start > begins && first_start - split(before) > STRETCH;
    // The last row that starts here.
    let last = max(beyond, 1u) - 1u;
    let beyond_start = split(beyond);
    let is_long = first < beyond && beyond_start - split(last) > STRETCH;
    let low = select(first, before, continues);
    let begin = select(first_start, begins, continues);
    var end = beyond_start;
    if (is_long || first == beyond) {
        end = min(end, begins + STRETCH);
    }
    let count = min(max(end, begin) - begin, TILE);
    if (count == 0u) {
        return; // uniform: derived from uniform loads at uniform indices
    }
    load_tile(t, begin, count, low, last);
    sort_tile(t, count);
    for (var k = 0u; k < ITEMS; k++) {
        let i = k * 256u + t;
        let start = tags[i] >> ROW_BITS;
        if (i < count && i - start < most()) {
            let at = begin + (tags[i] & ((1u << ROW_BITS) - 1u));
            let row = row_between(low, last, begin + start);
            if (continues && row == before) {
                store_candidate(2u * stretch * most() + i - start, at);
            } else if (is_long && row == last) {
                store_candidate((2u * stretch + 1u) * most() + i - start, at);
            } else {
                store(row * most() + i - start, at);
            }
        }
    }
}

@compute @workgroup_size(256)
fn merge(
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
    let row = max(beyond, 1u) - 1u;
    let row_start = split(row);
    let row_end = split(beyond);
    if (first >= beyond || row_end - row_start <= STRETCH) {
        return; // uniform: derived from uniform loads at uniform indices
    }
    let k = most();
    // Each of the row's parts has up to k candidates.
    let parts = min((row_end - 1u) / STRETCH - stretch + 1u, stretches());
    let candidates = parts << part_bits();
    // The first batch has no best candidates before it; a candidate that a part lacks sorts last.
    for (var base = 0u; base < candidates; base += TILE - k) {
        if (t == 0u) {
            atomicStore(&improves, 0u);
        }
        workgroupBarrier(); // uniform: the loop's bound was derived from uniform loads
        for (var j = 0u; j < ITEMS; j++) {
            let i = j * 256u + t;
            if (i < k) {
                if (base == 0u) {
                    tags[i] = 0xffffffffu;
                } else {
                    tags[i] = i;
                }
                continue;
            }
            let at = candidate_of(stretch, base + i - k, row_start, row_end);
            var own_tag = 0xffffffffu;
            if (at != 0xffffffffu) {
                let own_key = load(at);
                // Equal keys of later parts have later positions.
                if (base == 0u || is_less(own_key, keys[k - 1u])) {
                    atomicStore(&improves, 1u);
                }
                own_tag = i;
                key[j] = own_key;
            }
            tag[j] = own_tag;
        }
        workgroupBarrier(); // uniform: as above
        if (t == 0u) {
            is_improved = atomicLoad(&improves);
        }
        if (workgroupUniformLoad(&is_improved) == 0u) {
            continue;
        }
        for (var j = 0u; j < ITEMS; j++) {
            let i = j * 256u + t;
            if (i >= k) {
                keys[i] = key[j];
                tags[i] = tag[j];
            }
        }
        workgroupBarrier(); // uniform: the condition was loaded uniformly
        sort_tile(t, TILE);
        var at = 0u;
        if (t < k) {
            let slot = tags[t];
            if (slot < k) {
                at = best[slot];
            } else {
                at = candidate_of(stretch, base + slot - k, row_start, row_end);
            }
        }
        workgroupBarrier(); // uniform: as above
        if (t < k) {
            best[t] = at;
        }
        workgroupBarrier(); // uniform: as above
    }
    if (t < k) {
        store(row * k + t, best[t]);
    }
}

/// Candidate `c` of the long row that starts in the stretch, or 0xffffffff if there is none.
fn candidate_of(stretch: u32, c: u32, row_start: u32, row_end: u32) -> u32 {
    let part = c >> part_bits();
    let j = c & ((1u << part_bits()) - 1u);
    let begins = select((stretch + part) * STRETCH, row_start, part == 0u);
    let end = min(row_end, (stretch + part + 1u) * STRETCH);
    if (begins >= end || j >= min(end - begins, most())) {
        return 0xffffffffu;
    }
    let half = select(0u, 1u, part == 0u);
    return candidate((2u * (stretch + part) + half) * most() + j);
}
