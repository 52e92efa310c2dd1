//! Counts of integers: the number of occurrences of each, in all or per row.

use super::bin::bin;
use crate::device::Device;
use crate::dtype::DType;
use crate::element::{Arithmetic, Number};
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::opcode::ReduceOp;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::ops::IntoAxes;
use crate::ops::operations;
use crate::ops::options::Bins;
use crate::record::axes::Axes;
use crate::record::by_key::ByKey;
use crate::shape::{RowPartition, same_layout};
use crate::tensor::{RaggedTensor, Tensor, Values};

operations! {
    /// Counts of integers.
    const OPERATIONS: family "Counts" on RaggedTensor<T> where T: Number;

    /// The number of occurrences of each of the integers from 0 on.
    ///
    /// The integers are counted along `axis` and all axes below it, or in all (`..`). `axis` 0 or `..` gives a vector
    /// of counts; a deeper axis gives such a vector for each row: `[n, (r)]` along axis 1 gives `[n, bins]`, and the
    /// dimensions above stay as they are. The counts are i32. The number of bins is the largest value plus 1, or as
    /// [`Bins`] says; with [`binary`](crate::opt::binary)`(bins)` each is 1 where the value occurs. Empty rows count
    /// nothing. Floats must be whole numbers. Counts are integers and do not depend on the order: the same on every
    /// backend.
    ///
    /// TensorFlow's `axis` is 0, -1 or `None`.
    ///
    /// # Errors
    /// Byte strings; an axis out of range, or several; a negative number of bins; 2^32 - 1 counts or more. At the read:
    /// negative values, floats that are not whole numbers.
    ///
    /// # Cost
    /// One pass over the values, and one more with a wait where the number of bins depends on the largest value, which
    /// [`record_async`](crate::record_async) awaits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 1, 2], vec![], vec![0, 3]], &Device::cpu())?;
    /// assert_eq!(x.bincount(.., ..)?.to_vec()?, [1, 2, 1, 1]);
    /// assert_eq!(x.bincount(1, 3)?.to_vec()?, [0, 2, 1, 0, 0, 0, 1, 0, 0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn bincount(&self, axis: impl IntoAxes as axes = .., bins: impl Into<Bins> as Bins = ..) -> i32;
    alias "value_counts";
    tensorflow "tf.math.bincount";
    waits "for the largest value, unless the number of bins is given";
    gradient none "the result holds counts";
    row hand;

    /// The sum of the weights of the occurrences of each of the integers from 0 on.
    ///
    /// Integers are counted along `axis` and all axes below it, or in all (`..`): a vector of sums, or one for each row
    /// of a deeper axis. The number of bins is the largest value plus 1, or as [`Bins`] says. `weights` has the layout
    /// of this tensor, and its dtype is that of the result; integers wrap. Bins without values, those of empty rows
    /// included, hold 0. NaN propagates.
    ///
    /// The weights of up to 512 bins in all are added in order within each 2048 consecutive values, then the sums of
    /// these tiles; those of more bins in the canonical order of row reductions. Both give the same bits on every
    /// backend.
    ///
    /// # Errors
    /// Byte strings as values; an axis out of range, or several; a negative number of bins, or
    /// [`binary`](crate::opt::binary) bins; 2^32 - 1 sums or more; weights of another layout or on another device, of
    /// bools or byte strings. At the read: negative values, floats that are not whole numbers.
    ///
    /// # Cost
    /// Up to 512 bins in all: one pass over the values and the weights. More bins: a stable sort of the values, and a
    /// reduction of the weights. One more pass with a wait where the number of bins depends on the largest value.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 1, 2], vec![], vec![0]], &Device::cpu())?.into_erased();
    /// let w = RaggedTensor::from_nested([vec![0.5f32, 1.0, 2.0], vec![], vec![4.0]], &Device::cpu())?;
    /// let sums = x.bincount_weighted(&w, .., ..)?;
    /// assert_eq!(sums.to_string(), "tensor([4.0, 1.5, 2.0], shape=(3,), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn bincount_weighted(
        &self,
        weights: &impl AsRef<Tensor> as row,
        axis: impl IntoAxes as axes = ..,
        bins: impl Into<Bins> as Bins = ..,
    ) -> {weights};
    tensorflow "tf.math.bincount(…, weights=…)";
    waits "for the largest value, unless the number of bins is given";
    gradient yes;
    typed hand;
    row hand;
}

