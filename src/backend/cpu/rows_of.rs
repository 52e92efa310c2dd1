//! The row that contains each position. Consecutive positions are resolved row by row.

use super::encoding::{Dense, Encoded, Ends, Value, lists};
use super::operand::Operand;
use super::segments::{MIN_LEN, segments, stays_in_range};
use super::simd::{self, Loop};
use crate::graph::scalar::Scalar;

/// Largest ratio of rows to non-empty rows at which empty rows are encoded as empty runs.
const MAX_ROWS_PER_NONEMPTY: usize = 2;

/// The row of each position `at`: the greatest `r` with `splits[r] <= at`.
pub(crate) fn rows_of<'a>(splits: &[u32], n: usize, at: &Encoded<'a>) -> Encoded<'a> {
    let rows = splits.len().saturating_sub(1);
    if rows == 0 {
        return Encoded::Constant(Scalar::U32(0));
    }
    let splits = &splits[..=rows];
    match at {
        Encoded::Segments(ends, 0, at) => segments(ends.clone(), 0, rows_of(splits, ends.len(), at)),
        Encoded::Segments(ends, 1, first) if stays_in_range(ends, u32::operand(first)) => {
            let first = u32::operand(first);
            let in_order = if let [n] = ends[..] { rows_in_order(splits, n, first.get(0)) } else { None };
            in_order.unwrap_or_else(|| rows_of_sequences(splits, ends, first))
        }
        Encoded::Constant(Scalar::U32(at)) => Encoded::Constant(Scalar::U32(search(splits, *at) as u32)),
        at => {
            let at = u32::expanded(n, at);
            u32::wrap(Dense::filled(n, |out| rows_one_by_one(splits, &at, out)))
        }
    }
}

/// Binary search for the last row that starts at or before the position.
fn search(splits: &[u32], at: u32) -> usize {
    splits.partition_point(|&s| s <= at).saturating_sub(1).min(splits.len() - 2)
}

/// Rows after that of the previous position that are searched before all rows.
const NEAR: usize = 64;

/// Binary search from row `from` on, first in ranges of doubling length, for ascending positions; or in all rows.
fn search_near(splits: &[u32], from: usize, at: u32) -> usize {
    if splits[from] > at {
        return search(splits, at);
    }
    let mut step = 2;
    while step <= NEAR {
        let Some(&next) = splits.get(from + step) else { break };
        if at < next {
            return from + splits[from + 1..from + step].partition_point(|&s| s <= at);
        }
        step *= 2;
    }
    search(splits, at)
}

/// Finds rows position by position. The row of the previous position and the next few rows are tried before a binary
/// search in all rows.
fn rows_one_by_one(splits: &[u32], at: &[u32], out: &mut [u32]) {
    let mut row = 0;
    for (out, &at) in out.iter_mut().zip(at) {
        if !(splits[row] <= at && at < splits[row + 1]) {
            row = search_near(splits, row, at);
        }
        *out = row as u32;
    }
}

/// The rows of `n` consecutive positions from `at` on, if the splits between them ascend.
///
/// Where few rows are empty, the run values are consecutive row numbers, with an empty run for each empty row. A load
/// indexed by such rows borrows its elements.
fn rows_in_order<'a>(splits: &[u32], n: u32, at: u32) -> Option<Encoded<'a>> {
    let (first, last) = (search(splits, at), search(splits, at + (n - 1)));
    if first == last {
        return Some(Encoded::Constant(Scalar::U32(first as u32)));
    }
    // The starts of the rows, which are also the ends of all rows but the last.
    let between = splits.get(first..=last)?;
    let inner = between.get(1..)?;
    // Decreasing splits are an error that a read reports; a binary search in them gives an arbitrary row.
    if inner[0] <= at || inner[inner.len() - 1].checked_sub(at)? >= n {
        return None;
    }
    let rows = between.len();
    if MIN_LEN * rows <= n as usize {
        let (fall, rise) = count_steps(between);
        if fall > 0 {
            return None;
        }
        if rows <= MAX_ROWS_PER_NONEMPTY * (rise as usize + 1) {
            let ends = Dense::filled(rows, |ends| {
                for (end, &split) in ends.iter_mut().zip(inner) {
                    *end = split - at;
                }
                ends[rows - 1] = n;
            });
            let first = u32::wrap(vec![first as u32].into());
            return Some(segments(ends, 0, Encoded::Segments(vec![rows as u32].into(), 1, first.into())));
        }
    }
    let (ends, found) = nonempty_rows(between, (at, n), first as u32);
    ends.is_sorted().then(|| segments(ends, 0, u32::wrap(found)))
}

