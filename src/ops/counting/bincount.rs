//! Counts of integers: the number of occurrences of each, in all or per row.

use crate::device::Device;
use crate::dtype::DType;
use crate::element::{Arithmetic, Number};
use crate::error::{Error, Result};
use crate::graph::backend::{BackendRef, Part};
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::opcode::ReduceOp;
use crate::graph::recorder::Recorder;
use crate::graph::recording::read_now;
use crate::graph::recording::read_u32_if;
use crate::graph::scalar::Scalar;
use crate::graph::size::RecordedSize;
use crate::ops::IntoAxes;
use crate::ops::indexing::gather::in_range;
use crate::ops::operations;
use crate::ops::options::Bins;
use crate::record::axes::Axes;
use crate::record::by_key::{ByKey, one_row};
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
    fn bincount(&self, axis: impl IntoAxes as axes, bins: impl Into<Bins>) -> i32;
    alias "value_counts";
    tensorflow "tf.math.bincount";
    waits "for the largest value, unless the number of bins is given";
    gradient none "integers";
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
        axis: impl IntoAxes as axes,
        bins: impl Into<Bins>,
    ) -> W;
    tensorflow "tf.math.bincount(…, weights=…)";
    waits "for the largest value, unless the number of bins is given";
    gradient later;
    typed hand;
    row hand;
}

#[track_caller]
fn bincount(x: &Tensor, axis: impl IntoAxes, bins: impl Into<Bins>) -> Result<Tensor> {
    const OP: &str = "bincount";
    let (counted, bins) = (Counted::new(OP, x, &axis.into())?, bins.into());
    let bin = bin(OP, x)?;
    let number = bins.number(OP, x, &bin)?;
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
    let rec = Recorder::new(x.backend(), OP);
    Device::check_same(OP, rec.backend, weights.backend())?;
    if bins.binary {
        return Err(Error::argument(OP, "binary bins have no weights; use bincount, or drop binary"));
    }
    let dtype = weights.dtype();
    if dtype == DType::Bool {
        return Err(Error::unsupported(OP, dtype, "cast the weights to a number"));
    }
    let weight = Expr::load(weights.numbers(OP)?, Expr::index()).cast(dtype.accumulator());
    let asserts = same_layout(rec.backend, OP, x.ragged_shape(), weights.ragged_shape())?;
    let counted = Counted::new(OP, x, &axis.into())?;
    let bin = bin(OP, x)?;
    let number = bins.number(OP, x, &bin)?;
    let counters = counted.groups.times(OP, number.into())?;
    let keys = ByKey::new(rec, &counted.count, counted.key(&bin, number), &counters)?;
    let keys = keys.in_tiles(rec, &counted.count);
    let sums = keys.reduce(rec, ReduceOp::Sum, 1, &weight)?;
    let sum = Expr::load(&sums, Expr::index()).cast(dtype);
    counted.tensor(x, rec.map(counters, sum, &asserts), number)
}

/// The dimensions that stay when an axis and all below it are counted: a count per bin for each of their elements.
pub(crate) struct Counted {
    op: &'static str,
    partitions: Vec<RowPartition>,
    outer: Option<Extent>,
    inner: Vec<u32>,
    /// Number of groups: of elements of the dimensions that stay.
    groups: Extent,
    /// The group of the number at `Index`.
    group: Expr,
    /// Number of values.
    count: Extent,
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
        let counters = self.groups.times(op, bins.into())?;
        let counts = Node::histogram(backend, op, self.count.clone(), self.key(bin, bins), counters.clone());
        let mut n = Expr::load(&counts, Expr::index());
        if binary {
            n = n.min(Expr::u32(1));
        } else if self.count.capacity() > i32::MAX as u32 {
            let check = Check::new(op, "a bin has more than 2^31 - 1 values; count fewer at a time");
            n = n.clone().checked(check, n.le(Expr::u32(i32::MAX as u32)));
        }
        self.tensor(x, Node::map(backend, op, counters, n.cast(DType::I32), &[]), bins)
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

/// The number at `Index` as the index of a bin. Numbers beyond u32 give its largest value.
///
/// # Errors
/// Byte strings. At the read: negative numbers; floats that are not whole numbers.
#[track_caller]
fn bin(op: &'static str, x: &Tensor) -> Result<Expr> {
    let value = Expr::load(x.numbers(op)?, Expr::index());
    let value = value.clone().cast(value.dtype().accumulator());
    let negative = Check::new(op, "values must not be negative");
    let zero = Expr::scalar(Scalar::from_i64(value.dtype(), 0));
    Ok(match value.dtype() {
        DType::U32 => value,
        DType::I32 => value.clone().cast(DType::U32).checked(negative, zero.le(value)),
        wide @ (DType::I64 | DType::U64) => {
            let fits = in_range(&value, Expr::u32(u32::MAX), u32::MAX);
            let bin = fits.select(value.clone().cast(DType::U32), Expr::u32(u32::MAX));
            if wide == DType::U64 { bin } else { bin.checked(negative, zero.le(value)) }
        }
        float => {
            let bin = value.clone().cast(DType::U32);
            let whole = bin.clone().cast(float).eq(value);
            bin.checked(Check::new(op, "values must be whole numbers from 0 to 2^32 - 2"), whole)
        }
    })
}

/// As [`bin`], for counts that need no counter per bin: u64 for 64-bit integers, u32 otherwise.
///
/// # Errors
/// As [`bin`]. At the read: 2^63 - 1 or more, which no dense shape holds.
#[track_caller]
fn sparse_bin(op: &'static str, x: &Tensor) -> Result<Expr> {
    if !matches!(x.dtype(), DType::I64 | DType::U64) {
        return bin(op, x);
    }
    let value = Expr::load(x.numbers(op)?, Expr::index()).bitcast(DType::U64);
    let most = i64::MAX.unsigned_abs();
    let check = Check::new(op, "values must not be negative, and below 2^63 - 1");
    Ok(value.clone().checked(check, value.lt(Expr::scalar(most))))
}

/// Reads a u64 from the device. Costs one wait.
#[track_caller]
pub(crate) fn read_u64(backend: &BackendRef, op: &'static str, number: Expr) -> Result<u64> {
    let number = Node::map(backend, op, Extent::known(1), number, &[]);
    let read = read_now(backend, op, vec![Part::whole(number)])?;
    Ok(bytemuck::pod_read_unaligned(&read[0]))
}

impl Bins {
    /// The number of bins for values whose bin is `bin`. Waits for the largest value unless the number is given.
    #[track_caller]
    fn number(&self, op: &'static str, x: &Tensor, bin: &Expr) -> Result<u32> {
        let next = bin.clone().min(Expr::u32(u32::MAX - 1)).add(Expr::u32(1));
        let mut number =
            self.between(op, x, self.least, |needed| Ok(read_u32_if(x.backend(), op, needed, &[])?.into()), next)?;
        if number == u64::from(u32::MAX) {
            // The error shows the number that the largest value needs.
            number = self.reach(op, x, &sparse_bin(op, x)?)?;
        }
        Ok(Extent::known_u64(op, number)?.capacity())
    }

