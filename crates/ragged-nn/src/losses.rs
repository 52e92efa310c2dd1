//! Losses: the mean over all predictions, ragged or dense.

use ragged::operation::named;
use ragged::opt::batched;
use ragged::{DType, Result, Tensor};

use crate::fault::argument;
use crate::variables::{computed_in, described};

/// The predictions and the labels, both in the dtype that a loss is computed in, if they have the same dimensions.
#[track_caller]
fn pair(op: &'static str, predictions: &Tensor, labels: &Tensor) -> Result<(Tensor, Tensor)> {
    let x = wide(op, predictions)?;
    if labels.dtype() == DType::Str {
        return Err(argument(op, "the labels are strings, not numbers".to_owned()));
    }
    // One value next to any number of them would be repeated.
    let fits = |(a, b): (Option<usize>, Option<usize>)| match (a, b) {
        (None, None) => true,
        (Some(n), None) | (None, Some(n)) => n != 1,
        (Some(n), Some(m)) => n == m,
    };
    let (a, b) = (predictions.shape(), labels.shape());
    let lacks_last = a.len() == b.len() + 1 && a.last() == Some(&Some(1));
    if a.len() != b.len() || !a.into_iter().zip(b).all(fits) {
        let (a, b) = (described(predictions), described(labels));
        let remedy = if lacks_last { ": `labels.expand_dims(-1)?` adds the last dimension" } else { "" };
        let what = format!("the predictions are {a}, but the labels are {b}; their shapes must be equal{remedy}");
        return Err(argument(op, what));
    }
    let y = labels.cast(x.dtype())?;
    Ok((x, y))
}

/// The predictions in the dtype that a loss is computed in: 16-bit floats as f32, which holds `1 - 1e-7`.
#[track_caller]
fn wide(op: &'static str, predictions: &Tensor) -> Result<Tensor> {
    match predictions.dtype() {
        dtype if dtype.is_float() => predictions.cast(computed_in(dtype)),
        dtype => Err(argument(op, format!("the predictions must be floats, but are {dtype}"))),
    }
}

/// Mean cross entropy of the sigmoids of logits and binary labels.
///
/// Per value `max(x, 0) - x * y + log1p(exp(-|x|))`, then the mean over all values: a scalar of the dtype of the logits, or of
/// f32 for 16-bit floats. Labels of any numeric dtype or bool are cast; values between 0 and 1 are probabilities. Empty rows
/// contribute nothing; without any value the mean is NaN.
///
/// # Errors
/// Logits that are no floats; labels of another shape, which are not repeated; strings. At the read: rows
/// of other lengths.
///
/// # Cost
/// A map and one reduction.
///
/// ```
/// use ragged::{Device, RaggedTensor};
/// let logits = RaggedTensor::from_nested([vec![0.0f32, 0.0], vec![]], &Device::cpu())?;
/// let labels = RaggedTensor::from_nested([vec![1, 0], vec![]], &Device::cpu())?;
/// let loss = ragged_nn::binary_cross_entropy_with_logits(&logits, &labels)?;
/// assert_eq!(loss.to_string(), "tensor(0.6931472, shape=(), dtype=f32)");
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// Source: `keras.losses.BinaryCrossentropy(from_logits=True)`.
#[track_caller]
pub fn binary_cross_entropy_with_logits(logits: &impl AsRef<Tensor>, labels: &impl AsRef<Tensor>) -> Result<Tensor> {
    const OP: &str = "binary_cross_entropy_with_logits";
    let (x, y) = &pair(OP, logits.as_ref(), labels.as_ref())?;
    named(OP, || {
        // The condition gives the derivative at 0 that TensorFlow gives: 1/2 minus the label.
        let is_positive = x.greater_equal(0.0)?;
        let linear = is_positive.select(x, 0.0)?.subtract(&x.multiply(y)?)?;
        let negative = is_positive.select(&x.negative()?, x)?;
        linear.add(&negative.exp()?.log1p()?)?.reduce_mean(..)
    })
}

