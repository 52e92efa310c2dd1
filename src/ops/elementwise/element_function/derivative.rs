//! Derivatives of element functions, which the user gives as functions of tensors.

use std::any::TypeId;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{ElementFunction, ElementSignature};
use crate::dtype::DType;
use crate::error::{Error, Result, caller};
use crate::graph::digest::Digest;
use crate::tensor::Tensor;

const OP: &str = "ElementFunction::with_derivative";

type OfTensors = Box<dyn Fn(&[Tensor]) -> Result<Tensor> + Send + Sync>;

/// The derivative by one argument, as a function of all arguments.
pub(crate) struct ElementDerivative(OfTensors);

impl ElementDerivative {
    /// The derivative at these arguments, vectors of equal length.
    ///
    /// # Errors
    /// Those of the user's function.
    pub(crate) fn of(&self, arguments: &[Tensor]) -> Result<Tensor> {
        (self.0)(arguments)
    }
}

/// Derivatives.
impl<S: ElementSignature> ElementFunction<S> {
    /// The function with its derivative by the argument number `argument`, for [`grad`](crate::grad) and
    /// [`value_and_grad`](crate::value_and_grad).
    ///
    /// `derivative` takes the arguments of the function, in order, as vectors of equal length of their dtypes, and returns
    /// a vector of f32: the derivative for each element. It consists of operations on tensors and of calls of element
    /// functions; gradients of gradients differentiate it like any other value. A function of several arguments has one
    /// derivative per argument that gradients pass through, each given by a call of its own; a second one for the same
    /// argument replaces the first one. Arguments of bool, i32 and u32 have none.
    ///
    /// The values of the function stay as they are. A file of a program has no derivatives: a loaded program has those of
    /// the functions that it is given.
    ///
    /// # Errors
    /// An argument that the function does not have, or that is not f32; a function whose result is not f32. In a gradient:
    /// the errors of `derivative`; a result of it that is no f32 or has another shape than its arguments.
    ///
    /// # Cost
    /// That of `derivative`, which is called once per call of the function in each gradient; its operations fuse with the
    /// rest of the gradient.
    ///
    /// ```
    /// use ragged::{Device, ElementFunction, RaggedTensor, grad};
    /// let text = "fn product(x: f32, y: f32) -> f32 { return x * y; }";
    /// let product = ElementFunction::new("product", text, |x: f32, y: f32| x * y)?;
    /// let product = product.with_derivative(0, |x| Ok(x[1].clone()))?.with_derivative(1, |x| Ok(x[0].clone()))?;
    /// let x = RaggedTensor::from_nested([vec![1.0f32, 2.0], vec![], vec![3.0]], &Device::cpu())?;
    /// let gradients = grad(|x| product.call(&x[0], 5.0)?.reduce_sum(..), [&x])?;
    /// assert_eq!(gradients[0].to_string(), "<ragged.RaggedTensor [[5.0, 5.0], [], [5.0]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// Source: `jax.custom_jvp`, `defjvps`.
    #[track_caller]
    pub fn with_derivative<V, F>(self, argument: usize, derivative: F) -> Result<Self>
    where
        V: AsRef<Tensor>,
        F: Fn(&[Tensor]) -> Result<V> + Send + Sync + 'static,
    {
        let location = caller();
        let f = &self.function;
        let of = |what: String| Error::Argument { op: OP, what: format!("{}: {what}", f.name()), location };
        match f.parameters().get(argument) {
            None => {
                let n = f.parameters().len();
                return Err(of(format!(
                    "argument {argument} is given a derivative; the function takes {n}, counted from 0"
                )));
            }
            Some(DType::F32) => {}
            Some(other) => return Err(of(format!("argument {argument} is {other}; f32 alone has derivatives"))),
        }
        if f.result() != DType::F32 {
            return Err(of(format!("the result is {}; f32 alone has derivatives", f.result())));
        }
        let identity = identity::<F>(f.identity(), argument);
        let derivative = ElementDerivative(Box::new(move |x| Ok(derivative(x)?.as_ref().clone())));
        let function = f.with_derivative(argument, Arc::new(derivative), identity);
        Ok(Self { function, signature: self.signature })
    }
}

/// The identity of a function with a derivative. A closure without captured variables is determined by its type.
fn identity<F: 'static>(function: Digest, argument: usize) -> Digest {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    if size_of::<F>() == 0 {
        return Digest::of("derivative", (function, TypeId::of::<F>(), argument));
    }
    Digest::of("derivative with state", NEXT.fetch_add(1, Ordering::Relaxed))
}
