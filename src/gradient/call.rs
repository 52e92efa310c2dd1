//! Derivatives of functions of the user.

use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::function::Function;
use crate::graph::recorder::Recorder;
use crate::ops::ElementDerivative;
use crate::tensor::{Tensor, Values};

/// The derivative of `f` by argument `k` at the arguments, which are expressions in the positions below `count`.
///
/// # Errors
/// A function without this derivative; the errors of the derivative; a derivative that is not one f32 per position.
pub(super) fn by_argument(
    rec: Recorder<'_>,
    f: &Function,
    k: usize,
    arguments: &[Expr],
    count: &Extent,
) -> Result<Expr> {
    let name = f.name();
    let Some(derivative) = f.derivative(k) else {
        let what = format!(
            "the function {name} has no derivative by argument {k}: give it one by `ElementFunction::with_derivative`"
        );
        return Err(rec.argument(what));
    };
    let derivative = derivative.downcast_ref::<ElementDerivative>().expect("bug: a derivative of another type");
    let vector = |argument: &Expr| {
        let node = rec.map(count.clone(), argument.clone(), &[]);
        Tensor::new(rec.backend, Vec::new(), Some(count.clone()), [], Values::Numbers(node))
    };
    let arguments = arguments.iter().map(vector).collect::<Result<Vec<_>>>()?;
    let of_elements = derivative.of(&arguments)?;
    let has_shape = of_elements.rank() == 1 && of_elements.count()? == *count;
    let is_here = of_elements.device() == arguments[0].device();
    if !has_shape || of_elements.dtype() != DType::F32 || !is_here {
        let what = format!(
            "the derivative of {name} by argument {k} is a {} of shape {} on {}; it must be one f32 for each of its \
             arguments' elements, of shape {} on {}",
            of_elements.dtype(),
            of_elements.shape_text(),
            of_elements.device().name(),
            arguments[0].shape_text(),
            arguments[0].device().name()
        );
        return Err(rec.argument(what));
    }
    Ok(Expr::load(of_elements.numbers(rec.op)?, Expr::index()))
}
