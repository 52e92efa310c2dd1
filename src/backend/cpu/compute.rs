//! Computes the outputs of one step.

use std::sync::Arc;

use super::array::Array;
use super::compiled_expr::Inputs;
use crate::error::Result;
use crate::graph::extent::check_len;
use crate::graph::plan::{Kernels, Step};
use crate::graph::planned::Node;
use crate::graph::primitive::each_primitive;

/// The loops of a primitive.
pub(super) trait CpuPrimitive {
    /// Fills the step's outputs. Elements of an output beyond the results must be zero; its memory is not.
    fn compute(&self, step: &Step, inputs: &Inputs, outputs: &mut [Array]) -> Result<()>;
}

/// Computes the step's [outputs](Step::outputs). `base` is that of a scatter, which is overwritten unless there are other
/// references to it, or its memory belongs to the user's program.
pub(super) fn compute(step: &Step, inputs: &Inputs, base: Option<Arc<Array>>) -> Result<Vec<Array>> {
    let op = step.out.op();
    // Size arithmetic saturates, so that this check detects any size beyond the limit.
    for out in step.outputs() {
        check_len(op, inputs.sizes().unsaturated(out.extent().size()))?;
    }
    let allocate = |n: &Node| Array::uninit(&inputs.pool, n.op(), n.dtype(), inputs.count(n.extent()));
    let owned = |base: Arc<Array>| if base.is_shared() { Err(base) } else { Arc::try_unwrap(base) };
    let mut outputs = match base.map(owned) {
        Some(Ok(base)) => vec![base],
        Some(Err(base)) => {
            let mut copy = allocate(&step.out)?;
            let n = base.bytes().len().min(copy.bytes().len());
            copy.bytes_mut()[..n].copy_from_slice(&base.bytes()[..n]);
            vec![copy]
        }
        None => step.outputs().into_iter().map(allocate).collect::<Result<Vec<Array>>>()?,
    };
    each_primitive!(&step.recipe, p => p.compute(step, inputs, &mut outputs))?;
    Ok(outputs)
}

/// The loops bind no buffers.
#[derive(Debug)]
pub(super) struct CpuKernels;

impl Kernels for CpuKernels {}
