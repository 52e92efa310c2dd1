//! The shape of a tensor: the layout of its elements, independent of their values.

use crate::integer::Integer;
use std::ops::{Bound, RangeBounds};

use super::{Dims, RowPartition};
use crate::device::Device;
use crate::error::{Error, Result, caller, here};
use crate::graph::backend::BackendRef;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::size::{RecordedSize, Size};

/// The shape of a ragged tensor: its row partitions, outermost first, and the shape of its flat values.
///
/// ```text
/// dimension   0              1 ..= k          k + 1 ..
///             rows           one a partition  inner dimensions, uniform
/// ```
///
/// Dimension 0 and all inner dimensions are uniform; so is a dimension under a partition whose rows have one length.
/// Sizes may be known on the device only. A shape lives on its device, is immutable and cheap to clone. Shapes that
/// share partitions are known to have equal rows without a comparison. Methods do not wait unless their documentation
/// says so.
///
/// ```
/// # use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested(vec![vec![3, 1], vec![], vec![4]], &Device::cpu())?;
/// let shape = x.erased().ragged_shape();
/// assert_eq!(shape.text(), "[3, None]");
/// assert_eq!((shape.rank(), shape.ragged_rank(), shape.inner_rank()), (2, 1, 1));
/// assert_eq!(shape.row_partitions()[0].nrows(), Some(3));
/// assert!(shape.device().is_cpu());
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// Source: TensorFlow's `DynamicRaggedShape`.
#[derive(Clone)]
pub struct RaggedShape {
    pub(crate) backend: BackendRef,
    pub(crate) partitions: Vec<RowPartition>,
    /// Outermost dimension of the flat values; none for a scalar.
    pub(crate) outer: Option<Extent>,
    /// Other dimensions of the flat values.
    pub(crate) inner: Dims,
    /// Deferred checks from the construction of the shape; everything made from the shape depends on them.
    pub(crate) conditions: Vec<Node>,
}

