//! Short rows of one column side by side, each in a lane: their first values in one vector, their second ones in the
//! next. Rows of one length are taken together, so that no lane waits for another.

use super::accumulate::Float;
use super::row_reduce::{LANES, SHORT, block_len};

/// Rows up to this long are taken together, each in a lane.
pub(super) const TOGETHER: usize = LANES;

/// How many of these.
pub(super) const ROWS: usize = 16;

/// A row of at least one value: its number, where it starts, and its length.
pub(super) type Row = (usize, usize, usize);

/// The rows that have values. Those which are taken together are in the order of their lengths, so that they end
/// together; after them come those of one block, and those of several.
#[inline(always)]
pub(super) fn rows_by_length(start: impl Fn(usize) -> usize, rows: usize) -> Vec<Row> {
    let class = |len: usize| if len <= TOGETHER { len } else { TOGETHER + 1 + usize::from(len > block_len(1)) };
    let mut places = [0; TOGETHER + 3];
    let mut from = start(0);
    for k in 1..=rows {
        let to = start(k);
        places[class(to - from)] += 1;
        from = to;
    }
    places[0] = 0;
    let mut total = 0;
    for place in &mut places {
        total += std::mem::replace(place, total);
    }
    let mut sorted = vec![(0, 0, 0); total];
    let mut from = start(0);
    for k in 0..rows {
        let to = start(k + 1);
        if to > from {
            let place = &mut places[class(to - from)];
            sorted[*place] = (k, from, to - from);
            *place += 1;
        }
        from = to;
    }
    sorted
}

/// The k-th values of the rows side by side, for each k; and how many values the rows have.
#[inline(always)]
pub(super) fn columns<F: Float, const N: usize>(values: &[F], rows: &[Row]) -> ([[F; ROWS]; N], [u32; ROWS]) {
    let mut columns = [[F::ZERO; ROWS]; N];
    let mut lens = [0; ROWS];
    for (r, &(_, from, len)) in rows.iter().enumerate() {
        lens[r] = len as u32;
        for (&x, column) in values[from..from + len].iter().zip(&mut columns) {
            column[r] = x;
        }
    }
    (columns, lens)
}

/// The rows of [`rows_by_length`]: those that are folded, those that are a tree of single values, those of one block,
/// and those of several.
#[inline(always)]
pub(super) fn classes(rows: &[Row]) -> [&[Row]; 4] {
    let (folded, rows) = rows.split_at(rows.partition_point(|&(.., len)| len <= SHORT));
    let (short, rows) = rows.split_at(rows.partition_point(|&(.., len)| len <= TOGETHER));
    let (of_a_block, long) = rows.split_at(rows.partition_point(|&(.., len)| len <= block_len(1)));
    [folded, short, of_a_block, long]
}

/// A halving tree over the states of the rows' values, column by column: the first of them has the results. Columns
/// beyond the longest row are of no values.
#[inline(always)]
pub(super) fn merge_columns<S>(states: &mut [S; LANES], longest: usize, merge: impl Fn(&mut S, &S)) {
    let mut reach = LANES / 2;
    while reach > 0 {
        let (low, high) = states[..2 * reach].split_at_mut(reach);
        let there = longest.saturating_sub(reach);
        for (low, high) in low.iter_mut().zip(high).take(there) {
            merge(low, high);
        }
        reach /= 2;
    }
}
