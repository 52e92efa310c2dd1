//! Two tensors joined along one axis.
//!
//! Elements of the result are numbered by where they come from: those of the left operand by their position, those of
//! the right one by their position plus a number that no position of the left one reaches.

use std::collections::HashSet;

use crate::error::{Error, Result};
use crate::graph::backend::BackendRef;
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Rows};
use crate::graph::walk::for_each_node;
use crate::shape::RowPartition;
use crate::tensor::{BytesBound, Pick, Tensor, Values};

/// Of an element: whether it is the left operand's, and its position in either.
type Pieces = [Expr; 3];

/// Arrays that positions in pieces may be made of: the smallest device binds 8 in all, among them both operands'
/// values, the output, a count and the block of conditions.
const MOST_ARRAYS: usize = 3;

/// How many arrays the pieces are made of.
fn arrays(pieces: &Pieces) -> usize {
    let mut found = HashSet::new();
    for e in pieces {
        for_each_node(e, &mut |n| {
            found.insert(n.digest());
        });
    }
    found.len()
}

/// The elements of a level of the result.
struct Joined {
    count: Extent,
    /// Where each comes from, as an expression in its position.
    from: Expr,
    /// The same in pieces: here positions in the operands show the row that they lie in.
    pieces: Pieces,
    /// The number of the right operand's first element: above those of the left operand.
    base: Expr,
}

impl Joined {
    /// The elements of both, those of the left operand first.
    fn appended(count: Extent, n: &Extent) -> Self {
        let at = Expr::index();
        let pieces = [at.clone().lt(n.expr()), at.clone(), at.sub(n.expr())];
        Self { count, from: Expr::index(), pieces, base: n.expr() }
    }

    /// Elements of which some come from the left operand and the others from the right one, after `base`.
    fn chosen(count: Extent, pieces: Pieces, base: Expr) -> Self {
        let [in_x, x, y] = pieces.clone();
        Self { count, from: in_x.select(x, base.clone().add(y)), pieces, base }
    }

    /// The pieces of a source.
    fn split(&self, from: &Expr) -> Pieces {
        let base = self.base.clone();
        [from.clone().lt(base.clone()), from.clone(), from.clone().sub(base)]
    }
}

/// The two operands with all dimensions as partitions.
pub(super) struct Pair<'a> {
    backend: &'a BackendRef,
    op: &'static str,
    x: &'a Tensor,
    y: &'a Tensor,
    left: Vec<RowPartition>,
    right: Vec<RowPartition>,
    asserts: Vec<Node>,
}

impl<'a> Pair<'a> {
    pub(super) fn new(op: &'static str, x: &'a Tensor, y: &'a Tensor) -> Result<Self> {
        let parts = |t: &Tensor| Ok(t.deepened(t.inner().len())?.partitions().to_vec());
        let (left, right) = (parts(x)?, parts(y)?);
        Ok(Self { backend: x.backend(), op, x, y, left, right, asserts: Vec::new() })
    }

    fn misfit(&self, what: impl Into<String>) -> Error {
        Error::Shape { op: self.op, lhs: self.x.shape_text(), rhs: self.y.shape_text(), what: what.into() }
    }

    /// Fails unless both have equally many rows and, down to `axis`, rows of equal lengths; what only the device can
    /// see becomes a condition.
    #[track_caller]
    fn check_outer(&mut self, axis: usize) -> Result<()> {
        let check = Check::new(self.op, "the tensors have different numbers of rows");
        let rows = self.x.nrows_extent().agrees(&self.y.nrows_extent());
        let misfit = |(a, b)| self.misfit(format!("{a} rows cannot be joined with {b}"));
        self.asserts.extend(rows.condition(self.backend, check, misfit)?);
        for dim in 0..axis.saturating_sub(1) {
            let (p, q) = (&self.left[dim], &self.right[dim]);
            match (p.uniform_row_length(), q.uniform_row_length()) {
                (Some(a), Some(b)) if a == b => continue,
                (Some(a), Some(b)) if dim >= self.x.ragged_rank() => {
                    return Err(self.misfit(format!("dimension {} is {a} and {b}", dim + 1)));
                }
                _ => {}
            }
            let check = Check::new(self.op, format!("rows of dimension {dim} have different lengths"));
            let misfit = |row| self.misfit(format!("row {row} of dimension {dim} has different lengths"));
            self.asserts.extend(p.agrees(q).condition(self.backend, check, misfit)?);
        }
        Ok(())
    }

