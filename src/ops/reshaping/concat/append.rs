//! Joins any number of tensors in a number of steps that does not depend on it: all rows are appended, operand after
//! operand, and for an axis other than 0 the rows of the operands are interleaved.

use super::join::{Join, Source};
use crate::error::Result;
use crate::graph::append::total;
use crate::graph::digest::Digest;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::size::Size;
use crate::shape::RowPartition;
use crate::tensor::{BytesBound, Pick, Tensor, Values};

/// The number of operands as a parameter of the program.
pub(crate) fn number_of_operands(n: usize) -> Size {
    Size::input(Digest::of("number of operands", n), n as u32)
}

/// The values of all tensors, one after another: of each, its flat values and their number.
#[track_caller]
pub(crate) fn append_values(rec: Recorder<'_>, all: &[(&Values, Extent)], asserts: &[Node]) -> Result<Values> {
    let numbers = |node: &Node| Expr::load(node, Expr::index());
    let Some((Values::Strings { .. }, _)) = all.first() else {
        let parts = all.iter().filter_map(|(values, count)| match values {
            Values::Numbers(node) => Some((numbers(node), count.clone())),
            Values::Strings { .. } => None,
        });
        return Ok(Values::Numbers(Node::append(rec.backend, rec.op, parts.collect(), asserts)?));
    };
    let (mut lengths, mut bytes) = (Vec::with_capacity(all.len()), Vec::with_capacity(all.len()));
    for (values, count) in all {
        if let Values::Strings { strings, bytes: of } = values {
            lengths.push((strings.length_of_existing(Expr::index()), count.clone()));
            bytes.push((numbers(of), strings.nvals_extent().clone()));
        }
    }
    let count = total(rec.op, all.iter().map(|(_, count)| count))?;
    let nbytes = total(rec.op, bytes.iter().map(|(_, count)| count))?;
    let lengths = Node::append(rec.backend, rec.op, lengths, asserts)?;
    let length = Expr::load(&lengths, Expr::index());
    let strings = rec.rows_of_lengths(&count, length, nbytes.size())?.with_nvals(nbytes);
    Ok(Values::Strings { strings, bytes: Node::append(rec.backend, rec.op, bytes, &[])? })
}

impl<'a> Join<'a> {
    /// A join of any number of operands: each is a source.
    pub(super) fn of_all(rec: Recorder<'a>, all: &'a [Tensor]) -> Result<Self> {
        let source = |tensor: &'a Tensor| -> Result<Source<'a>> {
            let levels = tensor.inner_to_partitions(tensor.inner().len())?.partitions().to_vec();
            Ok(Source { tensor, levels })
        };
        let sources = all.iter().map(source).collect::<Result<_>>()?;
        Ok(Self { rec, sources, operands: (0..all.len()).collect(), asserts: Vec::new() })
    }