/// Stream compaction of row splits: the ends of the non-empty rows, relative to the position `at`, and their numbers,
/// which count from `row` on. The last row ends at `n`.
///
/// A branch per row would be mispredicted where non-empty rows are irregular: 64 comparisons form a bit mask, and a loop
/// extracts its set bits.
fn nonempty_rows<'a>(splits: &[u32], (at, n): (u32, u32), row: u32) -> (Ends, Dense<'a, u32>) {
    lists(splits.len(), |ends, rows| {
        let found = simd::run(NonemptyRows { splits, at, row, ends, rows });
        (ends[found], rows[found]) = (n, row + splits.len() as u32 - 1);
        found + 1
    })
}

struct NonemptyRows<'s, 'o> {
    splits: &'s [u32],
    at: u32,
    row: u32,
    ends: &'o mut [u32],
    rows: &'o mut [u32],
}

impl Loop for NonemptyRows<'_, '_> {
    type Output = usize;
    #[inline(always)]
    fn run(self) -> usize {
        const WORD: usize = 64;
        let Self { splits, at, row, ends, rows } = self;
        let limits = &splits[1..];
        let words = splits.as_chunks::<WORD>().0.iter().zip(limits.as_chunks::<WORD>().0);
        let (first_remaining, mut found) = (words.len() * WORD, 0);
        for (word, (starts, limits)) in words.enumerate() {
            let mut flags = changes(starts, limits);
            while flags != 0 {
                let k = flags.trailing_zeros() as usize;
                (ends[found], rows[found]) = (limits[k].wrapping_sub(at), row + (word * WORD + k) as u32);
                found += 1;
                flags &= flags - 1;
            }
        }
        for k in first_remaining..limits.len() {
            (ends[found], rows[found]) = (limits[k].wrapping_sub(at), row + k as u32);
            found += usize::from(splits[k] != limits[k]);
        }
        found
    }
}

/// Bit mask of the positions at which `a` and `b` differ, computed without branches.
#[inline(always)]
fn changes(a: &[u32; 64], b: &[u32; 64]) -> u64 {
    // Each step is one vector comparison.
    const STEP: usize = 8;
    let steps = a.as_chunks::<STEP>().0.iter().zip(b.as_chunks::<STEP>().0).enumerate();
    steps.fold(0, |flags, (step, (a, b))| {
        let differ = (0..STEP).fold(0, |differ, k| differ | u64::from(a[k] != b[k]) << k);
        flags | differ << (step * STEP)
    })
}

/// Counts the splits that are less than the previous split, and those that are greater.
fn count_steps(splits: &[u32]) -> (u32, u32) {
    simd::run(Steps(splits))
}

struct Steps<'s>(&'s [u32]);

impl Loop for Steps<'_> {
    type Output = (u32, u32);
    #[inline(always)]
    fn run(self) -> (u32, u32) {
        let Self(splits) = self;
        let pairs = splits.iter().zip(splits.get(1..).unwrap_or_default());
        pairs.fold((0, 0), |(fall, rise), (a, b)| (fall + u32::from(a > b), rise + u32::from(a < b)))
    }
}

