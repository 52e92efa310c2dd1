//! Sizes of a tensor: numbers of rows and values, and the bounding shape.

use crate::dtype::DType;
use crate::element::Element;
use crate::error::Result;
use crate::graph::backend::Part;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::integer::Integer;
use crate::ops::IntoAxes;
use crate::ops::operations;
use crate::record::axes::Axes;
use crate::record::levels::longest;
use crate::shape::RowPartition;
use crate::tensor::{Tensor, Values, positions};

operations! {
    /// Sizes.
    const OPERATIONS: family "Parts, sizes and copies" on RaggedTensor<T> where T: Element;

    /// Number of rows of the outermost dimension.
    ///
    /// An i64 scalar. Empty rows count. [`Tensor::shape`] gives the sizes that the host knows.
    ///
    /// # Errors
    /// A scalar.
    ///
    /// # Cost
    /// One map, no wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.nrows()?.item()?, 3);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn nrows(&self) -> i64;
    alias "len", "height";
    tensorflow "tf.RaggedTensor.nrows";
    polars "Expr.len";
    gradient none "the result holds counts";
    row none "`size` and `row_lengths` count within the row";

    /// Number of values, inner dimensions included.
    ///
    /// An i64 scalar. Empty rows contribute nothing.
    ///
    /// # Errors
    /// More than 2^32 - 2 values.
    ///
    /// # Cost
    /// One map, no wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.size()?.item()?, 3);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn size(&self) -> i64;
    alias "numel", "count";
    tensorflow "tf.size";
    awkward "ak.count";
    gradient none "the result holds counts";
    row hand;

    /// Shape of the smallest dense tensor that holds all values.
    ///
    /// An i64 vector with one entry per dimension. The size of a ragged or uniform dimension is the length of its
    /// longest row, or 0 without rows.
    ///
    /// # Errors
    /// None for a valid tensor.
    ///
    /// # Cost
    /// One row reduction per ragged dimension whose longest row the host does not know; no wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.bounding_shape()?.to_vec()?, [3, 2]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn bounding_shape(&self) -> i64;
    alias "max_length";
    tensorflow "tf.RaggedTensor.bounding_shape";
    gradient none "the result holds counts";
    row none "`size` and `row_lengths` count within the row";

    /// Sizes of the given axes in the smallest dense tensor that holds all values.
    ///
    /// An i64 vector in the order of the axes. The size of a ragged or uniform dimension is the length of its longest
    /// row, or 0 without rows.
    ///
    /// # Errors
    /// An axis that the tensor does not have.
    ///
    /// # Cost
    /// One row reduction per ragged dimension named whose longest row the host does not know; no wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.bounding_shape_of([1, 0])?.to_vec()?, [2, 3]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn bounding_shape_of(&self, axes: impl IntoAxes as axes) -> i64;
    tensorflow "tf.RaggedTensor.bounding_shape(axis)";
    gradient none "the result holds counts";
    row none "`size` and `row_lengths` count within the row";

    /// Size of one axis in the smallest dense tensor that holds all values.
    ///
    /// An i64 scalar. The size of a ragged or uniform dimension is the length of its longest row, or 0 without rows.
    ///
    /// # Errors
    /// An axis that the tensor does not have.
    ///
    /// # Cost
    /// One row reduction for a ragged dimension whose longest row the host does not know; no wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.bounding_size(1)?.item()?, 2);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn bounding_size(&self, axis: impl Integer as axis) -> i64;
    alias "max_length";
    tensorflow "tf.RaggedTensor.bounding_shape(axis)";
    gradient none "the result holds counts";
    row none "`size` and `row_lengths` count within the row";
}

#[track_caller]
fn nrows(x: &Tensor) -> Result<Tensor> {
    let rec = x.recorder("nrows");
    if x.rank() == 0 {
        return Err(rec.argument("a scalar has no rows"));
    }
    x.scalar(rec, x.nrows_extent().expr())
}

#[track_caller]
fn size(x: &Tensor) -> Result<Tensor> {
    let rec = x.recorder("size");
    x.scalar(rec, x.count()?.expr())
}

#[track_caller]
fn bounding_shape(x: &Tensor) -> Result<Tensor> {
    let rec = x.recorder("bounding_shape");
    bounding_sizes(rec, x, Axes::All)
}

#[track_caller]
fn bounding_shape_of(x: &Tensor, axes: impl IntoAxes) -> Result<Tensor> {
    let rec = x.recorder("bounding_shape_of");
    bounding_sizes(rec, x, axes.into())
}

fn bounding_sizes(rec: Recorder<'_>, x: &Tensor, axes: Axes) -> Result<Tensor> {
    let axes = match axes {
        Axes::All => (0..x.rank() as i64).collect(),
        Axes::List(axes) => axes,
    };
    let sizes = x.bounding_exprs(rec)?;
    let mut e = Expr::u32(0);
    for (place, &axis) in axes.iter().enumerate() {
        let size = sizes[rec.axis(x, axis)?].clone();
        e = Expr::index().eq(Expr::u32(place as u32)).select(size, e);
    }
    positions(rec, rec.known(axes.len() as u64)?, e)
}

#[track_caller]
fn bounding_size(x: &Tensor, axis: impl Integer) -> Result<Tensor> {
    let rec = x.recorder("bounding_size");
    let axis = rec.axis(x, axis.saturating_i64())?;
    x.scalar(rec, x.bounding_exprs(rec)?.swap_remove(axis))
}

impl Tensor {
    /// Length of the longest row of each partition; of a uniform partition its row length, also where it has no rows.
    /// Waits once, and only if the host does not know all of them.
    pub(crate) fn longest_rows(&self, rec: Recorder<'_>) -> Result<Vec<u32>> {
        let size = |p: &RowPartition| p.uniform_length().map_or_else(|| longest(rec, p), |n| Ok(Extent::known(n)));
        let sizes: Vec<Extent> = self.partitions().iter().map(size).collect::<Result<_>>()?;
        let lives: Vec<Option<Expr>> = sizes.iter().map(Extent::live).collect();
        let read: Vec<Node> = lives.iter().flatten().map(|size| rec.map(Extent::known(1), size.clone(), &[])).collect();
        let mut read =
            if read.is_empty() { Vec::new() } else { rec.read_parts(read.into_iter().map(Part::whole).collect())? }
                .into_iter();
        let mut next = || read.next().map_or(0, |bytes| bytemuck::pod_read_unaligned(&bytes));
        let known = |(size, live): (&Extent, &Option<Expr>)| if live.is_some() { next() } else { size.capacity() };
        Ok(sizes.iter().zip(&lives).map(known).collect())
    }

    /// Size of each dimension of the smallest dense tensor that holds all values, as expressions.
    fn bounding_exprs(&self, rec: Recorder<'_>) -> Result<Vec<Expr>> {
        if self.rank() == 0 {
            return Ok(Vec::new());
        }
        let mut sizes = vec![self.nrows_extent().expr()];
        for p in self.partitions() {
            sizes.push(longest(rec, p)?.expr());
        }
        sizes.extend(self.inner().iter().map(|&d| Expr::u32(d)));
        Ok(sizes)
    }

    /// A count as an i64 scalar.
    fn scalar(&self, rec: Recorder<'_>, e: Expr) -> Result<Self> {
        let node = rec.map(Extent::known(1), e.cast(DType::I64), &[]);
        rec.tensor(Vec::new(), None, [], Values::Numbers(node))
    }
}
