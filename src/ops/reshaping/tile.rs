//! Repetition along dimensions: whole copies (`tile`), or each element several times (`repeat`).

use crate::element::Element;
use crate::error::{Error, Result, here};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::integer::Integer;
use crate::ops::operations;
use crate::shape::RowPartition;
use crate::tensor::{BytesBound, Pick, RaggedTensor, Tensor};

operations! {
    /// Repetition along dimensions.
    const OPERATIONS: family "Joining, repeating and shapes" on RaggedTensor<T> where T: Element;

    /// Repeats each element of `axis` `repeats` times in succession.
    ///
    /// Along axis 0 these are rows, along a ragged axis the elements of each row. Everything below an element is
    /// repeated with it. Any dtype; empty rows stay empty. With `repeats` 0 the dimension is left empty.
    /// [`tile`](Tensor::tile) repeats whole rows. TensorFlow takes dense tensors only.
    ///
    /// # Errors
    /// An axis out of range; negative `repeats`; a result of 2^32 elements or more.
    ///
    /// # Cost
    /// Index arithmetic: one map over the values, which fuses into its consumer, and a prefix sum per ragged dimension
    /// below the axis. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.repeat(2, 1)?.to_string(), "<ragged.RaggedTensor [[1, 1, 2, 2], [], [3, 3]]>");
    /// assert_eq!(x.repeat(2, 0)?.to_string(), "<ragged.RaggedTensor [[1, 2], [1, 2], [], [], [3], [3]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn repeat(&self, repeats: impl Integer as integer, axis: impl Integer as axis) -> T;
    alias "repeat_interleave", "repeat_by";
    tensorflow "tf.repeat";
    polars "Expr.repeat_by";
    gradient yes;
}

#[track_caller]
fn repeat(x: &Tensor, repeats: impl Integer, axis: impl Integer) -> Result<Tensor> {
    let rec = x.recorder(OP);
    let axis = axis.saturating_i64();
    let repeats = repeats.saturating_i64();
    const OP: &str = "repeat";
    let axis = x.axis(OP, axis)?;
    let Ok(times) = u64::try_from(repeats) else {
        return Err(Error::argument(OP, format!("repeats is {repeats}, but must not be negative")));
    };
    let multiples: Vec<u64> = (0..x.rank()).map(|d| if d == axis { times } else { 1 }).collect();
    x.grown(rec, &multiples, Order::Each)
}

/// Order of the repeated elements of a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// The whole dimension, then the dimension again.
    Copies,
    /// An element, then that element again.
    Each,
}

/// Repetition of a tensor.
impl Tensor {
    /// Repeats the tensor `multiples` times along its dimensions, one copy after another.
    ///
    /// One multiple per dimension. A row of a ragged dimension is repeated within itself. Any dtype. Row lengths are
    /// multiplied; uniform dimensions stay uniform, empty rows empty. A multiple of 0 empties its dimension, but keeps
    /// the rows above it.
    ///
    /// # Errors
    /// A number of multiples other than the number of dimensions; a negative multiple; a result of 2^32 elements or
    /// more.
    ///
    /// # Cost
    /// Index arithmetic: one map over the values, which fuses into its consumer. Rows that are repeated within
    /// themselves add one search per value, and one prefix sum per ragged dimension below. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.tile(&[1, 2])?.to_string(), "<ragged.RaggedTensor [[1, 2, 1, 2], [], [3, 3]]>");
    /// assert_eq!(x.tile(&[2, 0])?.to_string(), "<ragged.RaggedTensor [[], [], [], [], [], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.tile`.
    #[track_caller]
    pub fn tile<I: Integer>(&self, multiples: &[I]) -> Result<Self> {
        const OP: &str = "tile";
        let rec = self.recorder(OP);
        let multiples: Vec<i64> = multiples.iter().map(|m| m.saturating_i64()).collect();
        if multiples.len() != self.rank() {
            let what =
                format!("{} multiples for the {} dimensions of {}", multiples.len(), self.rank(), self.shape_text());
            return Err(Error::argument(OP, what));
        }
        let multiple = |(d, &m): (usize, &i64)| {
            u64::try_from(m)
                .map_err(|_| Error::argument(OP, format!("multiples[{d}] is {m}, but must not be negative")))
                .map_err(here())
        };
        let multiples: Vec<u64> = multiples.iter().enumerate().map(multiple).collect::<Result<_>>().map_err(here())?;
        self.grown(rec, &multiples, Order::Copies)
    }

