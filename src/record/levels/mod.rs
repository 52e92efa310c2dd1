//! A tensor's dimensions as one chain of partitions, inner dimensions included, and reductions over adjacent levels.
//!
//! Level 0 is the outermost dimension; level `k` holds the elements of the `k`-th partition. A run of adjacent axes is
//! reduced by one [`Stage`]:
//! - With only inner dimensions below the run, the members of a result are contiguous: the rows are the composed
//!   splits, reduced as one sequence in flat order.
//! - With ragged dimensions below the run, rows are aligned: the members of a result are the elements at the same
//!   offset in their rows, and a result row is as long as the longest row that contributes to it. A sort by key groups
//!   the members, in flat order again.
//!
//! Non-adjacent axes form separate runs, reduced one after another, the innermost first.

mod aligned;
mod stage;

use crate::error::Result;
use crate::graph::digest::Digest;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{Node, RowDomain, Rows};
use crate::graph::opcode::ReduceOp;
use crate::graph::recorder::Recorder;
use crate::graph::size::{RecordedSize, Size};
use crate::record::by_key::{one_row, reduce_rows};
use crate::shape::RowPartition;
use crate::tensor::{Tensor, Values};
use stage::Members;

pub(crate) use stage::Stage;

/// The dimensions of a tensor.
#[derive(Debug, Clone)]
pub(crate) struct Levels {
    /// Number of elements of level 0; `None` for a scalar.
    outer: Option<Extent>,
    /// The partition between each level and the next.
    parts: Vec<RowPartition>,
    /// Number of row partitions among `parts`; the others are inner dimensions, uniform.
    ragged: usize,
}

impl Levels {
    /// The dimensions of `x`.
    pub(crate) fn of(rec: Recorder<'_>, x: &Tensor) -> Result<Self> {
        let deep = rec.at(x.inner_to_partitions(x.inner().len()))?;
        let outer = x.outer().map(|_| x.nrows_extent());
        Ok(Self { outer, parts: deep.partitions().to_vec(), ragged: x.ragged_rank() })
    }

    /// The tensor of these dimensions with the given values.
    pub(crate) fn tensor(&self, rec: Recorder<'_>, values: Node) -> Result<Tensor> {
        self.holding(rec, Values::Numbers(values))
    }

    /// The tensor of these dimensions with the given values, numbers or strings.
    pub(crate) fn holding(&self, rec: Recorder<'_>, values: Values) -> Result<Tensor> {
        let inner =
            self.parts[self.ragged..].iter().filter_map(RowPartition::uniform_size).cloned().collect::<Vec<Size>>();
        let outer = self.outer.as_ref().map(|_| self.count(self.ragged));
        rec.tensor(self.parts[..self.ragged].to_vec(), outer, inner, values)
    }

    /// Number of row partitions, without inner dimensions.
    pub(crate) fn ragged_rank(&self) -> usize {
        self.ragged
    }

    /// Adds `n` innermost dimensions of size 1.
    pub(crate) fn with_ones(mut self, rec: Recorder<'_>, n: usize) -> Result<Self> {
        for _ in 0..n {
            self.parts.push(rec.uniform_rows(1, self.numbers())?);
        }
        Ok(self)
    }

    /// Adds an innermost dimension of size `n`.
    pub(crate) fn with_inner(mut self, rec: Recorder<'_>, n: u32) -> Result<Self> {
        match self.outer {
            Some(_) => self.parts.push(rec.uniform_rows(n, self.numbers())?),
            None => self.outer = Some(Extent::known(n)),
        }
        Ok(self)
    }

    /// Number of elements of a level.
    fn count(&self, level: usize) -> Extent {
        match level.checked_sub(1) {
            Some(above) => self.parts[above].nvals_extent().clone(),
            None => self.outer.clone().unwrap_or_else(|| Extent::known(1)),
        }
    }

    /// Index along `axis` of number `Index`.
    pub(crate) fn place(&self, axis: usize) -> Expr {
        // Adjacent uniform dimensions take one division, so that a row is recognised as the row of the number itself.
        let (mut at, mut width) = (Expr::index(), Size::Const(1));
        for p in self.parts[axis..].iter().rev() {
            match p.uniform_size() {
                // A width that saturates occurs only without numbers.
                Some(len) => width = len.max(1).mul(&width),
                None => (at, width) = (p.row_of(at.div(Expr::size(&width))), Size::Const(1)),
            }
        }
        let at = at.div(Expr::size(&width));
        match axis.checked_sub(1) {
            Some(above) => self.parts[above].offset_of(at),
            None => at,
        }
    }

    /// The partition between each level and the next.
    pub(crate) fn parts(&self) -> &[RowPartition] {
        &self.parts
    }

    /// The number of rows of the outermost dimension.
    pub(crate) fn nrows(&self) -> Extent {
        self.count(0)
    }

    /// Total size, in numbers.
    pub(crate) fn numbers(&self) -> Extent {
        self.count(self.parts.len())
    }

    /// Reduces axes `first..=last`; with `keep` each stays with one row.
    pub(crate) fn reduce(&self, rec: Recorder<'_>, (first, last): (usize, usize), keep: bool) -> Result<(Stage, Self)> {
        let numbers = self.numbers();
        if last >= self.ragged || self.is_solid(first, last) {
            let inner = product(rec, &self.parts[last.min(self.parts.len())..])?;
            let members = Members::Rows(RowDomain { inner, ..self.composed(rec, first, last)? });
            return Ok((Stage { members, inner, numbers }, self.without(rec, first, last, keep)?));
        }
        let inner = product(rec, &self.parts[self.ragged..])?;
        let (keys, levels) = self.aligned(rec, first, last, keep)?;
        Ok((Stage { members: Members::Keys(keys), inner, numbers }, levels))
    }

