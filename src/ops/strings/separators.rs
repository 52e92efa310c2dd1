//! Occurrences of separators in strings.

use super::needle::Candidates;
use crate::error::{Error, Result};
use crate::graph::backend::BackendRef;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::rank_bitmap::RankBitmap;
use crate::ops::options::Separators;
use crate::shape::RowPartition;

/// Length of the longest separator, in bytes.
const LONGEST: usize = 1024;

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
    /// No separators; an empty separator, one of more than 1024 bytes, or one that overlaps itself at several distances
    /// of which one does not divide the others.
    #[track_caller]
    pub(super) fn new(
        backend: &BackendRef,
        op: &'static str,
        (strings, bytes): (&RowPartition, &Node),
        by: &Separators,
    ) -> Result<Self> {
        let at = Expr::index();
        let count = strings.nvals_extent();
        match by {
            Separators::AnyOf(set) if set.is_empty() => {
                Err(Error::argument(op, "there must be at least one separator"))
            }
            Separators::AnyOf(set) => {
                let hit = is_any_of(&Expr::load(bytes, at), set);
                let marks = RankBitmap::new(backend, op, count, hit);
                Ok(Self { total: marks.total(), marks, chosen: None, width: 1 })
            }
            Separators::String(s) => {
                let width = checked_width(op, s)?;
                let step = overlap(op, s)?;
                let mut found = Candidates::of(backend, op, (strings, bytes), s)?;
                if let Some((period, step)) = step {
                    found.narrow(is_disjoint(backend, op, &found, period, step), 1);
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

    /// Position of the first byte of each separator.
    pub(super) fn positions(&self, backend: &BackendRef, op: &'static str) -> Node {
        let at = Node::compact(backend, op, &self.marks, (Expr::index(), 1), self.total.clone());
        match &self.chosen {
            None => at,
            Some(chosen) => Node::compact(backend, op, chosen, (Expr::load(&at, Expr::index()), 1), chosen.total()),
        }
    }
}

/// The length of a separator.
#[track_caller]
fn checked_width(op: &'static str, separator: &[u8]) -> Result<u32> {
    match separator.len() {
        0 => Err(Error::argument(op, "the separator is empty; use white_space() to split at white space")),
        n if n > LONGEST => {
            Err(Error::argument(op, format!("the separator has {n} bytes, but at most {LONGEST} are allowed")))
        }
        n => Ok(n as u32),
    }
}

/// The smallest distance at which the separator overlaps itself, and the number of such distances between disjoint
/// occurrences of a run; `None` if it does not overlap itself.
///
/// # Errors
/// A distance that is not a multiple of the smallest one.
#[track_caller]
fn overlap(op: &'static str, separator: &[u8]) -> Result<Option<(u32, u32)>> {
    let n = separator.len();
    let mut distances = (1..n).filter(|&d| separator[d..] == separator[..n - d]);
    let Some(least) = distances.next() else { return Ok(None) };
    if let Some(other) = distances.find(|d| d % least != 0) {
        let what = format!(
            "the separator overlaps itself at distances {least} and {other}, of which neither divides the other; \
             replace it by another byte string first (regex_replace)"
        );
        return Err(Error::argument(op, what));
    }
    Ok(Some((least as u32, n.div_ceil(least) as u32)))
}

/// Whether candidate `Index` is the first of the occurrences of its run at distance `period`, or a `step`-th one after
/// it: one of those that a search from left to right finds.
fn is_disjoint(backend: &BackendRef, op: &'static str, found: &Candidates<'_>, period: u32, step: u32) -> Expr {
    let (at, count) = (Expr::index(), found.count());
    let position = |k: Expr| found.position().at(&k);
    let before = position(at.clone().max(Expr::u32(1)).sub(Expr::u32(1)));
    let follows = position(at.clone()).sub(before).eq(Expr::u32(period));
    let starts = RankBitmap::new(backend, op, count, follows.not());
    let firsts = Node::compact(backend, op, &starts, (at.clone(), 1), starts.total());
    let run = starts.rank(&at.clone().add(Expr::u32(1))).sub(Expr::u32(1));
    let in_run = at.sub(Expr::load(&firsts, run));
    in_run.rem(Expr::u32(step)).eq(Expr::u32(0))
}