    /// Repeats every dimension by its multiple, in the given order.
    fn grown(&self, rec: Recorder<'_>, multiples: &[u64], order: Order) -> Result<Self> {
        if multiples.iter().all(|&m| m == 1) {
            return Ok(self.clone());
        }
        let ragged = self.ragged_rank();
        let mut level = Level::outermost(rec, &self.nrows_extent(), multiples[0], order)?;
        let mut partitions = Vec::with_capacity(ragged);
        for (p, &m) in self.partitions().iter().zip(&multiples[1..]) {
            let (grown, below) = level.below(rec, p, m, order)?;
            partitions.push(grown);
            level = below;
        }
        let (inner, number) = self.grown_inside(rec, &multiples[1 + ragged..], order)?;
        let width = inner.iter().product::<u32>();
        let element = level.from.at(&Expr::index().div(Expr::u32(width.max(1))));
        let pick = Pick::From(self.values_ref(), self.flat(element, number));
        let all = multiples.iter().fold(1u64, |n, &m| n.saturating_mul(m));
        let bound = BytesBound::at_most(self.values_ref().bytes_capacity().saturating_mul(all));
        let numbers = rec.times(&level.count, width)?;
        let values = rec.rearranged(&numbers, &pick, bound, &[])?;
        rec.tensor(partitions, Some(level.count), inner, values)
    }

    /// The inner dimensions of the result; and the source's number within its element for each number of the result, an
    /// expression in its flat position.
    fn grown_inside(&self, rec: Recorder<'_>, multiples: &[u64], order: Order) -> Result<(Vec<u32>, Expr)> {
        let dim = |(&d, &m): (&u32, &u64)| Ok(rec.known(u64::from(d).saturating_mul(m))?.capacity());
        let inner: Vec<u32> = self.inner().iter().zip(multiples).map(dim).collect::<Result<_>>()?;
        // Checks the width of an element, even without elements, since the width enters the arithmetic.
        rec.known(inner.iter().fold(1u64, |n, &d| n.saturating_mul(u64::from(d.max(1)))))?;
        if multiples.iter().all(|&m| m == 1) {
            return Ok((inner, Expr::index().rem(Expr::u32(self.width().max(1)))));
        }
        let (mut stride, mut own_stride) = (1u32, 1u32);
        let mut number = Expr::u32(0);
        for ((&len, &grown), &m) in self.inner().iter().zip(&inner).zip(multiples).rev() {
            let place = Expr::index().div(Expr::u32(stride.max(1)));
            let own = match order {
                // Copies repeat with the length of the dimension as period.
                Order::Copies => place.rem(Expr::u32(len.max(1))),
                Order::Each => place.rem(Expr::u32(grown.max(1))).div(Expr::u32(m.max(1) as u32)),
            };
            number = own.mul(Expr::u32(own_stride)).add(number);
            (stride, own_stride) = (stride.saturating_mul(grown), own_stride.saturating_mul(len));
        }
        Ok((inner, number))
    }
}

/// The elements of one dimension of the result.
struct Level {
    count: Extent,
    /// The source element of each element, as an expression in its position.
    from: Expr,
    /// Number of occurrences of each source element.
    times: u64,
    /// Whether the elements are copies of the whole level, one after another.
    whole: bool,
}

impl Level {
    fn outermost(rec: Recorder<'_>, rows: &Extent, m: u64, order: Order) -> Result<Self> {
        let from = match order {
            _ if m == 1 => Expr::index(),
            Order::Copies => Expr::index().rem(rows.expr()),
            Order::Each => Expr::index().div(factor(m)),
        };
        Ok(Self { count: rec.at(rows.times(rec.op, m))?, from, times: m, whole: m == 1 || order == Order::Copies })
    }

