//! Values of the sizes of a plan in a run.

use super::size::SizeKind;
use super::{Extent, InPlan, Node, Param, Size};
use crate::graph::primitive::Rows;
use crate::graph::row_lengths::{self, KnownLengths};
use crate::graph::scalar::Scalar;
use crate::graph::size::fold::{Part, fold};
use crate::graph::size::{RunTable, SizeOp};

/// The values of the sizes and scalars of a plan in one run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SizeView<'a>(&'a RunTable);

impl<'a> SizeView<'a> {
    pub(crate) fn of(run: &'a RunTable) -> Self {
        Self(run)
    }

    /// The value of a scalar parameter.
    pub(crate) fn scalar(self, param: &Param) -> Scalar {
        param.value_in(&self.0.scalars)
    }

    /// The value; for a count that the host does not know, an upper bound.
    pub(crate) fn value(self, size: &Size) -> u32 {
        let part = |size: &Size| match size.kind() {
            None => Part::Value(size.as_const().unwrap_or(0)),
            Some(SizeKind::Given(k) | SizeKind::Count(k, _)) => Part::Value(self.0.value(k.index())),
            Some(SizeKind::Added(_, bound)) => Part::AtMost(bound.clone(), u32::MAX),
            Some(SizeKind::InputLen(k)) => Part::Value(self.0.input(k.index()).len),
            Some(SizeKind::Len(node)) => Part::AtMost(node.extent().size().clone(), u32::MAX),
            Some(SizeKind::Op(..)) => Part::Operation,
        };
        fold(size, &part, &SizeOp::apply)
    }

    /// The value, if the host knows it, possibly because it was read.
    pub(crate) fn host_value(self, size: &Size) -> Option<u32> {
        let part = |size: &Size| match size.kind() {
            Some(SizeKind::Count(k, _)) => Part::Value(self.0.sizes[k.index()].exact),
            Some(SizeKind::Added(..)) => Part::Value(None),
            Some(SizeKind::Op(..)) => Part::Operation,
            _ => Part::Value(Some(self.value(size))),
        };
        fold(size, &part, &SizeOp::apply_known)
    }

    /// The value without a limit of 32 bits, at which [`Self::value`] saturates: for errors.
    pub(crate) fn unsaturated(self, size: &Size) -> u64 {
        let part = |size: &Size| match size.kind() {
            Some(SizeKind::Op(..)) => Part::Operation,
            _ => Part::Value(u64::from(self.value(size))),
        };
        fold(size, &part, &SizeOp::apply_u64)
    }

    /// Upper bound of the number of elements.
    pub(crate) fn capacity(self, extent: &Extent) -> u32 {
        self.value(extent.size())
    }

    /// Bytes of storage at the capacity.
    pub(crate) fn bytes(self, node: &Node) -> u64 {
        u64::from(self.capacity(node.extent())) * node.dtype().size() as u64
    }

    /// For splits: row lengths as far as the host knows them.
    pub(crate) fn known_lengths(self, splits: &Node) -> KnownLengths {
        if splits.is_input() { self.0.input(splits.number().index()).lengths } else { KnownLengths::NONE }
    }

    /// Upper bound of the row lengths, as far as the host knows.
    pub(crate) fn longest(self, rows: &Rows<InPlan>) -> u32 {
        match rows {
            Rows::Splits(node) => self.known_lengths(node).longest,
            Rows::Uniform(len) => self.value(len),
        }
    }

    /// Length class of the longest row, as far as the host knows. A plan may depend on the class.
    pub(crate) fn longest_class(self, rows: &Rows<InPlan>) -> u32 {
        row_lengths::class(self.longest(rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::handles::SizeHandle;
    use crate::graph::program::SizeId;
    use crate::graph::size::{RunInput, RunSize, SizeOp};

    fn run(bounds: [u32; 2]) -> RunTable {
        let sizes = bounds.map(|bound| RunSize { bound, exact: None }).into();
        RunTable {
            sizes,
            inputs: vec![Some(RunInput { len: bounds[1], lengths: KnownLengths::NONE })],
            scalars: Vec::new(),
        }
    }

    #[test]
    fn one_size_has_a_value_in_each_run() {
        let given = |k| Size::given(SizeId(k));
        let sum = Size::op(SizeOp::Mul, &given(0), &3.into()).add(given(1)).max(2);
        let (a, mut b) = (run([5, 7]), run([100, 0]));
        assert_eq!((SizeView::of(&a).value(&sum), SizeView::of(&b).value(&sum)), (22, 300));
        b.sizes[0].exact = Some(0);
        assert_eq!((SizeView::of(&a).value(&sum), SizeView::of(&b).value(&sum)), (22, 2));
        assert_eq!(sum.as_known(), None, "nothing is known of it outside of runs");
        assert!(sum.is_host_known());
    }
}
