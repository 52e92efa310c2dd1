//! Embedding tables: look-ups, and look-ups combined row by row.

use super::gather::{OUT_OF_RANGE, in_range};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::opcode::{ReduceOp, UnaryOp};
use crate::graph::scalar::Scalar;
use crate::math::MathFn;
use crate::tensor::{RaggedTensor, Tensor};

/// How the embeddings of a row become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Combiner {
    /// Their sum.
    Sum,
    /// Their sum over their number.
    Mean,
    /// Their sum over the square root of their number.
    SqrtN,
}

/// What stands for ids that are none and rows without ids.
#[derive(Debug, Clone, Copy)]
enum Missing {
    /// Ids must exist; a row without ids gives zeros.
    Error,
    /// Negative ids are left out; a row that has no others gives the embedding of that id, or zeros.
    Default(Option<u32>),
}

impl Tensor {
    /// The rows of this dense table that `ids` names: [`Tensor::gather`] along the first axis.
    ///
    /// The result has the dimensions and partitions of `ids`, then those of the table but the first. One map, which
    /// fuses into what reads it.
    ///
    /// TensorFlow: `tf.nn.embedding_lookup`.
    ///
    /// # Errors
    /// As [`Tensor::gather`]; the table is ragged.
    ///
    /// ```
    /// # use ragged::{Device, HostTensor, HostValues};
    /// # fn main() -> ragged::Result<()> {
    /// let device = Device::cpu();
    /// let table = HostTensor::dense(&[3, 1], HostValues::F32(vec![0.5, 1.5, 2.5])).to_device(&device)?;
    /// let ids = HostTensor::dense(&[2], HostValues::I64(vec![2, 0])).to_device(&device)?;
    /// assert_eq!(table.embedding_lookup(&ids)?.to_host()?.values, HostValues::F32(vec![2.5, 0.5]));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn embedding_lookup(&self, ids: &Self) -> Result<Self> {
        self.check_table("embedding_lookup")?;
        self.gather(ids, Some(0), 0)
    }

    /// The rows of this dense table that each row of `ids` names, combined to one: `[rows, width…]`, dense.
    ///
    /// A row without ids gives zeros. Sums go in the order of the ids. NaN propagates. A row reduction that reads the
    /// table itself, and a map over its result.
    ///
    /// TensorFlow: `tf.nn.embedding_lookup_sparse` of ragged ids, without weights.
    ///
    /// # Errors
    /// A table that is ragged, a scalar, or not of floats; ids that are no integers, on another device, or not of rank 2
    /// with ragged rows. At the read: an id that is negative or too large.
    ///
    /// ```
    /// # use ragged::{Combiner, Device, HostTensor, HostValues};
    /// # fn main() -> ragged::Result<()> {
    /// let device = Device::cpu();
    /// let table = HostTensor::dense(&[3, 1], HostValues::F32(vec![0.5, 1.5, 2.5])).to_device(&device)?;
    /// let ids = HostTensor {
    ///     nested_row_splits: vec![vec![0, 2, 2]],
    ///     uniform_row_lengths: vec![None],
    ///     inner_shape: vec![2],
    ///     values: HostValues::I64(vec![0, 2]),
    /// };
    /// let mean = table.embedding_lookup_sparse(&ids.to_device(&device)?, Combiner::Mean)?.to_host()?;
    /// assert_eq!(mean, HostTensor::dense(&[2, 1], HostValues::F32(vec![1.5, 0.0])));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn embedding_lookup_sparse(&self, ids: &Self, combiner: Combiner) -> Result<Self> {
        self.combined("embedding_lookup_sparse", ids, combiner, Missing::Error)
    }

    /// As [`Tensor::embedding_lookup_sparse`], but negative ids are left out, and rows that have no others give the
    /// embedding of `default_id`, or zeros.
    ///
    /// TensorFlow: `tf.nn.safe_embedding_lookup_sparse` of ragged ids, without weights.
    ///
    /// # Errors
    /// As [`Tensor::embedding_lookup_sparse`], save for negative ids; a `default_id` that the table does not have.
    ///
    /// ```
    /// # use ragged::{Combiner, Device, HostTensor, HostValues};
    /// # fn main() -> ragged::Result<()> {
    /// let device = Device::cpu();
    /// let table = HostTensor::dense(&[3, 1], HostValues::F32(vec![0.5, 1.5, 2.5])).to_device(&device)?;
    /// let ids = HostTensor {
    ///     nested_row_splits: vec![vec![0, 2, 2]],
    ///     uniform_row_lengths: vec![None],
    ///     inner_shape: vec![2],
    ///     values: HostValues::I64(vec![2, -1]),
    /// };
    /// let sum = table.safe_embedding_lookup_sparse(&ids.to_device(&device)?, Combiner::Sum, Some(1))?.to_host()?;
    /// assert_eq!(sum, HostTensor::dense(&[2, 1], HostValues::F32(vec![2.5, 1.5])));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn safe_embedding_lookup_sparse(
        &self,
        ids: &Self,
        combiner: Combiner,
        default_id: Option<i64>,
    ) -> Result<Self> {
        const OP: &str = "safe_embedding_lookup_sparse";
        let size = u64::from(self.nrows_extent().capacity());
        let narrow = |index: i64| match u32::try_from(index) {
            Ok(id) if u64::from(id) < size => Ok(id),
            _ => Err(Error::Index { op: OP, index, size, at: None }),
        };
        let default_id = default_id.map(narrow).transpose()?;
        self.combined(OP, ids, combiner, Missing::Default(default_id))
    }

    /// # Errors
    /// This is no dense tensor of rank 1 or more.
    fn check_table(&self, op: &'static str) -> Result<()> {
        if self.ragged_rank() == 0 && self.rank() > 0 {
            return Ok(());
        }
        Err(Error::argument(op, format!("a table is dense and has rows, but this has shape {}", self.shape_text())))
    }

    #[track_caller]
    fn combined(&self, op: &'static str, ids: &Self, combiner: Combiner, missing: Missing) -> Result<Self> {
        self.check_table(op)?;
        Device::check_same(op, self.backend(), ids.backend())?;
        let (table, dtype) = (self.numbers(op)?, self.dtype());
        if !dtype.is_float() {
            return Err(Error::unsupported(op, dtype, "a table is of floats"));
        }
        if !matches!(ids.dtype(), DType::I32 | DType::I64) {
            return Err(Error::unsupported(op, ids.dtype(), "ids are i32 or i64"));
        }
        let ([rows], []) = (ids.partitions(), ids.inner()) else {
            let what = format!("ids have rank 2 and ragged rows, but these have shape {}", ids.shape_text());
            return Err(Error::argument(op, what));
        };
        let (backend, width, vocabulary) = (self.backend(), self.width(), self.nrows_extent());
        let by = Expr::u32(width.max(1));
        let (element, number) = (Expr::index().div(by.clone()), Expr::index().rem(by));
        let sums_in = dtype.accumulator();
        let zero = Expr::scalar(Scalar::from_i64(sums_in, 0));
        let id_node = ids.numbers(op)?;
        // `id` and whether it counts, at a position among the ids.
        let id_at = |at: Expr| {
            let id = Expr::load(id_node, at);
            let counts = Expr::scalar(Scalar::from_i64(id.dtype(), 0)).le(id.clone());
            (id, counts)
        };
        let (id, counts) = id_at(element.clone());
        let mut ok = in_range(&id, vocabulary.expr(), vocabulary.capacity());
        if let Missing::Default(_) = missing {
            ok = ok.or(counts.clone().not());
        }
        let row = id.cast(DType::U32).checked(Check::new(op, OUT_OF_RANGE), ok);
        let mut embedding = Expr::load(table, self.flat(row, number.clone())).cast(sums_in);
        let (nrows, nvals) = (rows.nrows_extent(), rows.nvals_extent());
        let length = match missing {
            Missing::Error => rows.length(element.clone()),
            Missing::Default(_) => {
                embedding = counts.select(embedding, zero.clone());
                let one = id_at(Expr::index()).1.cast(DType::U32);
                let layout = (rows.rows().clone(), nrows.clone());
                let number = Node::reduce(backend, op, ReduceOp::Sum, layout, nvals.clone(), 1, one)?;
                Expr::load(&number, element)
            }
        };
        let layout = (rows.rows().clone(), nrows.clone());
        let sums = Node::reduce(backend, op, ReduceOp::Sum, layout, nvals.clone(), width, embedding)?;
        let sum = Expr::load(&sums, Expr::index());
        let n = length.clone().cast(sums_in);
        let combined = match combiner {
            Combiner::Sum => sum,
            Combiner::Mean => sum.quotient(n),
            Combiner::SqrtN => sum.quotient(n.unary(UnaryOp::Math(MathFn::Sqrt))),
        };
        let instead = match missing {
            Missing::Default(Some(id)) => Expr::load(table, self.flat(Expr::u32(id), number)).cast(sums_in),
            _ => zero,
        };
        let value = length.eq(Expr::u32(0)).select(instead, combined).cast(dtype);
        let count: Extent = nrows.times(op, u64::from(width))?;
        let values = Node::map(backend, op, count, value, &[]);
        let values = crate::tensor::Values::Numbers(values);
        Self::new(backend, Vec::new(), Some(nrows.clone()), self.inner().to_vec(), values)
    }
}

impl RaggedTensor<f32> {
    /// As [`Tensor::embedding_lookup`].
    ///
    /// # Errors
    /// As [`Tensor::embedding_lookup`].
    #[track_caller]
    pub fn embedding_lookup(&self, ids: &impl AsRef<Tensor>) -> Result<Self> {
        self.erased().embedding_lookup(ids.as_ref())?.try_into()
    }

    /// As [`Tensor::embedding_lookup_sparse`].
    ///
    /// # Errors
    /// As [`Tensor::embedding_lookup_sparse`].
    #[track_caller]
    pub fn embedding_lookup_sparse(&self, ids: &Tensor, combiner: Combiner) -> Result<Self> {
        self.erased().embedding_lookup_sparse(ids, combiner)?.try_into()
    }

    /// As [`Tensor::safe_embedding_lookup_sparse`].
    ///
    /// # Errors
    /// As [`Tensor::safe_embedding_lookup_sparse`].
    #[track_caller]
    pub fn safe_embedding_lookup_sparse(
        &self,
        ids: &Tensor,
        combiner: Combiner,
        default_id: Option<i64>,
    ) -> Result<Self> {
        self.erased().safe_embedding_lookup_sparse(ids, combiner, default_id)?.try_into()
    }
}