    /// The partition of these elements, with rows `m` times as long as those of `p`, and the level of its values.
    fn below(&self, rec: Recorder<'_>, p: &RowPartition, m: u64, order: Order) -> Result<(RowPartition, Self)> {
        let times = self.times.saturating_mul(m);
        let nvals = rec.at(p.nvals_extent().times(rec.op, times))?;
        let grown = self.partition(rec, p, m, nvals.clone())?;
        if self.whole && m == 1 {
            let from = if times == 1 { Expr::index() } else { Expr::index().rem(p.nvals_extent().expr()) };
            return Ok((grown, Self { count: nvals, from, times, whole: true }));
        }
        let (row, offset) = (grown.row_of(Expr::index()), grown.offset_of(Expr::index()));
        let source = self.from.at(&row);
        let offset = match order {
            _ if m == 1 => offset,
            Order::Copies => offset.rem(p.length(source.clone())),
            Order::Each => offset.div(factor(m)),
        };
        // A separate node, which may be stored if it has many consumers.
        let from = rec.map(nvals.clone(), p.within(source, offset), &[]);
        Ok((grown, Self { count: nvals, from: Expr::load(&from, Expr::index()), times, whole: false }))
    }

    fn partition(&self, rec: Recorder<'_>, p: &RowPartition, m: u64, nvals: Extent) -> Result<RowPartition> {
        if let Some(len) = p.uniform_length() {
            let len = rec.known(u64::from(len).saturating_mul(m))?.capacity();
            return rec.uniform_rows(len, self.count.clone());
        }
        if self.whole && self.times == 1 && m == 1 {
            return Ok(p.clone());
        }
        let (capacity, times, m) = (nvals.size(), u32::try_from(m).unwrap_or(u32::MAX), factor(m));
        let partition = if self.whole {
            // The starts of the copies follow from those of one copy, without a prefix sum.
            let start = if self.times == 1 {
                p.start(Expr::index()).mul(m)
            } else {
                let (rows, values) = (p.nrows_extent().expr(), p.nvals_extent().expr());
                let copy = Expr::index().div(rows.clone());
                copy.mul(values).add(p.start(Expr::index().rem(rows))).mul(m)
            };
            rec.rows_of_starts(&self.count, &start, capacity, &[])?
        } else {
            let length = p.length(self.from.clone()).mul(m);
            rec.rows_of_lengths(&self.count, length, capacity)?
        };
        let lengths = p.known_lengths().and_then(|(a, b)| Some((a.checked_mul(times)?, b.checked_mul(times)?)));
        Ok(partition.with_nvals(nvals).with_lengths(lengths))
    }
}

/// A multiple as a factor of positions. A multiple beyond u32 becomes 0 and applies to no position: sizes are checked
/// before.
fn factor(m: u64) -> Expr {
    Expr::u32(u32::try_from(m).unwrap_or(0))
}

/// Repetition of a tensor.
impl<T: Element> RaggedTensor<T> {
    /// Repeats the tensor `multiples` times along its dimensions, one copy after another.
    ///
    /// One multiple per dimension. A row of a ragged dimension is repeated within itself. Any dtype. Row lengths are
    /// multiplied; uniform dimensions stay uniform, empty rows empty. A multiple of 0 empties its dimension, but keeps
    /// the rows above it.
    ///
    /// # Errors
    /// A number of multiples other than the number of dimensions; a negative multiple; a result of 2^32 elements or
    /// more.
    ///
    /// # Cost
    /// Index arithmetic: one map over the values, which fuses into its consumer. Rows that are repeated within
    /// themselves add one search per value, and one prefix sum per ragged dimension below. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.tile(&[1, 2])?.to_string(), "<ragged.RaggedTensor [[1, 2, 1, 2], [], [3, 3]]>");
    /// assert_eq!(x.tile(&[2, 0])?.to_string(), "<ragged.RaggedTensor [[], [], [], [], [], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.tile`.
    #[track_caller]
    pub fn tile<I: Integer>(&self, multiples: &[I]) -> Result<Self> {
        self.erased().tile(multiples)?.try_into()
    }
}
