//! Joins tensors along one axis in one step.
//!
//! The sources are the distinct operands: a repeated operand is one source. Each element of the result has an origin
//! number, which tells its source and its position there ([`Numbering`]).

use super::pieces::{Joined, Numbering, Pieces};
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::size::{RecordedSize, Size};
use crate::shape::RowPartition;
use crate::tensor::{BytesBound, Pick, Tensor, Values};

/// Maximum number of sources of one join. The smallest device binds 8 arrays in all.
const MOST_SOURCES: usize = 2;

/// Maximum number of operands of one join: each element compares its position with the end of every operand.
const MOST_OPERANDS: usize = 8;

/// Maximum number of arrays that the positions in pieces may read. The smallest device binds 8 arrays in all, among
/// them the values of both sources, the output, a count and the block of conditions.
const MOST_ARRAYS: usize = 3;

/// A distinct operand, with all its dimensions as partitions.
pub(super) struct Source<'a> {
    pub(super) tensor: &'a Tensor,
    pub(super) levels: Vec<RowPartition>,
}

/// Operands that are joined in one step.
pub(super) struct Join<'a> {
    pub(super) rec: Recorder<'a>,
    pub(super) sources: Vec<Source<'a>>,
    /// The index of each operand's source.
    pub(super) operands: Vec<usize>,
    pub(super) asserts: Vec<Node>,
}

impl<'a> Join<'a> {
    /// `None` if the operands or the sources exceed the maximum, which two operands never do.
    pub(super) fn new(rec: Recorder<'a>, all: &'a [Tensor]) -> Result<Option<Self>> {
        if all.len() > MOST_OPERANDS {
            return Ok(None);
        }
        let mut sources: Vec<Source<'a>> = Vec::new();
        let mut operands = Vec::with_capacity(all.len());
        for tensor in all {
            let levels = rec.at(tensor.inner_to_partitions(tensor.inner().len()))?.partitions().to_vec();
            let source = Source { tensor, levels };
            let known = sources.iter().position(|s| s.is_same(&source)).unwrap_or(sources.len());
            operands.push(known);
            if known < sources.len() {
                continue;
            }
            if sources.len() == MOST_SOURCES {
                return Ok(None);
            }
            sources.push(source);
        }
        Ok(Some(Self { rec, sources, operands, asserts: Vec::new() }))
    }