/// Mean cross entropy of probabilities and binary labels.
///
/// Per value `-(y * log(p) + (1 - y) * log(1 - p))`, with `p` clipped to at least 1e-7 and at most 1 - 1e-7, then the mean over
/// all values: a scalar of the dtype of the probabilities, or of f32 for 16-bit floats. Values that are clipped have the gradient 0;
/// [`binary_cross_entropy_with_logits`] has no such values. Labels of any numeric dtype or bool are cast. Empty rows contribute
/// nothing; without any value the mean is NaN.
///
/// # Errors
/// Probabilities that are no floats; labels of another shape, which are not repeated; strings. At the read: rows
/// of other lengths.
///
/// # Cost
/// A map and one reduction.
///
/// ```
/// use ragged::{Device, RaggedTensor};
/// let predictions = RaggedTensor::from_nested([vec![0.5f32, 0.5], vec![]], &Device::cpu())?;
/// let labels = RaggedTensor::from_nested([vec![1, 0], vec![]], &Device::cpu())?;
/// let loss = ragged_nn::binary_cross_entropy(&predictions, &labels)?;
/// assert_eq!(loss.to_string(), "tensor(0.6931472, shape=(), dtype=f32)");
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// Source: `keras.losses.BinaryCrossentropy`.
#[track_caller]
pub fn binary_cross_entropy(predictions: &impl AsRef<Tensor>, labels: &impl AsRef<Tensor>) -> Result<Tensor> {
    const OP: &str = "binary_cross_entropy";
    const EPSILON: f64 = 1e-7;
    let (p, y) = &pair(OP, predictions.as_ref(), labels.as_ref())?;
    named(OP, || {
        let p = p.clip_by_value(EPSILON, 1.0 - EPSILON)?;
        let one = p.ones_like()?;
        let of_false = one.subtract(y)?.multiply(&one.subtract(&p)?.log()?)?;
        y.multiply(&p.log()?)?.add(&of_false)?.reduce_mean(..)?.negative()
    })
}

/// Mean squared error: the mean of `(prediction - label)²` over all values, a scalar of the
/// dtype of the predictions, or of f32 for 16-bit floats.
///
/// Labels of any numeric dtype or bool are cast. Empty rows contribute nothing; without any value the mean is NaN.
///
/// # Errors
/// Predictions that are no floats; labels of another shape, which are not repeated; strings. At the read: rows
/// of other lengths.
///
/// # Cost
/// A map and one reduction.
///
/// ```
/// use ragged::{Device, RaggedTensor};
/// let predictions = RaggedTensor::from_nested([vec![1.0f32, 2.0], vec![], vec![3.0]], &Device::cpu())?;
/// let labels = RaggedTensor::from_nested([vec![1, 0], vec![], vec![1]], &Device::cpu())?;
/// let loss = ragged_nn::mean_squared_error(&predictions, &labels)?;
/// assert_eq!(loss.to_string(), "tensor(2.6666667, shape=(), dtype=f32)");
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// Source: `keras.losses.MeanSquaredError`.
#[track_caller]
pub fn mean_squared_error(predictions: &impl AsRef<Tensor>, labels: &impl AsRef<Tensor>) -> Result<Tensor> {
    const OP: &str = "mean_squared_error";
    let (x, y) = &pair(OP, predictions.as_ref(), labels.as_ref())?;
    named(OP, || x.subtract(y)?.square()?.reduce_mean(..))
}

