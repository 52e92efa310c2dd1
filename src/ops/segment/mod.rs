//! Segment aggregates: a deterministic scatter-reduce of rows by id.

pub(super) mod gathered;
pub(super) mod means;
pub(super) mod operations;
pub(super) mod segment_ids;

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::opcode::{ReduceOp, UnaryOp};
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::graph::size::RecordedSize;
use crate::math::MathFn;
use crate::ops::indexing::gather::in_range;
use crate::ops::reduce::{extreme_float, extreme_integer, mean_dtype, mean_in, total};
use crate::record::by_key::{ByKey, number_of_keys, reduce_rows};
use crate::shape::{RaggedShape, RowPartition, same_layout};
use crate::tensor::{Tensor, Values, counts_below};

/// Aggregation of the values of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aggregate {
    Sum,
    Prod,
    Min,
    Max,
    Mean,
    /// The mean in a float dtype of choice.
    MeanAs(DType),
    SqrtN,
}

impl Aggregate {
    /// The aggregates of the numbers `x`, of which there are at most `most`. `reduce` reduces the numbers of each
    /// result, and `count` is how many each result has.
    pub(crate) fn of(
        self,
        rec: Recorder<'_>,
        x: Expr,
        most: u32,
        count: &Expr,
        reduce: impl Fn(ReduceOp, Expr) -> Result<Expr>,
    ) -> Result<Expr> {
        let dtype = x.dtype();
        if dtype == DType::Bool {
            let by = match self {
                Self::Min => ReduceOp::Min,
                Self::Max => ReduceOp::Max,
                _ => return Err(rec.unsupported(dtype, "cast it to a number")),
            };
            return Ok(reduce(by, x.cast(DType::U32))?.ne(Expr::u32(0)));
        }
        let by = match self {
            Self::Sum => ReduceOp::Sum,
            Self::Prod => ReduceOp::Prod,
            Self::Min => ReduceOp::Min,
            Self::Max => ReduceOp::Max,
            Self::Mean | Self::MeanAs(_) | Self::SqrtN => {
                let dtype = if let Self::MeanAs(to) = self { to } else { mean_dtype(rec, dtype)? };
                let float = mean_in(rec, x.dtype(), dtype)?;
                let (total, count) = (total(|x| reduce(ReduceOp::Sum, x), most, &x, float)?, count.clone().cast(float));
                let root = |n: Expr| n.unary(UnaryOp::Math(MathFn::Sqrt));
                return Ok(total.quotient(if self == Self::SqrtN { root(count) } else { count }).cast(dtype));
            }
        };
        let x = x.cast(dtype.accumulator());
        Ok(match self {
            Self::Min | Self::Max if dtype.is_float() => extreme_float(dtype, by, reduce(by, x)?),
            Self::Min | Self::Max => extreme_integer(dtype, reduce(by, x)?),
            _ => reduce(by, x)?.cast(dtype),
        })
    }

    /// Whether it divides by the number of members.
    fn is_mean(self) -> bool {
        matches!(self, Self::Mean | Self::MeanAs(_) | Self::SqrtN)
    }

    /// `value`, or 0 where `count` is 0.
    pub(crate) fn or_zero(value: Expr, count: Expr) -> Expr {
        let zero = Expr::scalar(Scalar::from_i64(value.dtype(), 0));
        count.eq(Expr::u32(0)).select(zero, value)
    }
}

/// The leading dimensions of the data: `ragged_rank` partitions and `inner` inner dimensions.
fn prefix(rec: Recorder<'_>, data: &Tensor, ragged_rank: usize, inner: usize) -> Result<RaggedShape> {
    let partitions = data.partitions()[..ragged_rank].to_vec();
    let outer = match (partitions.last(), data.partitions().first()) {
        (Some(p), _) => Some(p.nvals_extent().clone()),
        (None, Some(p)) => Some(p.nrows_extent().clone()),
        (None, None) => data.outer().cloned(),
    };
    RaggedShape::of_parts(rec, partitions, outer, data.inner()[..inner].to_vec(), Vec::new())
}

