//! Symbolic sizes: element counts of arrays, as parameters of the program that computes the arrays.
//!
//! A size is a constant of the program, the size of an input, a count that a kernel computes, or arithmetic over these.
//! Recordings of one program over inputs of other sizes have the same symbolic sizes with other values, so that one
//! plan serves every batch.
//!
//! ```text
//! Input(nrows of x) = 64        host-known: comes with the tensor
//! Input(nvals of x) = 3171
//! Count(x > 0, word 2)          device-known: at most 3171; exact once it has been read
//! Mul(Input(nrows of x), 16)    arithmetic
//! ```
//!
//! A count is an element of a stored array, never a nested expression, which bounds the cost of reading it. The array
//! is released once the value is host-known.
//!
//! # Invariants
//! What a size, its count, the capacity of an extent and a stored array are to each other, before and after evaluation,
//! whichever tensors share them:
//!
//! 1. **The index of a count contains no count**: constants, inputs and lengths of arrays as allocated only. A total is
//!    the last entry of its array ([`Node::last_entry`]), since the entries beyond the live rows repeat it. Asserted in
//!    [`Size::count`].
//! 2. **Equal counts are one object**, with one exact value: counts are interned, as nodes are. Whoever reads a count
//!    makes it known to every size that contains it. Asserted in [`DeviceCount::set_exact`]: a second value equals the
//!    first.
//! 3. **Types do not depend on reads.** What decides a type, an error or a layout is [`Size::as_known`], which the kind of
//!    a size determines: a count is device-known, read or not. [`RecordedSize::host_value`], which includes counts
//!    that were read, decides allocations, the shape shown to the user, and whether a read waits.
//! 4. **A stored array holds at least the live elements**, and at most the capacity at its evaluation: `Stored::len`,
//!    asserted in [`Node::set_stored`]. How many of them are live follows from the extent of the reader, never from the
//!    length of the array: the splits of `nrows` rows are their first `nrows + 1` entries.
//! 5. **A count lies inside of its array.** An index out of range is a bug, never 0; a count is 0 only where one of the
//!    conditions of its array failed, and the host does not record that value. Asserted where backends read counts.
//! 6. **A bound is no need.** Limits apply to known sizes when they are recorded, and to exact sizes when they run; an
//!    upper bound saturates.

mod construct;
mod count;
mod exact;
pub(in crate::graph) mod fold;
mod op;
mod recorded;
mod run;

use std::hash::{Hash, Hasher};

pub(crate) use super::Size;
pub(crate) use count::DeviceCount;
pub(crate) use op::SizeOp;
pub(in crate::graph) use op::size_operations;
pub(crate) use recorded::RecordedSize;
pub(crate) use run::{RunInput, RunSize, RunTable};

use std::sync::Arc;

use self::fold::{Part, Walked, fold};
use super::digest::{Digest, DigestMap, DigestSet};
use super::drops::drop_later;
use super::interned::Interner;
use super::{BackendRef, Node};

/// All live counts.
static COUNTS: Interner<Symbol> = Interner::new();

/// A size other than a constant.
#[derive(Debug)]
pub(crate) struct Symbol {
    digest: Digest,
    /// Nesting depth of the operations.
    depth: u32,
    /// See [`Walked::weight`].
    weight: u32,
    contains: Contains,
    /// The capacity, if it never changes: of arithmetic over sizes of inputs.
    fixed: Option<u32>,
    kind: SizeKind,
}

/// What a size contains. It does not change when a count is read.
#[derive(Debug, Clone, Copy, Default)]
struct Contains {
    /// A size of an input of a traced program, so that the value differs from run to run.
    varying: bool,
    /// [`SizeKind::Traced`], below operations only.
    traced: bool,
    /// [`SizeKind::Count`], below operations only.
    count: bool,
}

impl Contains {
    /// What an operation on two sizes contains.
    fn or(self, other: Self) -> Self {
        Self {
            varying: self.varying || other.varying,
            traced: self.traced || other.traced,
            count: self.count || other.count,
        }
    }
}

/// The kinds of symbolic size.
#[derive(Debug)]
pub(crate) enum SizeKind {
    /// Host-known: given with the program's inputs.
    Input(u32),
    /// Computed by a kernel.
    Count(DeviceCount),
    /// A size of an input of a traced program: it has a value in runs only. Its largest value stands for it while the
    /// program is traced.
    Traced(BackendRef),
    /// Length of the allocated array; possibly an upper bound of a count that is host-known by now.
    Len(Node),
    /// Arithmetic.
    Op(SizeOp, Size, Size),
}

impl Drop for Symbol {
    fn drop(&mut self) {
        match &mut self.kind {
            SizeKind::Count(count) => {
                COUNTS.remove_dropped(self.digest);
                drop_later(count.referents());
            }
            // Without recursion: operations may be nested to any depth.
            SizeKind::Op(_, a, b) if self.depth > MAX_DEPTH => {
                let mut stack = vec![std::mem::replace(a, Size::Const(0)), std::mem::replace(b, Size::Const(0))];
                while let Some(size) = stack.pop() {
                    if let Size::Symbol(symbol) = size
                        && let Some(mut symbol) = Arc::into_inner(symbol)
                        && let SizeKind::Op(_, a, b) = &mut symbol.kind
                    {
                        stack.extend([a, b].map(|operand| std::mem::replace(operand, Size::Const(0))));
                    }
                }
            }
            _ => {}
        }
    }
}