    /// Fails if an inner dimension other than `axis` differs.
    fn check_inner(&self, axis: usize) -> Result<()> {
        for dim in self.x.ragged_rank()..self.left.len() {
            let (a, b) = (self.left[dim].uniform_row_length(), self.right[dim].uniform_row_length());
            if a != b && dim + 1 != axis {
                let (a, b) = (a.unwrap_or(0), b.unwrap_or(0));
                return Err(self.misfit(format!("dimension {} is {a} and {b}", dim + 1)));
            }
        }
        Ok(())
    }

    /// The shortest and longest row that either operand may have.
    fn bounds(p: &RowPartition, q: &RowPartition) -> Option<(u32, u32)> {
        let (p, q) = (p.known_lengths()?, q.known_lengths()?);
        Some((p.0.min(q.0), p.1.max(q.1)))
    }

    /// The partition whose row `r` starts at `start`, an expression in the row.
    fn partition(
        &self,
        count: &Extent,
        start: &Expr,
        nvals: Extent,
        lengths: Option<(u32, u32)>,
    ) -> Result<RowPartition> {
        let part = RowPartition::from_starts(self.backend, self.op, count, start, nvals.size(), &self.asserts)?;
        Ok(part.with_nvals(nvals).with_lengths(lengths))
    }

    /// The rows of both, one after another.
    fn append(&self) -> Result<Joined> {
        let (nx, ny) = (self.x.nrows_extent(), self.y.nrows_extent());
        Ok(Joined::appended(nx.plus(self.op, &ny)?, &nx))
    }

    /// The next level below appended rows: everything stays in order.
    fn append_below(&self, level: usize, above: &Joined) -> Result<(RowPartition, Joined)> {
        let (p, q) = (&self.left[level], &self.right[level]);
        let nvals = p.nvals_extent().plus(self.op, q.nvals_extent())?;
        let below = Joined::appended(nvals.clone(), p.nvals_extent());
        if let Some(part) = uniform(p, q, &above.count)? {
            return Ok((part, below));
        }
        let rows = p.nrows_extent().expr();
        let (row, in_x) = (Expr::index(), Expr::index().lt(rows.clone()));
        let in_y = row.clone().sub(rows);
        let after = p.nvals_extent().expr().add(q.start(in_y.clone()));
        let start = in_x.select(p.start(row), after);
        Ok((self.partition(&above.count, &start, nvals, Self::bounds(p, q))?, below))
    }

    /// The rows of the dimension that is joined: those of both, side by side.
    fn side_by_side(&self, level: usize) -> Result<(RowPartition, Joined)> {
        let (p, q) = (&self.left[level], &self.right[level]);
        let nvals = p.nvals_extent().plus(self.op, q.nvals_extent())?;
        let part = match (p.uniform_row_length(), q.uniform_row_length()) {
            (Some(a), Some(b)) => {
                let len = Extent::known(a).plus(self.op, &Extent::known(b))?.capacity();
                RowPartition::uniform(len, p.nrows_extent().clone())?
            }
            _ => {
                let row = Expr::index();
                let start = p.start(row.clone()).add(q.start(row));
                let lengths = p.known_lengths().zip(q.known_lengths());
                let lengths = lengths.map(|(p, q)| (p.0.saturating_add(q.0), p.1.saturating_add(q.1)));
                self.partition(p.nrows_extent(), &start, nvals, lengths)?
            }
        };
        let base = base(p, q);
        let (row, at) = (part.row_of(Expr::index()), part.offset_of(Expr::index()));
        let own = p.length(row.clone());
        let in_y = q.within(row.clone(), at.clone().sub(own.clone()));
        let pieces = [at.clone().lt(own), p.within(row, at), in_y];
        let joined = Joined::chosen(part.nvals_extent().clone(), pieces, base);
        Ok((part, joined))
    }

    /// The next level below: rows as long as where they come from.
    fn below(&self, level: usize, above: &Joined) -> Result<(RowPartition, Joined)> {
        let (p, q) = (&self.left[level], &self.right[level]);
        let nvals = p.nvals_extent().plus(self.op, q.nvals_extent())?;
        let rows = Node::map(self.backend, self.op, above.count.clone(), above.from.clone(), &self.asserts);
        let part = match uniform(p, q, &above.count)? {
            Some(part) => part,
            None => {
                let [in_x, x, y] = above.split(&Expr::load(&rows, Expr::index()));
                let length = in_x.select(p.length(x), q.length(y));
                RowPartition::from_lengths(self.backend, self.op, &above.count, length, nvals.size())?
                    .with_nvals(nvals)
                    .with_lengths(Self::bounds(p, q))
            }
        };
        let base = base(p, q);
        let (row, at) = (part.row_of(Expr::index()), part.offset_of(Expr::index()));
        let [in_x, x, y] = above.split(&Expr::load(&rows, row));
        let pieces = [in_x, p.within(x, at.clone()), q.within(y, at)];
        let joined = Joined::chosen(part.nvals_extent().clone(), pieces, base);
        Ok((part, joined))
    }

