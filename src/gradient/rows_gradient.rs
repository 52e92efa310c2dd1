//! Gradients of tables that look-ups read, as the rows that are used.

use super::unique_rows::UniqueRows;
use crate::device::Device;
use crate::error::{Error, Result, caller};
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::shape::{Dims, same_layout};
use crate::tensor::{Tensor, Values};

/// The gradient of a tensor, by [`sparse_value_and_grad`](crate::sparse_value_and_grad).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Gradient {
    /// The derivatives by all elements: a tensor of the shape and the dtype of the one that it is the gradient of.
    Dense(Tensor),
    /// The derivatives by the rows of a table that are used. Those by other rows are 0.
    Rows(RowsGradient),
}

/// The derivatives by the rows of a table that a look-up uses.
///
/// Source: `tf.IndexedSlices`, with unique indices.
#[derive(Debug, Clone)]
pub struct RowsGradient {
    ids: Tensor,
    rows: Tensor,
    /// Rows of the table.
    of: Box<Extent>,
}

/// Conversions.
impl Gradient {
    /// The rows that are used, if the gradient is one of rows.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, sparse_value_and_grad};
    /// let x = RaggedTensor::from_nested([1.0f32, 2.0], &Device::cpu())?;
    /// let (_, of) = sparse_value_and_grad(|x| x[0].square()?.reduce_sum(..), [&x])?;
    /// assert!(of[0].as_rows().is_none());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn as_rows(&self) -> Option<&RowsGradient> {
        if let Self::Rows(rows) = self { Some(rows) } else { None }
    }

    /// The derivatives: those by all elements, or the rows of [`RowsGradient::rows`].
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, sparse_value_and_grad};
    /// let x = RaggedTensor::from_nested([1.0f32, 2.0], &Device::cpu())?;
    /// let (_, of) = sparse_value_and_grad(|x| x[0].square()?.reduce_sum(..), [&x])?;
    /// assert_eq!(of[0].derivatives().to_string(), "tensor([2.0, 4.0], shape=(2,), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn derivatives(&self) -> &Tensor {
        match self {
            Self::Dense(gradient) => gradient,
            Self::Rows(of) => of.rows(),
        }
    }

    /// The gradient as a tensor of the shape of `of`, the tensor that it is the gradient of.
    ///
    /// # Errors
    /// A tensor of another shape, dtype or device.
    ///
    /// # Cost
    /// None for a dense gradient; else zeros, in which the rows are written.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, sparse_value_and_grad};
    /// let table = RaggedTensor::from_nested(vec![[0.5f32, 1.0]; 1000], &Device::cpu())?;
    /// let ids = RaggedTensor::from_nested([999], &Device::cpu())?;
    /// let (_, of) = sparse_value_and_grad(|x| x[0].embedding_lookup(&ids)?.reduce_sum(..), [&table])?;
    /// let dense = of[0].to_dense(&table)?;
    /// assert_eq!(dense.slice(ragged::s![998..])?.to_string(), "tensor([[0.0, 0.0], [1.0, 1.0]], shape=(2, 2), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_dense(&self, of: &impl AsRef<Tensor>) -> Result<Tensor> {
        const OP: &str = "Gradient::to_dense";
        let of = of.as_ref();
        match self {
            Self::Dense(gradient) => {
                let rec = of.recorder(OP);
                rec.at(Device::check_same(OP, of.backend(), gradient.backend()))?;
                if of.dtype() != gradient.dtype() {
                    return Err(Error::DTypes { op: OP, lhs: of.dtype(), rhs: gradient.dtype(), location: caller() });
                }
                gradient.on_condition(OP, &same_layout(rec, of.ragged_shape(), gradient.ragged_shape())?)
            }
            Self::Rows(of_rows) => {
                let zeros = of.zeros_like().map_err(|e| e.of(OP))?;
                of_rows.updated(OP, &zeros, &of_rows.rows)
            }
        }
    }
}