impl Walked for Size {
    fn digest(&self) -> Digest {
        self.digest()
    }

    fn operation(&self) -> Option<(SizeOp, &Self, &Self)> {
        match self.kind() {
            Some(SizeKind::Op(op, a, b)) => Some((*op, a, b)),
            _ => None,
        }
    }

    fn weight(&self) -> u32 {
        match self {
            Self::Const(_) => 1,
            Self::Symbol(s) => s.weight,
        }
    }
}

impl From<u32> for Size {
    fn from(n: u32) -> Self {
        Self::Const(n)
    }
}
impl From<&Self> for Size {
    fn from(size: &Self) -> Self {
        size.clone()
    }
}

impl PartialEq for Size {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Const(a), Self::Const(b)) => a == b,
            (Self::Symbol(a), Self::Symbol(b)) => a.digest == b.digest,
            _ => false,
        }
    }
}
impl Eq for Size {}
impl Hash for Size {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest().hash(state);
    }
}

/// The capacity of a size of an input of a traced program: no array is longer.
const LARGEST: u32 = u32::MAX - 1;

/// Maximum nesting depth of operations. A deeper chain is replaced by an input size, which bounds recursion.
const MAX_DEPTH: u32 = 16;

impl Size {
    pub(crate) fn digest(&self) -> Digest {
        match self {
            Self::Const(n) => Digest::of("constant size", n),
            Self::Symbol(s) => s.digest,
        }
    }

    /// The kind; `None` for a constant.
    pub(crate) fn kind(&self) -> Option<&SizeKind> {
        match self {
            Self::Const(_) => None,
            Self::Symbol(s) => Some(&s.kind),
        }
    }

    /// Nesting depth of the operations.
    pub(in crate::graph) fn depth(&self) -> u32 {
        match self {
            Self::Const(_) => 0,
            Self::Symbol(s) => s.depth,
        }
    }

    fn contains(&self) -> Contains {
        match self {
            Self::Const(_) => Contains::default(),
            Self::Symbol(s) => s.contains,
        }
    }

    /// Whether the size contains one of an input of a traced program, whose value varies by run.
    pub(in crate::graph) fn varies(&self) -> bool {
        self.contains().varying
    }

    /// The capacity, if it never changes.
    fn fixed(&self) -> Option<u32> {
        match self {
            Self::Const(n) => Some(*n),
            Self::Symbol(s) => s.fixed,
        }
    }

    /// The value, if the size is a constant.
    pub(crate) fn as_const(&self) -> Option<u32> {
        if let Self::Const(n) = self { Some(*n) } else { None }
    }

    /// The recorded value, with the sizes of those digests replaced.
    pub(in crate::graph) fn capacity_with(&self, values: &DigestMap<u32>) -> u32 {
        let part = |size: &Self| match values.get(&size.digest()) {
            Some(value) => Part::Value(*value),
            None => size.recorded_part(&|_| None),
        };
        fold(self, &part, &SizeOp::apply)
    }

    /// The value, if the size contains no count: known before anything is computed, and independent of what was read.
    /// `None` for a size of a traced program, which has a value in a run only.
    pub(crate) fn as_known(&self) -> Option<u32> {
        if self.varies() || self.contains_count() { None } else { self.host_value() }
    }