/// Mean cross entropy of the softmaxes of logits, and of labels that are probabilities of classes: both vectors of the last
/// dimension.
///
/// Per vector the negative sum of `y * log_softmax(x)`, then the mean over all vectors: a scalar of the dtype of the logits, or of
/// f32 for 16-bit floats. Empty rows contribute nothing; without any vector the mean is NaN.
///
/// Predictions that are probabilities are not accepted, as those of Keras without `from_logits` are. The values do not tell
/// which they are: the softmax of probabilities gives another loss, not an error. The function computes `log_softmax` of logits,
/// since a softmax rounds small probabilities to 0, whose logarithm is infinite. Leave out the softmax at the end of the model;
/// the logits of given probabilities `p` are `p.log()?`.
///
/// # Errors
/// Logits that are no floats, or a scalar; labels of another shape; strings. At the read: rows of other lengths.
///
/// # Cost
/// Reductions of the vectors, and one of all values.
///
/// ```
/// use ragged::{Device, RaggedTensor};
/// let logits = RaggedTensor::from_nested([[0.0f32, 0.0], [0.0, 0.0]], &Device::cpu())?;
/// let labels = RaggedTensor::from_nested([[1, 0], [0, 1]], &Device::cpu())?;
/// let loss = ragged_nn::categorical_cross_entropy_with_logits(&logits, &labels)?;
/// assert_eq!(loss.to_string(), "tensor(0.6931472, shape=(), dtype=f32)");
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// Source: `keras.losses.CategoricalCrossentropy(from_logits=True)`.
#[track_caller]
pub fn categorical_cross_entropy_with_logits(
    logits: &impl AsRef<Tensor>,
    labels: &impl AsRef<Tensor>,
) -> Result<Tensor> {
    const OP: &str = "categorical_cross_entropy_with_logits";
    let (x, y) = &pair(OP, logits.as_ref(), labels.as_ref())?;
    if x.rank() == 0 {
        return Err(argument(OP, "the logits must be vectors, but are a scalar"));
    }
    // A class of probability 0 contributes 0, also where the logit is negative infinity.
    named(OP, || x.log_softmax(-1)?.multiply_no_nan(y)?.reduce_sum(-1)?.reduce_mean(..)?.negative())
}

/// Mean cross entropy of the softmaxes of logits, vectors of the last dimension, and the index of the right class of each.
///
/// The mean of `-log_softmax(x)[y]` over all vectors: a scalar of the dtype of the logits, or of f32 for 16-bit floats. The labels
/// have the dimensions of the logits but the last. Empty rows contribute nothing; without any vector the mean is NaN.
///
/// Predictions that are probabilities are not accepted: see [`categorical_cross_entropy_with_logits`].
///
/// # Errors
/// Logits that are no floats; labels that are no integers, or of another shape. At the read: a label that is no index of
/// its vector; rows of other lengths.
///
/// # Cost
/// Reductions of the vectors, a gather, and one reduction.
///
/// ```
/// use ragged::{Device, RaggedTensor};
/// // Two classes per word, of two sentences.
/// let logits = RaggedTensor::from_nested([vec![[0.0f32, 0.0], [1.0, 1.0]], vec![]], &Device::cpu())?;
/// let labels = RaggedTensor::from_nested([vec![1, 0], vec![]], &Device::cpu())?;
/// let loss = ragged_nn::sparse_categorical_cross_entropy_with_logits(&logits, &labels)?;
/// assert_eq!(loss.to_string(), "tensor(0.6931472, shape=(), dtype=f32)");
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// Source: `keras.losses.SparseCategoricalCrossentropy(from_logits=True)`.
#[track_caller]
pub fn sparse_categorical_cross_entropy_with_logits(
    logits: &impl AsRef<Tensor>,
    labels: &impl AsRef<Tensor>,
) -> Result<Tensor> {
    const OP: &str = "sparse_categorical_cross_entropy_with_logits";
    let (x, labels) = (&wide(OP, logits.as_ref())?, labels.as_ref());
    if labels.rank() + 1 != x.rank() {
        let (x, labels) = (described(x), described(labels));
        let hint = "the labels must have the dimensions of the logits but the last";
        return Err(argument(OP, format!("the logits are {x}, and the labels {labels}; {hint}")));
    }
    named(OP, || {
        let at = labels.expand_dims(-1)?;
        x.log_softmax(-1)?.gather_nd(batched(&at, labels.rank()))?.reduce_mean(..)?.negative()
    })
}
