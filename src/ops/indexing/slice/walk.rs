//! Applies slice keys to the dimensions of a tensor, from the outermost inwards.

use super::{Key, Place};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::size::{RecordedSize, Size};
use crate::record::runs::{longest, run_of_rows, run_of_values, settled, single_row};
use crate::record::span::Span;
use crate::shape::RowPartition;
use crate::tensor::{BytesBound, Pick, Tensor};

/// Source positions of the selected elements at one depth.
#[derive(Debug, Clone)]
enum From {
    /// Contiguous elements from this position on (an expression without `Index`).
    Run(Expr),
    /// One source position per element.
    Each(Node),
}

impl From {
    /// Source position of element `i`.
    fn at(&self, i: Expr) -> Expr {
        match self {
            Self::Run(start) => i.add(start.clone()),
            Self::Each(node) => Expr::load(node, i),
        }
    }
}

/// State of a traversal of the dimensions: the elements selected so far and the partitions above them. Starts at one
/// row that holds everything.
pub(super) struct Walk<'a> {
    rec: Recorder<'a>,
    source: &'a Tensor,
    /// Number of partitions of the tensor before its inner dimensions became partitions.
    ragged_rank: usize,
    /// Number of source dimensions processed.
    depth: usize,
    /// Number of selected elements at this depth; `from` holds their source positions.
    count: Extent,
    from: From,
    /// Dimensions of the result so far. The first is a single row that holds everything.
    dims: Vec<RowPartition>,
    /// Number of dimensions after the first that stay partitions; the others become inner dimensions.
    ragged: usize,
    /// Whether `dims` contains a dimension of the source. Until then, the next dimension has a single row.
    rowed: bool,
    /// Checks of indices, where only the device can tell that they are in range.
    asserts: Vec<Node>,
}

impl<'a> Walk<'a> {
    /// The state before the first of `keys` dimensions and new axes. `ragged_rank` is the tensor's number of partitions
    /// before its inner dimensions became partitions.
    pub(super) fn new(rec: Recorder<'a>, source: &'a Tensor, ragged_rank: usize, keys: usize) -> Self {
        Self {
            rec,
            source,
            ragged_rank,
            depth: 0,
            count: Extent::known(1),
            from: From::Run(Expr::u32(0)),
            dims: Vec::with_capacity(keys),
            ragged: 0,
            rowed: false,
            asserts: Vec::new(),
        }
    }

    /// The partition of the next dimension; `None` for the outermost.
    fn partition(&self) -> Option<&RowPartition> {
        self.depth.checked_sub(1).and_then(|d| self.source.partitions().get(d))
    }

    /// Whether any of the remaining `keys` slices a ragged dimension of the source.
    pub(super) fn ragged_follows(&self, keys: &[Key]) -> bool {
        let dims = keys.iter().filter(|k| !matches!(k, Key::NewAxis));
        dims.zip(self.depth + 1..=self.ragged_rank).any(|(k, _)| matches!(k, Key::Slice(_)))
    }

    /// Start and length of the single row of the next dimension.
    fn one_row(&self) -> (Expr, Extent) {
        let Some(p) = self.partition() else { return (Expr::u32(0), self.source.nrows_extent()) };
        let row = self.from.at(Expr::u32(0));
        if let Some(len) = p.uniform_size() {
            return (p.start(row), Extent::of(len.clone()));
        }
        let known = row.as_known();
        let ends = known.and_then(|r| Some((p.known_split(r)?, p.known_split(r + 1)?)));
        if let Some((start, end)) = ends {
            return (Expr::size(&start), Extent::of(end.sub(&start)));
        }
        (p.start(row.clone()), Extent::bounded(longest(p), settled(self.rec, p.length(row))))
    }