    /// Whether both are provably equal: one symbol, or equal known values.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self == other || self.as_known().is_some_and(|n| Some(n) == other.as_known())
    }

    /// Whether the size contains a count, host-known or not.
    pub(crate) fn contains_count(&self) -> bool {
        self.contains().count
    }

    /// Whether the host knows the value, possibly because it was read.
    pub(crate) fn is_host_known(&self) -> bool {
        let part = |size: &Self| match size.kind() {
            _ if !size.contains_count() => Part::Value(true),
            Some(SizeKind::Op(..)) => Part::Operation,
            Some(SizeKind::Count(count)) => Part::Value(count.exact().is_some()),
            _ => Part::Value(true),
        };
        fold(self, &part, &|_, a, b| a && b)
    }

    /// The device-known counts that the size contains.
    pub(crate) fn counts(&self) -> Vec<&Self> {
        let (mut out, mut stack, mut seen) = (Vec::new(), vec![self], DigestSet::default());
        while let Some(size) = stack.pop() {
            let Some(kind) = size.kind().filter(|_| size.contains_count()) else { continue };
            // Most sizes have one count.
            if !(stack.is_empty() && seen.is_empty()) && !seen.insert(size.digest()) {
                continue;
            }
            match kind {
                SizeKind::Count(count) if count.exact().is_none() => out.push(size),
                SizeKind::Op(_, a, b) => stack.extend([b, a]),
                _ => {}
            }
        }
        out
    }

    /// The backend on which a program is traced, if the size contains one of its inputs' sizes.
    pub(crate) fn traced_on(&self) -> Option<&BackendRef> {
        match self.kind() {
            Some(SizeKind::Traced(backend)) => Some(backend),
            Some(SizeKind::Op(_, a, b)) => if a.contains().traced { a } else { b }.traced_on(),
            _ => None,
        }
    }

    /// The array that holds a device-known count.
    pub(crate) fn count_node(&self) -> Option<Node> {
        match self.kind() {
            Some(SizeKind::Count(count)) => count.location().map(|(node, _)| node),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Extent;

    fn input(k: u32, value: u32) -> Size {
        Size::input(Digest::of("test", k), value)
    }

    #[test]
    fn sizes_compare_by_structure() {
        let (a, b) = (input(1, 7), input(2, 7));
        assert_ne!(a, b);
        assert_eq!(a, input(1, 9));
        assert_eq!(a.add(&b), input(1, 3).add(input(2, 4)));
        assert_ne!(a.add(&b), a.mul(&b));
        assert_eq!((a.add(&b).capacity(), a.mul(3).sub(2).capacity(), a.sub(9).capacity()), (14, 19, 0));
        assert_eq!(a.mul(1), a);
        assert_eq!(a.add(0), a);
        assert_eq!(Size::from(3).mul(4), Size::from(12));
    }

    /// An array of one word, which holds a count.
    fn counted(value: u32) -> Node {
        let device = crate::Device::cpu();
        let backend = device.backend();
        let data = backend.upload(crate::dtype::DType::U32, bytemuck::bytes_of(&value)).expect("uploaded");
        Node::source(backend, crate::dtype::DType::U32, 1, data)
    }

    #[test]
    fn equal_counts_are_one_object() {
        let array = counted(5);
        let count = |bound: u32| Size::count(array.clone(), Size::Const(0), Size::Const(bound));
        let (a, b) = (count(9), count(9).add(1));
        let Some(SizeKind::Count(of_a)) = a.kind() else { panic!("a count") };
        of_a.set_exact(5);
        assert_eq!((a.host_value(), b.host_value(), count(7).host_value()), (Some(5), Some(6), Some(5)));
        drop((a, b));
        assert_eq!(count(7).host_value(), None, "a dropped count is forgotten");
    }

    #[test]
    fn a_count_that_was_read_decides_no_type() {
        let array = counted(1);
        let count = Size::count(array, Size::Const(0), Size::Const(9));
        let deep = (0..2 * MAX_DEPTH).fold(count.clone(), |sum, k| sum.add(input(k, 1)));
        let Some(SizeKind::Count(of_count)) = count.kind() else { panic!("a count") };
        of_count.set_exact(1);
        let deep_after = (0..2 * MAX_DEPTH).fold(count.clone(), |sum, k| sum.add(input(k, 1)));
        for size in [&count, &count.add(1), &count.min(1), &deep, &deep_after] {
            assert_eq!(size.as_known(), None);
            assert!(size.contains_count());
        }
        assert_eq!((count.host_value(), deep_after.host_value()), (Some(1), Some(1 + 2 * MAX_DEPTH)));
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "bug: the index of a count contains a count")]
    fn the_index_of_a_count_contains_no_count() {
        let index = Size::count(counted(0), Size::Const(0), Size::Const(1));
        let _ = Size::count(counted(3), index, Size::Const(9));
    }

    #[test]
    fn sums_of_many_counts_contain_each_once() {
        let array = counted(5);
        let count = |k: u32| Size::count(array.clone(), Size::Const(k), Size::Const(9));
        let mut sizes: Vec<Size> = (0..1 << 16).map(|k| count(k % 50_000)).collect();
        while sizes.len() > 1 {
            sizes = sizes.chunks(2).map(|pair| pair[0].add(&pair[1])).collect();
        }
        assert_eq!(sizes[0].counts().len(), 50_000);
        assert_eq!(count(0).add(count(1)).add(count(0)).counts(), [&count(0), &count(1)]);
    }

    /// Each count is bounded by the one before it. Those of a trace stay bounds, however long the chain.
    #[test]
    fn chains_of_traced_counts_are_dropped_on_a_small_stack() {
        let backend = crate::Device::of_traces().backend().clone();
        let chain = move || {
            let first = Size::traced(&backend, Digest::of("test", "first"));
            let count = |bound: Size, k: u32| {
                let node = Node::traced(&backend, Digest::of("test", ("node", k)), crate::DType::U32, Extent::known(1));
                Size::count(node, Size::Const(0), bound)
            };
            drop((0..100_000).fold(first, count));
        };
        let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(chain);
        thread.expect("a thread").join().expect("dropped");
    }

    #[test]
    fn long_chains_stay_flat() {
        let mut sum = input(0, 1);
        for k in 1..100_000 {
            sum = sum.add(input(k, 1));
            assert!(sum.depth() <= MAX_DEPTH);
        }
        assert_eq!(sum.capacity(), 100_000);
    }
}
