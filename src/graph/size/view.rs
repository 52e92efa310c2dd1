//! Values of sizes in a run.

use super::run::{RunTable, Slot};
use super::{Size, SizeKind};
use crate::graph::primitive::Rows;
use crate::graph::row_lengths::{self, KnownLengths};
use crate::graph::scalar::Scalar;
use crate::graph::scalar_param::ScalarParam;
use crate::graph::{Extent, Node};

/// The values of the sizes and scalars of a plan in one run. Recorded ones have the same values in every view.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SizeView<'a>(Option<&'a RunTable>);

impl SizeView<'static> {
    /// The view of recorded sizes. It has no values for the sizes of plans.
    pub(crate) const RECORDED: Self = Self(None);
}

impl<'a> SizeView<'a> {
    pub(crate) fn of(run: &'a RunTable) -> Self {
        Self(Some(run))
    }

    fn run(self) -> &'a RunTable {
        self.0.expect("bug: a size of a plan has no value outside of a run")
    }

    /// The value of a scalar parameter.
    pub(crate) fn scalar(self, param: &ScalarParam) -> Scalar {
        param.recorded_value().unwrap_or_else(|| param.value_in(&self.run().scalars))
    }

    /// The value; for a count that the host does not know, an upper bound.
    pub(crate) fn value(self, size: &Size) -> u32 {
        self.value_given(size, &|_| None)
    }

    /// As [`Self::value`], with the lengths of arrays replaced by `len` where that is `Some`.
    pub(crate) fn value_given(self, size: &Size, len: &impl Fn(&Node) -> Option<u32>) -> u32 {
        match size.kind() {
            None => size.as_const().unwrap_or(0),
            Some(SizeKind::Input(n)) => *n,
            Some(SizeKind::Traced(_)) => u32::MAX - 1,
            Some(SizeKind::Slot { at: Slot::Size(k), .. }) => self.run().value(*k),
            Some(SizeKind::Slot { at: Slot::Input(k), .. }) => self.run().input(*k).len,
            Some(SizeKind::Count(count)) => count.exact().unwrap_or_else(|| count.bound_in(self)),
            Some(SizeKind::Len(node)) => len(node).unwrap_or_else(|| match (node.planned_input(), node.stored()) {
                (None, Some(stored)) => stored.len,
                _ => self.capacity(node.extent()),
            }),
            Some(SizeKind::Op(op, a, b)) => op.apply(self.value_given(a, len), self.value_given(b, len)),
        }
    }

    /// The value, if the host knows it, possibly because it was read.
    pub(crate) fn host_value(self, size: &Size) -> Option<u32> {
        match size.kind() {
            Some(SizeKind::Slot { at: Slot::Size(k), count: Some(_) }) => self.run().sizes[*k].exact,
            Some(SizeKind::Count(count)) => count.exact(),
            Some(SizeKind::Traced(_)) => None,
            Some(SizeKind::Len(node)) if node.is_traced() => None,
            Some(SizeKind::Op(op, a, b)) => match (op, self.host_value(a), self.host_value(b)) {
                (op, Some(0), _) | (op, _, Some(0)) if op.keeps_zero() => Some(0),
                (_, a, b) => Some(op.apply(a?, b?)),
            },
            _ => Some(self.value(size)),
        }
    }

    /// The value without a limit of 32 bits, at which [`Self::value`] saturates: for errors.
    pub(crate) fn unsaturated(self, size: &Size) -> u64 {
        match size.kind() {
            Some(SizeKind::Op(op, a, b)) => op.apply_u64(self.unsaturated(a), self.unsaturated(b)),
            _ => self.value(size).into(),
        }
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
        match splits.planned_input() {
            Some(array) => self.run().input(array).lengths,
            None => splits.known_lengths(),
        }
    }

    /// Upper bound of the row lengths, as far as the host knows.
    pub(crate) fn longest(self, rows: &Rows) -> u32 {
        match rows {
            Rows::Splits(node) => self.known_lengths(node).longest,
            Rows::Uniform(len) => self.value(len),
        }
    }

    /// Length class of the longest row, as far as the host knows. A plan may depend on the class.
    pub(crate) fn longest_class(self, rows: &Rows) -> u32 {
        row_lengths::class(self.longest(rows))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{RunInput, RunSize};
    use super::*;
    use crate::graph::digest::Digest;

    fn slot(k: usize) -> Size {
        Size::slot(Digest::of("test", k), Slot::Size(k), None)
    }

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
        let sum = slot(0).mul(3).add(slot(1)).max(2);
        let (a, mut b) = (run([5, 7]), run([100, 0]));
        assert_eq!((SizeView::of(&a).value(&sum), SizeView::of(&b).value(&sum)), (22, 300));
        b.sizes[0].exact = Some(0);
        assert_eq!((SizeView::of(&a).value(&sum), SizeView::of(&b).value(&sum)), (22, 2));
        assert_eq!(sum.as_known(), None, "nothing is known of it outside of runs");
        assert!(sum.is_host_known());
    }

    #[test]
    #[should_panic(expected = "bug: a size of a plan has no value outside of a run")]
    fn a_size_of_a_plan_has_no_value_outside_of_runs() {
        SizeView::RECORDED.value(&slot(0).add(1));
    }
}
