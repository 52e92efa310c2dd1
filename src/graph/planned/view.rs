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
            Some(SizeKind::Op(..)) => match size.number() {
                Some(k) => Part::Value(self.0.value(k.index())),
                None => Part::Operation,
            },
            Some(SizeKind::Given(k) | SizeKind::Count(k, _)) => Part::Value(self.0.value(k.index())),
            Some(SizeKind::Added(_, bound)) => Part::AtMost(bound.clone(), u32::MAX),
            Some(SizeKind::InputLen(k)) => Part::Value(self.0.input(k.index()).len),
            Some(SizeKind::Len(node)) => Part::AtMost(node.extent().size().clone(), u32::MAX),
        };
        fold(size, &part, &SizeOp::apply)
    }

    /// The value, if the host knows it, possibly because it was read.
    pub(crate) fn host_value(self, size: &Size) -> Option<u32> {
        let part = |size: &Size| match size.kind() {
            _ if !size.contains_count() => Part::Value(Some(self.value(size))),
            Some(SizeKind::Count(k, _)) => Part::Value(self.0.sizes[k.index()].exact),
            Some(SizeKind::Added(..)) => Part::Value(None),
            Some(SizeKind::Op(..)) => Part::Operation,
            _ => Part::Value(Some(self.value(size))),
        };
        fold(size, &part, &SizeOp::apply_known)
    }

    /// The value without a limit of 32 bits, at which [`Self::value`] saturates: for errors.
    pub(crate) fn unsaturated(self, size: &Size) -> u64 {
        let part = |size: &Size| match (size.kind(), size.number()) {
            (Some(SizeKind::Op(..)), None) => Part::Operation,
            (Some(SizeKind::Op(..)), Some(_)) if self.0.saturates => Part::Operation,
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

    /// As [`Self::longest_class`], for a kernel that walks along rows. Its dispatches may depend on the class, plans may not.
    pub(crate) fn longest_walk(self, rows: &Rows<InPlan>) -> u32 {
        row_lengths::walk_class(self.longest(rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::DType;
    use crate::graph;
    use crate::graph::digest::Digest;
    use crate::graph::handles::SizeHandle;
    use crate::graph::planned::{Arena, Expr};
    use crate::graph::program::{Frozen, SizeDef, SizeId, freeze};
    use crate::graph::size::fold::VISITED;
    use crate::graph::size::{RunInput, RunSize, SizeOp};

    fn run(bounds: [u32; 2]) -> RunTable {
        let sizes = bounds.map(|bound| RunSize { bound, exact: None }).into();
        RunTable {
            sizes,
            inputs: vec![Some(RunInput { len: bounds[1], lengths: KnownLengths::NONE })],
            scalars: Vec::new(),
            saturates: false,
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

    /// Counts that fold to a size: that of rows of no elements, for instance.
    #[test]
    fn a_count_may_be_a_size() {
        let table = run([5, 7]);
        let counted = |capacity: u32, live: &Expr| Extent::counted(&capacity.into(), live);
        let capacity = |extent: &Extent| SizeView::of(&table).capacity(extent);
        assert_eq!(capacity(&counted(9, &Expr::u32(0))), 0);
        assert_eq!(capacity(&counted(9, &Expr::size(&Size::given(SizeId(1))))), 7);
        assert_eq!(capacity(&counted(3, &Expr::size(&Size::given(SizeId(1))))), 3);
    }

    /// A chain of nested sizes, of which each is that of an array.
    #[test]
    fn a_run_evaluates_each_size_of_the_program_once() {
        const ARRAYS: u32 = 8000;
        let backend = crate::Device::of_traces().backend().clone();
        let traced = |what| graph::Size::traced(&backend, Digest::of("test", what));
        let (first, step) = (traced("first"), traced("step"));
        let sizes = (0..ARRAYS).scan(first, |sum, _| {
            *sum = sum.add(&step);
            Some(sum.clone())
        });
        let map = |size| graph::Node::map(&backend, "test", graph::Extent::of(size), graph::Expr::index(), &[]);
        let arrays: Vec<graph::Node> = sizes.map(map).collect();
        let Frozen { program, bindings, bounds, arrays: numbers, .. } = freeze(&arrays, &[]);
        let given = |(def, size): (&SizeDef, &graph::Size)| match def {
            SizeDef::Input => Some(if *size == step { 3 } else { 10 }),
            _ => None,
        };
        let given: Vec<Option<u32>> = program.sizes().iter().zip(&bindings.sizes).map(given).collect();
        let table = program.run_table(vec![None; arrays.len()], &given, &bounds, Vec::new());
        let arena = Arena::new(&program, &bindings.locations);
        VISITED.set(0);
        for (k, &array) in (1..).zip(&numbers) {
            let size = arena.node(array).extent().size();
            assert_eq!(SizeView::of(&table).value(size), 10 + 3 * k);
            assert_eq!(SizeView::of(&table).unsaturated(size), u64::from(10 + 3 * k));
        }
        assert!(VISITED.get() <= u64::from(4 * ARRAYS), "{} sizes are visited", VISITED.get());
    }

    /// A size that saturates, less a number.
    #[test]
    fn a_size_beyond_32_bits_is_known_after_it_saturates() {
        let backend = crate::Device::of_traces().backend().clone();
        let size = graph::Size::traced(&backend, Digest::of("test", "large"));
        let size = size.add(&size).sub(7);
        let array = graph::Node::map(&backend, "test", graph::Extent::of(size), graph::Expr::index(), &[]);
        let Frozen { program, bindings, bounds, arrays, .. } = freeze(&[array], &[]);
        let arena = Arena::new(&program, &bindings.locations);
        for large in [u32::MAX - 1, 1 << 31, 100] {
            let given = program.sizes().iter().map(|def| matches!(def, SizeDef::Input).then_some(large));
            let table = program.run_table(vec![None], &given.collect::<Vec<_>>(), &bounds, Vec::new());
            let size = SizeView::of(&table).unsaturated(arena.node(arrays[0]).extent().size());
            assert_eq!(size, 2 * u64::from(large) - 7);
        }
    }

    /// The length of an array whose count becomes known in the run, and arithmetic over it.
    #[test]
    fn lengths_of_counted_arrays_are_not_those_before_the_run() {
        let device = crate::Device::cpu();
        let backend = device.backend();
        let data = backend.upload(DType::U32, bytemuck::bytes_of(&5u32)).expect("uploaded");
        let source = graph::Node::source(backend, DType::U32, 1, data);
        let counter = graph::Node::map(
            backend,
            "test",
            graph::Extent::known(1),
            graph::Expr::load(&source, graph::Expr::index()).add(graph::Expr::u32(1)),
            &[],
        );
        let count = graph::Size::count(counter, graph::Size::from(0), graph::Size::from(9));
        let counted = graph::Node::map(backend, "test", graph::Extent::of(count), graph::Expr::index(), &[]);
        let size = graph::Size::len(&counted).add(1).mul(2);
        let array = graph::Node::map(
            backend,
            "test",
            graph::Extent::of(size),
            graph::Expr::load(&counted, graph::Expr::index()),
            &[],
        );
        let Frozen { program, bindings, bounds, arrays, .. } = freeze(&[array], &[]);
        let given: Vec<Option<u32>> = bindings.run.sizes.iter().map(|size| Some(size.bound)).collect();
        let inputs = bindings.run.inputs.clone();
        let mut table = program.run_table(inputs, &given, &bounds, Vec::new());
        let arena = Arena::new(&program, &bindings.locations);
        let capacity = |table: &RunTable| SizeView::of(table).capacity(arena.node(arrays[0]).extent());
        assert_eq!(capacity(&table), 20);
        table.sizes[program.counts()[0].index()].exact = Some(5);
        assert_eq!(capacity(&table), 12);
    }
}