/// Rows of tables.
impl RowsGradient {
    /// The numbers of the rows that are used, of u32: ascending, each once. Only the device knows how many.
    ///
    /// ```
    /// use ragged::{Device, Gradient, RaggedTensor, sparse_value_and_grad};
    /// let table = RaggedTensor::from_nested(vec![[0.5f32, 1.0]; 1000], &Device::cpu())?;
    /// let ids = RaggedTensor::from_nested([7, 3, 7], &Device::cpu())?;
    /// let (_, gradients) = sparse_value_and_grad(|x| x[0].gather(&ids)?.reduce_sum(..), [&table])?;
    /// let Gradient::Rows(of) = &gradients[0] else { panic!("one look-up") };
    /// assert_eq!(of.ids().to_string(), "tensor([3, 7], shape=(2,), dtype=u32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn ids(&self) -> &Tensor {
        &self.ids
    }

    /// The derivatives: a row per id, with the dimensions of the table below the outermost and its dtype.
    ///
    /// ```
    /// use ragged::{Device, Gradient, RaggedTensor, sparse_value_and_grad};
    /// let table = RaggedTensor::from_nested(vec![[0.5f32, 1.0]; 1000], &Device::cpu())?;
    /// let ids = RaggedTensor::from_nested([7, 3, 7], &Device::cpu())?;
    /// let (_, gradients) = sparse_value_and_grad(|x| x[0].gather(&ids)?.reduce_sum(..), [&table])?;
    /// let Gradient::Rows(of) = &gradients[0] else { panic!("one look-up") };
    /// assert_eq!(of.rows().to_string(), "tensor([[1.0, 1.0], [2.0, 2.0]], shape=(2, 2), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn rows(&self) -> &Tensor {
        &self.rows
    }

    /// The rows of a table at the ids. The table has the number of rows of the one that this is the gradient of.
    ///
    /// # Errors
    /// A table that is ragged or a scalar, or on another device. At the read: a table of fewer rows.
    ///
    /// # Cost
    /// A map, which fuses into its consumers.
    ///
    /// ```
    /// use ragged::{Device, Gradient, RaggedTensor, sparse_value_and_grad};
    /// let table = RaggedTensor::from_nested(vec![[0.5f32, 1.0]; 1000], &Device::cpu())?;
    /// let ids = RaggedTensor::from_nested([7], &Device::cpu())?;
    /// let (_, gradients) = sparse_value_and_grad(|x| x[0].gather(&ids)?.square()?.reduce_sum(..), [&table])?;
    /// let Gradient::Rows(of) = &gradients[0] else { panic!("one look-up") };
    /// // A step of gradient descent.
    /// let new = of.rows_of(&table)?.subtract(&of.rows().multiply(0.5)?)?;
    /// let table = of.update(&table, &new)?;
    /// assert_eq!(table.slice(ragged::s![6..8])?.to_string(), "tensor([[0.5, 1.0], [0.0, 0.0]], shape=(2, 2), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn rows_of(&self, table: &impl AsRef<Tensor>) -> Result<Tensor> {
        table.as_ref().embedding_lookup(&self.ids).map_err(|e| e.of("RowsGradient::rows_of"))
    }

    /// The table with the rows at the ids replaced: [`Tensor::update_rows`], without its check of the ids.
    ///
    /// # Errors
    /// Rows of another number, shape, dtype or device; a table that is ragged or a scalar, or of another number of rows than the
    /// one that this is the gradient of (at the read where only the device knows it).
    ///
    /// # Cost
    /// As [`Tensor::update_rows`].
    ///
    /// ```
    /// use ragged::{Device, Gradient, RaggedTensor, sparse_value_and_grad};
    /// let table = RaggedTensor::from_nested(vec![[0.5f32, 1.0]; 1000], &Device::cpu())?;
    /// let ids = RaggedTensor::from_nested([7, 3, 7], &Device::cpu())?;
    /// let (_, gradients) = sparse_value_and_grad(|x| x[0].gather(&ids)?.reduce_sum(..), [&table])?;
    /// let Gradient::Rows(of) = &gradients[0] else { panic!("one look-up") };
    /// let table = of.update(&table, &of.rows().multiply(10.0)?)?;
    /// assert_eq!(table.slice(ragged::s![2..4])?.to_string(), "tensor([[0.5, 1.0], [10.0, 10.0]], shape=(2, 2), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn update(&self, table: &impl AsRef<Tensor>, rows: &impl AsRef<Tensor>) -> Result<Tensor> {
        self.updated("RowsGradient::update", table.as_ref(), rows.as_ref())
    }

    #[track_caller]
    fn updated(&self, op: &'static str, table: &Tensor, rows: &Tensor) -> Result<Tensor> {
        let (rec, count) = (table.recorder(op), table.nrows_extent());
        let check = rec.check("the gradient is that of a table of another number of rows");
        let condition = self.of.agrees(&count).condition(rec, check, |(n, m)| {
            rec.argument(format!("the gradient is that of a table of {n} rows, but this one has {m}"))
        });
        let table = table.on_condition(op, &Vec::from_iter(condition?))?;
        table.with_rows(op, (&self.ids, true), rows)
    }

    pub(super) fn new(rec: Recorder<'_>, table: &Tensor, of: UniqueRows, conditions: &[Node]) -> Result<Self> {
        let ids = of.ids(rec, conditions);
        let UniqueRows { count, rows, width, .. } = of;
        let rows = rec.map(rec.times(&count, width)?, rows, conditions);
        let tensor =
            |inner: Dims, node| Tensor::new(rec.backend, Vec::new(), Some(count.clone()), inner, Values::Numbers(node));
        let (ids, rows) = (tensor(Vec::<u32>::new().into(), ids)?, tensor(table.inner().clone(), rows)?);
        Ok(Self { ids, rows, of: Box::new(table.nrows_extent()) })
    }
}
