//! Sizes of a tensor: numbers of rows and values, and the bounding shape.

use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Error, Result, here};
use crate::graph::backend::Part;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recording::read_now;
use crate::graph::size::RecordedSize;
use crate::integer::Integer;
use crate::ops::IntoAxes;
use crate::ops::axes::Axes;
use crate::ops::levels::longest;
use crate::ops::operations;
use crate::shape::RowPartition;
use crate::tensor::{Tensor, Values, positions};

operations! {
    /// Sizes of a tensor: numbers of rows and values, and the bounding shape.
    const OPERATIONS: family "Parts, sizes and copies" on RaggedTensor<T> where T: Element;

    /// Number of rows of the outermost dimension, as an i64 scalar. `tf.RaggedTensor.nrows`. One map, no wait.
    /// [`Tensor::shape`] gives the sizes that the host knows.
    ///
    /// # Errors
    /// A scalar.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.nrows()?.item()?, 3);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn nrows(&self) -> i64;
    tensorflow "tf.RaggedTensor.nrows";
    gradient none "integers";
    row none "`size` and `row_lengths` count within the row";

    /// Number of values, inner dimensions included, as an i64 scalar. `tf.size`. One map, no wait.
    ///
    /// # Errors
    /// More than 2^32 - 2 values.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.size()?.item()?, 3);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn size(&self) -> i64;
    tensorflow "tf.size";
    gradient none "integers";
    row hand;

    /// Shape of the smallest dense tensor that holds all values: an i64 vector of `rank` entries.
    /// `tf.RaggedTensor.bounding_shape`.
    ///
    /// The size of a ragged or uniform dimension is the length of its longest row, or 0 without rows. Costs one row
    /// reduction per ragged dimension whose longest row the host does not know; no wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.bounding_shape()?.to_vec()?, [3, 2]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn bounding_shape(&self) -> i64;
    tensorflow "tf.RaggedTensor.bounding_shape";
    gradient none "integers";
    row none "`size` and `row_lengths` count within the row";

    /// The entries of [`Tensor::bounding_shape`] for the given axes, in their order.
    ///
    /// # Errors
    /// An axis that the tensor does not have.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.erased().bounding_shape_of([1])?.to_string(), "tensor([2], shape=(1,), dtype=i64)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn bounding_shape_of(&self, axes: impl IntoAxes as axes) -> i64;
    tensorflow "tf.RaggedTensor.bounding_shape(axis)";
    gradient none "integers";
    row none "`size` and `row_lengths` count within the row";

    /// The entry of [`Tensor::bounding_shape`] for one axis, as a scalar.
    ///
    /// # Errors
    /// An axis that the tensor does not have.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.erased().bounding_size(1)?.to_string(), "tensor(2, shape=(), dtype=i64)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn bounding_size(&self, axis: impl Integer as axis) -> i64;
    tensorflow "tf.RaggedTensor.bounding_shape(axis)";
    gradient none "integers";
    row none "`size` and `row_lengths` count within the row";
}

#[track_caller]
fn nrows(x: &Tensor) -> Result<Tensor> {
    if x.rank() == 0 {
        return Err(Error::argument("nrows", "a scalar has no rows"));
    }
    x.scalar("nrows", x.nrows_extent().expr())
}

#[track_caller]
fn size(x: &Tensor) -> Result<Tensor> {
    x.scalar("size", x.count()?.expr())
}

#[track_caller]
fn bounding_shape(x: &Tensor) -> Result<Tensor> {
    x.bounding_shape_of(..)
}

#[track_caller]
fn bounding_shape_of(x: &Tensor, axes: impl IntoAxes) -> Result<Tensor> {
    const OP: &str = "bounding_shape";
    let axes = match axes.into() {
        Axes::All => (0..x.rank() as i64).collect(),
        Axes::List(axes) => axes,
    };
    let sizes = x.bounding_exprs(OP)?;
    let mut e = Expr::u32(0);
    for (place, &axis) in axes.iter().enumerate() {
        let size = sizes[x.axis(OP, axis)?].clone();
        e = Expr::index().eq(Expr::u32(place as u32)).select(size, e);
    }
    positions(x.backend(), OP, Extent::known_u64(OP, axes.len() as u64)?, e)
}

#[track_caller]
fn bounding_size(x: &Tensor, axis: impl Integer) -> Result<Tensor> {
    let axis = axis.saturating_i64();
    const OP: &str = "bounding_shape";
    let axis = x.axis("bounding_size", axis)?;
    x.scalar(OP, x.bounding_exprs(OP)?.swap_remove(axis))
}

impl Tensor {
    /// Length of the longest row of each partition; of a uniform partition its row length, also where it has no rows.
    /// Waits once, and only if the host does not know all of them.
    #[track_caller]
    pub(crate) fn longest_rows(&self, op: &'static str) -> Result<Vec<u32>> {
        let backend = self.backend();
        let size =
            |p: &RowPartition| p.uniform_length().map_or_else(|| longest(backend, op, p), |n| Ok(Extent::known(n)));
        let sizes: Vec<Extent> = self.partitions().iter().map(size).collect::<Result<_>>().map_err(here())?;
        let lives: Vec<Option<Expr>> = sizes.iter().map(Extent::live).collect();
        let read: Vec<Node> =
            lives.iter().flatten().map(|size| Node::map(backend, op, Extent::known(1), size.clone(), &[])).collect();
        let mut read = if read.is_empty() {
            Vec::new()
        } else {
            read_now(backend, op, read.into_iter().map(Part::whole).collect())?
        }
        .into_iter();
        let mut next = || read.next().map_or(0, |bytes| bytemuck::pod_read_unaligned(&bytes));
        let known = |(size, live): (&Extent, &Option<Expr>)| if live.is_some() { next() } else { size.capacity() };
        Ok(sizes.iter().zip(&lives).map(known).collect())
    }

    /// Size of each dimension of the smallest dense tensor that holds all values, as expressions.
    #[track_caller]
    fn bounding_exprs(&self, op: &'static str) -> Result<Vec<Expr>> {
        if self.rank() == 0 {
            return Ok(Vec::new());
        }
        let mut sizes = vec![self.nrows_extent().expr()];
        for p in self.partitions() {
            sizes.push(longest(self.backend(), op, p)?.expr());
        }
        sizes.extend(self.inner().iter().map(|&d| Expr::u32(d)));
        Ok(sizes)
    }

    /// A count as an i64 scalar.
    #[track_caller]
    fn scalar(&self, op: &'static str, e: Expr) -> Result<Self> {
        let node = Node::map(self.backend(), op, Extent::known(1), e.cast(DType::I64), &[]);
        Self::new(self.backend(), Vec::new(), None, [], Values::Numbers(node))
    }
}