    /// The two joined along `axis`.
    #[track_caller]
    pub(super) fn join(mut self, axis: usize) -> Result<Tensor> {
        self.check_inner(axis)?;
        let (mut parts, mut joined) = match axis.checked_sub(1) {
            None => (Vec::new(), self.append()?),
            Some(above) => {
                self.check_outer(axis)?;
                let (part, joined) = self.side_by_side(above)?;
                let mut parts = self.left[..above].to_vec();
                parts.push(part);
                (parts, joined)
            }
        };
        let equal = |level: usize| {
            let (p, q) = (self.left[level].uniform_row_length(), self.right[level].uniform_row_length());
            p.is_some() && p == q
        };
        let deepest = self.left.len();
        let tail = (axis..deepest).rev().take_while(|&level| equal(level)).last().unwrap_or(deepest);
        for level in axis..tail {
            let (part, below) =
                if axis == 0 { self.append_below(level, &joined)? } else { self.below(level, &joined)? };
            parts.push(part);
            joined = below;
        }
        let mut count = joined.count.clone();
        let mut width = 1u64;
        for level in tail..deepest {
            let len = self.left[level].uniform_row_length().unwrap_or(0);
            let part = RowPartition::uniform(len, count)?;
            count = part.nvals_extent().clone();
            width = width.saturating_mul(u64::from(len));
            parts.push(part);
        }
        let width = Extent::known_u64(self.op, width)?.capacity();
        let step = Expr::u32(width.max(1));
        let from = Node::map(self.backend, self.op, joined.count.clone(), joined.from.clone(), &self.asserts);
        let (xs, ys) = (self.x.values_ref(), self.y.values_ref());
        // Positions that show their row let the operands' own maps in. What is wider than a position is never stored
        // for the search in it: there the position is.
        let [in_x, x, y] = match xs {
            Values::Numbers(_) if width <= 1 && arrays(&joined.pieces) <= MOST_ARRAYS => joined.pieces.clone(),
            _ => joined.split(&Expr::load(&from, Expr::index().div(step.clone()))),
        };
        let number = Expr::index().rem(step.clone());
        let number = |element: Expr| element.mul(step.clone()).add(number.clone());
        let pick = Pick::either(in_x, Pick::From(xs, number(x)), Pick::From(ys, number(y)));
        let bound = match (xs, ys) {
            (Values::Strings { strings: x, .. }, Values::Strings { strings: y, .. }) => {
                BytesBound::Exactly(x.nvals_extent().plus(self.op, y.nvals_extent())?)
            }
            _ => BytesBound::Unknown,
        };
        let values = Values::rearranged(self.backend, self.op, &count, &pick, bound, &self.asserts)?;
        let ragged = self.x.ragged_rank();
        let outer = match ragged.checked_sub(1) {
            Some(last) => parts[last].nvals_extent().clone(),
            None if axis == 0 => self.append()?.count,
            None => self.x.nrows_extent(),
        };
        let inner = parts[ragged..].iter().map(|p| p.uniform_row_length().unwrap_or(0)).collect();
        parts.truncate(ragged);
        Tensor::new(self.backend, parts, Some(outer), inner, values)
    }
}

/// What the numbers of the right operand's values start from: a constant where there are few enough, so that it is the
/// same whenever the numbers are computed and read.
fn base(p: &RowPartition, q: &RowPartition) -> Expr {
    const HALF: u32 = 1 << 31;
    let is_few = |p: &RowPartition| p.nvals_extent().capacity() <= HALF;
    if is_few(p) && is_few(q) { Expr::u32(HALF) } else { p.nvals_extent().expr() }
}

/// The uniform partition of `count` rows, if both are and their rows are equally long.
fn uniform(p: &RowPartition, q: &RowPartition, count: &Extent) -> Result<Option<RowPartition>> {
    match (p.rows(), q.rows()) {
        (Rows::Uniform(a), Rows::Uniform(b)) if a == b => RowPartition::uniform(a, count.clone()).map(Some),
        _ => Ok(None),
    }
}
