//! Embedding bags: table look-ups that combine the embeddings of each row of ids into one, with or without weights.

use super::embedding::MaxNorm;
use crate::device::Device;
use crate::dtype::DType;
use crate::element::FloatElement;
use crate::error::{Error, Result, here};
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::opcode::{ReduceOp, UnaryOp};
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::graph::size::RecordedSize;
use crate::math::MathFn;
use crate::ops::indexing::gather::{OUT_OF_RANGE, in_range};
use crate::ops::operations;
use crate::ops::options::LookupIds;
use crate::shape::same_layout;
use crate::tensor::{Tensor, Values, is_not_negative};

operations! {
    /// Embedding bags.
    const OPERATIONS: family "Indexing and gathering" on RaggedTensor<T> where T: FloatElement;

    /// Combines the table rows that each row of ids selects into one embedding.
    ///
    /// The tensor is the table, `[n, width…]` of floats; the ids are `[rows, (ids)]`. The result is `[rows, width…]`,
    /// dense, of the table's dtype. A row without ids gives zeros. Sums follow the order of the ids. NaN propagates.
    ///
    /// With [`weighted`](crate::opt::weighted) ids, each embedding is multiplied by its weight. The weights have the
    /// row partition of the ids, and are cast to the type that the table's dtype is summed in. [`Combiner::Mean`]
    /// divides by the sum of the weights, [`Combiner::SqrtN`] by the root of the sum of their squares. Where the
    /// divisor is 0, as in a row without ids, the result is 0.
    ///
    /// The ids and the weights are ragged, or sparse matrices, whose rows are their values in order.
    /// [`max_norm`](crate::opt::max_norm)`(&ids, norm)` scales longer embeddings down to that Euclidean norm before.
    ///
    /// # Errors
    /// A table that is ragged, a scalar, or not of floats; ids of a dtype other than integers, on another device, or
    /// not of rank 2 with ragged rows; a default id; a `max_norm` that is not above 0. Weights of a dtype other than
    /// floats, on another device, or of another shape than the ids (row lengths that only the device knows are compared
    /// at the read). At the read: an id that is negative or too large.
    ///
    /// # Cost
    /// A row reduction that reads the table directly, and a map over its result. Weights add one row reduction, and
    /// `max_norm` two reductions of the embeddings that the ids select. No wait.
    ///
    /// ```
    /// use ragged::opt::Combiner;
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let table = RaggedTensor::from_nested([[0.5f32], [1.5], [2.5]], &device)?;
    /// let ids = RaggedTensor::from_nested([vec![0, 2], vec![]], &device)?;
    /// assert_eq!(table.embedding_lookup_sparse(&ids, Combiner::Mean)?.to_vec()?, [1.5, 0.0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn embedding_lookup_sparse<'a>(&self, ids: impl Into<LookupIds<'a>> as LookupIds, combiner: Combiner = Combiner::Mean) -> T;
    alias "embedding_bag", "EmbeddingBag";
    tensorflow "tf.nn.embedding_lookup_sparse";
    gradient yes;
    row none "embedding_lookup and a reduction of the row do the same";

    /// Combines the table rows that each row of ids selects into one embedding, and skips negative ids.
    ///
    /// The tensor is the table, `[n, width…]` of floats; the ids are `[rows, (ids)]`. The result is `[rows, width…]`,
    /// dense, of the table's dtype. A row without ids that are not negative gives zeros, or the embedding of a default
    /// id ([`or_default`](crate::opt::or_default)). Sums follow the order of the ids. NaN propagates.
    ///
    /// With [`weighted`](crate::opt::weighted) ids, each embedding is multiplied by its weight, and every combiner but
    /// [`Combiner::Sum`] also skips ids whose weight is NaN or not above 0. [`Combiner::Mean`] divides by the sum of
    /// the weights, [`Combiner::SqrtN`] by the root of the sum of their squares.
    ///
    /// The ids and the weights are ragged, or sparse matrices, whose rows are their values in order.
    /// [`max_norm`](crate::opt::max_norm)`(&ids, norm)` scales longer embeddings down to that Euclidean norm before, the
    /// embedding of the default id too.
    ///
    /// # Errors
    /// A table that is ragged, a scalar, or not of floats; ids of a dtype other than integers, on another device, or
    /// not of rank 2 with ragged rows; a default id that the table does not have; a `max_norm` that is not above 0.
    /// Weights of a dtype other than floats,
    /// on another device, or of another shape than the ids (row lengths that only the device knows are compared at the
    /// read). At the read: an id that is too large.
    ///
    /// # Cost
    /// A row reduction that reads the table directly, and a map over its result. Weights add one row reduction, and
    /// `max_norm` two reductions of the embeddings that the ids select. No wait.
    ///
    /// ```
    /// use ragged::opt::{Combiner, or_default, weighted};
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let table = RaggedTensor::from_nested([[0.5f32], [1.5], [2.5]], &device)?;
    /// let ids = RaggedTensor::from_nested([vec![2, -1, 1], vec![]], &device)?;
    /// let weights = RaggedTensor::from_nested([vec![4.0f32, 1.0, 0.0], vec![]], &device)?;
    /// let ids = or_default(weighted(&ids, &weights), 1);
    /// let mean = table.safe_embedding_lookup_sparse(ids, Combiner::Mean)?;
    /// assert_eq!(mean.to_vec()?, [2.5, 1.5]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn safe_embedding_lookup_sparse<'a>(&self, ids: impl Into<LookupIds<'a>> as LookupIds, combiner: Combiner = Combiner::Mean) -> T;
    alias "embedding_bag", "EmbeddingBag";
    tensorflow "tf.nn.safe_embedding_lookup_sparse";
    gradient yes;
    row none "boolean_mask, embedding_lookup and a reduction of the row do the same";
}