#[track_caller]
fn bincount(x: &Tensor, axis: impl IntoAxes, bins: impl Into<Bins>) -> Result<Tensor> {
    const OP: &str = "bincount";
    let rec = x.recorder(OP);
    let (counted, bins) = (Counted::new(OP, x, &axis.into())?, bins.into());
    let bin = bin(rec, x)?;
    let number = bins.number(rec, x, &bin)?;
    counted.counts(x, &bin, number, bins.binary)
}

#[track_caller]
fn bincount_weighted(
    x: &Tensor,
    weights: &impl AsRef<Tensor>,
    axis: impl IntoAxes,
    bins: impl Into<Bins>,
) -> Result<Tensor> {
    const OP: &str = "bincount_weighted";
    let (weights, bins) = (weights.as_ref(), bins.into());
    let rec = x.recorder(OP);
    Device::check_same(OP, rec.backend, weights.backend())?;
    if bins.binary {
        return Err(rec.argument("binary bins have no weights; use bincount, or drop binary"));
    }
    let dtype = weights.dtype();
    if dtype == DType::Bool {
        return Err(rec.unsupported(dtype, "cast the weights to a number"));
    }
    let weight = Expr::load(rec.numbers(weights)?, Expr::index()).cast(dtype.accumulator());
    let asserts = same_layout(rec, x.ragged_shape(), weights.ragged_shape())?;
    let counted = Counted::new(OP, x, &axis.into())?;
    let bin = bin(rec, x)?;
    let number = bins.number(rec, x, &bin)?;
    let counters = rec.times(&counted.groups, number)?;
    let keys = ByKey::new(rec, &counted.count, counted.key(&bin, number), &counters)?;
    let keys = keys.in_tiles(rec, &counted.count);
    let sums = keys.reduce(rec, ReduceOp::Sum, 1, &weight)?;
    let sum = Expr::load(&sums, Expr::index()).cast(dtype);
    counted.tensor(x, rec.map(counters, sum, &asserts), number)
}

/// The dimensions that stay when an axis and all below it are counted: a count per bin for each of their elements.
pub(crate) struct Counted {
    op: &'static str,
    pub(super) partitions: Vec<RowPartition>,
    pub(super) outer: Option<Extent>,
    pub(super) inner: Vec<u32>,
    /// Number of groups: of elements of the dimensions that stay.
    pub(super) groups: Extent,
    /// The group of the number at `Index`.
    pub(super) group: Expr,
    /// Number of values.
    pub(super) count: Extent,
}

impl Counted {
    /// Counts along the only axis of `axes` and all below it, or along all.
    ///
    /// # Errors
    /// Several axes, or none; an axis out of range.
    #[track_caller]
    pub(crate) fn new(op: &'static str, x: &Tensor, axes: &Axes) -> Result<Self> {
        let stay = match (axes, axes.resolve(op, x)?.as_slice()) {
            (Axes::All, _) => 0,
            (_, [axis]) => *axis,
            (_, axes) => {
                return Err(Error::argument(
                    op,
                    format!("{} axes were given; it takes one, or .. for all", axes.len()),
                ));
            }
        };
        let count = x.count()?;
        let Some(above) = stay.checked_sub(1) else {
            let (groups, group) = (Extent::known(1), Expr::u32(0));
            return Ok(Self { op, partitions: Vec::new(), outer: None, inner: Vec::new(), groups, group, count });
        };
        let levels = x.ragged_rank();
        let deep = x.inner_to_partitions(x.inner().len())?;
        let group = deep.partitions()[above..].iter().rev().fold(Expr::index(), |at, p| p.row_of(at));
        let groups = deep.partitions()[above].nrows_extent().clone();
        let partitions = x.partitions()[..above.min(levels)].to_vec();
        let outer = if above <= levels { groups.clone() } else { x.outer().cloned().unwrap_or(Extent::known(1)) };
        let inner = x.inner()[..above.saturating_sub(levels)].to_vec();
        Ok(Self { op, partitions, outer: Some(outer), inner, groups, group, count })
    }

