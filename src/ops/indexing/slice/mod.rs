//! Slicing: integers, ranges, new axes and ellipses along any dimension.

mod walk;

use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result, here};
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::ops::indexing::index::{Index, SliceItems};
use crate::record::span::Span;
use crate::tensor::Tensor;
use walk::Walk;

use crate::ops::operations;

operations! {
    /// Slicing along any dimension.
    const OPERATIONS: family "Indexing and gathering" on RaggedTensor<T> where T: Element;

    /// The part of the tensor that `index` selects, dimension by dimension.
    ///
    /// An integer selects one element of its dimension and removes the dimension. It is invalid for a ragged dimension
    /// below one that is kept, whose rows need not have that element: [`nth`](Tensor::nth) takes it. A range applies
    /// Python's `start:stop:step` to each row, clamped to the row. Dimensions without an item are kept whole. The
    /// result is dense if no ragged dimension remains: `x[i]` of a tensor with one partition is a row of its values.
    /// Uniform dimensions stay uniform, empty rows stay empty rows. Any dtype.
    ///
    /// # Errors
    /// More items than dimensions; an integer out of range (at the read where only the device knows the size); an
    /// integer for a ragged inner dimension; a step of 0.
    ///
    /// # Cost
    /// A map over the values. Each ragged dimension that is not kept whole, or lies below such a dimension, adds a
    /// prefix sum over its rows, or a map where the selected rows are contiguous. Slices that keep equally many values
    /// of every row share their partition: `x[:, :-1]` and `x[:, 1:]`. Waits only for a new axis before a dense
    /// dimension whose size the host does not know; [`record_async`](crate::record_async) awaits it.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, s};
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![], vec![4, 5]], &Device::cpu())?;
    /// assert_eq!(x.slice(s![.., 1..])?.to_string(), "<ragged.RaggedTensor [[2, 3], [], [5]]>");
    /// assert_eq!(x.slice(s![0, ..;-1])?.to_vec()?, [3, 2, 1]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn slice(&self, index: impl SliceItems as slice) -> T;
    alias "getitem", "index", "head", "tail";
    tensorflow "tf.RaggedTensor.__getitem__";
    awkward "ak.Array.__getitem__";
    polars "list.slice";
    waits "for the size of a dense dimension behind a new axis";
    gradient yes;
    row hand;

    /// Row `index` of the tensor, where the index is itself a scalar tensor.
    ///
    /// A negative index counts from the end. The result has the shape without axis 0. Any dtype. The size of a ragged
    /// row is known on the device only.
    ///
    /// # Errors
    /// `index` is not a scalar of an integer dtype, or is on another device; the tensor is a scalar. At the read: `index` is
    /// out of range.
    ///
    /// # Cost
    /// A map over the row, and a prefix sum per ragged dimension that remains. No wait, not for the index either.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &device)?;
    /// let last = RaggedTensor::from_nested([5, -1], &device)?.reduce_min(..)?;
    /// assert_eq!(x.row_at(&last)?.to_vec()?, [3]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn row_at(&self, index: &impl AsRef<Tensor> as tensor) -> T;
    tensorflow "tf.RaggedTensor.__getitem__";
    awkward "ak.Array.__getitem__";
    gradient yes;
    row none "it takes one row of all";
}

#[track_caller]
fn slice(x: &Tensor, index: impl SliceItems) -> Result<Tensor> {
    let rec = x.recorder("slice");
    let mut keys = Vec::with_capacity(x.rank());
    let mut left = x.rank();
    let items = index.items();
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
            Index::AtTensor(index) => keys.push(Key::At(device_place(rec, index)?)),
            Index::Slice { start, stop, step } => keys.push(Key::Slice(Span::new(start, stop, step))),
        }
        left = left.checked_sub(1).ok_or_else(|| {
            rec.argument(format!("{} items for the {} dimensions of the tensor", items.len(), x.rank()))
        })?;
    }
    take(rec, x, keys)
}

#[track_caller]
fn row_at(x: &Tensor, index: &impl AsRef<Tensor>) -> Result<Tensor> {
    let (rec, index) = (x.recorder("row_at"), index.as_ref());
    let place = device_place(rec, index)?;
    if x.rank() == 0 {
        return Err(rec.argument("a scalar has no rows"));
    }
    take(rec, x, vec![Key::At(place)])
}

/// The place that a scalar tensor of integers holds.
fn device_place(rec: Recorder<'_>, index: &Tensor) -> Result<Place> {
    rec.at(Device::check_same(rec.op, rec.backend, index.backend()))?;
    let at = rec.index_node(index, "an index")?;
    if index.rank() != 0 {
        return Err(
            rec.argument(format!("an index must be a scalar, not {}; gather takes several", index.shape_text()))
        );
    }
    Ok(Place::Device(at))
}