#[track_caller]
fn embedding_lookup_sparse<'a>(x: &Tensor, ids: impl Into<LookupIds<'a>>, combiner: Combiner) -> Result<Tensor> {
    const OP: &str = "embedding_lookup_sparse";
    let rec = x.recorder(OP);
    let ids = ids.into();
    if ids.default.is_some() {
        return Err(Error::argument(OP, "it takes no default id; safe_embedding_lookup_sparse does"));
    }
    x.combined(rec, &ids, combiner, Missing::Error)
}

#[track_caller]
fn safe_embedding_lookup_sparse<'a>(x: &Tensor, ids: impl Into<LookupIds<'a>>, combiner: Combiner) -> Result<Tensor> {
    const OP: &str = "safe_embedding_lookup_sparse";
    let rec = x.recorder(OP);
    let ids = ids.into();
    x.check_table(OP)?;
    let missing = Missing::Default(x.default_row(rec, ids.default)?);
    x.combined(rec, &ids, combiner, missing)
}

/// How the embeddings of a row are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Combiner {
    /// The sum.
    Sum,
    /// The sum divided by the number of embeddings, or by the sum of the weights.
    Mean,
    /// The sum divided by the square root of the number of embeddings, or of the sum of the squared weights.
    SqrtN,
}

/// Treatment of negative ids and of rows without ids.
#[derive(Debug, Clone, Copy)]
enum Missing {
    /// An id out of range is an error; a row without ids gives zeros.
    Error,
    /// Negative ids are skipped; a row without other ids gives the embedding of this id, or zeros.
    Default(Option<u32>),
}

impl Tensor {
    /// The table row that `default_id` selects for rows without ids.
    ///
    /// # Errors
    /// The table has no such row. Where only the device knows the number of its rows, [`Self::combined`] checks it.
    fn default_row(&self, rec: Recorder<'_>, default_id: Option<i64>) -> Result<Option<u32>> {
        let size = u64::from(self.nrows_extent().as_known().unwrap_or(u32::MAX));
        let location = rec.location;
        let narrow = |index: i64| match u32::try_from(index) {
            Ok(id) if u64::from(id) < size => Ok(id),
            _ => Err(Error::Index { op: rec.op, index, size, at: None, location }),
        };
        default_id.map(narrow).transpose()
    }

