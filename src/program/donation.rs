//! Inputs that a run may overwrite.

use super::{ArrayOrigin, Code};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::backend::BackendRef;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::run::traced_run::TracedRun;
use crate::shape::Dims;
use crate::tensor::{Tensor, Values};

/// The inputs of a run that owns them. During the run nothing but the run refers to the arrays of dense inputs, unless the
/// program has further references.
pub(super) struct Donation {
    inputs: Vec<Option<Tensor>>,
    lent: Vec<Lent>,
}

/// An input without its array.
struct Lent {
    input: usize,
    /// The number of the array in the program.
    array: usize,
    outer: Option<Extent>,
    inner: Dims,
    dtype: DType,
    extent: Extent,
}

impl Donation {
    pub(super) fn of(inputs: Vec<Tensor>) -> Self {
        Self { inputs: inputs.into_iter().map(Some).collect(), lent: Vec::new() }
    }

    /// Gives the arrays of dense inputs to the run, besides those that the outputs refer to.
    pub(super) fn lend(&mut self, code: &Code, arrays: &mut [Option<Node>], run: &mut TracedRun) {
        run.donated = vec![false; arrays.len()];
        for (array, origin) in code.arrays.iter().enumerate() {
            let Some(ArrayOrigin::Input(place)) = origin else { continue };
            let is_result = code.traced.is_output[array] || code.traced.holds_output_count[array];
            let input = place.input as usize;
            let dense = self.inputs[input].as_ref().filter(|x| x.ragged_rank() == 0 && !is_result);
            let Some(x) = dense else { continue };
            let Values::Numbers(node) = x.values_ref() else { continue };
            let (outer, inner) = (x.outer().cloned(), x.inner().clone());
            self.lent.push(Lent { input, array, outer, inner, dtype: node.dtype(), extent: node.extent().clone() });
            self.inputs[input] = None;
            arrays[array] = None;
            run.donated[array] = true;
        }
    }

    /// Ends the run's use of the arrays.
    pub(super) fn consume(&mut self, run: &mut TracedRun) {
        self.lent.drain(..).for_each(|lent| run.arrays[lent.array] = None);
        self.inputs.clear();
    }

    /// Takes the arrays back from a run that failed before it overwrote one.
    pub(super) fn give_back(
        &mut self,
        backend: &BackendRef,
        arrays: &mut [Option<Node>],
        run: &mut TracedRun,
    ) -> Result<()> {
        for Lent { input, array, outer, inner, dtype, extent } in self.lent.drain(..) {
            let Some(stored) = run.arrays[array].take() else { continue };
            let node = Node::result(backend, dtype, extent, stored);
            arrays[array] = Some(node.clone());
            self.inputs[input] = Some(Tensor::new(backend, Vec::new(), outer, inner, Values::Numbers(node))?);
        }
        Ok(())
    }

    /// The inputs that the run has not consumed.
    pub(super) fn left(self) -> Vec<Tensor> {
        self.inputs.into_iter().flatten().collect()
    }
}
