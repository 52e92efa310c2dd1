//! Keys of attention, and which of them a query attends to.

use std::fmt;
use std::sync::Arc;

use crate::error::Result;
use crate::ops::Row;
use crate::setters::setters;
use crate::tensor::Tensor;

/// A function of the positions of a query and of a key.
type PairFunction<'a> = dyn Fn(&Row, &Row) -> Result<Row> + 'a;

/// Whether a query attends to a key, by their positions.
#[derive(Clone)]
pub(crate) struct PairMask<'a>(pub(crate) Arc<PairFunction<'a>>);

impl fmt::Debug for PairMask<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PairMask")
    }
}

/// Keys of [`Tensor::scaled_dot_product_attention`], with the scale of scores and the mask. Converts from a tensor.
///
/// Options that are known at run time only:
///
/// ```
/// use ragged::opt::AttentionKeys;
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([vec![[1.0f32], [2.0]]], &Device::cpu())?;
/// let is_causal = true;
/// let y = x.scaled_dot_product_attention(AttentionKeys::from(&x).causal(is_causal), &x)?;
/// assert_eq!(y.to_vec()?[0], 1.0);
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AttentionKeys<'a> {
    /// The keys.
    pub tensor: &'a Tensor,
    /// Whether a query attends to keys up to its own position only.
    pub causal: bool,
    /// The factor of scores; `None` for 1 divided by the square root of the width of the keys.
    pub scale: Option<f64>,
    pub(crate) mask: Option<PairMask<'a>>,
}

setters! {
    impl[] AttentionKeys<'_> {
        causal: bool;
        scale: into Option<f64>;
    }
}

impl<'a, X: AsRef<Tensor>> From<&'a X> for AttentionKeys<'a> {
    fn from(tensor: &'a X) -> Self {
        Self { tensor: tensor.as_ref(), causal: false, scale: None, mask: None }
    }
}

/// Attends to keys up to the position of the query only.
///
/// ```
/// use ragged::opt::causal;
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([vec![[1.0f32], [2.0]], vec![]], &Device::cpu())?;
/// assert_eq!(x.scaled_dot_product_attention(causal(&x), &x)?.to_vec()?[0], 1.0);
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn causal<'a>(keys: impl Into<AttentionKeys<'a>>) -> AttentionKeys<'a> {
    keys.into().causal(true)
}

/// Multiplies the products of queries and keys by this factor.
///
/// ```
/// use ragged::opt::scaled;
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([vec![[1.0f32], [3.0]], vec![]], &Device::cpu())?;
/// assert_eq!(x.scaled_dot_product_attention(scaled(&x, 0.0), &x)?.to_vec()?, [2.0, 2.0]);
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn scaled<'a>(keys: impl Into<AttentionKeys<'a>>, scale: f64) -> AttentionKeys<'a> {
    keys.into().scale(scale)
}

/// Attends to the keys for which `mask` of the position of the query in its row and that of the key holds, both i32.
///
/// The closure is called once, on rows that stand for every pair. A second mask replaces the first one; a mask and
/// [`causal`] hold together.
///
/// ```
/// use ragged::opt::masked;
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([vec![[1.0f32], [2.0]], vec![]], &Device::cpu())?;
/// // Each query attends to the key at its own position.
/// let y = x.scaled_dot_product_attention(masked(&x, |query, key| query.equal(key)), &x)?;
/// assert_eq!(y.to_vec()?, [1.0, 2.0]);
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn masked<'a>(
    keys: impl Into<AttentionKeys<'a>>,
    mask: impl Fn(&Row, &Row) -> Result<Row> + 'a,
) -> AttentionKeys<'a> {
    AttentionKeys { mask: Some(PairMask(Arc::new(mask))), ..keys.into() }
}