    /// The index of the counter of bin `bin` of the group at `Index`; out of range if `bin` is not below `bins`.
    fn key(&self, bin: &Expr, bins: u32) -> Expr {
        if self.groups.as_known() == Some(1) {
            return bin.clone();
        }
        let counter = self.group.clone().mul(Expr::u32(bins)).add(bin.clone());
        bin.clone().lt(Expr::u32(bins)).select(counter, Expr::u32(u32::MAX))
    }

    /// The number of numbers in each bin, i32.
    ///
    /// # Errors
    /// 2^32 - 1 counters or more.
    #[track_caller]
    pub(crate) fn counts(&self, x: &Tensor, bin: &Expr, bins: u32, binary: bool) -> Result<Tensor> {
        let (backend, op) = (x.backend(), self.op);
        let rec = Recorder::new(backend, op);
        let counters = rec.times(&self.groups, bins)?;
        let counts = rec.histogram(self.count.clone(), self.key(bin, bins), counters.clone());
        let mut n = Expr::load(&counts, Expr::index());
        if binary {
            n = n.min(Expr::u32(1));
        } else if self.count.capacity() > i32::MAX as u32 {
            let check = rec.check("a bin has more than 2^31 - 1 values; count fewer at a time");
            n = n.clone().checked(check.into(), n.le(Expr::u32(i32::MAX as u32)));
        }
        self.tensor(x, rec.map(counters, n.cast(DType::I32), &[]), bins)
    }

    /// The result of these numbers, `bins` per group.
    #[track_caller]
    fn tensor(&self, x: &Tensor, numbers: Node, bins: u32) -> Result<Tensor> {
        let (mut outer, mut inner) = (self.outer.clone(), self.inner.clone());
        match outer {
            Some(_) => inner.push(bins),
            None => outer = Some(Extent::known(bins)),
        }
        Tensor::new(x.backend(), self.partitions.clone(), outer, inner, Values::Numbers(numbers))
    }
}

/// Counts of integers.
impl<T: Number> RaggedTensor<T> {
    /// The sum of the weights of the occurrences of each of the integers from 0 on.
    ///
    /// Integers are counted along `axis` and all axes below it, or in all (`..`): a vector of sums, or one for each row
    /// of a deeper axis. The number of bins is the largest value plus 1, or as [`Bins`] says. `weights` has the layout
    /// of this tensor, and its type is that of the result; integers wrap. Bins without values, those of empty rows
    /// included, hold 0. NaN propagates. The sums have the order of [`Tensor::bincount_weighted`]: the same bits on
    /// every backend.
    ///
    /// # Errors
    /// Byte strings as values; an axis out of range, or several; a negative number of bins, or
    /// [`binary`](crate::opt::binary) bins; 2^32 - 1 sums or more; weights of another layout or on another device. At
    /// the read: negative values, floats that are not whole numbers.
    ///
    /// # Cost
    /// Up to 512 bins in all: one pass over the values and the weights. More bins: a stable sort of the values, and a
    /// reduction of the weights. One more pass with a wait where the number of bins depends on the largest value.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 1, 2], vec![], vec![0]], &Device::cpu())?;
    /// let w = RaggedTensor::from_nested([vec![0.5f32, 1.0, 2.0], vec![], vec![4.0]], &Device::cpu())?;
    /// assert_eq!(x.bincount_weighted(&w, .., ..)?.to_vec()?, [4.0, 1.5, 2.0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.math.bincount(…, weights=…)`.
    #[track_caller]
    pub fn bincount_weighted<W: Arithmetic>(
        &self,
        weights: &RaggedTensor<W>,
        axis: impl IntoAxes,
        bins: impl Into<Bins>,
    ) -> Result<RaggedTensor<W>> {
        self.erased().bincount_weighted(weights, axis, bins)?.try_into()
    }
}
