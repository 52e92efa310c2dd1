//! Gather of rows, and conversions between partitions and inner dimensions.

use crate::error::Result;
use crate::graph::conditions::unconditional;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::shape::RowPartition;
pub(crate) use crate::shape::{Repeats, level_below};
use crate::tensor::{BytesBound, Pick, Tensor};

impl Tensor {
    /// Gathers `count` rows: row `k` of the result is row `row` of this tensor, where `row` is an expression in `k`.
    ///
    /// Costs one prefix sum per ragged level, from whose splits the level below takes its positions, and one map over
    /// the values.
    pub(crate) fn take_rows(
        &self,
        rec: Recorder<'_>,
        count: Extent,
        row: Expr,
        repeats: Repeats,
        asserts: &[Node],
    ) -> Result<Self> {
        let mut count = count;
        // A separate node, so that the index may be stored if many levels read it.
        let mut from = rec.map(count.clone(), row.clone(), asserts);
        // The index without its conditions, for the levels below the first ragged one: the prefix sum of that level
        // evaluates the conditions for every row.
        let mut bare = rec.map(count.clone(), unconditional(&row), asserts);
        let mut partitions = Vec::with_capacity(self.ragged_rank());
        for p in self.partitions() {
            let at = Expr::load(&from, Expr::index());
            let taken = match p.uniform_size() {
                Some(len) => rec.uniform_rows(len, count.clone())?,
                None => {
                    let length = p.length(at);
                    rec.at(level_below(rec, p, &count, length, repeats))?
                }
            };
            let (row, offset) = (taken.row_of(Expr::index()), taken.offset_of(Expr::index()));
            count = taken.nvals_extent().clone();
            let below = |from: &Node| {
                let position = p.within(Expr::load(from, row.clone()), offset.clone());
                rec.map(count.clone(), position, &[])
            };
            (from, bare) = match p.uniform_length() {
                Some(_) => (below(&from), below(&bare)),
                None => (below(&bare), below(&bare)),
            };
            partitions.push(taken);
        }
        let width = self.width_size();
        let element = Expr::index().div(Expr::size(&width.max(1)));
        let number = Expr::index().rem(Expr::size(&width.max(1)));
        let at = self.flat(Expr::load(&from, element), number);
        let bound = match repeats {
            Repeats::Never => BytesBound::AtMost(self.values_ref().bytes_size()),
            Repeats::Maybe => BytesBound::Unknown,
        };
        let numbers = rec.times_size(&count, &width)?;
        // The values carry the conditions as well: rows without values read no index.
        let values = rec.rearranged(&numbers, &Pick::From(self.values_ref(), at), bound, asserts)?;
        rec.tensor(partitions, Some(count), self.inner().clone(), values)
    }

    /// Converts the first `n` inner dimensions to uniform partitions.
    ///
    /// # Panics
    /// If the tensor has fewer inner dimensions.
    #[track_caller]
    pub(crate) fn inner_to_partitions(&self, n: usize) -> Result<Self> {
        let mut partitions = self.partitions().to_vec();
        let mut outer = self.outer().cloned().unwrap_or_else(|| Extent::known(1));
        for dim in &self.inner().sizes()[..n] {
            let p = RowPartition::uniform(dim, outer)?;
            outer = p.nvals_extent().clone();
            partitions.push(p);
        }
        Self::new(
            self.backend(),
            partitions,
            Some(outer),
            self.inner().sizes()[n..].to_vec(),
            self.values_ref().clone(),
        )
    }

    /// The tensor without its outermost partition: the elements of all its rows, concatenated.
    #[track_caller]
    pub(crate) fn values_below(&self) -> Result<Self> {
        let partitions = self.partitions().get(1..).unwrap_or_default().to_vec();
        let (outer, inner) = (self.outer().cloned(), self.inner().clone());
        Self::new(self.backend(), partitions, outer, inner, self.values_ref().clone())
    }

    /// This tensor below one more, outermost partition.
    #[track_caller]
    pub(crate) fn under(&self, partition: RowPartition) -> Result<Self> {
        let mut partitions = vec![partition];
        partitions.extend(self.partitions().iter().cloned());
        let outer = self.outer().cloned().unwrap_or_else(|| Extent::known(1));
        Self::new(self.backend(), partitions, Some(outer), self.inner().clone(), self.values_ref().clone())
    }
}
