//! Search for a byte string, with work linear in the text for every byte string.
//!
//! A short needle is compared at every position. Of a longer one, [`FIRST`] bytes are: a window around a *critical
//! position*, at which the smallest local repetition is as long as the smallest period `p` of the needle (Crochemore and
//! Perrin). Such a window with `h` bytes on either side cannot match at two positions that are less than `h` and less than
//! `p` apart. The candidates are therefore few enough to compare a window of twice the length with each of them, and so on
//! until the window is the needle: each of the logarithmically many levels compares at most about as many bytes as the text
//! has, and in most texts next to none.
//!
//! Candidates of a needle with a small period may be close together. Of these, two periods are compared. The needle is there
//! if the text repeats with the period up to the needle's end: if as many positions as before its start differ from the byte
//! one period later.

use std::ops::Range;

use super::borders::period;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{Node, RowDomain, Rows};
use crate::graph::opcode::ReduceOp;
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::recorder::Recorder;
use crate::record::by_key::reduce_rows;
use crate::shape::RowPartition;

/// Most bytes that are compared at every position.
const FIRST: usize = 16;

/// Positions of a text, narrowed down level by level.
pub(super) struct Candidates<'t> {
    rec: Recorder<'t>,
    text: &'t Extent,
    levels: Vec<Level>,
    /// The positions that the last level keeps.
    positions: Option<Node>,
}

/// Candidates among those of the level before.
struct Level {
    /// Whether a candidate of the level before stays.
    keep: Expr,
    bitmap: RankBitmap,
    total: Extent,
}

impl<'t> Candidates<'t> {
    /// The positions of all bytes of a text.
    fn new(rec: Recorder<'t>, text: &'t Extent) -> Self {
        Self { rec, text, levels: Vec::new(), positions: None }
    }

    /// The occurrences of a needle that end in the string where they begin.
    ///
    /// # Errors
    /// A device out of memory.
    #[track_caller]
    pub(super) fn of(rec: Recorder<'t>, (strings, bytes): (&'t RowPartition, &Node), needle: &[u8]) -> Result<Self> {
        let (at, size) = (Expr::index(), Expr::u32(needle.len() as u32));
        let mut found = Self::new(rec, strings.nvals_extent());
        let equal = |window: Range<usize>| {
            let byte = |k: usize| Expr::load(bytes, at.clone().add(Expr::u32(k as u32)));
            let each = window.map(|k| byte(k).eq(Expr::number(needle[k])));
            each.reduce(Expr::and).unwrap_or_else(|| Expr::scalar(true))
        };
        let ends = |from: &Expr| {
            let end = strings.start(strings.row_of(from.clone()).add(Expr::u32(1)));
            size.clone().le(end.sub(from.clone()))
        };
        if needle.len() <= FIRST {
            let hit = equal(0..needle.len());
            found.narrow(if needle.len() == 1 { hit } else { ends(&at).select(hit, Expr::scalar(false)) }, 1);
            return Ok(found);
        }
        let period = period(needle) as usize;
        let base = if 2 * period <= needle.len() { &needle[..FIRST.max(2 * period)] } else { needle };
        let pattern = rec.uploaded(DType::U8, base)?;
        let centre = critical_position(base);
        let (mut window, mut half) = (around(centre, FIRST / 2, base.len()), FIRST / 2);
        let inside = size.clone().le(found.text.expr().sub(at.clone()));
        found.narrow(equal(window.clone()).and(inside), period_of(base, &window));
        while window.len() < base.len() {
            half *= 2;
            let wider = around(centre, half, base.len());
            let sides = [wider.start..window.start, window.end..wider.end].into_iter().filter(|side| !side.is_empty());
            let matches = sides.map(|side| found.all_equal(bytes, &pattern, &side)).collect::<Result<Vec<_>>>()?;
            if let Some(keep) = matches.into_iter().reduce(Expr::and) {
                found.narrow(keep, period_of(base, &wider));
            }
            window = wider;
        }
        let from = found.position();
        let mut keep = ends(&from);
        if base.len() < needle.len() {
            let later = Expr::load(bytes, at.clone().add(Expr::u32(period as u32)));
            let differs = RankBitmap::new(rec, found.text, Expr::load(bytes, at.clone()).ne(later));
            let last = from.clone().add(Expr::u32((needle.len() - period) as u32));
            keep = keep.and(differs.rank(&last).eq(differs.rank(&from)));
        }
        found.narrow(keep, period_of(base, &window));
        Ok(found)
    }

    /// Position of the candidate `Index` of the last level.
    pub(super) fn position(&self) -> Expr {
        self.positions.as_ref().map_or_else(Expr::index, |positions| Expr::load(positions, Expr::index()))
    }

    /// Number of candidates of the last level.
    pub(super) fn count(&self) -> &Extent {
        self.levels.last().map_or(self.text, |level| &level.total)
    }

    /// Keeps the candidates at which `keep` holds. No two of these are less than `gap` apart.
    pub(super) fn narrow(&mut self, keep: Expr, gap: u32) {
        let (backend, op, count) = (self.rec.backend, self.rec.op, self.count().clone());
        let rec = Recorder::new(backend, op);
        let keep = match self.levels.is_empty() {
            true => keep,
            // Read again at the end.
            false => Expr::load(&rec.map(count.clone(), keep, &[]), Expr::index()),
        };
        let bitmap = RankBitmap::new(rec, &count, keep.clone());
        let total = bitmap.total_at_most(match gap {
            1 => count.size().clone(),
            gap => count.size().min(self.text.size().div(gap).add(1)),
        });
        self.positions = Some(rec.compact(&bitmap, (self.position(), 1), total.clone()));
        self.levels.push(Level { keep, bitmap, total });
    }

    /// Whether bytes `side` of the pattern equal those of the candidates, as an expression in the candidate.
    #[track_caller]
    fn all_equal(&self, bytes: &Node, pattern: &Node, side: &Range<usize>) -> Result<Expr> {
        let width = side.len() as u32;
        let candidate = Expr::index().div(Expr::u32(width));
        let place = Expr::index().rem(Expr::u32(width)).add(Expr::u32(side.start as u32));
        let byte = Expr::load(bytes, self.position().at(&candidate).add(place.clone()));
        let equal = byte.eq(Expr::load(pattern, place)).cast(DType::U32);
        let rec = Recorder::new(self.rec.backend, self.rec.op);
        let nrows = self.count().clone();
        let nvals = rec.times(&nrows, width)?;
        let rows = RowDomain { rows: Rows::Uniform(width.into()), nrows, nvals, inner: 1 };
        let least = reduce_rows(rec, ReduceOp::Min, rows, equal)?;
        Ok(Expr::load(&least, Expr::index()).ne(Expr::u32(0)))
    }

    /// The candidates of the first level, their number, and those of the last level among them; `None` if the first level
    /// is the last one.
    pub(super) fn into_marks(self) -> (RankBitmap, Extent, Option<RankBitmap>) {
        let mut kept: Option<Node> = None;
        for (level, above) in self.levels.iter().skip(1).zip(&self.levels).rev() {
            let keep = match &kept {
                None => level.keep.clone(),
                Some(below) => {
                    let later = Expr::load(below, level.bitmap.rank(&Expr::index()));
                    level.keep.clone().select(later, Expr::scalar(false))
                }
            };
            kept = Some(self.rec.map(above.total.clone(), keep, &[]));
        }
        let (first, total) = match self.levels.into_iter().next() {
            Some(level) => (level.bitmap, level.total),
            None => unreachable!("bug: a search without a level"),
        };
        let kept = kept.map(|kept| RankBitmap::new(self.rec, &total, Expr::load(&kept, Expr::index())));
        (first, total, kept)
    }
}

