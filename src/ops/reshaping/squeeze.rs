//! Removal of dimensions of size 1.

use crate::element::Element;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::ops::IntoAxes;
use crate::ops::operations;
use crate::record::axes::Axes;
use crate::shape::RowPartition;
use crate::tensor::Tensor;

operations! {
    /// Removal of dimensions of size 1.
    const OPERATIONS: family "Joining, repeating and shapes" on RaggedTensor<T> where T: Element;

    /// Removes dimensions of size 1.
    ///
    /// Each axis is a uniform dimension of that size, or a ragged one whose rows all have one element; an empty row has
    /// none. `..` stands for the dimensions whose size is 1 by type, where TensorFlow requires explicit axes for ragged
    /// tensors. Any dtype.
    ///
    /// # Errors
    /// An axis out of range or repeated; a dimension of another size, reported with the first such row: at the read
    /// where only the device can tell.
    ///
    /// # Cost
    /// No pass; a map over the values where only the device can tell that the rows have one element. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![vec![1, 2]], vec![vec![3]]], &Device::cpu())?;
    /// assert_eq!(x.squeeze(1)?.to_string(), "<ragged.RaggedTensor [[1, 2], [3]]>");
    /// assert!(x.squeeze(0).is_err());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn squeeze(&self, axes: impl IntoAxes as axes = ..) -> T;
    tensorflow "tf.squeeze";
    gradient yes;
    row hand;
}

#[track_caller]
fn squeeze(x: &Tensor, axes: impl IntoAxes) -> Result<Tensor> {
    let rec = x.recorder("squeeze");
    let axes = match axes.into() {
        Axes::All => {
            let sizes = x.ragged_shape().known_sizes();
            (0..x.rank()).filter(|&d| sizes[d] == Some(1)).collect()
        }
        axes => rec.axes(x, &axes)?,
    };
    let levels = x.ragged_rank();
    let (mut parts, mut inner) = (x.partitions().to_vec(), x.inner().sizes().to_vec());
    let mut outer = x.outer().cloned();
    let mut asserts = Vec::new();
    for &axis in axes.iter().rev() {
        if axis > levels {
            let size = inner.remove(axis - levels - 1).capacity();
            if size != 1 {
                return Err(x.not_one(rec, axis, format!("has size {size}")));
            }
        } else if axis > 0 {
            let gone = parts.remove(axis - 1);
            x.one_each(rec, axis, &gone, &mut asserts)?;
            // The new size is the number of rows: equal to the number of values, which only the device may know.
            if parts.len() < axis {
                outer = Some(gone.nrows_extent().clone());
            }
        } else {
            match x.nrows_extent().as_known() {
                Some(1) => {}
                Some(n) => return Err(x.not_one(rec, 0, format!("has size {n}"))),
                None => asserts.push(one(rec, &x.nrows_extent(), x.nrows_extent().expr(), 0)),
            }
            if !parts.is_empty() {
                parts.remove(0);
            } else {
                outer = if inner.is_empty() { None } else { Some(Extent::of(inner.remove(0))) };
            }
        }
    }
    if let Some(p) = parts.last() {
        outer = Some(p.nvals_extent().clone());
    }
    x.laid_out(rec, parts, outer, inner, &asserts)
}

impl Tensor {
    fn not_one(&self, rec: Recorder<'_>, axis: usize, what: String) -> Error {
        rec.argument(format!("dimension {axis} of a tensor of shape {} {what}, not 1", self.shape_text()))
    }

    /// Checks that every row of a partition has one element. Adds a condition where only the device can tell.
    fn one_each(&self, rec: Recorder<'_>, axis: usize, p: &RowPartition, asserts: &mut Vec<Node>) -> Result<()> {
        if p.known_lengths() == Some((1, 1)) || (p.nrows_extent().as_known() == Some(0) && p.uniform_length().is_none())
        {
            return Ok(());
        }
        if let Some(len) = p.uniform_length() {
            return Err(self.not_one(rec, axis, format!("has size {len}")));
        }
        match p.host_splits() {
            Some(splits) => match splits.windows(2).position(|w| w[1] - w[0] != 1) {
                None => Ok(()),
                Some(row) => {
                    let len = splits[row + 1] - splits[row];
                    Err(self.not_one(rec, axis, format!("has a row (the first is row {row}) of {len} elements")))
                }
            },
            None => {
                asserts.push(one(rec, p.nrows_extent(), p.length(Expr::index()), axis));
                Ok(())
            }
        }
    }
}

/// The condition that `size` is 1 at all of `count` positions, or once if `size` is no expression in the position.
fn one(rec: Recorder<'_>, count: &Extent, size: Expr, axis: usize) -> Node {
    let count = if size.has_index() { count.clone() } else { Extent::known(1) };
    rec.assert(count, size.eq(Expr::u32(1)), rec.check(format!("dimension {axis} must have size 1")))
}