    /// Joins the operands along `axis`, any number of them.
    #[track_caller]
    pub(super) fn along_appended(mut self, axis: usize) -> Result<Tensor> {
        self.check_inner(axis)?;
        if axis > 0 {
            self.check_outer(axis)?;
        }
        let first = axis.saturating_sub(1);
        let deepest = self.sources[0].levels.len();
        let ragged = self.sources[0].tensor.ragged_rank();
        let (parts, rows) = self.appended_levels(first)?;
        let tail = first + parts.len();
        let numbers = |source: &Source<'a>| -> Result<(&'a Values, Extent)> {
            let values = source.tensor.values_ref();
            Ok((values, source.tensor.count()?))
        };
        let all: Vec<(&Values, Extent)> = self.sources.iter().map(numbers).collect::<Result<_>>()?;
        let asserts = if axis == 0 { Vec::new() } else { self.asserts.clone() };
        let values = append_values(self.rec, &all, &asserts)?;
        let size = |level| self.uniform_size(level).unwrap_or(Size::Const(0));
        let inner: Vec<Size> = (tail..deepest).map(size).collect();
        let appended = self.rec.tensor(parts, Some(rows), inner, values)?;
        let (mut parts, appended) = match axis.checked_sub(1) {
            None => (Vec::new(), appended),
            Some(_) => (self.sources[0].levels[..first].to_vec(), self.interleaved(first, &appended)?),
        };
        parts.extend(appended.partitions().iter().cloned());
        let mut count = match parts.last() {
            Some(last) => last.nvals_extent().clone(),
            None => self.rows_of_all(first)?,
        };
        for len in appended.inner().sizes() {
            let part = RowPartition::uniform(len, count)?;
            count = part.nvals_extent().clone();
            parts.push(part);
        }
        let outer = match ragged.checked_sub(1) {
            Some(last) => parts[last].nvals_extent().clone(),
            None if axis == 0 => self.rows_of_all(first)?,
            None => self.sources[0].tensor.nrows_extent(),
        };
        let inner = parts[ragged..].iter().filter_map(RowPartition::uniform_size).cloned().collect::<Vec<Size>>();
        parts.truncate(ragged);
        self.rec.tensor(parts, Some(outer), inner, appended.values_ref().clone())
    }

    /// Number of rows at the level, of all operands together.
    #[track_caller]
    fn rows_of_all(&self, level: usize) -> Result<Extent> {
        let rows: Vec<Extent> = self
            .sources
            .iter()
            .map(|source| match source.levels.get(level) {
                Some(p) if level > 0 => p.nrows_extent().clone(),
                _ => source.tensor.nrows_extent(),
            })
            .collect();
        total(self.rec.op, rows.iter())
    }

    /// Number of values below the level, of all operands together.
    #[track_caller]
    fn nvals_of_all(&self, level: usize) -> Result<Extent> {
        total(self.rec.op, self.of_operands(level).map(RowPartition::nvals_extent))
    }

    /// The partitions from level `first` on, of the rows of all operands, and the number of their values. Ends before
    /// the innermost levels that are uniform and equal in all operands.
    #[track_caller]
    fn appended_levels(&self, first: usize) -> Result<(Vec<RowPartition>, Extent)> {
        let deepest = self.sources[0].levels.len();
        let uniform = |level: &usize| self.uniform_size(*level).is_some();
        let tail = (first..deepest).rev().take_while(uniform).last().unwrap_or(deepest);
        let mut count = self.rows_of_all(first)?;
        let mut parts = Vec::new();
        for level in first..tail {
            let part = match self.uniform(level, &count)? {
                Some(part) => part,
                None => {
                    let nvals = self.nvals_of_all(level)?;
                    let length = |p: &RowPartition| (p.length(Expr::index()), p.nrows_extent().clone());
                    let lengths = self.of_operands(level).map(length).collect();
                    let lengths = Node::append(self.rec.backend, self.rec.op, lengths, &[])?;
                    let length = Expr::load(&lengths, Expr::index());
                    self.rec
                        .rows_of_lengths(&count, length, nvals.size())?
                        .with_nvals(nvals)
                        .with_lengths(self.bounds(level))
                }
            };
            count = part.nvals_extent().clone();
            parts.push(part);
        }
        Ok((parts, count))
    }

    /// The appended rows in the order of the result: of each row the elements of all operands, as one row.
    #[track_caller]
    fn interleaved(&self, level: usize, appended: &Tensor) -> Result<Tensor> {
        let n = number_of_operands(self.sources.len());
        let nrows = match level {
            0 => self.sources[0].tensor.nrows_extent(),
            _ => self.sources[0].levels[level].nrows_extent().clone(),
        };
        let all = self.rec.times_size(&nrows, &n)?;
        let (row, operand) = (Expr::index().div(Expr::size(&n)), Expr::index().rem(Expr::size(&n)));
        let from = operand.mul(nrows.expr()).add(row);
        let appended = appended.inner_to_partitions(usize::from(appended.ragged_rank() == 0))?;
        let mut parts = Vec::with_capacity(appended.ragged_rank());
        let mut count = all;
        let mut from = self.rec.map(count.clone(), from, &self.asserts);
        for (k, p) in appended.partitions().iter().enumerate() {
            let taken = match p.uniform_size() {
                Some(len) => RowPartition::uniform(len, count)?,
                None => {
                    let (length, nvals) = (p.length(Expr::load(&from, Expr::index())), self.nvals_of_all(level + k)?);
                    self.rec
                        .rows_of_lengths(&count, length, nvals.size())?
                        .with_nvals(nvals)
                        .with_lengths(self.bounds(level + k))
                }
            };
            let (row, offset) = (taken.row_of(Expr::index()), taken.offset_of(Expr::index()));
            count = taken.nvals_extent().clone();
            let position = p.within(Expr::load(&from, row), offset);
            from = self.rec.map(count.clone(), position, &[]);
            parts.push(taken);
        }
        let width = Expr::size(&appended.width_size().max(1));
        let (element, number) = (Expr::index().div(width.clone()), Expr::index().rem(width.clone()));
        let at = Expr::load(&from, element).mul(width).add(number);
        let bound = match appended.values_ref() {
            Values::Strings { strings, .. } => BytesBound::Exactly(strings.nvals_extent().clone()),
            Values::Numbers(_) => BytesBound::Unknown,
        };
        let numbers = self.rec.times_size(&count, &appended.width_size())?;
        let pick = Pick::From(appended.values_ref(), at);
        let values = self.rec.rearranged(&numbers, &pick, bound, &self.asserts)?;
        let uniform: Option<Vec<Extent>> =
            self.of_operands(level).map(|p| Some(Extent::of(p.uniform_size()?.clone()))).collect();
        parts[0] = match uniform {
            Some(lengths) => RowPartition::uniform(Extent::sum(self.rec.op, lengths.iter())?.size(), nrows)?,
            None => {
                let start = parts[0].start(Expr::index().mul(Expr::size(&n)));
                let lengths: Option<Vec<(u32, u32)>> =
                    self.of_operands(level).map(RowPartition::known_lengths).collect();
                let sum = |(a, b): (u32, u32), (c, d): (u32, u32)| (a.saturating_add(c), b.saturating_add(d));
                let lengths = lengths.and_then(|lengths| lengths.into_iter().reduce(sum));
                let nvals = self.nvals_of_all(level)?;
                self.rec
                    .rows_of_starts(&nrows, &start, nvals.size(), &self.asserts)?
                    .with_nvals(nvals)
                    .with_lengths(lengths)
            }
        };
        self.rec.tensor(parts, Some(count), appended.inner().clone(), values)
    }
}
