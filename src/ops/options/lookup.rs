//! Ids of a sparse embedding look-up, with their weights and a default.

use crate::integer::Integer;
use crate::setters::setters;
use crate::tensor::Tensor;

/// Ids of a sparse embedding look-up: a tensor, with [`weighted`] or [`or_default`] around it.
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
    pub ids: &'a Tensor,
    /// The weights, of the shape of the ids.
    pub weights: Option<&'a Tensor>,
    /// The id of rows without ids.
    pub default: Option<i64>,
}

setters! {
    impl['a] LookupIds<'a> {
        weights: into Option<&'a Tensor>;
        default: into Option<i64>;
    }
}

impl<'a, X: AsRef<Tensor>> From<&'a X> for LookupIds<'a> {
    fn from(ids: &'a X) -> Self {
        Self { ids: ids.as_ref(), weights: None, default: None }
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
pub fn weighted<'a>(ids: impl Into<LookupIds<'a>>, weights: &'a impl AsRef<Tensor>) -> LookupIds<'a> {
    LookupIds { weights: Some(weights.as_ref()), ..ids.into() }
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