    /// The offset of `place` in a row of `size` elements. Fails if the host knows that it is out of range; otherwise
    /// records a check.
    fn offset(&mut self, place: &Place, size: &Extent) -> Result<Expr> {
        let (offset, ok) = match place {
            Place::Host(i) => {
                let magnitude = u32::try_from(i.unsigned_abs()).unwrap_or(u32::MAX);
                if let Some(n) = size.as_known() {
                    let at = if *i < 0 { i64::from(n) + i.max(&-i64::from(u32::MAX)) } else { *i };
                    if at < 0 || at >= i64::from(n) {
                        return Err(self.rec.index(*i, n));
                    }
                    return Ok(if *i < 0 { Expr::size(&size.size().sub(magnitude)) } else { Expr::u32(at as u32) });
                }
                let (k, n) = (Expr::u32(magnitude), size.expr());
                if *i < 0 { (n.clone().sub(k.clone()), k.le(n)) } else { (k.clone(), k.lt(n)) }
            }
            Place::Device(node) => {
                let (v, n) = (Expr::load(node, Expr::u32(0)), size.expr());
                let zero = Expr::scalar(crate::graph::scalar::Scalar::from_i64(v.dtype(), 0));
                let negative = v.clone().lt(zero.clone());
                // Compares magnitudes at the width of the index, so that no bits are cut off before.
                let wide = if v.dtype().size() == 8 { DType::U64 } else { DType::U32 };
                let n_wide = n.clone().cast(wide);
                let in_front = zero.sub(v.clone()).bitcast(wide).le(n_wide.clone());
                let behind = v.clone().bitcast(wide).lt(n_wide);
                let at = v.cast(DType::U32);
                (negative.clone().select(n.add(at.clone()), at), negative.select(in_front, behind))
            }
        };
        if size.as_known() == Some(0) {
            return Err(self.rec.argument("an index into a dimension of size 0"));
        }
        let what = match place {
            Place::Host(i) => format!("index {i} is out of range for its dimension"),
            Place::Device(_) => "the index is out of range for its dimension".into(),
        };
        let assert = self.rec.assert(Extent::known(1), ok.clone(), self.rec.check_of_index(what));
        self.asserts.push(assert.clone());
        // A separate array, since sizes depend on it. 0 where out of range, so that splits are read in bounds.
        let offset = ok.select(offset, Expr::u32(0));
        Ok(Expr::load(&self.rec.map(Extent::known(1), offset, &[assert]), Expr::u32(0)))
    }

    /// Whether no rows are left to slice.
    pub(super) fn is_without_rows(&self) -> bool {
        self.rowed && self.count.as_known() == Some(0)
    }

    /// Adds a dimension of size 1.
    pub(super) fn new_axis(&mut self) -> Result<()> {
        self.dims.push(self.rec.uniform_rows(1, self.count.clone())?);
        Ok(())
    }

    /// Selects one element of each row of the next dimension, and removes the dimension.
    pub(super) fn at(&mut self, place: &Place) -> Result<()> {
        if !self.rowed {
            let (base, size) = self.one_row();
            let offset = self.offset(place, &size)?;
            self.from = From::Run(base.add(offset));
        } else {
            let Some((p, size)) = self.partition().and_then(|p| Some((p.clone(), p.uniform_size()?.clone()))) else {
                let what = format!(
                    "dimension {} is ragged: its rows need not have that element; nth, nth_or and \
                     nth_or_skip take one element of each row",
                    self.depth
                );
                return Err(self.rec.argument(what));
            };
            let offset = self.offset(place, &Extent::of(size))?;
            let position = p.within(self.from.at(Expr::index()), offset);
            self.from = From::Each(self.rec.map(self.count.clone(), position, &[]));
        }
        self.depth += 1;
        Ok(())
    }

    /// Slices each row of the next dimension.
    pub(super) fn slice(&mut self, span: &Span, ragged_follows: bool) -> Result<()> {
        let taken = match self.partition().cloned() {
            Some(p) if self.rowed => {
                if self.depth <= self.ragged_rank {
                    self.ragged = self.dims.len();
                }
                if let (true, From::Run(start)) = (*span == Span::FULL, &self.from) {
                    let (taken, start) = run_of_rows(self.rec, &p, start, &self.count)?;
                    self.from = From::Run(start);
                    taken
                } else {
                    self.slice_rows(&p, span)?
                }
            }
            _ => self.slice_one_row(span, ragged_follows)?,
        };
        self.count = taken.nvals_extent().clone();
        self.dims.push(taken);
        self.rowed = true;
        self.depth += 1;
        Ok(())
    }

