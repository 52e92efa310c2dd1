//! What is asked for, apart from which arrays it is asked of: batch after batch of the same shapes is one request.
//!
//! Nodes know themselves by digests that include where their inputs came from, so that the same program over the next
//! batch records other nodes. A request numbers the arrays of a graph in the order in which a walk from the requested
//! ones meets them, and writes down all that planning, generating kernels and recording read of them, with numbers for
//! arrays:
//!
//! - of an array that is stored, or was when the walk came by: dtype and capacity, whether its count is known, whether
//!   it has conditions, whether its storage ends with a vector, and for splits the class of their longest row;
//! - of an array that is to be computed: its recipe with every expression, sizes and numbers included, its extent, its
//!   conditions with what they tell the user, and the operation that recorded it;
//! - which of them are the same array, by their numbers.
//!
//! Not written down is what a plan finds again whenever it runs: the arrays' storage, the outcomes of conditions, and
//! what is in the arrays, row lengths within their class included.
//!
//! The text is complete: the graph can be read back from it, but for where its inputs come from. Two requests of one
//! text are therefore the same graph over other inputs, and a plan for one is a plan for the other. The text itself is
//! compared, so that nothing rests on hashes not colliding.

mod text;

use std::hash::{Hash, Hasher};
use std::ops::Range;

use self::text::Text;
use super::digest::DigestMap;
use super::node::{Node, Stored};

/// What distinguishes a request from those that need another plan: its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    /// Of the text, worked out once: a text may be long.
    hash: u64,
    text: Box<[u64]>,
}