    /// As [`Self::number`], of a sparse result: any number, and at least one bin, as in TensorFlow.
    #[track_caller]
    fn reach(&self, op: &'static str, x: &Tensor, bin: &Expr) -> Result<u64> {
        let next = bin.clone().cast(DType::U64).add(Expr::scalar(1u64));
        self.between(op, x, self.least.max(1), |needed| Ok(read_u64(x.backend(), op, needed)? as i64), next)
    }

    /// At least `least` bins, and as many as the largest number of `next` says, which `read` reads, up to the limit.
    #[track_caller]
    fn between(
        &self,
        op: &'static str,
        x: &Tensor,
        least: i64,
        read: impl FnOnce(Expr) -> Result<i64>,
        next: Expr,
    ) -> Result<u64> {
        if let Some(bins) = [Some(self.least), self.most].into_iter().flatten().find(|&bins| bins < 0) {
            return Err(Error::argument(op, format!("the number of bins must not be negative, but is {bins}")));
        }
        let most = self.most.unwrap_or(i64::MAX);
        let count = x.count()?;
        let mut number = least;
        if number < most && count.capacity() > 0 {
            let rec = Recorder::new(x.backend(), op);
            let needed = rec.reduce(ReduceOp::Max, one_row(rec, &count)?, next)?;
            number = number.max(read(Expr::load(&needed, Expr::u32(0)))?);
        }
        Ok(number.min(most).unsigned_abs())
    }
}

impl Tensor {
    /// The values that occur along axis 0 or 1, and how often, in ascending order; see
    /// [`bincount_sparse`](Self::bincount_sparse).
    #[track_caller]
    pub(crate) fn occurrences(&self, op: &'static str, axis: &Axes, bins: Bins) -> Result<Occurrences> {
        let backend = self.backend();
        let counted = Counted::new(op, self, axis)?;
        if !counted.partitions.is_empty() || !counted.inner.is_empty() {
            let what = "the axis must be 0, 1 or .. for a sparse result; merge the dimensions above it (merge_dims)";
            return Err(Error::argument(op, what));
        }
        let bin = sparse_bin(op, self)?;
        let number = bins.reach(op, self, &bin)?;
        let keys = Values::Numbers(Node::map(backend, op, counted.count.clone(), bin, &[]));
        let by_row = counted.outer.is_some();
        let mut keys = match by_row {
            true => {
                let rows = self.holding(keys)?.merged(1, self.rank() - 1)?;
                rows.inner_to_partitions(rows.inner().len())?
            }
            false => Self::new(backend, Vec::new(), Some(counted.count.clone()), [], keys)?,
        };
        if let (Some(_), Some(number)) = (bins.most, Scalar::U64(number).converted(keys.dtype())) {
            keys = keys.boolean_mask(&keys.less(number)?)?;
        }
        let (values, counts) = keys.unique_with_counts(-1)?;
        let counts = if bins.binary { counts.ones_like()? } else { counts };
        Ok(Occurrences { values, counts, bins: number, by_row })
    }
}

/// The values that occur, in ascending order: in all, or `[rows, (values)]`.
pub(crate) struct Occurrences {
    /// The values: u64 for 64-bit integers, u32 otherwise.
    pub(crate) values: Tensor,
    /// How often each occurs, i64.
    pub(crate) counts: Tensor,
    /// The number of bins.
    pub(crate) bins: u64,
    /// Whether the values are counted by row.
    pub(crate) by_row: bool,
}

impl<T: Number> RaggedTensor<T> {
    /// The sum of the weights of the occurrences of each of the integers from 0 on.
    ///
    /// Shapes, order of the sums, errors and cost are those of [`Tensor::bincount_weighted`]; the weights' type is the
    /// result's.
    ///
    /// # Errors
    /// Byte strings as values; an axis out of range, or several; a negative number of bins, or
    /// [`binary`](crate::opt::binary) bins; 2^32 - 1 sums or more; weights of another layout or on another device. At
    /// the read: negative values, floats that are not whole numbers.
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