/// Finds the rows of sequences, row by row. The next few rows are tried before a binary search.
fn rows_of_sequences<'a>(splits: &[u32], ends: &[u32], first: Operand<'_, u32>) -> Encoded<'a> {
    let rows = splits.len() - 1;
    let n = ends.last().map_or(0, |&n| n as usize);
    let (cuts, found) = lists(n, |cuts, found| {
        let (mut row, mut start, mut k) = (0, 0, 0);
        for (segment, &end) in ends.iter().enumerate() {
            let mut at = first.get(segment);
            while start < end {
                if !(splits[row] <= at && at < splits[row + 1]) {
                    row = search_near(splits, row, at);
                }
                // Positions left in this row. The last row contains all positions beyond its end. Where splits decrease,
                // which is an error that a read reports, positions are resolved one by one.
                let left = if splits[row] <= at && at < splits[row + 1] { splits[row + 1] - at } else { 1 };
                let left = if row + 1 == rows && at >= splits[rows] { u32::MAX } else { left };
                let cut = end.min(start.saturating_add(left));
                at = at.wrapping_add(cut - start);
                (cuts[k], found[k]) = (cut, row as u32);
                k += 1;
                start = cut;
            }
        }
        k
    });
    segments(cuts, 0, u32::wrap(found))
}

#[cfg(test)]
mod tests {
    use super::super::random_encodings::{Random, dense, segments_of};
    use super::*;

    #[test]
    fn rows_equal_a_binary_search_per_position() {
        let mut random = Random(2);
        for round in 0..3000 {
            let n = 1 + random.below(300);
            let at = random.encoded(n);
            let mut splits = vec![0];
            for _ in 0..1 + random.below(60) {
                let len = random.below([2, 9, 60][round % 3]) * random.below(2);
                splits.push(splits[splits.len() - 1] + len);
            }
            let expected: Vec<u32> = dense(n, &at).iter().map(|&at| search(&splits, at) as u32).collect();
            assert_eq!(dense(n, &rows_of(&splits, n as usize, &at)), expected, "{splits:?} at {at:?}");
        }
        // A read reports decreasing splits; here they must only not panic.
        let at = segments_of(&[50], 1, u32::wrap(vec![0].into()));
        assert_eq!(dense(50, &rows_of(&[0, 20, 10, 30], 50, &at)).len(), 50);
    }

    #[test]
    fn rows_of_long_blocks_equal_a_binary_search_in_every_encoding() {
        let mut random = Random(11);
        let mut count_by_encoding = [0; 3];
        for _ in 0..2000 {
            let mut splits = vec![0];
            let most = [2, 3, 9, 60][random.below(4) as usize];
            let nonempty_share = [1, 2, 3, 10, 40][random.below(5) as usize];
            for _ in 0..1 + random.below(600) {
                let len = if random.below(nonempty_share) == 0 { random.below(most) } else { 0 };
                splits.push(splits[splits.len() - 1] + len);
            }
            let total = splits[splits.len() - 1];
            let (start, n) = (random.below(total + 20), 1 + random.below(total + 30));
            let at = segments_of(&[n], 1, u32::wrap(vec![start].into()));
            let got = rows_of(&splits, n as usize, &at);
            let encoding = match &got {
                Encoded::Constant(_) => 0,
                Encoded::Segments(_, _, rows) if matches!(**rows, Encoded::Segments(..)) => 1,
                _ => 2,
            };
            count_by_encoding[encoding] += 1;
            let expected: Vec<u32> = (start..start + n).map(|at| search(&splits, at) as u32).collect();
            assert_eq!(dense(n, &got), expected, "{splits:?} from {start} on");
            // Invalid splits, which a read reports, must not panic here.
            for _ in 0..1 + random.below(3) {
                let k = random.below(splits.len() as u32) as usize;
                splits[k] = [0, u32::MAX, random.below(total + 40)][random.below(3) as usize];
            }
            assert_eq!(dense(n, &rows_of(&splits, n as usize, &at)).len(), n as usize);
        }
        assert!(count_by_encoding.iter().all(|&n| n > 100), "{count_by_encoding:?}");
    }
}
