//! Choice of disjoint occurrences of a byte string that overlaps itself: those of a search from left to right.
//!
//! Let `n` be the length of the needle, and `p` its smallest period. Two overlapping occurrences are at a distance `d < n`
//! that is a period too. If `d <= n - p`, then `p` divides `d` (Fine and Wilf), and the text repeats with period `p`, so that
//! occurrences lie at all multiples of `p` in between. Adjacent occurrences that overlap are therefore at distance `p`, or
//! more than `n - p` apart.
//!
//! A *run* is a maximal sequence of occurrences at distance `p`. In a run a search takes every `s`-th one, `s` being
//! `ceil(n / p)`: from the first one on, or from the second one on if the last chosen occurrence of the run before overlaps
//! the first. That one is the last of its run, since all others end before the first one of this run; and it overlaps no
//! further one, since distances are at least `p` and more than `n - p`.
//!
//! Whether a run begins with its second occurrence thus depends on whether the run before does: a function of one bit per
//! run. With `m` occurrences in a run that overlaps the next one, it is negation if `m = 1 (mod s)`, identity if
//! `m = 2 (mod s)`, and false otherwise. The bit of a run is the parity of the negations since the last run of the third
//! kind: two rank bitmaps.

use super::borders::borders;
use super::needle::Candidates;
use crate::graph::expr::Expr;
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::recorder::Recorder;

/// The distances at which a byte string overlaps itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Overlap {
    /// The smallest one.
    period: u32,
    /// Number of such distances between disjoint occurrences of a run.
    step: u32,
    /// Length of the string, if runs overlap one another: if the period does not divide each distance.
    runs_overlap: Option<u32>,
}

impl Overlap {
    /// The distances of a byte string; `None` if it does not overlap itself.
    pub(super) fn of(needle: &[u8]) -> Option<Self> {
        let borders = borders(needle);
        let mut border = *borders.last()?;
        if border == 0 {
            return None;
        }
        let (n, period) = (needle.len(), needle.len() - border);
        let mut divides = true;
        while border > 0 {
            divides &= (n - border).is_multiple_of(period);
            border = borders[border - 1];
        }
        let runs_overlap = (!divides).then_some(n as u32);
        Some(Self { period: period as u32, step: n.div_ceil(period) as u32, runs_overlap })
    }
}

/// Whether candidate `Index`, an occurrence of a string with this overlap, is one that a search from left to right finds.
pub(super) fn is_disjoint(rec: Recorder<'_>, found: &Candidates<'_>, overlap: Overlap) -> Expr {
    let (at, one, count) = (Expr::index(), Expr::u32(1), found.count());
    let position = |k: Expr| found.position().at(&k);
    let before = position(at.clone().max(one.clone()).sub(one.clone()));
    let follows = position(at.clone()).sub(before).eq(Expr::u32(overlap.period));
    let starts = RankBitmap::new(rec, count, follows.not());
    let runs = starts.total();
    let firsts = rec.compact(&starts, (at.clone(), 1), runs.clone());
    let run = starts.rank(&at.clone().add(one.clone())).sub(one.clone());
    let in_run = at.clone().sub(Expr::load(&firsts, run.clone()));
    let every = |offset: Expr| offset.rem(Expr::u32(overlap.step)).eq(Expr::u32(0));
    let Some(length) = overlap.runs_overlap else { return every(in_run) };
    // Of each run: where the next one begins, and what the first occurrence of that one depends on.
    let next = at.clone().add(one.clone());
    let is_last = runs.expr().le(next.clone());
    let end = is_last.clone().select(count.expr(), Expr::load(&firsts, next));
    let end = Expr::load(&rec.map(runs.clone(), end, &[]), at.clone());
    let gap = position(end.clone()).sub(position(end.clone().sub(one.clone())));
    let touches = is_last.select(Expr::scalar(false), gap.lt(Expr::u32(length)));
    let rest = end.sub(Expr::load(&firsts, at.clone())).rem(Expr::u32(overlap.step));
    let of = |m: u32| rest.clone().eq(Expr::u32(m % overlap.step));
    let negates = RankBitmap::new(rec, &runs, touches.clone().and(of(1)));
    let resets = RankBitmap::new(rec, &runs, touches.and(of(1).or(of(2))).not());
    let reset_at = rec.compact(&resets, (at.clone(), 1), resets.total());
    let before = resets.rank(&at);
    let last = Expr::load(&reset_at, before.clone().max(one.clone()).sub(one.clone()));
    let since = before.eq(Expr::u32(0)).select(Expr::u32(0), last);
    let skips = negates.rank(&at).sub(negates.rank(&since)).and(one);
    let skips = Expr::load(&rec.map(runs, skips, &[]), run);
    skips.clone().le(in_run.clone()).and(every(in_run.sub(skips)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_are_all_distances_of_a_string_to_itself() {
        for bits in 0..1u32 << 11 {
            let (n, bits) = (1 + bits % 10, bits / 2);
            let needle: Vec<u8> = (0..n).map(|k| b'a' + (bits >> k & 1) as u8).collect();
            let distances: Vec<usize> =
                (1..needle.len()).filter(|&d| needle[d..] == needle[..needle.len() - d]).collect();
            let expected = distances.first().map(|&period| Overlap {
                period: period as u32,
                step: needle.len().div_ceil(period) as u32,
                runs_overlap: distances.iter().any(|d| d % period != 0).then_some(n),
            });
            assert_eq!(Overlap::of(&needle), expected, "{}", String::from_utf8_lossy(&needle));
        }
    }
}