impl Key {
    fn new(text: Vec<u64>) -> Self {
        // Multiplied by an odd number, all that has come so far counts; turned, all of it counts for all bits.
        let mix = |hash: u64, word: &u64| (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        Self { hash: text.iter().fold(0, mix), text: text.into() }
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// A graph to be computed.
#[derive(Debug)]
pub(crate) struct Request {
    key: Key,
    /// How many arrays are asked for: the first ones.
    roots: usize,
    numbers: DigestMap<usize>,
    /// By number, with the result of those that were stored.
    arrays: Vec<(Node, Option<Stored>)>,
}

impl Request {
    /// Of those roots that are not stored.
    pub(crate) fn new(roots: &[Node]) -> Self {
        let Text { words, roots, numbers, arrays, .. } = Text::of(roots.iter().filter(|root| root.stored().is_none()));
        Self { key: Key::new(words), roots, numbers, arrays }
    }

    /// What distinguishes it from requests that need another plan.
    pub(crate) fn key(&self) -> &Key {
        &self.key
    }

    /// The numbers of the arrays that are asked for.
    pub(crate) fn roots(&self) -> Range<usize> {
        0..self.roots
    }

    /// The number of an array of the graph; none of one that only a plan has.
    pub(crate) fn number(&self, node: &Node) -> Option<usize> {
        self.numbers.get(&node.digest()).copied()
    }

    /// The array of that number.
    pub(crate) fn array(&self, number: usize) -> &Node {
        &self.arrays[number].0
    }

    /// The result of the array of that number, if it had one when the request was made.
    pub(crate) fn stored(&self, number: usize) -> Option<&Stored> {
        self.arrays[number].1.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;

    use super::*;
    use crate::device::Device;
    use crate::dtype::DType;
    use crate::graph::expr::{Check, Expr};
    use crate::graph::extent::Extent;
    use crate::graph::node::Rows;
    use crate::graph::opcode::{BinaryOp, ReduceOp};
    use crate::graph::row_lengths::KnownLengths;

    /// An array of its own.
    fn array(device: &Device, dtype: DType, len: u32) -> Node {
        Node::source(device.backend(), dtype, len, Arc::new(()))
    }

    /// Splits of so many rows, none longer than that.
    fn splits(device: &Device, nrows: u32, longest: u32) -> Node {
        let lengths = KnownLengths { longest, in_long_rows: 0 };
        Node::source_splits(device.backend(), (nrows + 1, lengths), Arc::new(()))
    }

    fn map(like: &Node, value: Expr, asserts: &[Node]) -> Node {
        Node::map(like.backend(), "map", like.extent().clone(), value, asserts)
    }

    fn own(n: &Node) -> Expr {
        Expr::load(n, Expr::index())
    }

    fn sums(splits: &Node, values: &Node, op: ReduceOp, inner: u32) -> Node {
        let (nrows, nvals) = (Extent::known(splits.extent().capacity() - 1), values.extent().clone());
        let rows = (Rows::Splits(splits.clone()), nrows);
        Node::reduce(values.backend(), "sums", op, rows, nvals, inner, own(values)).expect("small")
    }

    fn key(roots: &[Node]) -> Key {
        Request::new(roots).key().clone()
    }

    /// A sum of rows of what two arrays differ by, with a condition: everything in it is its own.
    fn program(device: &Device, longest: u32) -> [Node; 4] {
        let [a, b] = [9, 9].map(|len| array(device, DType::U32, len));
        let ok = own(&b).lt(Expr::u32(100));
        let check = Check::new("program", "numbers are small");
        let condition = Node::assert(device.backend(), a.extent().clone(), ok, check);
        let other =
            Node::assert(device.backend(), a.extent().clone(), own(&a).lt(own(&b)), Check::new("program", "order"));
        let difference = map(&a, own(&a).sub(own(&b)), &[condition, other]);
        let out = sums(&splits(device, 5, longest), &difference, ReduceOp::Sum, 1);
        [a, b, difference, out]
    }

    #[test]
    fn the_same_over_other_inputs_is_one_request() {
        let device = Device::cpu();
        let programs: Vec<[Node; 4]> = [3, 7, 64, 64, 1].map(|longest| program(&device, longest)).to_vec();
        let requests: Vec<Request> = programs.iter().map(|p| Request::new(&p[3..])).collect();
        let first = &requests[0];
        for (request, nodes) in requests.iter().zip(&programs) {
            assert_eq!(request.key(), first.key());
            assert_eq!(request.roots(), 0..1);
            // Each finds its own arrays by the numbers of the others.
            for (node, other) in nodes.iter().zip(&programs[0]) {
                let number = first.number(other).expect("of the graph");
                assert_eq!((request.number(node), request.array(number)), (Some(number), node));
                assert_eq!(request.stored(number).is_some(), node.stored().is_some());
            }
        }
    }

    #[test]
    fn whatever_planning_reads_makes_another_request() {
        let device = Device::cpu();
        let backend = device.backend();
        let u32s = |len| array(&device, DType::U32, len);
        let (a, b, c) = (u32s(9), u32s(9), u32s(9));
        let plus = |x: &Node, y: &Node| map(x, own(x).add(own(y)), &[]);
        let stored = plus(&a, &b);
        stored.set_stored(Stored { data: Arc::new(()), status: Arc::from([]) });
        let pending = plus(&b, &a);
        let counted = |n: &Node| Extent::bounded(9, Expr::load(n, Expr::u32(0)));
        let condition =
            |what: &str| Node::assert(backend, a.extent().clone(), own(&a).lt(own(&b)), Check::new("op", what));
        let [first, second] = ["one", "two"].map(condition);
        let rows = |splits: &Node, op, inner| sums(splits, &a, op, inner);
        let five = |longest| splits(&device, 5, longest);
        let all: Vec<Vec<Node>> = vec![
            vec![plus(&c, &b)],
            vec![plus(&a, &a)],
            vec![plus(&a, &pending)],
            vec![plus(&b, &pending)],
            vec![plus(&c, &pending)],
            vec![plus(&a, &stored), plus(&b, &a)],
            vec![plus(&b, &a), plus(&a, &stored)],
            vec![plus(&u32s(9), &u32s(10))],
            vec![plus(&u32s(10), &u32s(10))],
            vec![plus(&u32s(9), &Node::source_lent(backend, DType::U32, 9, Arc::new(())))],
            vec![map(&a, own(&array(&device, DType::I32, 9)).cast(DType::U32), &[])],
            vec![map(&a, own(&array(&device, DType::F32, 9)).cast(DType::U32), &[])],
            vec![map(&a, own(&a).binary(BinaryOp::Div, own(&b)), &[])],
            vec![map(&a, own(&a).add(Expr::u32(3)), &[])],
            vec![map(&a, own(&a).add(Expr::u32(4)), &[])],
            vec![map(&a, own(&a).add(Expr::index()), &[])],
            vec![map(&a, Expr::load(&b, own(&a)).add(Expr::index()), &[])],
            vec![map(&a, own(&a).add(own(&b)), std::slice::from_ref(&first))],
            vec![map(&a, own(&a).add(own(&b)), std::slice::from_ref(&second))],
            vec![map(&a, own(&a).add(own(&b)), &[first.clone(), second.clone()])],
            vec![map(&a, own(&a).checked(Check::new("op", "one"), own(&a).lt(own(&b))), &[])],
            vec![map(&a, own(&a).checked(Check::new("op", "one"), own(&a).lt(own(&b))), &[])],
            vec![Node::map(backend, "map", counted(&c), own(&a).add(own(&b)), &[])],
            vec![Node::map(backend, "map", counted(&a), own(&a).add(own(&b)), &[])],
            vec![Node::map(backend, "another", a.extent().clone(), own(&b).add(own(&c)), &[])],
            vec![Node::splits(backend, "map", &counted(&c), &own(&a).add(own(&b)), &[first]).expect("small")],
            vec![Node::scan(backend, "scan", a.extent().clone(), own(&a)).expect("small")],
            vec![rows(&five(64), ReduceOp::Sum, 1)],
            vec![rows(&five(65), ReduceOp::Sum, 1)],
            vec![rows(&five(257), ReduceOp::Sum, 1)],
            vec![rows(&five(u32::MAX), ReduceOp::Sum, 1)],
            vec![rows(&five(64), ReduceOp::Min, 1)],
            vec![rows(&five(64), ReduceOp::Sum, 2)],
            vec![rows(&splits(&device, 6, 64), ReduceOp::Sum, 1)],
            vec![rows(&u32s(6), ReduceOp::Max, 1)],
        ];
        // A result that is there is an array like any other.
        assert_eq!(key(&[plus(&stored, &c)]), key(&[plus(&c, &b)]));
        let keys: HashSet<Key> = all.iter().map(|roots| key(roots)).collect();
        let same: Vec<usize> =
            (0..all.len()).filter(|&k| all[..k].iter().any(|other| key(other) == key(&all[k]))).collect();
        assert_eq!((keys.len(), same), (all.len(), vec![]));
    }
}
