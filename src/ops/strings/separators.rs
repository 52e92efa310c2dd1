//! Occurrences of separators in strings.

use super::disjoint::{Overlap, is_disjoint};
use super::needle::Candidates;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::ops::options::{Separator, Separators};
use crate::shape::RowPartition;

/// Whether `byte`, a u8, is one of `bytes`: one or two comparisons per range of adjacent bytes.
pub(super) fn is_any_of(byte: &Expr, bytes: &[u8]) -> Expr {
    let mut sorted = bytes.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let ranges = sorted.chunk_by(|a, b| b - a == 1).map(|range| match range {
        [one] => byte.clone().eq(Expr::scalar(*one)),
        many => {
            let (low, high) = (Expr::scalar(many[0]), Expr::scalar(many[many.len() - 1]));
            low.le(byte.clone()).and(byte.clone().le(high))
        }
    });
    ranges.reduce(Expr::or).unwrap_or_else(|| Expr::scalar(false))
}

/// The separators of strings that do not overlap, in order.
pub(super) struct Occurrences {
    /// Positions at which a separator may begin.
    marks: RankBitmap,
    /// Number of these positions.
    total: Extent,
    /// The occurrences among the marked positions that separate; `None` if all do.
    chosen: Option<RankBitmap>,
    /// Length of a separator, in bytes.
    width: u32,
}

impl Occurrences {
    /// The separators in `bytes`.
    ///
    /// # Errors
    /// No separators; an empty separator, or one of 2^32 - 1 bytes or more.
    #[track_caller]
    pub(super) fn new(rec: Recorder<'_>, (strings, bytes): (&RowPartition, &Node), by: &Separators) -> Result<Self> {
        let at = Expr::index();
        let count = strings.nvals_extent();
        match by {
            Separators::AnyOf(set) if set.is_empty() => Err(rec.argument("there must be at least one separator")),
            Separators::AnyOf(set) => {
                let hit = is_any_of(&Expr::load(bytes, at), set);
                let marks = RankBitmap::new(rec, count, hit);
                Ok(Self { total: marks.total(), marks, chosen: None, width: 1 })
            }
            Separators::String(s) => {
                let width = checked_width(rec.op, s)?;
                let mut found = Candidates::of(rec, (strings, bytes), s)?;
                if let Some(overlap) = Overlap::of(s) {
                    found.narrow(is_disjoint(rec, &found, overlap), 1);
                }
                let (marks, total, chosen) = found.into_marks();
                Ok(Self { marks, total, chosen, width })
            }
        }
    }

    /// Number of bytes of a separator.
    pub(super) fn width(&self) -> u32 {
        self.width
    }

    /// Number of separators that begin before byte `at`, which is at most the number of bytes.
    pub(super) fn before(&self, at: &Expr) -> Expr {
        let rank = self.marks.rank(at);
        self.chosen.as_ref().map_or_else(|| rank.clone(), |chosen| chosen.rank(&rank))
    }

    /// Whether byte `at` is part of a separator.
    pub(super) fn covers(&self, at: &Expr) -> Expr {
        let next = at.clone().add(Expr::u32(1));
        let from = next.clone().max(Expr::u32(self.width)).sub(Expr::u32(self.width));
        self.before(&from).lt(self.before(&next))
    }

    /// The position of a separator by its rank among all, which is at most their number: a search in the rank bitmaps.
    pub(super) fn select(&self, rec: Recorder<'_>) -> impl Fn(&Expr) -> Expr {
        let position = self.marks.select(rec);
        let candidate = self.chosen.as_ref().map(|chosen| chosen.select(rec));
        move |rank| match &candidate {
            None => position(rank),
            Some(candidate) => position(&candidate(rank)),
        }
    }

    /// Position of the first byte of each separator.
    pub(super) fn positions(&self, rec: Recorder<'_>) -> Node {
        let at = rec.compact(&self.marks, (Expr::index(), 1), self.total.clone());
        match &self.chosen {
            None => at,
            Some(chosen) => rec.compact(chosen, (Expr::load(&at, Expr::index()), 1), chosen.total()),
        }
    }
}

/// The length of a separator.
#[track_caller]
fn checked_width(op: &'static str, separator: &[u8]) -> Result<u32> {
    if separator.is_empty() {
        return Err(Error::argument(op, "the separator is empty; use white_space() to split at white space"));
    }
    Ok(Extent::known_u64(op, separator.len() as u64)?.capacity())
}

/// The maximum number of splits, if it is limited.
///
/// # Errors
/// Below 1.
#[track_caller]
pub(super) fn limit_of(op: &'static str, separator: &Separator) -> Result<Option<u32>> {
    match separator.max_splits {
        None => Ok(None),
        Some(n) if n < 1 => {
            let what = format!("max_splits must be at least 1, but is {n}; leave it out for no limit");
            Err(Error::argument(op, what))
        }
        Some(n) => Ok(u32::try_from(n).ok().filter(|&n| n < u32::MAX)),
    }
}

/// The first and the last bytes of the pieces between separators, without empty pieces.
pub(super) struct Edges {
    pub(super) starts: RankBitmap,
    pub(super) ends: RankBitmap,
}

impl Edges {
    /// # Errors
    /// As [`Occurrences::new`].
    #[track_caller]
    pub(super) fn new(rec: Recorder<'_>, (strings, bytes): (&RowPartition, &Node), by: &Separators) -> Result<Self> {
        let (at, one) = (Expr::index(), Expr::u32(1));
        let nbytes = strings.nvals_extent();
        let is_separator: Box<dyn Fn(Expr) -> Expr> = match by {
            Separators::AnyOf(set) if !set.is_empty() => Box::new(|at| is_any_of(&Expr::load(bytes, at), set)),
            Separators::String(s) if s.len() == 1 => Box::new(|at| is_any_of(&Expr::load(bytes, at), s)),
            _ => {
                let found = Occurrences::new(rec, (strings, bytes), by)?;
                let covered = rec.map(nbytes.clone(), found.covers(&at), &[]);
                Box::new(move |at| Expr::load(&covered, at))
            }
        };
        let row = strings.row_of(at.clone());
        let edge = |edge: Expr, next: Expr| {
            // The byte across the edge belongs to another string, or does not exist.
            let across = edge.select(Expr::scalar(true), is_separator(next));
            let edges = rec.map(nbytes.clone(), is_separator(at.clone()).not().and(across), &[]);
            RankBitmap::new(rec, nbytes, Expr::load(&edges, at.clone()))
        };
        let next = at.clone().add(one.clone());
        let starts = edge(strings.start(row.clone()).eq(at.clone()), at.clone().sub(one.clone()));
        let ends = edge(strings.start(row.add(one)).eq(next.clone()), next);
        Ok(Self { starts, ends })
    }
}