/// The smallest distance between two occurrences of a window.
fn period_of(base: &[u8], window: &Range<usize>) -> u32 {
    period(&base[window.clone()])
}

/// The bytes up to `half` away from the centre, at least [`FIRST`] of them, of a byte string of length `len`.
fn around(centre: usize, half: usize, len: usize) -> Range<usize> {
    let (start, end) = (centre.saturating_sub(half), len.min(centre + half));
    let end = end.max(len.min(start + FIRST));
    start.min(end.saturating_sub(FIRST))..end
}

/// A position at which the smallest local repetition is as long as the smallest period: the later one of the greatest
/// suffixes in both orders of the bytes.
fn critical_position(needle: &[u8]) -> usize {
    greatest_suffix(needle, false).max(greatest_suffix(needle, true))
}

/// Where the lexicographically greatest suffix begins, in the order of the bytes or in the reversed one.
fn greatest_suffix(needle: &[u8], reversed: bool) -> usize {
    let (mut best, mut other, mut same, mut period) = (0, 1, 0, 1);
    while let Some(&byte) = needle.get(other + same) {
        let own = needle[best + same];
        if byte == own {
            same += 1;
            if same == period {
                other += period;
                same = 0;
            }
        } else if (byte < own) != reversed {
            other += same + 1;
            same = 0;
            period = other - best;
        } else {
            best = other;
            other += 1;
            same = 0;
            period = 1;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Byte strings of few different bytes: all short ones, and long ones of many structures.
    fn needles() -> Vec<Vec<u8>> {
        let mut all: Vec<Vec<u8>> = (1..=10u32)
            .flat_map(|n| (0..1u32 << n).map(move |bits| (0..n).map(|k| b'a' + (bits >> k & 1) as u8).collect()))
            .collect();
        let mut fibonacci = vec![b"b".to_vec(), b"a".to_vec()];
        for k in 2..16 {
            fibonacci.push([fibonacci[k - 1].as_slice(), &fibonacci[k - 2]].concat());
        }
        all.extend(fibonacci.into_iter().filter(|s| s.len() <= 1024));
        all.extend([17usize, 64, 100, 1023].map(|n| [vec![b'a'; n], b"b".to_vec()].concat()));
        all.extend([17usize, 64, 100, 1023].map(|n| [b"b".to_vec(), vec![b'a'; n]].concat()));
        all.extend([17usize, 64, 100].map(|n| [vec![b'a'; n], b"b".to_vec(), vec![b'a'; n / 2]].concat()));
        all
    }

    #[test]
    fn the_period_is_the_smallest_overlap() {
        for s in needles() {
            let smallest = (1..=s.len()).find(|&d| s[d..] == s[..s.len() - d]).unwrap_or(s.len());
            assert_eq!(period(&s) as usize, smallest, "{}", String::from_utf8_lossy(&s));
        }
    }

    /// The bound of the work: candidates of a window are as far apart as its half is long, or the period.
    #[test]
    fn windows_around_the_critical_position_overlap_at_few_distances() {
        for s in needles() {
            let (centre, period) = (critical_position(&s), period(&s) as usize);
            let mut half = FIRST / 2;
            while half < 2 * s.len() {
                let window = around(centre, half, s.len());
                let gap = period_of(&s, &window) as usize;
                let text = String::from_utf8_lossy(&s);
                assert!(gap > half || gap >= period || gap >= window.len(), "{text}: {gap} of {window:?}");
                half *= 2;
            }
        }
    }
}