    /// Whether all dimensions below `last` are uniform and every result has members, so that no alignment is needed.
    fn is_solid(&self, first: usize, last: usize) -> bool {
        let length = |p: &RowPartition| p.uniform_length();
        let members = match first.checked_sub(1) {
            Some(above) => self.parts[above..last].iter().all(|p| length(p).is_some_and(|len| len > 0)),
            None => self.count(last).as_known().is_some_and(|n| n > 0),
        };
        members && self.parts[last..].iter().all(|p| length(p).is_some())
    }

    /// Partition of the elements of level `last` by the elements of the level above `first`; for axis 0, one row of all
    /// elements.
    fn composed(&self, rec: Recorder<'_>, first: usize, last: usize) -> Result<RowDomain> {
        let Some(above) = first.checked_sub(1) else {
            return one_row(rec, &self.count(last));
        };
        let parts = &self.parts[above..last];
        let nrows = self.count(above);
        let domain = |rows| RowDomain { rows, nrows: nrows.clone(), nvals: self.count(last), inner: 1 };
        if let [one] = parts {
            return Ok(domain(one.rows().clone()));
        }
        if parts.iter().all(|p| p.uniform_length().is_some()) {
            product(rec, parts)?;
            let lengths = parts.iter().filter_map(RowPartition::uniform_size);
            return Ok(domain(Rows::Uniform(lengths.fold(Size::Const(1), |n, len| n.mul(len)))));
        }
        // Fills the whole capacity: entries beyond the last row repeat the total.
        let row = Expr::index().min(nrows.expr());
        let start = parts.iter().fold(row, |at, p| p.start(at));
        let count = rec.plus(&nrows.whole(), &Extent::known(1))?;
        Ok(domain(Rows::Splits(rec.map(count, start, &[]))))
    }

    /// The levels that remain without alignment: all dimensions below `last` are uniform, and stay as they are.
    fn without(&self, rec: Recorder<'_>, first: usize, last: usize, keep: bool) -> Result<Self> {
        let below: Vec<Size> = self.parts[last..].iter().filter_map(RowPartition::uniform_size).cloned().collect();
        let ragged_below = self.ragged.saturating_sub(last);
        let ones = if keep { last - first + 1 } else { 0 };
        let lengths = std::iter::repeat_n(Size::Const(1), ones).chain(below);
        let (outer, mut parts, lengths, ragged) = match first.checked_sub(1) {
            Some(above) => {
                let ragged = if ragged_below == 0 { above.min(self.ragged) } else { above + ones + ragged_below };
                (self.outer.clone(), self.parts[..above].to_vec(), lengths.collect::<Vec<_>>(), ragged)
            }
            None => {
                let mut lengths = lengths;
                let outer = lengths.next().map(Extent::of);
                // The rows of the outermost remaining partition become the outermost dimension. As in TensorFlow,
                // keeping one reduced axis above a single partition gives a dense tensor.
                let ragged = match (ragged_below, ones) {
                    (0, _) | (1, 0 | 1) => 0,
                    (n, 0) => n - 1,
                    (n, ones) => ones - 1 + n,
                };
                (outer, Vec::new(), lengths.collect(), ragged)
            }
        };
        let mut count = parts.last().map(|p| p.nvals_extent().clone()).or_else(|| outer.clone());
        for len in lengths {
            let p = rec.uniform_rows(len, count.take().unwrap_or_else(|| Extent::known(1)))?;
            count = Some(p.nvals_extent().clone());
            parts.push(p);
        }
        debug_assert!(ragged <= parts.len(), "bug: more ragged dimensions than dimensions");
        Ok(Self { outer, parts, ragged })
    }
}

/// Length of the longest row; 0 without rows.
pub(crate) fn longest(rec: Recorder<'_>, p: &RowPartition) -> Result<Extent> {
    let nrows = p.nrows_extent();
    if let Some(len) = p.uniform_size() {
        let any = Expr::u32(0).lt(nrows.expr());
        return Ok(match nrows.as_known() {
            Some(0) => Extent::known(0),
            Some(_) => Extent::of(len.clone()),
            None => Extent::bounded(len, any.select(Expr::size(len), Expr::u32(0))),
        });
    }
    // Known lengths are exact only with the splits; otherwise they may be bounds.
    let bound = p.known_lengths().map(|(_, longest)| longest);
    if let (Some(longest), Some(_), Rows::Splits(splits)) = (bound, p.host_splits(), p.rows()) {
        return Ok(Extent::input(Digest::of("longest row", splits.digest()), longest));
    }
    let capacity = p.nvals_extent().size();
    let capacity = bound.map_or_else(|| capacity.clone(), |b| capacity.min(b));
    let value = p.length(Expr::index());
    let most = reduce_rows(rec, ReduceOp::Max, one_row(rec, nrows)?, value)?;
    Ok(Extent::bounded(capacity, Expr::load(&most, Expr::u32(0))))
}

/// Numbers per element under these uniform dimensions.
fn product(rec: Recorder<'_>, parts: &[RowPartition]) -> Result<u32> {
    let lengths = parts.iter().map(|p| u64::from(p.uniform_length().unwrap_or(0)));
    Ok(rec.known(lengths.fold(1, u64::saturating_mul))?.capacity())
}