    fn first(&self) -> &Source<'a> {
        &self.sources[0]
    }

    #[track_caller]
    fn misfit(&self, other: usize, what: impl Into<String>) -> Error {
        let shape = |source: usize| self.sources[source].tensor.shape_text();
        self.rec.shape(shape(0), shape(other), what.into())
    }

    /// The partitions of all operands at a level.
    pub(super) fn of_operands(&self, level: usize) -> impl DoubleEndedIterator<Item = &RowPartition> + Clone {
        self.operands.iter().map(move |&source| &self.sources[source].levels[level])
    }

    /// The partitions of all sources at a level.
    pub(super) fn of_sources(&self, level: usize) -> impl Iterator<Item = &RowPartition> + Clone {
        self.sources.iter().map(move |source| &source.levels[level])
    }

    /// Number of values below a level, of all operands together.
    #[track_caller]
    fn nvals(&self, level: usize) -> Result<Extent> {
        Extent::sum(self.rec.op, self.of_operands(level).map(RowPartition::nvals_extent))
    }

    /// Number of outermost rows of all operands together.
    #[track_caller]
    fn nrows(&self) -> Result<Extent> {
        let rows: Vec<Extent> = self.operands.iter().map(|&s| self.sources[s].tensor.nrows_extent()).collect();
        Extent::sum(self.rec.op, rows.iter())
    }

    /// Fails unless all sources have the same number of rows and, above `axis`, rows of equal lengths. Comparisons that
    /// only the device can make become conditions.
    #[track_caller]
    pub(super) fn check_outer(&mut self, axis: usize) -> Result<()> {
        for other in 1..self.sources.len() {
            let (x, y) = (&self.sources[0], &self.sources[other]);
            let check = self.rec.check("the tensors have different numbers of rows");
            let rows = x.tensor.nrows_extent().agrees(&y.tensor.nrows_extent());
            let misfit = |(a, b)| self.misfit(other, format!("{a} rows cannot be joined with {b}"));
            let mut asserts: Vec<Node> = rows.condition(self.rec, check, misfit)?.into_iter().collect();
            for dim in 0..axis.saturating_sub(1) {
                let (p, q) = (&x.levels[dim], &y.levels[dim]);
                match (p.uniform_length(), q.uniform_length()) {
                    (Some(a), Some(b)) if a == b => continue,
                    (Some(a), Some(b)) if dim >= x.tensor.ragged_rank() => {
                        return Err(self.misfit(other, format!("dimension {} is {a} and {b}", dim + 1)));
                    }
                    _ => {}
                }
                let check = self.rec.check(format!("rows of dimension {dim} have different lengths"));
                let misfit = |difference| self.misfit(other, format!("{difference} of dimension {dim}"));
                asserts.extend(p.agrees(q).condition(self.rec, check, misfit)?);
            }
            self.asserts.append(&mut asserts);
        }
        Ok(())
    }

    /// Fails if an inner dimension other than `axis` differs.
    #[track_caller]
    pub(super) fn check_inner(&self, axis: usize) -> Result<()> {
        let first = self.first();
        for (other, source) in self.sources.iter().enumerate().skip(1) {
            for dim in first.tensor.ragged_rank()..first.levels.len() {
                let (a, b) = (first.levels[dim].uniform_length(), source.levels[dim].uniform_length());
                if a != b && dim + 1 != axis {
                    let (a, b) = (a.unwrap_or(0), b.unwrap_or(0));
                    return Err(self.misfit(other, format!("dimension {} is {a} and {b}", dim + 1)));
                }
            }
        }
        Ok(())
    }

    /// Bounds on the row lengths of all sources at the level: shortest and longest.
    pub(super) fn bounds(&self, level: usize) -> Option<(u32, u32)> {
        let lengths: Option<Vec<(u32, u32)>> = self.of_sources(level).map(RowPartition::known_lengths).collect();
        lengths?.into_iter().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// The partition whose row `r` starts at `start`, an expression in the row.
    #[track_caller]
    fn partition(
        &self,
        count: &Extent,
        start: &Expr,
        nvals: Extent,
        lengths: Option<(u32, u32)>,
    ) -> Result<RowPartition> {
        let part = self.rec.rows_of_starts(count, start, nvals.size(), &self.asserts)?;
        Ok(part.with_nvals(nvals).with_lengths(lengths))
    }

    /// The elements of all operands, one operand after another; `of` gives the number of elements of a source.
    fn appended(&self, count: Extent, of: impl Fn(&Source<'a>) -> Extent) -> Joined {
        let counts: Vec<Expr> = self.sources.iter().map(|source| of(source).expr()).collect();
        let (mut conditions, mut pieces) = (Vec::new(), Vec::new());
        let mut before: Option<Expr> = None;
        for (k, &source) in self.operands.iter().enumerate() {
            let at = Expr::index();
            let at = before.clone().map_or(at.clone(), |before| at.sub(before));
            pieces.push((source, at));
            let end = match before {
                None => counts[source].clone(),
                Some(before) => before.add(counts[source].clone()),
            };
            if k + 1 < self.operands.len() {
                conditions.push(Expr::index().lt(end.clone()));
            }
            before = Some(end);
        }
        let numbering = Numbering::Appended(running(&counts));
        let mut joined = Joined::new(count, Pieces { conditions, pieces }, numbering);
        if self.operands.len() == self.sources.len() {
            // Every operand is a source of its own: the origin number is the position.
            joined.from = Expr::index();
        }
        joined
    }

    /// The next level below appended rows: all elements stay in order.
    #[track_caller]
    fn append_below(&self, level: usize, above: &Joined) -> Result<(RowPartition, Joined)> {
        let nvals = self.nvals(level)?;
        let below = self.appended(nvals.clone(), |source| source.levels[level].nvals_extent().clone());
        if let Some(part) = self.uniform(level, &above.count)? {
            return Ok((part, below));
        }
        let values: Vec<Expr> = self.of_operands(level).map(|p| p.nvals_extent().expr()).collect();
        let before = running(&values);
        let start = above.pieces.choose(|k, source, row| {
            let start = self.sources[source].levels[level].start(row.clone());
            if k == 0 { start } else { before[k].clone().add(start) }
        });
        Ok((self.partition(&above.count, &start, nvals, self.bounds(level))?, below))
    }

    /// The joined dimension: each row concatenates the rows of all operands.
    #[track_caller]
    fn side_by_side(&self, level: usize) -> Result<(RowPartition, Joined)> {
        let nvals = self.nvals(level)?;
        let uniform: Option<Vec<u32>> = self.of_operands(level).map(RowPartition::uniform_length).collect();
        let nrows = self.first().levels[level].nrows_extent();
        let part = match uniform {
            Some(lengths) => {
                let lengths: Vec<Extent> = lengths.into_iter().map(Extent::known).collect();
                RowPartition::uniform(Extent::sum(self.rec.op, lengths.iter())?.capacity(), nrows.clone())?
            }
            None => {
                let starts = self.of_operands(level).map(|p| p.start(Expr::index()));
                let start = starts.reduce(Expr::add).unwrap_or_else(|| Expr::u32(0));
                let lengths: Option<Vec<(u32, u32)>> =
                    self.of_operands(level).map(RowPartition::known_lengths).collect();
                let sum = |(a, b): (u32, u32), (c, d): (u32, u32)| (a.saturating_add(c), b.saturating_add(d));
                let lengths = lengths.and_then(|lengths| lengths.into_iter().reduce(sum));
                self.partition(nrows, &start, nvals, lengths)?
            }
        };
        let (row, at) = (part.row_of(Expr::index()), part.offset_of(Expr::index()));
        let lengths: Vec<Expr> = self.of_operands(level).map(|p| p.length(row.clone())).collect();
        let starts = running(&lengths);
        let piece = |(k, &source): (usize, &usize)| {
            let within = if k == 0 { at.clone() } else { at.clone().sub(starts[k].clone()) };
            (source, self.sources[source].levels[level].within(row.clone(), within))
        };
        let pieces = self.operands.iter().enumerate().map(piece).collect();
        let conditions = starts[1..].iter().map(|end| at.clone().lt(end.clone())).collect();
        let pieces = Pieces { conditions, pieces };
        let joined = Joined::new(part.nvals_extent().clone(), pieces, self.numbering(level));
        Ok((part, joined))
    }

    /// The next level below: each row is as long as the source row that it comes from.
    #[track_caller]
    fn below(&self, level: usize, above: &Joined) -> Result<(RowPartition, Joined)> {
        let nvals = self.nvals(level)?;
        let rows = self.rec.map(above.count.clone(), above.from.clone(), &self.asserts);
        let source = |source: usize| &self.sources[source].levels[level];
        let part = match self.uniform(level, &above.count)? {
            Some(part) => part,
            None => {
                let pieces = above.split(&Expr::load(&rows, Expr::index()));
                let length = pieces.choose(|_, of, at| source(of).length(at.clone()));
                self.rec
                    .rows_of_lengths(&above.count, length, nvals.size())?
                    .with_nvals(nvals)
                    .with_lengths(self.bounds(level))
            }
        };
        let (row, at) = (part.row_of(Expr::index()), part.offset_of(Expr::index()));
        let mut pieces = above.split(&Expr::load(&rows, row));
        for (of, row) in &mut pieces.pieces {
            *row = source(*of).within(row.clone(), at.clone());
        }
        let joined = Joined::new(part.nvals_extent().clone(), pieces, self.numbering(level));
        Ok((part, joined))
    }

    /// Joins the operands along `axis`.
    #[track_caller]
    pub(super) fn along(mut self, axis: usize) -> Result<Tensor> {
        self.check_inner(axis)?;
        let deepest = self.first().levels.len();
        let uniform = |level: &usize| self.uniform_size(*level).is_some();
        let tail = (axis..deepest).rev().take_while(uniform).last().unwrap_or(deepest);
        if axis > 0 {
            self.check_numbering(axis - 1..tail);
        }
        let (mut parts, mut joined) = match axis.checked_sub(1) {
            None => (Vec::new(), self.appended(self.nrows()?, |source| source.tensor.nrows_extent())),
            Some(above) => {
                self.check_outer(axis)?;
                let (part, joined) = self.side_by_side(above)?;
                let mut parts = self.first().levels[..above].to_vec();
                parts.push(part);
                (parts, joined)
            }
        };
        for level in axis..tail {
            let (part, below) =
                if axis == 0 { self.append_below(level, &joined)? } else { self.below(level, &joined)? };
            parts.push(part);
            joined = below;
        }
        let mut count = joined.count.clone();
        let mut width = Size::Const(1);
        for level in tail..deepest {
            let len = self.uniform_size(level).unwrap_or(Size::Const(0));
            let part = RowPartition::uniform(&len, count)?;
            count = part.nvals_extent().clone();
            width = width.mul(&len);
            parts.push(part);
        }
        self.rec.known(width.capacity().into())?;
        let values = self.values(&joined, &count, &width)?;
        let ragged = self.first().tensor.ragged_rank();
        let outer = match ragged.checked_sub(1) {
            Some(last) => parts[last].nvals_extent().clone(),
            None if axis == 0 => self.nrows()?,
            None => self.first().tensor.nrows_extent(),
        };
        let inner = parts[ragged..].iter().filter_map(RowPartition::uniform_size).cloned().collect::<Vec<Size>>();
        parts.truncate(ragged);
        self.rec.tensor(parts, Some(outer), inner, values)
    }

    /// The `count` values of the result, `width` per element of `joined`.
    #[track_caller]
    fn values(&self, joined: &Joined, count: &Extent, width: &Size) -> Result<Values> {
        let step = Expr::size(&width.max(1));
        // Positions that expose their row let the sources' own maps fuse. For strings and elements of several numbers
        // the position is stored instead, so that the search for the row runs once per element.
        let is_number = matches!(self.first().tensor.values_ref(), Values::Numbers(_));
        let pieces = if is_number && width.capacity() <= 1 && joined.pieces.arrays() <= MOST_ARRAYS {
            joined.pieces.clone()
        } else {
            let from = self.rec.map(joined.count.clone(), joined.from.clone(), &self.asserts);
            joined.split(&Expr::load(&from, Expr::index().div(step.clone())))
        };
        let number = Expr::index().rem(step.clone());
        let pick = pieces.pick(|source, element| {
            let at = element.clone().mul(step.clone()).add(number.clone());
            Pick::From(self.sources[source].tensor.values_ref(), at)
        });
        let bytes = |&source: &usize| match self.sources[source].tensor.values_ref() {
            Values::Strings { strings, .. } => Some(strings.nvals_extent()),
            Values::Numbers(_) => None,
        };
        let bound = match self.operands.iter().map(bytes).collect::<Option<Vec<&Extent>>>() {
            Some(bytes) => BytesBound::Exactly(Extent::sum(self.rec.op, bytes.into_iter())?),
            None => BytesBound::Unknown,
        };
        self.rec.rearranged(count, &pick, bound, &self.asserts)
    }

    /// The row length of all sources at the level, if they agree.
    pub(super) fn uniform_size(&self, level: usize) -> Option<Size> {
        let len = self.first().levels[level].uniform_size()?;
        let is_same = |p: &RowPartition| p.uniform_size().is_some_and(|other| other.is_same(len));
        self.of_sources(level).all(is_same).then(|| len.clone())
    }

    /// The uniform partition of `count` rows, if the rows of all sources have one length.
    #[track_caller]
    pub(super) fn uniform(&self, level: usize, count: &Extent) -> Result<Option<RowPartition>> {
        self.uniform_size(level).map(|len| RowPartition::uniform(len, count.clone())).transpose()
    }
}

impl Source<'_> {
    /// Whether both are provably the same tensor.
    fn is_same(&self, other: &Self) -> bool {
        let is_same_level = |(p, q): (&RowPartition, &RowPartition)| p.same(q);
        let values = match (self.tensor.values_ref(), other.tensor.values_ref()) {
            (Values::Numbers(a), Values::Numbers(b)) => a == b,
            (Values::Strings { strings: p, bytes: a }, Values::Strings { strings: q, bytes: b }) => p.same(q) && a == b,
            _ => false,
        };
        values && self.levels.len() == other.levels.len() && self.levels.iter().zip(&other.levels).all(is_same_level)
    }
}

/// Exclusive prefix sum.
pub(super) fn running(numbers: &[Expr]) -> Vec<Expr> {
    let mut out = vec![Expr::u32(0)];
    for (k, n) in numbers[..numbers.len() - 1].iter().enumerate() {
        let before = out[k].clone();
        out.push(if k == 0 { n.clone() } else { before.add(n.clone()) });
    }
    out
}
