//! Replay: records a program again, on other inputs.
//!
//! A replay is the inverse of [`freeze`](super::freeze): `freeze(replay(P)) == P`. It folds nothing, so that each
//! expression of the program is one of the recording.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::lift::{Leaves, Made, Parts, make};
use super::{
    ArrayDef, ArrayId, CheckId, ExtentDef, FunctionId, InputDef, Locations, NameId, Program, ScalarId, SizeDef, SizeId,
};
use crate::graph::backend::BackendRef;
use crate::graph::digest::Digest;
use crate::graph::expr::Check;
use crate::graph::extent::Extent;
use crate::graph::function::Function;
use crate::graph::node::Node;
use crate::graph::scalar::Scalar;
use crate::graph::scalar_param::ScalarParam;
use crate::graph::size::Size;

/// What a replay starts from, all by number.
pub(crate) struct ReplayInputs<'a> {
    pub(crate) backend: &'a BackendRef,
    /// The inputs; `None` for computed arrays.
    pub(crate) arrays: Vec<Option<Node>>,
    /// The sizes that come with the inputs; `None` for all others.
    pub(crate) sizes: Vec<Option<Size>>,
    /// Upper bounds of counts.
    pub(crate) bounds: &'a [(SizeId, SizeId)],
    pub(crate) scalars: &'a [Scalar],
    pub(crate) locations: &'a Locations,
}

/// The arrays and sizes of a program in another recording.
#[derive(Debug)]
pub(crate) struct Replayed {
    arrays: Vec<Option<Node>>,
    sizes: Vec<Option<Size>>,
}

impl Replayed {
    /// Arrays and sizes that were made in another way, by number.
    pub(crate) fn of(arrays: Vec<Option<Node>>, sizes: Vec<Option<Size>>) -> Self {
        Self { arrays, sizes }
    }

    pub(crate) fn node(&self, array: ArrayId) -> &Node {
        self.arrays[array.index()].as_ref().expect("bug: an array that is not made")
    }

    pub(crate) fn extent(&self, extent: ExtentDef) -> Extent {
        extent.extent(self.size(extent.size).clone())
    }

    pub(crate) fn size(&self, size: SizeId) -> &Size {
        self.sizes[size.index()].as_ref().expect("bug: a size that is not made")
    }
}

impl Program {
    /// Inputs without values in place of all inputs of the program, by number.
    pub(crate) fn traced_inputs(&self, backend: &BackendRef) -> (Vec<Option<Node>>, Vec<Option<Size>>) {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let traced = |what, k: usize| Size::traced(backend, Digest::of(what, (number, k)));
        let array = |(k, def): (usize, &ArrayDef)| match def {
            ArrayDef::Input(form) => {
                let extent = Extent::of(traced("length of an input", k));
                let digest = Digest::of("input of a replay", (number, k));
                Some(Node::traced_input(backend, digest, form.with_extent(extent)))
            }
            ArrayDef::Computed { .. } => None,
        };
        let size = |(k, def): (usize, &SizeDef)| matches!(def, SizeDef::Input).then(|| traced("size of an input", k));
        (self.arrays.iter().enumerate().map(array).collect(), self.sizes.iter().enumerate().map(size).collect())
    }

    /// Records the program again, on these inputs.
    pub(crate) fn replay(&self, inputs: ReplayInputs<'_>) -> Replayed {
        let Made { arrays, sizes } = make(self, &mut Given { program: self, inputs });
        Replayed::of(arrays.into_iter().map(Some).collect(), sizes.into_iter().map(Some).collect())
    }
}

struct Given<'a> {
    program: &'a Program,
    inputs: ReplayInputs<'a>,
}

impl Leaves for Given<'_> {
    fn input(&mut self, array: ArrayId, _: &InputDef) -> Node {
        self.inputs.arrays[array.index()].clone().expect("bug: an input that is not given")
    }
    fn computed(&mut self, _: ArrayId, parts: Parts) -> Node {
        let Parts { op, dtype, extent, asserts, recipe, .. } = parts;
        Node::recorded(self.inputs.backend, op, dtype, extent, &asserts, recipe)
    }
    fn size(&mut self, size: SizeId) -> Size {
        self.inputs.sizes[size.index()].clone().expect("bug: a size that is not given")
    }
    fn bounds(&self) -> &[(SizeId, SizeId)] {
        self.inputs.bounds
    }
    fn count(&mut self, _: SizeId, node: Node, at: Size, bound: Option<Size>) -> Size {
        Size::count(node, at, bound.expect("bug: a count without a bound"))
    }
    fn length(&mut self, _: SizeId, node: &Node, _: bool) -> Size {
        Size::len(node)
    }
    fn scalar(&mut self, scalar: ScalarId) -> ScalarParam {
        let def = self.program.scalars[scalar.0 as usize];
        let param = ScalarParam::recorded(self.inputs.scalars[scalar.0 as usize]);
        if def.is_nonzero { param.as_divisor() } else { param }
    }
    fn check(&mut self, check: CheckId) -> Arc<Check> {
        self.inputs.locations.check(check)
    }
    fn function(&mut self, function: FunctionId) -> Function {
        self.inputs.locations.function(function)
    }
    fn name(&mut self, name: NameId) -> &'static str {
        self.inputs.locations.name(name)
    }
}