    /// Combines the table rows that each row of ids selects, by their weights, 1 if there are none.
    #[track_caller]
    fn combined(&self, rec: Recorder<'_>, given: &LookupIds<'_>, combiner: Combiner, missing: Missing) -> Result<Self> {
        self.check_table(rec.op)?;
        let limit = MaxNorm::new(rec.op, self, given.max_norm)?;
        let ids = &given.ids.tensor(rec.op)?;
        let weights = given.weights.map(|weights| weights.tensor(rec.op)).transpose().map_err(here())?;
        Device::check_same(rec.op, self.backend(), ids.backend())?;
        let (table, dtype) = (rec.numbers(self)?, self.dtype());
        if !dtype.is_float() {
            return Err(rec.unsupported(dtype, "a table is of floats"));
        }
        let id_node = rec.index_node(ids, "ids")?;
        let ([rows], []) = (ids.partitions(), &ids.inner()[..]) else {
            let what = format!("ids have rank 2 and ragged rows, but these have shape {}", ids.shape_text());
            return Err(rec.argument(what));
        };
        let (weights, mut asserts) = match &weights {
            None => (None, Vec::new()),
            Some(weights) => {
                Device::check_same(rec.op, self.backend(), weights.backend())?;
                if !weights.dtype().is_float() {
                    return Err(rec.unsupported(weights.dtype(), "weights are floats"));
                }
                let asserts = same_layout(rec, ids.ragged_shape(), weights.ragged_shape())?;
                (Some(rec.numbers(weights)?), asserts)
            }
        };
        let (backend, width, vocabulary) = (self.backend(), self.width(), self.nrows_extent());
        if let (Missing::Default(Some(id)), None) = (missing, vocabulary.as_known()) {
            let ok = Expr::u32(id).lt(vocabulary.expr());
            let check = rec.check("the table must have the row of the default id");
            asserts.push(rec.assert(Extent::known(1), ok, check));
        }
        let (nrows, nvals) = (rows.nrows_extent(), rows.nvals_extent());
        let by = Expr::u32(width.max(1));
        let (element, number) = (Expr::index().div(by.clone()), Expr::index().rem(by));
        let sums_in = dtype.accumulator();
        let zero = Expr::scalar(Scalar::from_i64(sums_in, 0));
        // At a position in `ids`: the id, its validity, its weight, and whether the combination counts it.
        let id_at = |at: Expr| Expr::load(&id_node, at);
        let is_id = is_not_negative;
        let weight_at = |at: Expr| weights.map(|weights| Expr::load(weights, at).cast(sums_in));
        let safe = matches!(missing, Missing::Default(_));
        let counts = |at: Expr| {
            let counts = is_id(&id_at(at.clone()));
            match weight_at(at) {
                Some(weight) if combiner != Combiner::Sum => counts.and(zero.clone().lt(weight)),
                _ => counts,
            }
        };
        let id = id_at(element.clone());
        let mut ok = in_range(&id, vocabulary.expr(), vocabulary.capacity());
        if safe {
            ok = ok.or(is_id(&id).not());
        }
        let row = id.cast(DType::U32).checked(Check::of_index(rec.op, OUT_OF_RANGE), ok);
        let mut embedding = Expr::load(table, self.flat(row, number.clone())).cast(sums_in);
        if let Some(limit) = limit.as_ref().filter(|_| width > 0) {
            let counted = counts(element.clone()).select(embedding.clone(), zero.clone());
            let norms = limit.norms(rec, self, nvals, if safe { counted } else { embedding.clone() })?;
            embedding = limit.applied(embedding, &norms, &element);
        }
        if let Some(weight) = weight_at(element.clone()) {
            embedding = embedding.mul(weight);
        }
        // Sums `value` over each row; ids that do not count contribute 0.
        let sum = |width: u32, value: Expr, counting: Expr| {
            let none = Expr::scalar(Scalar::from_i64(value.dtype(), 0));
            let value = if safe { counting.select(value, none) } else { value };
            rec.reduce(ReduceOp::Sum, rows.domain(width), value)
        };
        let length = if safe {
            let number = sum(1, Expr::u32(1), counts(Expr::index()))?;
            Expr::load(&number, element.clone())
        } else {
            rows.length(element.clone())
        };
        let total = Expr::load(&sum(width, embedding, counts(element.clone()))?, Expr::index());
        let root = |x: Expr| x.unary(UnaryOp::Math(MathFn::Sqrt));
        let by_weights = |value: Expr, finish: &dyn Fn(Expr) -> Expr| -> Result<Expr> {
            let all = sum(1, value, counts(Expr::index()))?;
            let all = finish(Expr::load(&all, element.clone()));
            Ok(all.clone().eq(zero.clone()).select(zero.clone(), total.clone().quotient(all)))
        };
        let n = length.clone().cast(sums_in);
        let combined = match (combiner, weight_at(Expr::index())) {
            (Combiner::Sum, _) => total,
            (Combiner::Mean, None) => total.quotient(n),
            (Combiner::SqrtN, None) => total.quotient(root(n)),
            (Combiner::Mean, Some(weight)) => by_weights(weight, &|all| all)?,
            (Combiner::SqrtN, Some(weight)) => by_weights(weight.clone().mul(weight), &root)?,
        };
        let instead = match missing {
            Missing::Default(Some(id)) => {
                let numbers = |number: Expr| Expr::load(table, self.flat(Expr::u32(id), number)).cast(sums_in);
                match limit.as_ref().filter(|_| width > 0) {
                    None => numbers(number),
                    Some(limit) => {
                        let norms = limit.norms(rec, self, &Extent::known(1), numbers(Expr::index()))?;
                        limit.applied(numbers(number), &norms, &Expr::u32(0))
                    }
                }
            }
            _ => zero.clone(),
        };
        let value = length.eq(Expr::u32(0)).select(instead, combined).cast(dtype);
        let count: Extent = nrows.times(rec.op, u64::from(width))?;
        let values = Values::Numbers(rec.map(count, value, &asserts));
        Self::new(backend, Vec::new(), Some(nrows.clone()), self.inner().to_vec(), values)
    }
}
