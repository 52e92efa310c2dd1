//! Slicing: integers, ranges, new axes and ellipses along any dimension.

use super::index::Index;
use super::span::Span;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::graph::backend::BackendRef;
use crate::graph::expr::{Check, Expr, ExprKind};
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::plan::for_each_expr;
use crate::shape::RowPartition;
use crate::tensor::{BytesBound, Pick, RaggedTensor, Tensor, Values};

const OP: &str = "slice";

/// Which element an integer names.
#[derive(Debug, Clone)]
enum Place {
    /// Known on the host.
    Host(i64),
    /// A scalar on the device.
    Device(Node),
}

/// What is done about one dimension, or between two.
#[derive(Debug, Clone)]
enum Key {
    At(Place),
    /// A slice; none if its step is 0, which nothing but no rows at all can be sliced with.
    Slice(Option<Span>),
    NewAxis,
}

impl Key {
    /// All of a dimension.
    const WHOLE: Self = Self::Slice(Some(Span::FULL));
}

impl Tensor {
    /// The part of the tensor that `index` names, dimension by dimension; dimensions without an item are kept whole.
    ///
    /// An integer takes one element of its dimension, which disappears; it must not stand for a ragged dimension below
    /// others, whose rows need not have that element. A range takes Python's `start:stop:step` of each row, so it is
    /// cut off where a row ends. The result is dense once no ragged dimension is left: `x[i]` of a tensor with one
    /// partition is a row of its values. Uniform dimensions stay uniform. Empty rows stay empty rows.
    ///
    /// Costs a map over the values; for each ragged dimension that is not kept whole (or lies below one) a scan over
    /// its rows, or a map where the rows taken stand side by side. Slices that keep equally many values of every row
    /// share their partition: `x[:, :-1]` and `x[:, 1:]`. It waits only for a new axis before a dense dimension whose
    /// size the host does not know.
    ///
    /// TensorFlow: `RaggedTensor.__getitem__`.
    ///
    /// # Errors
    /// More items than dimensions; an integer out of range (where only the device knows the size: at the read), or for
    /// a ragged inner dimension; a step of 0.
    ///
    /// ```
    /// # use ragged::{Device, HostTensor, HostValues, s};
    /// # fn main() -> ragged::Result<()> {
    /// let x = HostTensor {
    ///     nested_row_splits: vec![vec![0, 3, 3, 5]],
    ///     uniform_row_lengths: vec![None],
    ///     inner_shape: vec![5],
    ///     values: HostValues::I32(vec![1, 2, 3, 4, 5]),
    /// }
    /// .to_device(&Device::cpu())?;
    /// let tails = x.slice(s![.., 1..])?.to_host()?;
    /// assert_eq!(tails.nested_row_splits, [[0, 2, 2, 3]]);
    /// assert_eq!(tails.values, HostValues::I32(vec![2, 3, 5]));
    /// assert_eq!(x.slice(s![0, ..;-1])?.to_host()?.values, HostValues::I32(vec![3, 2, 1]));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn slice(&self, index: impl AsRef<[Index]>) -> Result<Self> {
        let mut keys = Vec::with_capacity(self.rank());
        let mut left = self.rank();
        let items = index.as_ref();
        for (k, item) in items.iter().enumerate() {
            match *item {
                Index::NewAxis => {
                    keys.push(Key::NewAxis);
                    continue;
                }
                Index::Ellipsis => {
                    let others = items[k + 1..].iter().filter(|i| !matches!(i, Index::NewAxis)).count();
                    let whole = left.saturating_sub(others);
                    keys.extend((0..whole).map(|_| Key::WHOLE));
                    left -= whole;
                    continue;
                }
                Index::At(i) => keys.push(Key::At(Place::Host(i))),
                Index::Slice { start, stop, step } => keys.push(Key::Slice(Span::new(start, stop, step))),
            }
            left = left.checked_sub(1).ok_or_else(|| {
                Error::argument(OP, format!("{} items for the {} dimensions of the tensor", items.len(), self.rank()))
            })?;
        }
        self.take(keys)
    }

    /// Row `index`, a scalar integer tensor; negative ones count from the end. As [`Tensor::slice`] with one integer
    /// that only the device knows.
    ///
    /// Nothing waits for the index, so the size of the row is known on the device only.
    ///
    /// TensorFlow: `RaggedTensor.__getitem__` with a tensor.
    ///
    /// # Errors
    /// `index` is no scalar of i32 or i64, or on another device; the tensor is a scalar. At the read: out of range.
    ///
    /// ```
    /// # use ragged::{Device, HostTensor, HostValues};
    /// # fn main() -> ragged::Result<()> {
    /// let device = Device::cpu();
    /// let x = HostTensor::dense(&[3], HostValues::F32(vec![1.0, 2.0, 3.0])).to_device(&device)?;
    /// let last = HostTensor::dense(&[], HostValues::I64(vec![-1])).to_device(&device)?;
    /// assert_eq!(x.row_at(&last)?.to_host()?.values, HostValues::F32(vec![3.0]));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn row_at(&self, index: &Self) -> Result<Self> {
        crate::device::Device::check_same(OP, self.backend(), index.backend())?;
        if !matches!(index.dtype(), DType::I32 | DType::I64) {
            return Err(Error::unsupported(OP, index.dtype(), "an index is i32 or i64"));
        }
        if index.rank() != 0 || self.rank() == 0 {
            let what = format!("it takes a scalar to index a tensor of rank 1 or more, not {}", index.shape_text());
            return Err(Error::argument(OP, what));
        }
        self.take(vec![Key::At(Place::Device(index.numbers(OP)?.clone()))])
    }

    /// The part that the keys name, at most one that is no [`Key::NewAxis`] for each dimension.
    #[track_caller]
    fn take(&self, mut keys: Vec<Key>) -> Result<Self> {
        let for_dimension = |k: &Key| !matches!(k, Key::NewAxis);
        let is_whole = |k: &Key| matches!(k, Key::Slice(Some(span)) if *span == Span::FULL);
        // Whole inner dimensions behind all other keys stay inner; what is in question gets a partition each.
        while keys.iter().filter(|k| for_dimension(k)).count() > self.named_rank() && keys.last().is_some_and(is_whole)
        {
            keys.pop();
        }
        let named = keys.iter().filter(|k| for_dimension(k)).count();
        keys.extend((named..self.named_rank()).map(|_| Key::WHOLE));
        let mut dims = named.max(self.named_rank());
        if dims < self.rank() && keys.iter().all(|k| matches!(k, Key::At(_))) {
            keys.push(Key::WHOLE);
            dims += 1;
        }
        let source = self.deepened(dims.saturating_sub(self.named_rank()))?;
        let mut walk = Walk {
            source: &source,
            ragged_rank: self.ragged_rank(),
            depth: 0,
            count: Extent::known(1),
            from: From::Run(Expr::u32(0)),
            dims: Vec::with_capacity(keys.len()),
            ragged: 0,
            rowed: false,
            asserts: Vec::new(),
        };
        for (k, key) in keys.iter().enumerate() {
            match key {
                Key::NewAxis => walk.dims.push(RowPartition::uniform(1, walk.count.clone())?),
                Key::At(place) => walk.at(place)?,
                Key::Slice(span) => {
                    let ragged_follows = walk.ragged_follows(&keys[k + 1..]);
                    let no_rows = walk.rowed && walk.count.as_known() == Some(0);
                    let span = span.or(no_rows.then_some(Span::FULL));
                    let span = span.ok_or_else(|| Error::argument(OP, "a slice's step must not be 0"))?;
                    walk.slice(&span, ragged_follows)?;
                }
            }
        }
        walk.finish()
    }

    /// `count` rows from row `start` on, an expression that reads arrays at fixed positions only. They stand side by
    /// side: no scan and no search, whoever knows where they are.
    pub(super) fn rows_from(&self, start: &Expr, count: Extent) -> Result<Self> {
        let backend = self.backend();
        let (mut start, mut count) = (start.clone(), count);
        let mut partitions = Vec::with_capacity(self.ragged_rank());
        for p in self.partitions() {
            let (taken, first) = run_of_rows(backend, p, &start, &count)?;
            start = settled(backend, first);
            count = taken.nvals_extent().clone();
            partitions.push(taken);
        }
        let width = self.width();
        let numbers = count.times(OP, u64::from(width))?;
        let start = start.mul(Expr::u32(width));
        let values = run_of_values(backend, self.values_ref(), &start, &numbers, &self.count()?)?;
        Self::new(backend, partitions, Some(count), self.inner().to_vec(), values)
    }

    /// Dimensions that are rows of partitions, or the outermost.
    fn named_rank(&self) -> usize {
        if self.rank() == 0 { 0 } else { 1 + self.ragged_rank() }
    }

    /// The same tensor with the partitions below `ragged_rank` as inner dimensions, which they are if uniform.
    pub(crate) fn shallowed(&self, op: &'static str, ragged_rank: usize) -> Result<Self> {
        let (kept, uniform) = self.partitions().split_at(ragged_rank.min(self.ragged_rank()));
        let mut inner = Vec::with_capacity(uniform.len() + self.inner().len());
        for p in uniform {
            let size = p.uniform_row_length();
            inner.push(size.ok_or_else(|| Error::argument(op, "a ragged dimension cannot be an inner dimension"))?);
        }
        let outer = uniform.first().map(|p| p.nrows_extent().clone()).or_else(|| self.outer().cloned());
        inner.extend(self.inner());
        Self::new(self.backend(), kept.to_vec(), outer, inner, self.values_ref().clone())
    }
}

