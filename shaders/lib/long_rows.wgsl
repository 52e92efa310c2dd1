// Positions of the elements of long rows, which row_sort.wgsl records.
//
// Idea     A long row has the number of the stretch in which it starts. A binary search in the prefix sums of the long
//          rows' lengths (0 for a stretch without one) finds the row of the k-th element of all long rows. A binary
//          search in the rows' starts finds the row of a position.
//
// Ends     The search halves its range.
// Buffers    longs: array<u32>     2 * stretches() + 1 words: the prefix sums, the total last; then the start of each
//                                  long row, or the end of the stretch's rows; sorted
// Head       head[0].x  n: elements (capacity); head[0].z  stretches, at least 1

fn stretches() -> u32 {
    return p.head[0].z;
}

/// Number of elements in all long rows.
fn long_total() -> u32 {
    return min(load_longs(stretches()), p.head[0].x);
}

/// The greatest stretch whose entry, of those from `base` on, is at most `at`; 0 if none is.
fn stretch_of(base: u32, at: u32) -> u32 {
    var a = 0u;
    var b = max(stretches(), 1u) - 1u;
    while (a < b) {
        let mid = a + ((b - a + 1u) >> 1u);
        if (load_longs(base + mid) <= at) {
            a = mid;
        } else {
            b = mid - 1u;
        }
    }
    return a;
}

/// Position of the k-th element of all long rows, for k < long_total().
fn long_position(k: u32) -> u32 {
    let stretch = stretch_of(0u, k);
    return min(load_longs(stretches() + 1u + stretch) + k - load_longs(stretch), p.head[0].x - 1u);
}

/// The number of the long row that holds position `at`.
fn long_row(at: u32) -> u32 {
    return stretch_of(stretches() + 1u, at);
}