    /// Slices the single row of the next dimension.
    fn slice_one_row(&mut self, span: &Span, ragged_follows: bool) -> Result<RowPartition> {
        let (base, size) = self.one_row();
        let n = size.expr();
        let most = span.lengths((0, size.capacity())).map_or(size.capacity(), |(_, most)| most);
        let mut count = Extent::bounded(most, span.length(n.clone()));
        if count.as_known().is_none() && !self.dims.is_empty() && !ragged_follows {
            // The size of an inner dimension of a dense result is part of its type, so the host must know it.
            count = Extent::given(self.rec.read_if(count.expr(), &self.asserts)?);
        }
        self.from = match span.run_start(n.clone()) {
            Some(start) => From::Run(base.add(start)),
            None => {
                let position = base.add(span.offset(n, Expr::index()));
                From::Each(self.rec.map(count.clone(), position, &[]))
            }
        };
        single_row(self.rec, count)
    }

    /// Slices each of several selected rows of `p`.
    fn slice_rows(&mut self, p: &RowPartition, span: &Span) -> Result<RowPartition> {
        let length = |row: Expr| p.length(self.from.at(row));
        let taken = if let Some(len) = p.uniform_size() {
            let taken =
                span.length(Expr::u32(len.capacity())).as_u32().expect("bug: the length of a number does not fold");
            let taken = if len.as_const().is_some() { Size::Const(taken) } else { Size::given(taken) };
            self.rec.uniform_rows(taken, self.count.clone())?
        } else {
            let lengths = p.known_lengths().and_then(|l| span.lengths(l));
            let most = lengths.map_or(u64::MAX, |(_, most)| u64::from(most) * u64::from(self.count.capacity()));
            let capacity = most.min(p.nvals_extent().capacity().into()) as u32;
            let new = match lengths {
                Some((least, most)) if least == most => Expr::u32(most),
                _ => span.length(length(Expr::index())),
            };
            let mut taken = self.rec.rows_of_lengths(&self.count, new, capacity)?.with_lengths(lengths);
            if let (From::Run(start), Some((shortest, _))) = (&self.from, p.known_lengths()) {
                let all = start.as_u32() == Some(0) && self.count.is_same(p.nrows_extent());
                let lost = span.loss(shortest).filter(|_| all);
                if let (Some(lost), Some(_), Some(_)) = (lost, p.nrows_extent().as_known(), p.nvals_extent().as_known())
                {
                    let nvals = p.nvals_extent().size().sub(p.nrows_extent().size().mul(lost));
                    taken = taken.with_nvals(Extent::of(nvals));
                }
            }
            taken
        };
        let (row, offset) = (taken.row_of(Expr::index()), taken.offset_of(Expr::index()));
        let position = p.within(self.from.at(row.clone()), span.offset(length(row), offset));
        self.from = From::Each(self.rec.map(taken.nvals_extent().clone(), position, &[]));
        Ok(taken)
    }

    /// The tensor of the selected elements.
    pub(super) fn finish(self) -> Result<Tensor> {
        let (rec, inner) = (self.rec, self.source.inner());
        let width: u32 = inner.iter().product();
        let values = self.source.values_ref();
        let numbers = rec.times(&self.count, width)?;
        let taken = match &self.from {
            From::Run(start) if self.asserts.is_empty() => run_of_values(
                self.rec,
                values,
                &start.clone().mul(Expr::u32(width)),
                &numbers,
                &rec.count(self.source)?,
            )?,
            from => {
                let by = Expr::u32(width.max(1));
                let element = from.at(Expr::index().div(by.clone()));
                let pick = Pick::From(values, self.source.flat(element, Expr::index().rem(by)));
                let bound = BytesBound::AtMost(values.bytes_size());
                rec.rearranged(&numbers, &pick, bound, &self.asserts)?
            }
        };
        let mut dims = self.dims.into_iter();
        let outer = dims.next().map(|_| self.count);
        let out = rec.tensor(dims.collect(), outer, inner.to_vec(), taken)?;
        rec.at(out.partitions_to_inner(rec.op, self.ragged))
    }
}