/// Index of one element of a dimension.
#[derive(Debug, Clone)]
enum Place {
    /// Known on the host.
    Host(i64),
    /// A scalar on the device.
    Device(Node),
}

/// Operation on one dimension, or a new axis between two dimensions.
#[derive(Debug, Clone)]
enum Key {
    At(Place),
    /// A slice. `None` stands for a step of 0, which is valid only if no rows are left to slice.
    Slice(Option<Span>),
    NewAxis,
}

impl Key {
    /// Keeps a dimension whole.
    const WHOLE: Self = Self::Slice(Some(Span::FULL));
}

/// The part that the keys select. `keys` has at most one key other than [`Key::NewAxis`] per dimension.
fn take(rec: Recorder<'_>, x: &Tensor, mut keys: Vec<Key>) -> Result<Tensor> {
    let for_dimension = |k: &Key| !matches!(k, Key::NewAxis);
    let is_whole = |k: &Key| matches!(k, Key::Slice(Some(span)) if *span == Span::FULL);
    // Trailing inner dimensions that are kept whole stay inner. Every other dimension becomes a partition.
    while keys.iter().filter(|k| for_dimension(k)).count() > x.named_rank() && keys.last().is_some_and(is_whole) {
        keys.pop();
    }
    let named = keys.iter().filter(|k| for_dimension(k)).count();
    keys.extend((named..x.named_rank()).map(|_| Key::WHOLE));
    let mut dims = named.max(x.named_rank());
    if dims < x.rank() && keys.iter().all(|k| matches!(k, Key::At(_))) {
        keys.push(Key::WHOLE);
        dims += 1;
    }
    let source = rec.at(x.inner_to_partitions(dims.saturating_sub(x.named_rank())))?;
    let mut walk = Walk::new(rec, &source, x.ragged_rank(), keys.len());
    for (k, key) in keys.iter().enumerate() {
        match key {
            Key::NewAxis => walk.new_axis()?,
            Key::At(place) => walk.at(place)?,
            Key::Slice(span) => {
                let ragged_follows = walk.ragged_follows(&keys[k + 1..]);
                let span = span.or(walk.is_without_rows().then_some(Span::FULL));
                let span = span.ok_or_else(|| rec.argument("a slice's step must not be 0"))?;
                walk.slice(&span, ragged_follows)?;
            }
        }
    }
    walk.finish()
}

impl Tensor {
    /// Number of dimensions that are not inner: the outermost one and one per partition.
    fn named_rank(&self) -> usize {
        if self.rank() == 0 { 0 } else { 1 + self.ragged_rank() }
    }

    /// Converts the partitions from `ragged_rank` on to inner dimensions. Fails if one of them is ragged.
    #[track_caller]
    pub(crate) fn partitions_to_inner(&self, op: &'static str, ragged_rank: usize) -> Result<Self> {
        let (kept, uniform) = self.partitions().split_at(ragged_rank.min(self.ragged_rank()));
        let mut inner = Vec::with_capacity(uniform.len() + self.inner().len());
        for p in uniform {
            let size = p.uniform_size().cloned();
            inner.push(
                size.ok_or_else(|| Error::argument(op, "a ragged dimension cannot be an inner dimension"))
                    .map_err(here())?,
            );
        }
        let outer = uniform.first().map(|p| p.nrows_extent().clone()).or_else(|| self.outer().cloned());
        inner.extend_from_slice(self.inner().sizes());
        Self::new(self.backend(), kept.to_vec(), outer, inner, self.values_ref().clone())
    }
}

#[cfg(test)]
mod tests {
    use crate::device::Device;
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

    #[cfg(feature = "gpu")]
    #[test]
    fn what_stands_side_by_side_needs_no_scan_and_has_known_sizes() {
        use crate::graph::plan::{Int64Repr, PlanLimits, PlanOf};
        let x = example();
        let part = x.slice(s![1..3]).unwrap();
        assert_eq!((part.partitions()[0].nrows(), part.partitions()[0].nvals()), (Some(2), Some(1)));
        let row = x.slice(s![-1]).unwrap();
        assert_eq!(row.shape(), [Some(4)]);
        let limits = PlanLimits::of_core_webgpu(Int64Repr::Native);
        // One step for the values of a row; one more for the splits of several rows.
        assert_eq!(PlanOf::new(&row.nodes().unwrap(), limits).steps.len(), 1);
        assert_eq!(PlanOf::new(&part.nodes().unwrap(), limits).steps.len(), 2);
        // A slice that keeps everything computes nothing.
        assert!(PlanOf::new(&x.slice(s![.., ..]).unwrap().nodes().unwrap(), limits).steps.is_empty());
    }
}
