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
mod factors;
pub(in crate::graph) mod fold;
mod op;
mod recorded;
mod run;
#[cfg(test)]
mod tests;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

pub(crate) use super::Size;
pub(crate) use count::DeviceCount;
pub(crate) use factors::Factors;
pub(crate) use op::SizeOp;
pub(in crate::graph) use op::size_operations;
pub(crate) use recorded::RecordedSize;
pub(crate) use run::{RunInput, RunSize, RunTable};

use self::fold::{Part, Walked, fold};
use super::digest::interned::Interner;
use super::digest::{Digest, DigestMap, DigestSet};
use super::drops::drop_later;
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
            let is_only = stack.is_empty() && seen.is_empty();
            if !is_only && !seen.insert(size.digest()) {
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
        let mut size = self;
        loop {
            match size.kind() {
                Some(SizeKind::Traced(backend)) => return Some(backend),
                Some(SizeKind::Op(_, a, b)) => size = if a.contains().traced { a } else { b },
                _ => return None,
            }
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
