//! Reductions with ragged dimensions below: aligns the rows and groups their members by key.

use super::{Levels, longest};
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::opcode::ReduceOp;
use crate::graph::recorder::Recorder;
use crate::graph::size::Size;
use crate::record::by_key::{ByKey, reduce_rows};
use crate::shape::RowPartition;

/// State of the alignment, which descends from the outermost level to the elements.
struct Alignment {
    /// Result position of each element of the current level, as an expression in the element.
    key: Expr,
    /// Number of result positions.
    nkeys: Extent,
    /// The partitions of the result positions so far.
    parts: Vec<RowPartition>,
}

impl Levels {
    /// Aligns axes with ragged dimensions below. Returns the keys of the elements of the innermost ragged level, and
    /// the remaining levels.
    pub(super) fn aligned(&self, rec: Recorder<'_>, first: usize, last: usize, keep: bool) -> Result<(ByKey, Self)> {
        let below = &self.parts[last];
        let capacity = |level: usize| self.parts[level].nvals_extent().size();
        let mut a = match first.checked_sub(1) {
            // One result per offset in the longest row.
            None => Alignment { key: below.offset_of(Expr::index()), nkeys: longest(rec, below)?, parts: Vec::new() },
            // The row below a result is as long as the longest row of the result's members.
            Some(_) => {
                let rows = self.composed(rec, first, last)?;
                let lengths = below.length(Expr::index());
                let most = reduce_rows(rec, ReduceOp::Max, rows.clone(), lengths)?;
                let length = Expr::load(&most, Expr::index());
                let part = rec.rows_of_lengths(&rows.nrows, length, capacity(last))?;
                let above = below.row_of(Expr::index());
                let key = part.within(rows.rows.row_of(above), below.offset_of(Expr::index()));
                Alignment { key, nkeys: part.nvals_extent().clone(), parts: vec![part] }
            }
        };
        for level in last + 1..self.ragged {
            let below = &self.parts[level];
            let keys = ByKey::new(rec, &self.count(level), a.key.clone(), &a.nkeys)?;
            let most = keys.reduce(rec, ReduceOp::Max, 1, &below.length(Expr::index()))?;
            let length = Expr::load(&most, Expr::index());
            let part = rec.rows_of_lengths(&a.nkeys, length, capacity(level))?;
            a.key = part.within(keys.key(below.row_of(Expr::index())), below.offset_of(Expr::index()));
            a.nkeys = part.nvals_extent().clone();
            a.parts.push(part);
        }
        let keys = ByKey::new(rec, &self.count(self.ragged), a.key.clone(), &a.nkeys)?;
        let (outer, mut parts, mut ragged) = match first {
            0 => self.aligned_columns(rec, last, keep, a)?,
            _ => self.aligned_rows(rec, (first, last), keep, a.parts)?,
        };
        let mut count = parts.last().map_or_else(|| outer.clone(), |p| p.nvals_extent().clone());
        for p in &self.parts[self.ragged..] {
            let p = rec.uniform_rows(p.uniform_size().cloned().unwrap_or(Size::Const(0)), count)?;
            count = p.nvals_extent().clone();
            parts.push(p);
        }
        ragged = ragged.min(parts.len());
        Ok((keys, Self { outer: Some(outer), parts, ragged }))
    }

    /// The outermost size, the partitions and the ragged rank after axes `0..=last` are reduced.
    fn aligned_columns(
        &self,
        rec: Recorder<'_>,
        last: usize,
        keep: bool,
        a: Alignment,
    ) -> Result<(Extent, Vec<RowPartition>, usize)> {
        let columns = longest(rec, &self.parts[last])?;
        if !keep {
            let ragged = a.parts.len();
            return Ok((columns, a.parts, ragged));
        }
        let one = Extent::known(1);
        let (mut parts, _) = self.kept(rec, (0, last), &one)?;
        let rows = parts.last().map_or(one.clone(), |p| p.nvals_extent().clone());
        let dense = parts.is_empty() && a.parts.is_empty();
        parts.push(match columns.as_known() {
            Some(_) if parts.is_empty() => rec.uniform_rows(columns.size(), rows)?,
            None if dense => {
                // Waits: the result is dense, and only the device knows the size of this dimension.
                rec.uniform_rows(Size::given(rec.on_host(&columns)?), rows)?
            }
            _ => rec.rows_of_lengths(&rows, columns.expr(), columns.size())?.with_nvals(columns),
        });
        parts.extend(a.parts);
        let ragged = if dense { 0 } else { parts.len() };
        Ok((one, parts, ragged))
    }

    /// The outermost size, the partitions and the ragged rank after axes `first..=last` are reduced; `first` is not 0.
    fn aligned_rows(
        &self,
        rec: Recorder<'_>,
        (first, last): (usize, usize),
        keep: bool,
        below: Vec<RowPartition>,
    ) -> Result<(Extent, Vec<RowPartition>, usize)> {
        let above = first - 1;
        let mut parts = self.parts[..above].to_vec();
        let mut below = below;
        if keep {
            let nrows = self.count(above);
            parts.push(rec.uniform_rows(1, nrows.clone())?);
            let (kept, from) = self.kept(rec, (first, last), &nrows)?;
            if let Some(innermost) = kept.last() {
                // Removes the rows of results without members, which were empty.
                let aligned = &below[0];
                let length = aligned.length(from);
                let capacity = aligned.nvals_extent().size();
                below[0] = rec.rows_of_lengths(innermost.nvals_extent(), length, capacity)?;
            }
            parts.extend(kept);
        }
        parts.extend(below);
        let ragged = parts.len();
        Ok((self.nrows(), parts, ragged))
    }

    /// The kept dimensions of several reduced axes with ragged ones below, except the outermost kept dimension, which
    /// has one row per result. Each next dimension has a row if the result has any member so far. TensorFlow reduces
    /// axis by axis, which aligns the rows of the kept dimensions as well.
    ///
    /// Also returns, for each row of the last kept dimension, the index in `results` that it belongs to.
    fn kept(
        &self,
        rec: Recorder<'_>,
        (first, last): (usize, usize),
        results: &Extent,
    ) -> Result<(Vec<RowPartition>, Expr)> {
        let mut parts: Vec<RowPartition> = Vec::new();
        let mut result = Expr::index();
        for level in first..last {
            let nrows = parts.last().map_or(results.clone(), |p| p.nvals_extent().clone());
            let rows = self.composed(rec, first, level)?.rows;
            let any = Expr::u32(0).lt(rows.length(result.clone())).select(Expr::u32(1), Expr::u32(0));
            let part = rec.rows_of_lengths(&nrows, any, nrows.size())?;
            let above = rec.map(part.nvals_extent().clone(), result.at(&part.row_of(Expr::index())), &[]);
            result = Expr::load(&above, Expr::index());
            parts.push(part);
        }
        Ok((parts, result))
    }
}
