//! Taking rows: the rearrangement that slices, gathers, concatenations and tiles are made of.

use crate::error::Result;
use crate::graph::backend::BackendRef;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::shape::RowPartition;
use crate::tensor::{BytesBound, Pick, Tensor, Values};

/// Whether a row may be taken more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeats {
    /// Each row at most once: the result is no larger than its source.
    Never,
    /// Any number of times. Where nothing bounds the result usefully this costs a wait for its size.
    Maybe,
}

/// Capacities up to this many elements are taken as they are, however few of them are used.
const SMALL: u64 = 1 << 16;
/// Larger capacities may be this many times the source's size before the exact size is asked for.
const SLACK: u64 = 2;

impl Tensor {
    /// The tensor of `count` rows whose row `k` is row `row` (an expression in `k`) of this one.
    ///
    /// One scan a ragged level, whose splits the level below takes its positions from; values are one map.
    pub(crate) fn take_rows(
        &self,
        op: &'static str,
        count: Extent,
        row: Expr,
        repeats: Repeats,
        asserts: &[Node],
    ) -> Result<Self> {
        let backend = self.backend();
        let mut count = count;
        // As a node of its own, the index may be stored if many levels read it.
        let mut from = Node::map(backend, op, count.clone(), row, asserts);
        let mut partitions = Vec::with_capacity(self.ragged_rank());
        for p in self.partitions() {
            let at = Expr::load(&from, Expr::index());
            let taken = match p.uniform_row_length() {
                Some(len) => RowPartition::uniform(len, count.clone())?,
                None => {
                    let length = p.length(at);
                    level_below(backend, op, p, &count, length, repeats)?
                }
            };
            let (row, offset) = (taken.row_of(Expr::index()), taken.offset_of(Expr::index()));
            count = taken.nvals_extent().clone();
            from = Node::map(backend, op, count.clone(), p.within(Expr::load(&from, row), offset), &[]);
            partitions.push(taken);
        }
        let width = self.width();
        let element = Expr::index().div(Expr::u32(width.max(1)));
        let number = Expr::index().rem(Expr::u32(width.max(1)));
        let at = self.flat(Expr::load(&from, element), number);
        let bound = match repeats {
            Repeats::Never => BytesBound::AtMost(self.values_ref().bytes_capacity()),
            Repeats::Maybe => BytesBound::Unknown,
        };
        let numbers = count.times(op, u64::from(width))?;
        // On the values too: rows without any read no index.
        let values = Values::rearranged(backend, op, &numbers, &Pick::From(self.values_ref(), at), bound, asserts)?;
        Self::new(backend, partitions, Some(count), self.inner().to_vec(), values)
    }

    /// The same tensor with its first `n` inner dimensions as uniform partitions.
    ///
    /// # Panics
    /// If there are fewer.
    pub(crate) fn deepened(&self, n: usize) -> Result<Self> {
        let mut partitions = self.partitions().to_vec();
        let mut outer = self.outer().cloned().unwrap_or_else(|| Extent::known(1));
        for &dim in &self.inner()[..n] {
            let p = RowPartition::uniform(dim, outer)?;
            outer = p.nvals_extent().clone();
            partitions.push(p);
        }
        Self::new(self.backend(), partitions, Some(outer), self.inner()[n..].to_vec(), self.values_ref().clone())
    }

    /// The tensor below the outermost partition: its rows, one after another.
    pub(crate) fn values_below(&self) -> Result<Self> {
        let partitions = self.partitions().get(1..).unwrap_or_default().to_vec();
        let (outer, inner) = (self.outer().cloned(), self.inner().to_vec());
        Self::new(self.backend(), partitions, outer, inner, self.values_ref().clone())
    }

    /// This tensor as the rows of one more, outermost partition.
    pub(crate) fn under(&self, partition: RowPartition) -> Result<Self> {
        let mut partitions = vec![partition];
        partitions.extend(self.partitions().iter().cloned());
        let outer = self.outer().cloned().unwrap_or_else(|| Extent::known(1));
        Self::new(self.backend(), partitions, Some(outer), self.inner().to_vec(), self.values_ref().clone())
    }
}

/// The partition of `count` rows with those lengths, each the length of some row of `source`.
pub(crate) fn level_below(
    backend: &BackendRef,
    op: &'static str,
    source: &RowPartition,
    count: &Extent,
    length: Expr,
    repeats: Repeats,
) -> Result<RowPartition> {
    let nvals = u64::from(source.nvals_extent().capacity());
    let longest = source.known_lengths().map(|(_, longest)| longest);
    let at_most = longest.map(|l| u64::from(count.capacity()) * u64::from(l));
    let capacity = match (repeats, at_most) {
        (Repeats::Never, m) => Some(m.map_or(nvals, |m| m.min(nvals))),
        (Repeats::Maybe, Some(m)) if m <= SMALL.max(SLACK * nvals) => Some(m),
        (Repeats::Maybe, _) if nvals == 0 => Some(0),
        _ => None,
    };
    if let Some(capacity) = capacity {
        return Ok(RowPartition::from_lengths(backend, op, count, length, capacity as u32)?
            .with_lengths(longest.map(|l| (0, l))));
    }
    let taken = RowPartition::from_lengths(backend, op, count, length, u32::MAX - 1)?;
    if taken.nvals().is_some() {
        return Ok(taken);
    }
    let total = Node::map(backend, op, Extent::known(1), taken.nvals_extent().expr(), &[]);
    let read = backend.read(&[total])?;
    let nvals = Extent::known(bytemuck::pod_read_unaligned(&read[0]));
    Ok(taken.with_nvals(nvals).with_lengths(longest.map(|l| (0, l))))
}
