//! Attention of several heads.

use ragged::opt::causal;
use ragged::{Result, Tensor};

use super::{check_floats, width};
use crate::fault::argument;
use crate::initializer::Initializer;
use crate::variables::Variables;

/// Attention of several heads: each query becomes a mean of the values of its row, whose weights are the softmax of
/// scaled products of queries and keys.
///
/// Queries `[b, (n), w]` and values `[b, (m), u]` give `[b, (n), w]`. Kernels make queries, keys and values of each head:
/// keys and values are made from the same vectors, and the queries of a row attend to the values of the same row only, so
/// that there is no mask of padding. The results of all heads go through one more kernel. Empty rows stay empty; a query
/// without values gets the bias of the last kernel.
///
/// The variables are those of Keras, of the dtype of the input: `NAME/query/kernel`, `[w, heads, key_dim]`, and
/// `NAME/query/bias`, `[heads, key_dim]`; `NAME/key/…` and `NAME/value/…` likewise, of `u` and the dimensions of values;
/// `NAME/attention_output/kernel`, `[heads, value_dim, w]`, and `NAME/attention_output/bias`, `[w]`.
///
/// ```
/// use ragged::{Device, RaggedTensor, Seed};
/// use ragged_nn::{MultiHeadAttention, Variables};
/// let v = Variables::new(&Device::cpu(), Seed(7));
/// // Two sentences of vectors, the second one empty.
/// let x = RaggedTensor::from_nested([vec![[1.0f32, 2.0], [3.0, 4.0]], vec![]], &Device::cpu())?;
/// let y = MultiHeadAttention::new("attention", 2, 4).causal().call(&v, &x, &x)?;
/// assert_eq!(y.shape(), [Some(2), None, Some(2)]);
/// assert_eq!(v.get("attention/query/kernel")?.shape(), [Some(2), Some(2), Some(4)]);
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// Source: `keras.layers.MultiHeadAttention`.
#[derive(Debug, Clone, PartialEq)]
pub struct MultiHeadAttention {
    name: String,
    heads: usize,
    key_dim: usize,
    value_dim: usize,
    has_bias: bool,
    is_causal: bool,
    kernel: Initializer,
    bias: Initializer,
}

/// Making and calling.
impl MultiHeadAttention {
    /// A layer of that name, with so many heads, whose queries, keys and values have `key_dim` numbers each.
    ///
    /// Kernels begin as [`Initializer::GlorotUniform`], biases as zeros.
    pub fn new(name: impl Into<String>, heads: usize, key_dim: usize) -> Self {
        Self {
            name: name.into(),
            heads,
            key_dim,
            value_dim: key_dim,
            has_bias: true,
            is_causal: false,
            kernel: Initializer::GlorotUniform,
            bias: Initializer::Zeros,
        }
    }

    /// Gives the values of a head another number of numbers than the keys.
    #[must_use]
    pub fn value_dim(self, value_dim: usize) -> Self {
        Self { value_dim, ..self }
    }

    /// Lets a query attend only to values up to its own position in the row.
    #[must_use]
    pub fn causal(self) -> Self {
        Self { is_causal: true, ..self }
    }

    /// Leaves the biases out.
    #[must_use]
    pub fn without_bias(self) -> Self {
        Self { has_bias: false, ..self }
    }

    /// The first values of the kernels.
    #[must_use]
    pub fn kernel_initializer(self, kernel: Initializer) -> Self {
        Self { kernel, ..self }
    }

    /// The first values of the biases.
    #[must_use]
    pub fn bias_initializer(self, bias: Initializer) -> Self {
        Self { bias, ..self }
    }

    /// The output of the layer, which has the dimensions and partitions of the queries. Both are the same tensor in
    /// self-attention.
    ///
    /// # Errors
    /// No heads, or heads of no numbers; tensors without rows of vectors; a dtype other than floats, or different ones;
    /// other widths or dtypes than those of the variables; rows that differ in number, at the read where only the device
    /// knows them.
    ///
    /// # Cost
    /// Four matrix products of the flat values, and one
    /// [`scaled_dot_product_attention`](Tensor::scaled_dot_product_attention).
    #[track_caller]
    pub fn call(&self, v: &Variables, queries: &impl AsRef<Tensor>, values: &impl AsRef<Tensor>) -> Result<Tensor> {
        const OP: &str = "MultiHeadAttention::call";
        let (queries, values) = (queries.as_ref(), values.as_ref());
        let Self { name, heads, key_dim, value_dim, .. } = self;
        for x in [queries, values] {
            check_floats(OP, name, v, x)?;
        }
        if [*heads, *key_dim, *value_dim].contains(&0) {
            let what =
                format!("layer {name:?} has {heads} heads of keys of {key_dim} and values of {value_dim} numbers");
            return Err(argument(OP, format!("{what}; all must be at least 1")));
        }
        let q = self.of_heads(OP, v, "query", queries, *key_dim)?;
        let k = self.of_heads(OP, v, "key", values, *key_dim)?;
        let values = self.of_heads(OP, v, "value", values, *value_dim)?;
        let means = match self.is_causal {
            true => q.scaled_dot_product_attention(causal(&k), &values)?,
            false => q.scaled_dot_product_attention(&k, &values)?,
        };
        let units = width(OP, name, queries)?;
        let shape = [*heads, *value_dim, units];
        let kernel = v.made(OP, &format!("{name}/attention_output/kernel"), means.dtype(), &shape, &self.kernel)?;
        let joined = last_dims(&means, 2, &[heads * value_dim])?;
        let out = joined.matmul(&kernel.reshape([heads * value_dim, units])?)?;
        self.with_bias(OP, v, "attention_output", out, &[units])
    }

    /// The vectors of each head, `[.., heads, dim]`.
    #[track_caller]
    fn of_heads(&self, op: &'static str, v: &Variables, part: &str, x: &Tensor, dim: usize) -> Result<Tensor> {
        let Self { name, heads, .. } = self;
        let width = width(op, name, x)?;
        let kernel = v.made(op, &format!("{name}/{part}/kernel"), x.dtype(), &[width, *heads, dim], &self.kernel)?;
        let flat = x.matmul(&kernel.reshape([width, heads * dim])?)?;
        self.with_bias(op, v, part, last_dims(&flat, 1, &[*heads, dim])?, &[*heads, dim])
    }

    #[track_caller]
    fn with_bias(&self, op: &'static str, v: &Variables, part: &str, x: Tensor, shape: &[usize]) -> Result<Tensor> {
        if !self.has_bias {
            return Ok(x);
        }
        let bias = v.made(op, &format!("{}/{part}/bias", self.name), x.dtype(), shape, &self.bias)?;
        x.add(&bias)
    }
}

/// The tensor whose last `n` dimensions have these sizes instead.
#[track_caller]
fn last_dims(x: &Tensor, n: usize, sizes: &[usize]) -> Result<Tensor> {
    x.map_flat_values(|flat| {
        let shape = flat.shape();
        // The first size follows from the others.
        let kept = shape[1..shape.len() - n].iter().map(|size| size.unwrap_or(0));
        let all = kept.chain(sizes.iter().copied()).map(|size| size as i64);
        flat.reshape([-1].into_iter().chain(all).collect::<Vec<i64>>())
    })
}