/// Where the elements at some depth come from.
#[derive(Debug, Clone)]
enum From {
    /// They stand side by side, from that position on (an expression without `Index`).
    Run(Expr),
    /// Each from the position in that array.
    Each(Node),
}

impl From {
    /// Where element `i` comes from.
    fn at(&self, i: Expr) -> Expr {
        match self {
            Self::Run(start) => i.add(start.clone()),
            Self::Each(node) => Expr::load(node, i),
        }
    }
}

/// A walk down the dimensions, from one row that holds everything: what is taken so far, and under which partitions.
struct Walk<'a> {
    source: &'a Tensor,
    /// Partitions that are the tensor's own, not inner dimensions in disguise.
    ragged_rank: usize,
    /// How many of the source's dimensions are passed.
    depth: usize,
    /// How many elements there are here, and where they come from.
    count: Extent,
    from: From,
    /// The dimensions of the result so far; the first is one row of everything.
    dims: Vec<RowPartition>,
    /// Up to which of them they are partitions, not inner dimensions.
    ragged: usize,
    /// Whether a dimension of the source is among them. Until then there is one row to look at, not many.
    rowed: bool,
    /// Conditions on places that only the device knows.
    asserts: Vec<Node>,
}

impl Walk<'_> {
    fn backend(&self) -> &BackendRef {
        self.source.backend()
    }

    /// The partition of the next dimension; none above the outermost.
    fn partition(&self) -> Option<&RowPartition> {
        self.depth.checked_sub(1).and_then(|d| self.source.partitions().get(d))
    }

    /// Whether one of the keys to come makes a row of a partition of the result.
    fn ragged_follows(&self, keys: &[Key]) -> bool {
        let dims = keys.iter().filter(|k| !matches!(k, Key::NewAxis));
        dims.zip(self.depth + 1..=self.ragged_rank).any(|(k, _)| matches!(k, Key::Slice(_)))
    }

    /// The one row that there is to look at: where it starts and how long it is.
    fn one_row(&self) -> (Expr, Extent) {
        let Some(p) = self.partition() else { return (Expr::u32(0), self.source.nrows_extent()) };
        let row = self.from.at(Expr::u32(0));
        if let Some(len) = p.uniform_row_length() {
            return (p.start(row), Extent::known(len));
        }
        let known = row.as_u32().zip(p.host_splits());
        let ends = known.and_then(|(r, s)| s.get(r as usize).copied().zip(s.get(r as usize + 1).copied()));
        if let Some((start, end)) = ends {
            return (Expr::u32(start), Extent::known(end - start));
        }
        (p.start(row.clone()), Extent::bounded(longest(p), settled(self.backend(), p.length(row))))
    }

    /// The offset of a place in a row of that many, if it can be there.
    #[track_caller]
    fn offset(&mut self, place: &Place, size: &Extent) -> Result<Expr> {
        let (offset, ok) = match place {
            Place::Host(i) => {
                let magnitude = u32::try_from(i.unsigned_abs()).unwrap_or(u32::MAX);
                if let Some(n) = size.as_known() {
                    let at = if *i < 0 { i64::from(n) + i.max(&-i64::from(u32::MAX)) } else { *i };
                    if at < 0 || at >= i64::from(n) {
                        return Err(Error::Index { op: OP, index: *i, size: n.into(), at: None });
                    }
                    return Ok(Expr::u32(at as u32));
                }
                let (k, n) = (Expr::u32(magnitude), size.expr());
                if *i < 0 { (n.clone().sub(k.clone()), k.le(n)) } else { (k.clone(), k.lt(n)) }
            }
            Place::Device(node) => {
                let (v, n) = (Expr::load(node, Expr::u32(0)), size.expr());
                let zero = Expr::scalar(crate::graph::scalar::Scalar::from_i64(v.dtype(), 0));
                let negative = v.clone().lt(zero.clone());
                // The magnitude, as wide as the index is, so that nothing is cut off before it is compared.
                let wide = if v.dtype() == DType::I64 { DType::U64 } else { DType::U32 };
                let n_wide = n.clone().cast(wide);
                let in_front = zero.sub(v.clone()).bitcast(wide).le(n_wide.clone());
                let behind = v.clone().bitcast(wide).lt(n_wide);
                let at = v.cast(DType::U32);
                (negative.clone().select(n.add(at.clone()), at), negative.select(in_front, behind))
            }
        };
        if size.as_known() == Some(0) {
            return Err(Error::argument(OP, "an index into a dimension of size 0"));
        }
        let what = match place {
            Place::Host(i) => format!("index {i} is out of range for its dimension"),
            Place::Device(_) => "the index is out of range for its dimension".into(),
        };
        let assert = Node::assert(self.backend(), Extent::known(1), ok.clone(), Check::new(OP, what));
        self.asserts.push(assert.clone());
        // An array of its own, since sizes depend on it; within the dimension come what may, since splits are read there.
        let offset = ok.select(offset, Expr::u32(0));
        Ok(Expr::load(&Node::map(self.backend(), OP, Extent::known(1), offset, &[assert]), Expr::u32(0)))
    }

    /// One element of the next dimension.
    #[track_caller]
    fn at(&mut self, place: &Place) -> Result<()> {
        if !self.rowed {
            let (base, size) = self.one_row();
            let offset = self.offset(place, &size)?;
            self.from = From::Run(base.add(offset));
        } else {
            let Some(p) = self.partition().filter(|p| p.uniform_row_length().is_some()).cloned() else {
                let what = format!("dimension {} is ragged: its rows have no element in common", self.depth);
                return Err(Error::argument(OP, what));
            };
            let size = Extent::known(p.uniform_row_length().unwrap_or(0));
            let offset = self.offset(place, &size)?;
            let position = p.within(self.from.at(Expr::index()), offset);
            self.from = From::Each(Node::map(self.backend(), OP, self.count.clone(), position, &[]));
        }
        self.depth += 1;
        Ok(())
    }

    /// A slice of each row of the next dimension.
    fn slice(&mut self, span: &Span, ragged_follows: bool) -> Result<()> {
        let taken = match self.partition().cloned() {
            Some(p) if self.rowed => {
                if self.depth <= self.ragged_rank {
                    self.ragged = self.dims.len();
                }
                if let (true, From::Run(start)) = (*span == Span::FULL, &self.from) {
                    let (taken, start) = run_of_rows(self.backend(), &p, start, &self.count)?;
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

    /// A slice of the one row that there is.
    fn slice_one_row(&mut self, span: &Span, ragged_follows: bool) -> Result<RowPartition> {
        let (base, size) = self.one_row();
        let n = size.expr();
        let most = span.lengths((0, size.capacity())).map_or(size.capacity(), |(_, most)| most);
        let mut count = Extent::bounded(most, span.length(n.clone()));
        if count.as_known().is_none() && !self.dims.is_empty() && !ragged_follows {
            // An inner dimension of a dense result: its size is part of the type.
            let node = Node::map(self.backend(), OP, Extent::known(1), count.expr(), &self.asserts);
            count = Extent::known(bytemuck::pod_read_unaligned(&self.backend().read(&[node])?[0]));
        }
        self.from = match span.run_start(n.clone()) {
            Some(start) => From::Run(base.add(start)),
            None => {
                let position = base.add(span.offset(n, Expr::index()));
                From::Each(Node::map(self.backend(), OP, count.clone(), position, &[]))
            }
        };
        single_row(self.backend(), OP, count)
    }

    /// A slice of each of many rows.
    fn slice_rows(&mut self, p: &RowPartition, span: &Span) -> Result<RowPartition> {
        let backend = self.backend().clone();
        let length = |row: Expr| p.length(self.from.at(row));
        let taken = if let Some(len) = p.uniform_row_length() {
            let len = span.length(Expr::u32(len)).as_u32().unwrap_or(0);
            RowPartition::uniform(len, self.count.clone())?
        } else {
            let lengths = p.known_lengths().and_then(|l| span.lengths(l));
            let most = lengths.map_or(u64::MAX, |(_, most)| u64::from(most) * u64::from(self.count.capacity()));
            let capacity = most.min(p.nvals_extent().capacity().into()) as u32;
            let new = match lengths {
                Some((least, most)) if least == most => Expr::u32(most),
                _ => span.length(length(Expr::index())),
            };
            let mut taken = RowPartition::from_lengths(&backend, OP, &self.count, new, capacity)?.with_lengths(lengths);
            if let (From::Run(start), Some((shortest, _))) = (&self.from, p.known_lengths()) {
                let all = start.as_u32() == Some(0) && &self.count == p.nrows_extent();
                let lost = span.loss(shortest).filter(|_| all);
                if let (Some(lost), Some(rows), Some(nvals)) = (lost, p.nrows(), p.nvals()) {
                    taken = taken.with_nvals(Extent::known(nvals - lost * rows));
                }
            }
            taken
        };
        let (row, offset) = (taken.row_of(Expr::index()), taken.offset_of(Expr::index()));
        let position = p.within(self.from.at(row.clone()), span.offset(length(row), offset));
        self.from = From::Each(Node::map(&backend, OP, taken.nvals_extent().clone(), position, &[]));
        Ok(taken)
    }

    /// The tensor of all that was taken.
    fn finish(self) -> Result<Tensor> {
        let (backend, inner) = (self.source.backend(), self.source.inner());
        let width: u32 = inner.iter().product();
        let values = self.source.values_ref();
        let numbers = self.count.times(OP, u64::from(width))?;
        let taken = match &self.from {
            From::Run(start) if self.asserts.is_empty() => {
                run_of_values(backend, values, &start.clone().mul(Expr::u32(width)), &numbers, &self.source.count()?)?
            }
            from => {
                let by = Expr::u32(width.max(1));
                let element = from.at(Expr::index().div(by.clone()));
                let pick = Pick::From(values, self.source.flat(element, Expr::index().rem(by)));
                let bound = BytesBound::AtMost(values.bytes_capacity());
                Values::rearranged(backend, OP, &numbers, &pick, bound, &self.asserts)?
            }
        };
        let mut dims = self.dims.into_iter();
        let outer = dims.next().map(|_| self.count);
        let out = Tensor::new(backend, dims.collect(), outer, inner.to_vec(), taken)?;
        out.shallowed(OP, self.ragged)
    }
}

/// One row of that many.
pub(crate) fn single_row(backend: &BackendRef, op: &'static str, count: Extent) -> Result<RowPartition> {
    let one = Extent::known(1);
    match count.as_known() {
        Some(size) => RowPartition::uniform(size, one),
        None => {
            let rows = RowPartition::from_lengths(backend, op, &one, count.expr(), count.capacity())?;
            Ok(rows.with_nvals(count))
        }
    }
}

/// A count that reads arrays at fixed positions only, as the count of an extent must: where it does not, it becomes
/// an array itself.
fn settled(backend: &BackendRef, count: Expr) -> Expr {
    let mut fixed = true;
    for_each_expr(&count, &mut |e| {
        fixed &= !matches!(e.kind(), ExprKind::Load(_, at) if at.as_u32().is_none());
    });
    if fixed {
        return count;
    }
    Expr::load(&Node::map(backend, OP, Extent::known(1), count, &[]), Expr::u32(0))
}

/// The longest that a row can be.
fn longest(p: &RowPartition) -> u32 {
    let nvals = p.nvals_extent().capacity();
    p.known_lengths().map_or(nvals, |(_, longest)| longest.min(nvals))
}

/// The rows from `start` on, and where their values start: no scan and no search, for what stands side by side.
fn run_of_rows(backend: &BackendRef, p: &RowPartition, start: &Expr, count: &Extent) -> Result<(RowPartition, Expr)> {
    if start.as_u32() == Some(0) && count == p.nrows_extent() {
        return Ok((p.clone(), Expr::u32(0)));
    }
    if let Some(len) = p.uniform_row_length() {
        return Ok((RowPartition::uniform(len, count.clone())?, p.start(start.clone())));
    }
    let end = start.clone().add(count.expr());
    let known = |at: &Expr| p.host_splits().zip(at.as_u32()).and_then(|(s, at)| s.get(at as usize).copied());
    let first = match (known(start), start.as_u32()) {
        (Some(first), _) => Expr::u32(first),
        (None, Some(0)) => Expr::u32(0),
        _ => p.start(start.clone()),
    };
    let last = known(&end).map_or_else(|| p.start(end), Expr::u32);
    let most = u64::from(longest(p)) * u64::from(count.capacity());
    let capacity = most.min(p.nvals_extent().capacity().into()) as u32;
    let nvals = Extent::bounded(capacity, settled(backend, last.sub(first.clone())));
    let from = p.start(Expr::index().add(start.clone())).sub(first.clone());
    let taken = RowPartition::from_starts(backend, OP, count, &from, capacity, &[])?.with_nvals(nvals);
    Ok((taken.with_lengths(p.known_lengths()), first))
}

/// The values from `start` on; all of them are what they are.
fn run_of_values(backend: &BackendRef, values: &Values, start: &Expr, count: &Extent, all: &Extent) -> Result<Values> {
    if start.as_u32() == Some(0) && count == all {
        return Ok(values.clone());
    }
    let read = |node: &Node, count: Extent, start: &Expr| {
        Node::map(backend, OP, count, Expr::load(node, Expr::index().add(start.clone())), &[])
    };
    Ok(match values {
        Values::Numbers(node) => Values::Numbers(read(node, count.clone(), start)),
        Values::Strings { strings, bytes } => {
            let (strings, start) = run_of_rows(backend, strings, start, count)?;
            let bytes = read(bytes, strings.nvals_extent().clone(), &start);
            Values::Strings { strings, bytes }
        }
    })
}

impl<T: Element> RaggedTensor<T> {
    /// As [`Tensor::slice`].
    ///
    /// # Errors
    /// As [`Tensor::slice`].
    #[track_caller]
    pub fn slice(&self, index: impl AsRef<[Index]>) -> Result<Self> {
        self.erased().slice(index)?.try_into()
    }

    /// As [`Tensor::row_at`].
    ///
    /// # Errors
    /// As [`Tensor::row_at`].
    #[track_caller]
    pub fn row_at(&self, index: &Tensor) -> Result<Self> {
        self.erased().row_at(index)?.try_into()
    }
}

#[cfg(test)]
mod tests {
    use crate::device::Device;
    use crate::graph::plan::{Longs, PlanLimits, plan};
    use crate::s;
    use crate::tensor::{HostTensor, HostValues, Tensor};

    fn example() -> Tensor {
        let host = HostTensor {
            nested_row_splits: vec![vec![0, 3, 3, 4, 8]],
            uniform_row_lengths: vec![None],
            inner_shape: vec![8],
            values: HostValues::I32((0..8).collect()),
        };
        host.to_device(&Device::cpu()).unwrap()
    }

    #[test]
    fn slices_that_keep_as_many_share_their_partition() {
        let x = example();
        let same = |a: &Tensor, b: &Tensor| a.partitions()[0].same(&b.partitions()[0]);
        let (front, back) = (x.slice(s![.., ..-1]).unwrap(), x.slice(s![.., 1..]).unwrap());
        assert!(same(&front, &back));
        assert!(same(&x.slice(s![.., ..;-1]).unwrap(), &x.slice(s![.., ..;-1]).unwrap()));
        assert!(same(&x, &x.slice(s![..]).unwrap()));
        assert!(!same(&x, &back));
    }

    #[test]
    fn what_stands_side_by_side_needs_no_scan_and_has_known_sizes() {
        let x = example();
        let part = x.slice(s![1..3]).unwrap();
        assert_eq!((part.partitions()[0].nrows(), part.partitions()[0].nvals()), (Some(2), Some(1)));
        let row = x.slice(s![-1]).unwrap();
        assert_eq!(row.shape(), [Some(4)]);
        let limits = PlanLimits { storage_buffers: 8, fuse: true, longs: Longs::Native };
        // The values alone; and for rows the splits.
        assert_eq!(plan(&row.nodes().unwrap(), limits).steps.len(), 1);
        assert_eq!(plan(&part.nodes().unwrap(), limits).steps.len(), 2);
        // All of it is what it was.
        assert!(plan(&x.slice(s![.., ..]).unwrap().nodes().unwrap(), limits).steps.is_empty());
    }
}
