//! Evaluation of sizes, in time linear in the distinct operations that they contain.
//!
//! Sizes share their operands: `x` concatenated with itself has the rows of `x` twice. A size is a graph, whose tree may be
//! exponentially larger. Small trees are walked as such; of others each operation is evaluated once, without recursion.

use std::hash::Hash;

use super::SizeOp;
use crate::graph::digest::{Digest, DigestMap};

/// What a size is to an evaluation.
#[derive(Debug)]
pub(in crate::graph) enum Part<S, V> {
    /// The value.
    Value(V),
    /// The operation that it is, on the values of its operands.
    Operation,
    /// Another size, but at most a constant.
    AtMost(S, u32),
}

/// A size that an evaluation walks through.
pub(in crate::graph) trait Walked: Clone + Eq + Hash + From<u32> {
    fn digest(&self) -> Digest;
    /// The operation that it is, with its operands.
    fn operation(&self) -> Option<(SizeOp, &Self, &Self)>;
    /// Number of sizes in the tree below, saturating.
    fn weight(&self) -> u32;
}

const NO_OPERATION: &str = "bug: a size that is no operation";

/// Trees of at most so many sizes are walked as trees.
const SMALL: u32 = 64;

#[cfg(test)]
thread_local! {
    /// Number of sizes that evaluations of this thread have visited.
    pub(in crate::graph) static VISITED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// The value of a size, from that of its parts.
pub(in crate::graph) fn fold<S: Walked, V: Clone>(
    size: &S,
    part: &impl Fn(&S) -> Part<S, V>,
    apply: &impl Fn(SizeOp, V, V) -> V,
) -> V {
    if size.weight() <= SMALL { of_tree(size, part, apply) } else { of_graph(size, part, apply) }
}

fn of_tree<S: Walked, V: Clone>(size: &S, part: &impl Fn(&S) -> Part<S, V>, apply: &impl Fn(SizeOp, V, V) -> V) -> V {
    #[cfg(test)]
    VISITED.set(VISITED.get() + 1);
    match part(size) {
        Part::Value(value) => value,
        Part::Operation => {
            let (op, a, b) = size.operation().expect(NO_OPERATION);
            apply(op, of_tree(a, part, apply), of_tree(b, part, apply))
        }
        Part::AtMost(bound, most) => {
            apply(SizeOp::Min, of_tree(&bound, part, apply), of_tree(&S::from(most), part, apply))
        }
    }
}

fn of_graph<S: Walked, V: Clone>(size: &S, part: &impl Fn(&S) -> Part<S, V>, apply: &impl Fn(SizeOp, V, V) -> V) -> V {
    let mut values: DigestMap<V> = DigestMap::default();
    let mut stack = vec![size.clone()];
    while let Some(size) = stack.last().cloned() {
        #[cfg(test)]
        VISITED.set(VISITED.get() + 1);
        if values.contains_key(&size.digest()) {
            stack.pop();
            continue;
        }
        let (op, a, b) = match part(&size) {
            Part::Value(value) => {
                values.insert(size.digest(), value);
                stack.pop();
                continue;
            }
            Part::Operation => {
                let (op, a, b) = size.operation().expect(NO_OPERATION);
                (op, a.clone(), b.clone())
            }
            Part::AtMost(bound, most) => (SizeOp::Min, bound, S::from(most)),
        };
        match (values.get(&a.digest()), values.get(&b.digest())) {
            (Some(x), Some(y)) => {
                let value = apply(op, x.clone(), y.clone());
                values.insert(size.digest(), value);
                stack.pop();
            }
            (x, y) => {
                let (is_first, is_second) = (x.is_none(), y.is_none());
                stack.extend(is_second.then_some(b));
                stack.extend(is_first.then_some(a));
            }
        }
    }
    values.remove(&size.digest()).expect("bug: a size without a value")
}
