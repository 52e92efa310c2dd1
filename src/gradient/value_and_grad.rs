//! Gradients of functions.

use std::panic::Location;

use super::reverse::{Total, totals};
use super::rows_gradient::{Gradient, RowsGradient};
use super::scalar::{number, zero};
use crate::error::{Error, Result, caller};
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::scope::Scope;
use crate::tensor::{Tensor, TensorSet};

/// The value of a function of tensors, and its gradient: the derivative of the value by each element of each tensor.
///
/// `f` is called once, with tensors of the values of `at`; it returns one number, of shape `[]`. Each gradient has the
/// shape, the row partitions and the dtype of its tensor; a tensor that the value does not depend on has a gradient of
/// zeros.
///
/// The gradient is recorded like any other value: both passes are one program, and the gradient of a gradient is a
/// gradient. What `f` reads is differentiated as if it were not read, but a number that came to the host is a constant, as
/// is all that `f` captures, and what [`stop_gradient`](Tensor::stop_gradient) gives. Integers, bits, comparisons and
/// positions have no derivative, so that nothing flows through them. A [`Program`](crate::Program) that runs within `f` is
/// recorded.
///
/// At ties, minima and maxima of rows share the cotangent equally (several axes that are not adjacent, one after the
/// other; in steps of `scan_rows` one of them has it), and those of two operands give it to the first one; NaN is the
/// extreme of its row. A cotangent of 0 contributes 0 to element-wise operations even where the derivative is infinite or
/// NaN, so that `where(x > 0, log(x), 0)` has a finite gradient at 0. As in JAX and TensorFlow, the norm of a row of
/// zeros and the standard deviation of equal values have the gradient NaN, unless a choice behind them does not take
/// them. Means, extremes and softmax of empty rows contribute nothing. The conditions of the value are those of its
/// gradient: both fail at the read.
///
/// An [`ElementFunction`](crate::ElementFunction) has the derivatives that
/// [`with_derivative`](crate::ElementFunction::with_derivative) gives it.
///
/// # Errors
/// A tensor of `at` that does not hold floats; a result that is not one float; the errors of `f`; an operation without
/// a gradient.
///
/// # Cost
/// No wait, besides those of `f`. The gradient of a gather has one sort; those of sums into segments, slices, paddings,
/// tiles, broadcasts, reductions and scans of rows, windows, sorts and selections have none besides those of the
/// function. Values that `f` evaluates are kept until `f` has been differentiated.
///
/// ```
/// use ragged::{Device, RaggedTensor, value_and_grad};
/// let x = RaggedTensor::from_nested([vec![1.0f32, 2.0], vec![], vec![3.0]], &Device::cpu())?;
/// let (value, gradients) = value_and_grad(|x| x[0].square()?.reduce_sum(..), [&x])?;
/// assert_eq!(value.to_string(), "tensor(14.0, shape=(), dtype=f32)");
/// assert_eq!(gradients[0].to_string(), "<ragged.RaggedTensor [[2.0, 4.0], [], [6.0]]>");
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// Source: `jax.value_and_grad`; `tf.GradientTape`.
#[track_caller]
pub fn value_and_grad<V: AsRef<Tensor>>(
    f: impl FnOnce(&[Tensor]) -> Result<V>,
    at: impl TensorSet,
) -> Result<(V, Vec<Tensor>)> {
    let (value, gradients) = of_function("value_and_grad", caller(), f, &at.tensors(), false)?;
    Ok((value, dense(gradients)))
}

/// Gradients none of which is a [`Gradient::Rows`].
pub(crate) fn dense(gradients: Vec<Gradient>) -> Vec<Tensor> {
    let tensor = |gradient| match gradient {
        Gradient::Dense(gradient) => gradient,
        Gradient::Rows(_) => unreachable!("bug: rows where none are asked for"),
    };
    gradients.into_iter().map(tensor).collect()
}

/// The gradient of a function of tensors: the derivative of its value by each element of each tensor.
///
/// Besides the value, which is not returned, [`value_and_grad`] gives the same: its page says what `f` may do, and which
/// derivatives ties, zeros and constants have. Each gradient has the shape, the row partitions and the dtype of its
/// tensor; a tensor that the value does not depend on has a gradient of zeros.
///
/// # Errors
/// A tensor of `at` that does not hold floats; a result that is not one float; the errors of `f`; an operation without
/// a gradient.
///
/// # Cost
/// No wait, besides those of `f`. What only the value needs is not computed.
///
/// ```
/// use ragged::{Device, RaggedTensor, grad};
/// let x = RaggedTensor::from_nested([vec![1.0f32, 2.0], vec![], vec![3.0]], &Device::cpu())?;
/// let of_sum = grad(|x| x[0].reduce_mean(1)?.slice(ragged::s![2])?.square(), [&x])?;
/// assert_eq!(of_sum[0].to_string(), "<ragged.RaggedTensor [[0.0, 0.0], [], [6.0]]>");
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// Source: `jax.grad`.
#[track_caller]
pub fn grad<V: AsRef<Tensor>>(f: impl FnOnce(&[Tensor]) -> Result<V>, at: impl TensorSet) -> Result<Vec<Tensor>> {
    Ok(dense(of_function("grad", caller(), f, &at.tensors(), false)?.1))
}