/// Checks that the shape of the ids is a prefix of the data's shape. Returns the conditions that only the device can
/// check.
fn same_prefix(rec: Recorder<'_>, data: &Tensor, ids: &Tensor) -> Result<Vec<Node>> {
    let location = rec.location;
    let misfit = |what: &str| {
        Err(Error::Shape {
            op: rec.op,
            lhs: data.shape_text(),
            rhs: ids.shape_text(),
            what: format!("the ids {what}"),
            location,
        })
    };
    if data.backend().id() != ids.backend().id() {
        return Err(Error::Devices {
            op: rec.op,
            lhs: data.backend().name().into(),
            rhs: ids.backend().name().into(),
            location: rec.location,
        });
    }
    if ids.rank() > data.rank() || ids.ragged_rank() > data.ragged_rank() {
        return misfit("have more dimensions than the data");
    }
    if data.ragged_rank() > ids.ragged_rank() && (!ids.inner().is_empty() || ids.rank() == 0) {
        return misfit("of data with ragged dimensions below them must be a vector, or rows of numbers");
    }
    let inner = ids.inner().len();
    if inner > data.inner().len() {
        return misfit("have more dimensions than the data");
    }
    if ids.rank() == 0 {
        return if data.rank() == 0 { Ok(Vec::new()) } else { misfit("have no dimension to go by") };
    }
    same_layout(rec, &prefix(rec, data, ids.ragged_rank(), inner)?, ids.ragged_shape())
}

/// Grouping of the data by segment, with the shape of the result.
pub(super) struct Segments {
    pub(super) keys: ByKey,
    /// Partitions, size and inner dimensions of the result.
    pub(super) parts: Vec<RowPartition>,
    pub(super) outer: Extent,
    pub(super) inner: Vec<u32>,
    /// Conditions on the ids.
    pub(super) asserts: Vec<Node>,
}

impl Segments {
    pub(super) fn new(rec: Recorder<'_>, data: &Tensor, ids: &Tensor, num_segments: i64) -> Result<Self> {
        if num_segments < 0 {
            return Err(rec.argument(format!("num_segments must not be negative, but is {num_segments}")));
        }
        let width = data.inner()[ids.inner().len().min(data.inner().len())..].iter().product();
        let num = number_of_keys(rec, num_segments as u64, width)?;
        let mut asserts = same_prefix(rec, data, ids)?;
        let id = id_of(rec, ids)?;
        let inside = in_range(&id, num.expr(), num.capacity());
        let (ok, what) = if data.ragged_rank() > ids.ragged_rank() {
            (inside.clone(), "segment ids must be at least 0 and below num_segments")
        } else {
            (inside.clone().or(is_negative(&id)), "segment ids must be below num_segments")
        };
        let count = rec.count(ids)?;
        asserts.push(rec.assert(count.clone(), ok, rec.check(what)));
        // Elements of no segment get a key beyond all segments, which drops them. Read as unsigned, a negative id is one.
        let key = match id.dtype() {
            DType::I32 | DType::U32 if num.capacity() <= 1 << 31 => id.bitcast(DType::U32),
            _ => inside.select(id.cast(DType::U32), Expr::u32(u32::MAX)),
        };
        let key = rec.map(count.clone(), key, &asserts);
        let key = Expr::load(&key, Expr::index());
        let mut keys = ByKey::new(rec, &count, key, &num)?.in_tiles(rec, &count);
        let (mut parts, mut outer): (Vec<RowPartition>, _) = (Vec::new(), num);
        for below in &data.partitions()[ids.ragged_rank()..] {
            // A result row is as long as its longest member.
            let longest = keys.reduce(rec, ReduceOp::Max, 1, &below.length(Expr::index()))?;
            let capacity = below.nvals_extent().size();
            let part = rec.rows_of_lengths(&outer, Expr::load(&longest, Expr::index()), capacity)?;
            let key = part.within(keys.key(below.row_of(Expr::index())), below.offset_of(Expr::index()));
            outer = part.nvals_extent().clone();
            keys = ByKey::new(rec, below.nvals_extent(), key, &outer)?;
            parts.push(part);
        }
        let inner = data.inner()[ids.inner().len()..].to_vec();
        Ok(Self { keys, parts, outer, inner, asserts })
    }

    fn aggregate(self, rec: Recorder<'_>, data: &Tensor, what: Aggregate) -> Result<Tensor> {
        let width: u32 = self.inner.iter().product();
        let x = Expr::load(rec.numbers(data)?, Expr::index());
        let count = self.keys.count(Expr::index().div(Expr::u32(width.max(1))));
        let reduce = |by, value: Expr| Ok(Expr::load(&self.keys.reduce(rec, by, width, &value)?, Expr::index()));
        let mut value = what.of(rec, x, rec.count(data)?.capacity(), &count, reduce)?;
        if data.ragged_rank() == 0 && what.is_mean() {
            value = Aggregate::or_zero(value, count);
        }
        let numbers = rec.times(&self.outer, width)?;
        // The values carry the conditions as well, for results that would not check them otherwise.
        let values = rec.map(numbers, value, &self.asserts);
        rec.tensor(self.parts, Some(self.outer), self.inner, Values::Numbers(values))
    }
}