impl RaggedShape {
    /// The shape of a dense tensor: `tf.TensorShape`. An empty list of sizes is the shape of a scalar.
    ///
    /// # Errors
    /// A negative size; 2^32 - 1 elements or more.
    ///
    /// ```
    /// use ragged::{Device, RaggedShape};
    /// let shape = RaggedShape::dense(&[2, 3], &Device::cpu())?;
    /// assert_eq!((shape.text(), shape.ragged_rank()), ("[2, 3]".into(), 0));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn dense<I: Integer>(sizes: &[I], device: &Device) -> Result<Self> {
        Self::of_sizes(Recorder::new(device.backend(), "RaggedShape::dense"), sizes)
    }

    /// As [`RaggedShape::dense`].
    pub(crate) fn of_sizes<I: Integer>(rec: Recorder<'_>, sizes: &[I]) -> Result<Self> {
        let known = |&n: &I| Ok(rec.known(rec.non_negative("a size", n)?)?.capacity());
        let mut dims = sizes.iter().map(known).collect::<Result<Vec<u32>>>()?.into_iter();
        let (outer, inner) = (dims.next().map(Extent::given), dims.collect::<Vec<u32>>());
        Self::of_parts(rec, Vec::new(), outer, inner, Vec::new())
    }

    /// The shape of flat values of shape `inner_shape` under row partitions, outermost first. `inner_shape[0]` is the
    /// number of values of the last partition, or -1 for whatever that is. The inverse of
    /// [`row_partitions`](Self::row_partitions) and [`inner_shape`](Self::inner_shape). TensorFlow: `DynamicRaggedShape` of
    /// these arguments.
    ///
    /// # Errors
    /// Partitions without an `inner_shape`; a partition whose number of rows is not the number of values of the one
    /// before it; a last partition without `inner_shape[0]` values; another device. Where only the device knows a
    /// count, the mismatch fails at the read of a tensor with this shape.
    ///
    /// ```
    /// use ragged::{Device, RaggedShape, RowPartition};
    /// let device = Device::cpu();
    /// let rows = RowPartition::from_row_lengths(&[5, 3, 2], &device)?;
    /// let shape = RaggedShape::from_row_partitions(&[rows], &[10, 8], &device)?;
    /// assert_eq!(shape.to_string(), "<DynamicRaggedShape lengths=[3, (5, 3, 2), 8] num_row_partitions=1>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_row_partitions<I: Integer>(
        partitions: &[RowPartition],
        inner_shape: &[I],
        device: &Device,
    ) -> Result<Self> {
        let rec = Recorder::new(device.backend(), "RaggedShape::from_row_partitions");
        let fits_any = !partitions.is_empty() && inner_shape.first().is_some_and(|n| n.saturating_i64() == -1);
        let size = |(k, n): (usize, &I)| if fits_any && k == 0 { 0 } else { n.saturating_i64() };
        let sizes: Vec<i64> = inner_shape.iter().enumerate().map(size).collect();
        let mut out = Self::of_sizes(rec, &sizes)?;
        let Some(last) = partitions.last() else { return Ok(out) };
        let Some(outer) = out.outer.take() else {
            let what = "inner_shape is empty, but flat values under row partitions have at least one dimension";
            return Err(rec.argument(what));
        };
        let mut conditions = Vec::new();
        let mut equal = Vec::new();
        for (k, pair) in partitions.windows(2).enumerate() {
            let what = format!("the rows of partition {} must be as many as the values of partition {k}", k + 1);
            equal.push((what, pair[1].nrows_extent(), pair[0].nvals_extent()));
        }
        let what = "the values of the last partition must be as many as inner_shape[0]";
        if !fits_any {
            equal.push((what.to_owned(), last.nvals_extent(), &outer));
        }
        for (what, a, b) in equal {
            let differ = |(a, b)| rec.partition(format!("{what}, but they are {a} and {b}"));
            conditions.extend(a.agrees(b).condition(rec, rec.check(what.clone()), differ)?);
        }
        for p in partitions {
            p.check_device(device.backend())?;
        }
        let outer = Some(last.nvals_extent().clone());
        Self::of_parts(rec, partitions.to_vec(), outer, out.inner, conditions)
    }

    /// Assembles a shape from its parts.
    ///
    /// # Errors
    /// More elements than a tensor can have.
    pub(crate) fn of_parts(
        rec: Recorder<'_>,
        partitions: Vec<RowPartition>,
        outer: Option<Extent>,
        inner: impl Into<Dims>,
        conditions: Vec<Node>,
    ) -> Result<Self> {
        let inner = inner.into();
        // Checked even where there are no elements, so that the width of an element fits.
        rec.known(inner.iter().fold(1u64, |n, &d| n.saturating_mul(u64::from(d.max(1)))))?;
        // Shares the size between a level's values and the rows below, so that equal domains compare equal.
        let mut below: Vec<RowPartition> = Vec::with_capacity(partitions.len());
        for p in partitions {
            below.push(match below.last() {
                Some(above) => rec.at(p.below(above.nvals_extent()))?,
                None => p,
            });
        }
        let outer = match (outer, below.last().map(RowPartition::nvals_extent)) {
            (Some(outer), Some(nvals)) if outer.as_known().is_some() && outer.as_known() == nvals.as_known() => {
                Some(nvals.clone())
            }
            (outer, _) => outer,
        };
        let out = Self { backend: rec.backend.clone(), partitions: below, outer, inner, conditions };
        rec.at(out.count(rec.op))?;
        Ok(out)
    }

    /// The device arrays that hold the sizes unknown to the host.
    pub(crate) fn counts(&self) -> Vec<Node> {
        let levels = self.partitions.iter().flat_map(|p| [p.nrows_extent(), p.nvals_extent()]);
        let unknown = levels.chain(&self.outer).filter(|x| x.host_value().is_none());
        let sizes = unknown.flat_map(|x| x.size().counts());
        let mut out: Vec<Node> = Vec::new();
        for node in sizes.filter_map(Size::count_node) {
            if !out.contains(&node) {
                out.push(node);
            }
        }
        out
    }

    /// The device that the shape lives on.
    pub fn device(&self) -> Device {
        Device::of(&self.backend)
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        if self.outer.is_none() { 0 } else { 1 + self.partitions.len() + self.inner.len() }
    }

    /// Number of row partitions; 0 for a dense shape.
    pub fn ragged_rank(&self) -> usize {
        self.partitions.len()
    }

    /// The row partitions, outermost first.
    pub fn row_partitions(&self) -> &[RowPartition] {
        &self.partitions
    }

    /// The size of each uniform dimension; none for a ragged dimension, or where only the device knows the size.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![[1, 2]], vec![]], &Device::cpu())?;
    /// assert_eq!(x.ragged_shape().sizes(), [Some(2), None, Some(2)]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn sizes(&self) -> Vec<Option<usize>> {
        self.sizes_with(Extent::host_value)
    }

    pub(super) fn sizes_with(&self, number: fn(&Extent) -> Option<u32>) -> Vec<Option<usize>> {
        if self.outer.is_none() {
            return Vec::new();
        }
        let mut out = vec![number(&self.nrows_extent()).map(|n| n as usize)];
        out.extend(self.partitions.iter().map(|p| p.uniform_row_length()));
        out.extend(self.inner.iter().map(|&d| Some(d as usize)));
        out
    }

    /// The shape of the flat values: their number, then the inner dimensions; empty for a scalar. The number is -1 where
    /// only the device knows it. Never waits. TensorFlow: `inner_shape`.
    ///
    /// ```
    /// use ragged::{Device, RaggedShape, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![[1, 2], [3, 4], [5, 6]], vec![]], &device)?;
    /// let shape = x.ragged_shape();
    /// assert_eq!(shape.inner_shape(), [3, 2]);
    /// let again = RaggedShape::from_row_partitions(shape.row_partitions(), &shape.inner_shape(), &device)?;
    /// assert!(again.equals(shape)?);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn inner_shape(&self) -> Vec<i64> {
        let count = self.outer.iter().map(|outer| outer.as_known().map_or(-1, i64::from));
        count.chain(self.inner.iter().map(|&size| size.into())).collect()
    }

    /// Number of dimensions of the flat values, [`inner_shape`](Self::inner_shape); 0 for a scalar. TensorFlow:
    /// `inner_rank`.
    pub fn inner_rank(&self) -> usize {
        self.outer.as_ref().map_or(0, |_| 1 + self.inner.len())
    }

    /// Whether all rows of a dimension have one length by type: true for the outermost dimension, for dimensions under
    /// a uniform partition, and for inner dimensions.
    ///
    /// # Errors
    /// An axis out of range.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![[1, 2]], vec![]], &Device::cpu())?;
    /// assert_eq!((x.ragged_shape().is_uniform(1)?, x.ragged_shape().is_uniform(2)?), (false, true));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn is_uniform(&self, axis: impl Integer) -> Result<bool> {
        let axis = axis.saturating_i64();
        let axis = self.axis("RaggedShape::is_uniform", axis)?;
        let partition = axis.checked_sub(1).and_then(|a| self.partitions.get(a));
        Ok(partition.is_none_or(|p| p.uniform_length().is_some()))
    }

    /// Normalizes a negative axis.
    #[track_caller]
    pub(crate) fn axis(&self, op: &'static str, axis: i64) -> Result<usize> {
        let rank = self.rank();
        if axis < -(rank as i64) || axis >= rank as i64 {
            return Err(Error::Axis { op, axis, rank, location: caller() });
        }
        Ok(axis.rem_euclid(rank as i64) as usize)
    }

    /// Number of numbers (or strings) of a tensor with this shape.
    #[track_caller]
    pub(crate) fn count(&self, op: &'static str) -> Result<Extent> {
        let width = self.inner.width();
        self.outer.as_ref().map_or(Ok(Extent::known(1)), |outer| outer.times_size(op, &width)).map_err(here())
    }

    /// Converts the shape to `ragged_rank` row partitions: inner dimensions become uniform partitions, or uniform
    /// partitions become inner dimensions.
    ///
    /// # Errors
    /// A ragged dimension that would become an inner one; a `ragged_rank` not below the rank.
    ///
    /// ```
    /// use ragged::{Device, RaggedShape};
    /// let shape = RaggedShape::dense(&[2, 3, 4], &Device::cpu())?.with_ragged_rank(1)?;
    /// assert_eq!((shape.ragged_rank(), shape.inner_shape()), (1, vec![6, 4]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn with_ragged_rank(&self, ragged_rank: impl Integer) -> Result<Self> {
        let rec = Recorder::new(&self.backend, "RaggedShape::with_ragged_rank");
        let ragged_rank = usize::try_from(rec.non_negative("ragged_rank", ragged_rank)?).unwrap_or(usize::MAX);
        if ragged_rank > self.rank().saturating_sub(1) {
            let (rank, most) = (self.rank(), self.rank().saturating_sub(1));
            let what =
                format!("ragged_rank is {ragged_rank}, but a shape of rank {rank} has at most {most} row partitions");
            return Err(rec.argument(what));
        }
        let (mut out, mut inner) = (self.clone(), self.inner.sizes().to_vec());
        while out.ragged_rank() < ragged_rank {
            let p = RowPartition::uniform(inner.remove(0), out.outer.take().unwrap_or_else(|| Extent::known(1)))?;
            out.outer = Some(p.nvals_extent().clone());
            out.partitions.push(p);
        }
        for (k, p) in out.partitions.split_off(ragged_rank).iter().enumerate().rev() {
            let Some(len) = p.uniform_size() else {
                let dim = ragged_rank + k + 1;
                let what = format!(
                    "dimension {dim} of {} is ragged, so ragged_rank must be at least {dim}, not {ragged_rank}",
                    self.text()
                );
                return Err(rec.argument(what));
            };
            inner.insert(0, len.clone());
            out.outer = Some(p.nrows_extent().clone());
        }
        Self::of_parts(rec, out.partitions, out.outer, inner, out.conditions)
    }

    /// The dimensions in a range, with the semantics of a Python slice: negative ends count from the back, ends out of
    /// range are clamped. TensorFlow: `DynamicRaggedShape.__getitem__` of a slice.
    ///
    /// A range that starts at dimension 0 gives the shape of the outer dimensions; an empty range gives that of a
    /// scalar.
    ///
    /// # Errors
    /// A range that starts below dimension 0 and has a ragged dimension before its end: the remaining dimensions form
    /// no shape.
    ///
    /// ```
    /// use ragged::{Device, RaggedShape};
    /// let shape = RaggedShape::from_lengths(&[2.into(), [1, 2].into(), 5.into()], &Device::cpu())?;
    /// assert_eq!(shape.slice(..2)?.text(), "[2, None]");
    /// assert!(shape.slice(1..).is_err());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn slice(&self, dims: impl RangeBounds<i64>) -> Result<Self> {
        let rec = Recorder::new(&self.backend, "RaggedShape::slice");
        let rank = self.rank();
        let place = |at: i64| (if at < 0 { at.saturating_add(rank as i64) } else { at }).clamp(0, rank as i64) as usize;
        let start = match dims.start_bound() {
            Bound::Unbounded => 0,
            Bound::Included(&a) => place(a),
            Bound::Excluded(&a) => place(a.saturating_add(1)),
        };
        let stop = match dims.end_bound() {
            Bound::Unbounded => rank,
            Bound::Excluded(&b) => place(b),
            // An inclusive end of -1 is the last dimension; its successor 0 would count from the front.
            Bound::Included(&-1) => rank,
            Bound::Included(&b) => place(b.saturating_add(1)),
        };
        let mut out = self.clone();
        if stop <= start {
            (out.partitions, out.outer, out.inner) = (Vec::new(), None, Dims::default());
            return Ok(out);
        }
        if stop <= self.ragged_rank() {
            out.outer = Some(out.partitions[stop - 1].nrows_extent().clone());
            out.partitions.truncate(stop - 1);
            out.inner = Dims::default();
        } else {
            out.inner = self.inner.sizes()[..stop - 1 - self.ragged_rank()].to_vec().into();
        }
        if start == 0 {
            return Ok(out);
        }
        if let Some(ragged) = out.partitions.iter().position(|p| p.uniform_length().is_none()) {
            let what = format!(
                "dimensions {start}..{stop} of {} form no shape, since dimension {} is ragged; start at 0",
                self.text(),
                ragged + 1
            );
            return Err(rec.argument(what));
        }
        let dense = out.with_ragged_rank(0)?;
        let mut sizes = dense.inner.sizes()[start - 1..].iter().cloned();
        let outer = sizes.next().map(Extent::of);
        Self::of_parts(rec, Vec::new(), outer, sizes.collect::<Vec<Size>>(), out.conditions)
    }

    /// The number of rows of the outermost dimension; 1 for a scalar.
    pub(crate) fn nrows_extent(&self) -> Extent {
        let first = self.partitions.first().map(RowPartition::nrows_extent);
        first.or(self.outer.as_ref()).cloned().unwrap_or_else(|| Extent::known(1))
    }
}
