//! Embedding table look-ups.

use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{Node, RowDomain, Rows};
use crate::graph::opcode::{ReduceOp, UnaryOp};
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::math::MathFn;
use crate::ops::operations;
use crate::ops::options::LookupIds;
use crate::record::scaling::Scaling;
use crate::tensor::Tensor;

operations! {
    /// Embedding look-ups.
    const OPERATIONS: family "Indexing and gathering" on RaggedTensor<T> where T: Element;

    /// Looks up the rows of a dense table by id.
    ///
    /// The tensor is the table, of any dtype, which stays. The result has the dimensions and partitions of `ids`,
    /// followed by the dimensions of the table but the first. Empty rows of ids give empty rows. [`Tensor::gather`]
    /// along the first axis is the same for ragged tensors too. A table in shards is joined by
    /// [`from_shards`](Tensor::from_shards).
    ///
    /// [`max_norm`](crate::opt::max_norm)`(&ids, norm)` scales the embeddings of floats whose Euclidean norm exceeds `norm`
    /// down to it, and leaves the others as they are; a NaN makes its whole embedding NaN.
    ///
    /// # Errors
    /// A table that is ragged or a scalar; ids of a dtype other than integers, or on another device; weights or a
    /// default id; a `max_norm` that is not above 0, or of a table that is not of floats. At the read: an id that is
    /// negative or not below the number of rows of the table.
    ///
    /// # Cost
    /// One map, which fuses into its consumers; `max_norm` adds two reductions of the embeddings that are looked up. No
    /// wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let table = RaggedTensor::dense([0.5f32, 1.5, 2.5], &[3, 1], &device)?;
    /// let ids = RaggedTensor::from_nested([vec![2, 0], vec![]], &device)?;
    /// assert_eq!(table.embedding_lookup(&ids)?.to_string(), "<ragged.RaggedTensor [[[2.5], [0.5]], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn embedding_lookup<'a>(&self, ids: impl Into<LookupIds<'a>> as LookupIds) -> T;
    alias "embedding";
    tensorflow "tf.nn.embedding_lookup";
    gradient yes;
    row hand;
}

#[track_caller]
fn embedding_lookup<'a>(x: &Tensor, ids: impl Into<LookupIds<'a>>) -> Result<Tensor> {
    const OP: &str = "embedding_lookup";
    let rec = x.recorder(OP);
    let LookupIds { ids, weights, default, max_norm } = ids.into();
    if weights.is_some() || default.is_some() {
        let what = "it takes neither weights nor a default id; safe_embedding_lookup_sparse takes both";
        return Err(rec.argument(what));
    }
    x.check_table(OP)?;
    let limit = MaxNorm::new(OP, x, max_norm)?;
    let ids = ids.tensor(OP)?;
    let found = x.gathered(rec, &(&ids).into())?;
    let (Some(limit), width) = (limit, x.width()) else { return Ok(found) };
    if width == 0 {
        return Ok(found);
    }
    let value = Expr::load(rec.numbers(&found)?, Expr::index()).cast(limit.sums_in());
    let norms = limit.norms(rec, x, &ids.count()?, value.clone())?;
    let value = limit.applied(value, &norms, &Expr::index().div(Expr::u32(width))).cast(x.dtype());
    found.with_value_node(rec.map(found.count()?, value, &[]))
}

/// The largest Euclidean norm of an embedding.
pub(super) struct MaxNorm {
    limit: Expr,
}

impl MaxNorm {
    /// # Errors
    /// A limit that is not above 0; a table that is not of floats.
    #[track_caller]
    pub(super) fn new(op: &'static str, table: &Tensor, limit: Option<f64>) -> Result<Option<Self>> {
        let Some(limit) = limit else { return Ok(None) };
        if !table.dtype().is_float() {
            return Err(Error::unsupported(op, table.dtype(), "max_norm needs a table of floats"));
        }
        if limit.is_nan() || limit <= 0.0 {
            return Err(Error::argument(op, format!("max_norm must be above 0, but is {limit}")));
        }
        let dtype = table.dtype().accumulator();
        if dtype == DType::F32 && limit as f32 == 0.0 {
            return Err(Error::argument(op, format!("max_norm must be above 0, but {limit} is 0 as f32")));
        }
        let limit = Scalar::from_f64(dtype, limit);
        Ok(Some(Self { limit: Expr::number(limit) }))
    }

    /// The type in which norms are computed.
    fn sums_in(&self) -> DType {
        self.limit.dtype()
    }

    /// The norms of `rows` embeddings of the table, whose numbers are `value`.
    pub(super) fn norms(&self, rec: Recorder<'_>, table: &Tensor, rows: &Extent, value: Expr) -> Result<Norms> {
        let scaling = Scaling::of(self.sums_in());
        let (width, all) = (table.width(), rec.times(rows, table.width())?);
        let fold = |by: ReduceOp, value: Expr| {
            let (rows, nrows) = (Rows::Uniform(width.into()), rows.clone());
            let on = RowDomain { rows, nrows, nvals: all.clone(), inner: 1 };
            Ok::<_, Error>(Expr::load(&rec.reduce(by, on, value)?, Expr::index()))
        };
        let exponent = scaling.exponent(fold(ReduceOp::Max, scaling.magnitude(value.clone()))?);
        let exponent = rec.map(rows.clone(), exponent, &[]);
        let row = Expr::index().div(Expr::u32(width));
        let scaled = scaling.down(value, Expr::load(&exponent, row));
        let norm = fold(ReduceOp::Sum, scaled.clone().mul(scaled))?.unary(UnaryOp::Math(MathFn::Sqrt));
        Ok(Norms { exponent, norm: rec.map(rows.clone(), norm, &[]) })
    }

    /// A number of embedding `at`, with the norm limited.
    pub(super) fn applied(&self, value: Expr, norms: &Norms, at: &Expr) -> Expr {
        let scaling = Scaling::of(self.sums_in());
        let [exponent, norm] = [&norms.exponent, &norms.norm].map(|node| Expr::load(node, at.clone()));
        let limited = scaling.down(value.clone(), exponent.clone()).mul(self.limit.clone()).quotient(norm.clone());
        scaling.up(norm, exponent).le(self.limit.clone()).select(value, limited)
    }
}

/// Norms of embeddings, scaled by powers of 2.
pub(super) struct Norms {
    exponent: Node,
    norm: Node,
}

impl Tensor {
    /// # Errors
    /// The tensor is not a dense tensor of rank 1 or more.
    #[track_caller]
    pub(crate) fn check_table(&self, op: &'static str) -> Result<()> {
        if self.ragged_rank() == 0 && self.rank() > 0 {
            return Ok(());
        }
        Err(Error::argument(op, format!("a table is dense and has rows, but this has shape {}", self.shape_text())))
    }
}