/// The value of a function of tensors, and its gradients: of the rows that are used alone, for tables that the function
/// looks up rows of.
///
/// As [`value_and_grad`](crate::value_and_grad), whose page says what `f` may do. The gradient of a dense tensor of which the
/// function reads rows by integer data, once, as [`embedding_lookup`](Tensor::embedding_lookup) and
/// [`gather`](Tensor::gather) of axis 0 do, is [`Gradient::Rows`]. A tensor that is read more than once or in another way, or
/// of at most 512 numbers, has a [`Gradient::Dense`].
///
/// The cotangents of a row are added up in the order of its uses, with the bits of the dense gradient.
///
/// # Errors
/// As [`value_and_grad`](crate::value_and_grad).
///
/// # Cost
/// A gradient of rows costs a sort of the ids and passes over the ids and their rows: nothing in the number of rows of the
/// table. No wait, besides those of `f`.
///
/// ```
/// use ragged::{Device, Gradient, RaggedTensor, sparse_value_and_grad};
/// let table = RaggedTensor::from_nested(vec![[0.5f32, 1.0]; 1000], &Device::cpu())?;
/// let ids = RaggedTensor::from_nested([vec![7, 3], vec![], vec![7]], &Device::cpu())?;
/// let (value, gradients) = sparse_value_and_grad(|x| x[0].embedding_lookup(&ids)?.reduce_sum(..), [&table])?;
/// assert_eq!(value.to_string(), "tensor(4.5, shape=(), dtype=f32)");
/// let Gradient::Rows(of) = &gradients[0] else { panic!("one look-up") };
/// assert_eq!(of.ids().to_string(), "tensor([3, 7], shape=(2,), dtype=u32)");
/// assert_eq!(of.rows().to_string(), "tensor([[1.0, 1.0], [2.0, 2.0]], shape=(2, 2), dtype=f32)");
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// Source: `jax.experimental.sparse.value_and_grad`; `tf.GradientTape` with `tf.IndexedSlices`.
#[track_caller]
pub fn sparse_value_and_grad<V: AsRef<Tensor>>(
    f: impl FnOnce(&[Tensor]) -> Result<V>,
    at: impl TensorSet,
) -> Result<(V, Vec<Gradient>)> {
    of_function("sparse_value_and_grad", caller(), f, &at.tensors(), true)
}

/// The value of `f` at tensors with fresh leaves in place of `at`, and the gradient by each of them, as [`value_and_grad`]; of
/// rows alone where possible, if `of_rows`.
pub(crate) fn of_function<V: AsRef<Tensor>>(
    op: &'static str,
    location: &'static Location<'static>,
    f: impl FnOnce(&[Tensor]) -> Result<V>,
    at: &[&Tensor],
    of_rows: bool,
) -> Result<(V, Vec<Gradient>)> {
    let entered = Scope::enter();
    let (mut leaves, mut inputs) = (Vec::new(), Vec::new());
    for (k, x) in at.iter().enumerate() {
        if !x.dtype().is_float() {
            let hint = format!("input {k} does not hold floats, which alone have derivatives");
            return Err(Error::Unsupported { op, dtype: x.dtype(), hint, location });
        }
        let leaf = x.numbers(op)?.leaf(&entered.scope);
        inputs.push(x.with_value_node(leaf.clone())?);
        leaves.push(leaf);
    }
    let value = f(&inputs)?;
    let y = value.as_ref();
    if y.rank() != 0 || !y.dtype().is_float() {
        let what = format!(
            "the result of the function is {} of shape {}, not one float; reduce it, for example by `reduce_sum(..)`",
            y.dtype(),
            y.shape_text()
        );
        return Err(Error::Argument { op, what, location });
    }
    let rec = Recorder { backend: y.backend(), op, location };
    let result: Node = y.numbers(op)?.clone();
    let one = number(y.dtype(), 1.0);
    let mut gradients = Vec::with_capacity(at.len());
    // The conditions of the value are those of its gradient.
    let conditions: Vec<Node> = Some(&result).filter(|result| result.is_fallible()).cloned().into_iter().collect();
    for (x, gradient) in at.iter().zip(totals(rec, vec![(result, one)], &leaves, of_rows)?) {
        let gradient = match gradient {
            Some(Total::Rows(rows)) => {
                gradients.push(Gradient::Rows(RowsGradient::new(rec, x, rows, &conditions)?));
                continue;
            }
            Some(Total::Dense(gradient)) if conditions.is_empty() => gradient,
            Some(Total::Dense(gradient)) => rec.map(x.count()?, Expr::load(&gradient, Expr::index()), &conditions),
            None => {
                let rec = Recorder { backend: x.backend(), ..rec };
                rec.map(x.count()?, zero(x.dtype()), &[])
            }
        };
        gradients.push(Gradient::Dense(x.with_value_node(gradient)?));
    }
    Ok((value, gradients))
}
