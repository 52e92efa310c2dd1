//! Ids of an embedding look-up, with their weights, a default, and a bound of the norms.

use std::fmt;

use crate::error::{Result, on_behalf};
use crate::integer::Integer;
use crate::setters::setters;
use crate::tensor::Tensor;

/// The rows of a look-up: a tensor, or a sparse matrix, whose rows are its values in order.
#[derive(Debug, Clone, Copy)]
pub struct LookupRows<'a>(Given<'a>);

#[derive(Debug, Clone, Copy)]
enum Given<'a> {
    Tensor(&'a Tensor),
    Other(&'a dyn AsRows),
}

/// What has rows that are no tensor yet.
pub(crate) trait AsRows: fmt::Debug {
    /// The rows, for that operation.
    fn rows(&self, op: &'static str) -> Result<Tensor>;
}

impl<'a> LookupRows<'a> {
    pub(crate) fn of(rows: &'a dyn AsRows) -> Self {
        Self(Given::Other(rows))
    }

    /// The rows as a tensor.
    #[track_caller]
    pub(crate) fn tensor(self, op: &'static str) -> Result<Tensor> {
        match self.0 {
            Given::Tensor(t) => Ok(t.clone()),
            Given::Other(x) => on_behalf(|| x.rows(op)),
        }
    }
}

impl<'a, X: AsRef<Tensor>> From<&'a X> for LookupRows<'a> {
    fn from(x: &'a X) -> Self {
        Self(Given::Tensor(x.as_ref()))
    }
}

/// Ids of an embedding look-up: a tensor or a sparse matrix, with [`weighted`], [`or_default`] or [`max_norm`] around it.
///
/// Options that are known at run time only:
///
/// ```
/// use ragged::opt::{Combiner, LookupIds};
/// use ragged::{Device, RaggedTensor, Tensor};
/// let device = Device::cpu();
/// let table = RaggedTensor::from_nested([[0.5f32], [1.5]], &device)?;
/// let ids = RaggedTensor::from_nested([vec![0, 1], vec![]], &device)?;
/// let weights: Option<&Tensor> = None;
/// let ids = LookupIds::from(&ids).weights(weights).default(Some(1));
/// assert_eq!(table.safe_embedding_lookup_sparse(ids, Combiner::Sum)?.to_vec()?, [2.0, 1.5]);
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct LookupIds<'a> {
    /// The ids.
    pub ids: LookupRows<'a>,
    /// The weights, of the shape of the ids.
    pub weights: Option<LookupRows<'a>>,
    /// The id of rows without ids.
    pub default: Option<i64>,
    /// The largest norm of an embedding, if limited.
    pub max_norm: Option<f64>,
}

setters! {
    impl['a] LookupIds<'a> {
        default: into Option<i64>;
        max_norm: into Option<f64>;
    }
}

/// Options.
impl<'a> LookupIds<'a> {
    /// Sets [`weights`](#structfield.weights).
    #[must_use]
    pub fn weights<W: Into<LookupRows<'a>>>(mut self, weights: Option<W>) -> Self {
        self.weights = weights.map(Into::into);
        self
    }
}

impl<'a, X: Into<LookupRows<'a>>> From<X> for LookupIds<'a> {
    fn from(ids: X) -> Self {
        Self { ids: ids.into(), weights: None, default: None, max_norm: None }
    }
}

/// Multiplies each embedding by a weight; the weights have the shape of the ids.
///
/// ```
/// use ragged::opt::{Combiner, weighted};
/// use ragged::{Device, RaggedTensor};
/// let device = Device::cpu();
/// let table = RaggedTensor::from_nested([[0.5f32], [1.5], [2.5]], &device)?;
/// let ids = RaggedTensor::from_nested([vec![0, 2], vec![]], &device)?;
/// let weights = RaggedTensor::from_nested([vec![3.0f32, 1.0], vec![]], &device)?;
/// let mean = table.embedding_lookup_sparse(weighted(&ids, &weights), Combiner::Mean)?;
/// assert_eq!(mean.to_vec()?, [1.0, 0.0]);
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn weighted<'a>(ids: impl Into<LookupIds<'a>>, weights: impl Into<LookupRows<'a>>) -> LookupIds<'a> {
    LookupIds { weights: Some(weights.into()), ..ids.into() }
}

/// Gives rows without ids the embedding of `id`, for `safe_embedding_lookup_sparse`.
///
/// ```
/// use ragged::opt::{Combiner, or_default};
/// use ragged::{Device, RaggedTensor};
/// let device = Device::cpu();
/// let table = RaggedTensor::from_nested([[0.5f32], [1.5], [2.5]], &device)?;
/// let ids = RaggedTensor::from_nested([vec![2, -1], vec![-1]], &device)?;
/// let sum = table.safe_embedding_lookup_sparse(or_default(&ids, 1), Combiner::Sum)?;
/// assert_eq!(sum.to_vec()?, [2.5, 1.5]);
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn or_default<'a>(ids: impl Into<LookupIds<'a>>, id: impl Integer) -> LookupIds<'a> {
    LookupIds { default: Some(id.saturating_i64()), ..ids.into() }
}

/// Scales each embedding whose Euclidean norm exceeds `norm` down to that norm, before weights are applied. TensorFlow's
/// `max_norm`.
///
/// ```
/// use ragged::{Device, RaggedTensor, opt};
/// let device = Device::cpu();
/// let table = RaggedTensor::from_nested([[3.0f32, 4.0], [0.5, 0.0]], &device)?;
/// let ids = RaggedTensor::from_nested([1, 0], &device)?;
/// assert_eq!(table.embedding_lookup(opt::max_norm(&ids, 2.5))?.to_vec()?, [0.5, 0.0, 1.5, 2.0]);
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn max_norm<'a>(ids: impl Into<LookupIds<'a>>, norm: impl Into<f64>) -> LookupIds<'a> {
    LookupIds { max_norm: Some(norm.into()), ..ids.into() }
}