/// The id at `Index`.
fn id_of(rec: Recorder<'_>, ids: &Tensor) -> Result<Expr> {
    Ok(Expr::load(&rec.index_node(ids, "segment ids")?, Expr::index()))
}

fn is_negative(id: &Expr) -> Expr {
    id.clone().lt(Expr::scalar(Scalar::from_i64(id.dtype(), 0)))
}

impl Tensor {
    fn unsorted_segments(&self, rec: Recorder<'_>, ids: &Self, num_segments: i64, what: Aggregate) -> Result<Self> {
        Segments::new(rec, self, ids, num_segments)?.aggregate(rec, self, what)
    }

    /// Aggregates dense data by ascending ids. Without `num_segments`, the last id is that of the last segment.
    fn sorted_segments(
        &self,
        rec: Recorder<'_>,
        ids: &Self,
        num_segments: Option<i64>,
        what: Aggregate,
    ) -> Result<Self> {
        /// Clamp for ids: beyond every segment, below the sentinel of the search.
        const MOST: u32 = u32::MAX - 3;
        let (1, 0, Some(count)) = (ids.rank(), ids.ragged_rank(), ids.outer()) else {
            return Err(rec.argument(format!("ids must be a vector, but their shape is {}", ids.shape_text())));
        };
        if self.ragged_rank() > 0 {
            return Err(rec.argument("data must be dense; unsorted_segment_* take ragged data"));
        }
        let mut asserts = same_prefix(rec, self, ids)?;
        let id = id_of(rec, ids)?;
        let first = Expr::index().eq(Expr::u32(0));
        let before = id.at(&Expr::index().sub(Expr::u32(1)));
        // Ascending ids are negative only if the first one is.
        let ok = first.select(is_negative(&id).not(), before.le(id.clone()));
        asserts.push(rec.assert(count.clone(), ok, rec.check("segment ids must ascend from 0 on")));
        let key = |at: Expr| {
            let id = id.at(&at);
            in_range(&id, Expr::u32(MOST), MOST).select(id.cast(DType::U32), Expr::u32(MOST))
        };
        let segments = match num_segments {
            Some(n) if n < 0 => {
                return Err(rec.argument(format!("num_segments must not be negative, but is {n}")));
            }
            Some(n) => {
                let n = rec.given(n as u64)?;
                let inside = in_range(&id, n.expr(), n.capacity()).or(is_negative(&id));
                asserts.push(rec.assert(count.clone(), inside, rec.check("segment ids must be below num_segments")));
                n
            }
            None if count.capacity() == 0 => Extent::known(0),
            None => {
                // The outermost size of a dense result that only the device knows: waits for it.
                let last = key(count.expr().sub(Expr::u32(1))).add(Expr::u32(1));
                let segments = count.expr().eq(Expr::u32(0)).select(Expr::u32(0), last);
                Extent::given(rec.read_if(segments, &asserts)?)
            }
        };
        let below = rec.at(counts_below(rec, count, key))?;
        let entries = rec.plus(&segments, &Extent::known(1))?;
        let splits = rec.map(entries, Expr::row_of(&below, Expr::index()), &asserts);
        let part = RowPartition::from_splits_node(splits, segments.clone(), count.size()).with_nvals(count.clone());
        let width = self.width();
        let x = Expr::load(rec.numbers(self)?, Expr::index());
        let members = part.length(Expr::index().div(Expr::u32(width.max(1))));
        let reduce = |by: ReduceOp, value| {
            let node = reduce_rows(rec, by, part.domain(width), value)?;
            Ok(Expr::load(&node, Expr::index()))
        };
        let mut value = what.of(rec, x, self.count()?.capacity(), &members, reduce)?;
        if what.is_mean() || matches!(what, Aggregate::Min | Aggregate::Max) {
            value = Aggregate::or_zero(value, members);
        }
        // The values carry the conditions as well, for results that would not check them otherwise.
        let values = rec.map(rec.times(&segments, width)?, value, &asserts);
        rec.tensor(Vec::new(), Some(segments), self.inner().clone(), Values::Numbers(values))
    }
}
