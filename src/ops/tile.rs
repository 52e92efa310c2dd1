//! Repetition along dimensions: whole copies (`tile`), or each element several times (`repeat`).

use crate::element::Element;
use crate::error::{Error, Result};
use crate::graph::backend::BackendRef;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::shape::RowPartition;
use crate::tensor::{BytesBound, Pick, RaggedTensor, Tensor, Values};

/// Which elements of a dimension stand side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// The dimension, then the dimension again.
    Copies,
    /// An element, then that element again.
    Each,
}

impl Tensor {
    /// The tensor repeated that many times along each dimension, one copy behind the other; a row of a ragged dimension
    /// is repeated within itself.
    ///
    /// Any dtype. Row lengths are multiplied; uniform dimensions stay uniform, empty rows empty. Along a dimension
    /// whose multiple is 0 nothing is left, though the rows above it stay.
    ///
    /// # Errors
    /// Another number of multiples than of dimensions; a negative one; a result of 2^32 elements or more.
    ///
    /// # Cost
    /// An index function: one map over the values, which fuses into what reads it. Where rows are repeated within
    /// themselves, a search a value, and below that a scan for each ragged dimension; else no search and no scan. Never
    /// waits.
    ///
    /// ```
    /// # fn main() -> ragged::Result<()> {
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(vec![vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.tile(&[1, 2])?.to_string(), "<ragged.RaggedTensor [[1, 2, 1, 2], [], [3, 3]]>");
    /// assert_eq!(x.tile(&[2, 0])?.to_string(), "<ragged.RaggedTensor [[], [], [], [], [], []]>");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// TensorFlow: `tf.tile`.
    #[track_caller]
    pub fn tile(&self, multiples: &[i64]) -> Result<Self> {
        const OP: &str = "tile";
        if multiples.len() != self.rank() {
            let what =
                format!("{} multiples for the {} dimensions of {}", multiples.len(), self.rank(), self.shape_text());
            return Err(Error::argument(OP, what));
        }
        let multiple = |(d, &m): (usize, &i64)| {
            u64::try_from(m)
                .map_err(|_| Error::argument(OP, format!("multiples[{d}] is {m}, but must not be negative")))
        };
        let multiples: Vec<u64> = multiples.iter().enumerate().map(multiple).collect::<Result<_>>()?;
        self.grown(OP, &multiples, Order::Copies)
    }

    /// Each element of `axis` that many times in a row: rows along axis 0, the elements of each row along a ragged
    /// axis.
    ///
    /// Any dtype. Whatever lies below an element is repeated with it. With 0 the dimension is left empty.
    ///
    /// # Errors
    /// An axis out of range; a negative number; a result of 2^32 elements or more.
    ///
    /// # Cost
    /// As [`Tensor::tile`], with a scan for each ragged dimension below the axis. Never waits.
    ///
    /// ```
    /// # fn main() -> ragged::Result<()> {
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(vec![vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.repeat(2, 1)?.to_string(), "<ragged.RaggedTensor [[1, 1, 2, 2], [], [3, 3]]>");
    /// assert_eq!(x.repeat(2, 0)?.to_string(), "<ragged.RaggedTensor [[1, 2], [1, 2], [], [], [3], [3]]>");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// TensorFlow: `tf.repeat`, which takes dense tensors only.
    #[track_caller]
    pub fn repeat(&self, repeats: i64, axis: i64) -> Result<Self> {
        const OP: &str = "repeat";
        let axis = self.axis(OP, axis)?;
        let Ok(times) = u64::try_from(repeats) else {
            return Err(Error::argument(OP, format!("repeats is {repeats}, but must not be negative")));
        };
        let multiples: Vec<u64> = (0..self.rank()).map(|d| if d == axis { times } else { 1 }).collect();
        self.grown(OP, &multiples, Order::Each)
    }

    /// Every dimension so many times as long.
    fn grown(&self, op: &'static str, multiples: &[u64], order: Order) -> Result<Self> {
        if multiples.iter().all(|&m| m == 1) {
            return Ok(self.clone());
        }
        let (backend, ragged) = (self.backend(), self.ragged_rank());
        let mut level = Level::outermost(op, &self.nrows_extent(), multiples[0], order)?;
        let mut partitions = Vec::with_capacity(ragged);
        for (p, &m) in self.partitions().iter().zip(&multiples[1..]) {
            let (grown, below) = level.below(backend, op, p, m, order)?;
            partitions.push(grown);
            level = below;
        }
        let (inner, number) = self.grown_inside(op, &multiples[1 + ragged..], order)?;
        let width = inner.iter().product::<u32>();
        let element = level.from.at(&Expr::index().div(Expr::u32(width.max(1))));
        let pick = Pick::From(self.values_ref(), self.flat(element, number));
        let all = multiples.iter().fold(1u64, |n, &m| n.saturating_mul(m));
        let bound = BytesBound::at_most(self.values_ref().bytes_capacity().saturating_mul(all));
        let numbers = level.count.times(op, u64::from(width))?;
        let values = Values::rearranged(backend, op, &numbers, &pick, bound, &[])?;
        Self::new(backend, partitions, Some(level.count), inner, values)
    }

    /// The inner dimensions, and the number within its element that a number of the result, by its flat position, is.
    fn grown_inside(&self, op: &'static str, multiples: &[u64], order: Order) -> Result<(Vec<u32>, Expr)> {
        let dim = |(&d, &m): (&u32, &u64)| Ok(Extent::known_u64(op, u64::from(d).saturating_mul(m))?.capacity());
        let inner: Vec<u32> = self.inner().iter().zip(multiples).map(dim).collect::<Result<_>>()?;
        // Also where there are no elements, so that the width of one can be worked with.
        Extent::known_u64(op, inner.iter().fold(1u64, |n, &d| n.saturating_mul(u64::from(d.max(1)))))?;
        if multiples.iter().all(|&m| m == 1) {
            return Ok((inner, Expr::index().rem(Expr::u32(self.width().max(1)))));
        }
        let (mut stride, mut own_stride) = (1u32, 1u32);
        let mut number = Expr::u32(0);
        for ((&len, &grown), &m) in self.inner().iter().zip(&inner).zip(multiples).rev() {
            let place = Expr::index().div(Expr::u32(stride.max(1)));
            let own = match order {
                // A multiple of the dimension's length away it is the same.
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
    /// Which element of the source each is.
    from: Expr,
    /// How often each element of the source is there.
    times: u64,
    /// Whether they are copies of the whole level, one behind the other.
    whole: bool,
}

impl Level {
    fn outermost(op: &'static str, rows: &Extent, m: u64, order: Order) -> Result<Self> {
        let from = match order {
            _ if m == 1 => Expr::index(),
            Order::Copies => Expr::index().rem(rows.expr()),
            Order::Each => Expr::index().div(factor(m)),
        };
        Ok(Self { count: rows.times(op, m)?, from, times: m, whole: m == 1 || order == Order::Copies })
    }

    /// The partition of these elements, whose rows are `m` times those of `p`, and the level of its values.
    fn below(
        &self,
        backend: &BackendRef,
        op: &'static str,
        p: &RowPartition,
        m: u64,
        order: Order,
    ) -> Result<(RowPartition, Self)> {
        let times = self.times.saturating_mul(m);
        let nvals = p.nvals_extent().times(op, times)?;
        let grown = self.partition(backend, op, p, m, nvals.clone())?;
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
        // As a node of its own, which may be stored if many read it.
        let from = Node::map(backend, op, nvals.clone(), p.within(source, offset), &[]);
        Ok((grown, Self { count: nvals, from: Expr::load(&from, Expr::index()), times, whole: false }))
    }

    fn partition(
        &self,
        backend: &BackendRef,
        op: &'static str,
        p: &RowPartition,
        m: u64,
        nvals: Extent,
    ) -> Result<RowPartition> {
        if let Some(len) = p.uniform_row_length() {
            let len = Extent::known_u64(op, u64::from(len).saturating_mul(m))?.capacity();
            return RowPartition::uniform(len, self.count.clone());
        }
        if self.whole && self.times == 1 && m == 1 {
            return Ok(p.clone());
        }
        let (capacity, times, m) = (nvals.size(), u32::try_from(m).unwrap_or(u32::MAX), factor(m));
        let partition = if self.whole {
            // The starts of the copies follow from those of one: no scan.
            let start = if self.times == 1 {
                p.start(Expr::index()).mul(m)
            } else {
                let (rows, values) = (p.nrows_extent().expr(), p.nvals_extent().expr());
                let copy = Expr::index().div(rows.clone());
                copy.mul(values).add(p.start(Expr::index().rem(rows))).mul(m)
            };
            RowPartition::from_starts(backend, op, &self.count, &start, capacity, &[])?
        } else {
            let length = p.length(self.from.clone()).mul(m);
            RowPartition::from_lengths(backend, op, &self.count, length, capacity)?
        };
        let lengths = p.known_lengths().and_then(|(a, b)| Some((a.checked_mul(times)?, b.checked_mul(times)?)));
        Ok(partition.with_nvals(nvals).with_lengths(lengths))
    }
}

/// A multiple as a factor of positions. One that does not fit has nothing to multiply: sizes are checked before.
fn factor(m: u64) -> Expr {
    Expr::u32(u32::try_from(m).unwrap_or(0))
}

impl<T: Element> RaggedTensor<T> {
    /// As [`Tensor::tile`].
    ///
    /// # Errors
    /// As [`Tensor::tile`].
    #[track_caller]
    pub fn tile(&self, multiples: &[i64]) -> Result<Self> {
        self.erased().tile(multiples)?.try_into()
    }

    /// As [`Tensor::repeat`].
    ///
    /// # Errors
    /// As [`Tensor::repeat`].
    #[track_caller]
    pub fn repeat(&self, repeats: i64, axis: i64) -> Result<Self> {
        self.erased().repeat(repeats, axis)?.try_into()
    }
}
