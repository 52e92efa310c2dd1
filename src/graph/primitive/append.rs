//! Appended arrays: the values of any number of parts, one part after another.
//!
//! The CPU backend copies part by part. On other backends the planner turns the recipe into a balanced tree of maps, each
//! of which selects between as many parts as a kernel can bind: `n` parts take about `n / 5` kernels on the smallest
//! device, and each value moves once per level of the tree.
//!
//! The number of parts is rounded up to a class by empty parts, and the number of values of a part is a parameter, so
//! that few plans serve any number of parts.

use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;

use super::map::Map;
use super::{Evaluation, Facts, Positions, Recipe};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::digest::{Digest, DigestMap, DigestSet};
use crate::graph::expr::ExprKind;
use crate::graph::handles::Handles;
use crate::graph::planned::{self, InPlan};
use crate::graph::refs::{Recorded, Reference, Refs, Rewrite};
use crate::graph::size::{SizeKind, fold};
use crate::graph::step::PlanLimits;
use crate::graph::walk::arrays;
use crate::graph::{BackendRef, Expr, Extent, Node, Size};

/// Maximum number of parts that one map selects from when recorded, so that it fuses into its consumers.
const MOST_SELECTED: usize = 3;

/// Number of parts of a recipe for `n` parts: a power of two, or three quarters of one.
fn class(n: usize) -> usize {
    let power = n.next_power_of_two();
    if n <= power / 4 * 3 { power / 4 * 3 } else { power }
}

/// The values of all parts, one part after another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields, bound = "R: crate::graph::refs::SavedRefs")
)]
pub(crate) struct Append<R: Refs = Recorded> {
    /// The value of an element of each part, by its position in the part, and the number of elements.
    #[cfg_attr(feature = "saved", serde(deserialize_with = "crate::graph::saved_list::deserialize"))]
    pub(crate) parts: Box<[(R::Expr, R::Extent)]>,
}

impl<R: Refs> Append<R> {
    pub(super) const FAMILY: &'static str = "append";

    pub(super) fn visit<'a>(&'a self, f: &mut impl FnMut(Reference<'a, R>)) {
        self.parts.iter().for_each(|(_, count)| f(Reference::Extent(count)));
        self.parts.iter().for_each(|(value, _)| f(Reference::Expr(value)));
    }

    pub(super) fn map<W: Rewrite<R>>(&self, r: &mut W) -> Append<W::To> {
        let counts: Vec<_> = self.parts.iter().map(|(_, count)| r.extent(count)).collect();
        let values = self.parts.iter().map(|(value, _)| r.expr(value));
        Append { parts: values.zip(counts).collect() }
    }
}

impl Facts for Append<InPlan> {
    fn evaluation(&self) -> Evaluation {
        Evaluation::Rowless
    }
    fn positions(&self, _: &planned::Extent) -> Vec<Positions> {
        self.parts.iter().map(|(_, count)| Positions::of(count)).collect()
    }
    fn skips(&self) -> bool {
        true
    }
}

impl Node {
    /// The values of all parts, one part after another. A part is an expression in its own position, and its number of
    /// values.
    ///
    /// # Errors
    /// More values than the largest array has; on upload of the empty parts.
    #[track_caller]
    pub(crate) fn append(
        backend: &BackendRef,
        op: &'static str,
        parts: Vec<(Expr, Extent)>,
        asserts: &[Self],
    ) -> Result<Self> {
        let total = total(op, parts.iter().map(|(_, count)| count))?;
        let dtype = parts.first().map_or(DType::U32, |(value, _)| value.dtype());
        if parts.len() <= MOST_SELECTED {
            let parts: Vec<Part<Recorded>> =
                parts.into_iter().map(|(value, count)| Part { value, live: count.expr() }).collect();
            return Ok(Self::map(backend, op, total, selected(&parts), asserts));
        }
        let n = parts.len();
        let mut all: Vec<(Expr, Extent)> = Vec::with_capacity(class(n));
        for (k, (value, count)) in parts.into_iter().enumerate() {
            let count = parameter(&value, count, k);
            all.push((value, count));
        }
        let mut emptied = Emptied::default();
        for k in n..class(n) {
            emptied.nodes.clear();
            emptied.exprs.clear();
            emptied.part = k;
            let value = emptied.emptied(backend, &all[n - 1].0)?;
            let count = parameter(&value, Extent::known(0), k);
            all.push((value, count));
        }
        Ok(Self::recorded(backend, op, dtype, total, asserts, Recipe::Append(Append { parts: all.into() })))
    }
}

/// The count of part `k` as a parameter of the program, if the host knows it.
fn parameter(value: &Expr, count: Extent, k: usize) -> Extent {
    match count.as_known() {
        Some(n) => Extent::input(Digest::of("part", (value.digest(), k, count.size().digest())), n),
        None => count,
    }
}

/// Total number of values of operands: a parameter of the program if the host knows it, so that the program does not
/// depend on the number of operands.
///
/// # Errors
/// More values than the largest array has.
#[track_caller]
pub(crate) fn total<'a>(op: &'static str, counts: impl Iterator<Item = &'a Extent> + Clone) -> Result<Extent> {
    let sum = Extent::sum(op, counts.clone())?;
    Ok(match sum.as_known() {
        Some(n) if counts.clone().count() > MOST_SELECTED => {
            let all: Vec<Digest> = counts.map(|count| count.size().digest()).collect();
            Extent::input(Digest::of("total", all), n)
        }
        _ => sum,
    })
}

/// Makes empty parts.
#[derive(Default)]
struct Emptied {
    /// Storage of an empty array of each dtype.
    data: Vec<(DType, Arc<dyn Any + Send + Sync>)>,
    /// Index of the part.
    part: usize,
    /// The empty array for each array of the part.
    nodes: DigestMap<Node>,
    /// The rewritten expression for each expression of the part: operations share their operands.
    exprs: DigestMap<Expr>,
}

impl Emptied {
    /// The expression with empty arrays in place of the stored arrays that it reads.
    fn emptied(&mut self, backend: &BackendRef, e: &Expr) -> Result<Expr> {
        if let Some(known) = self.exprs.get(&e.digest()) {
            return Ok(known.clone());
        }
        let operands: Vec<Expr> = e.operands().map(|o| self.emptied(backend, o)).collect::<Result<_>>()?;
        let emptied = match (e.kind(), operands.as_slice()) {
            (ExprKind::Load(node, _), [at]) => Expr::load(&self.node(backend, node)?, at.clone()),
            (ExprKind::RowOf(node, _), [at]) => Expr::row_of(&self.node(backend, node)?, at.clone()),
            (ExprKind::Within(node, ..), [row, offset]) => {
                Expr::within(&self.node(backend, node)?, row.clone(), offset.clone())
            }
            (ExprKind::Size(size), _) => Expr::size(&self.size(backend, size)?),
            _ => e.with_operands(operands.into_iter()),
        };
        self.exprs.insert(e.digest(), emptied.clone());
        Ok(emptied)
    }

    /// A size of the same form, which is 0.
    fn size(&mut self, backend: &BackendRef, size: &Size) -> Result<Size> {
        let (number, failure) = (self.part, RefCell::new(None));
        let this = RefCell::new(self);
        let part = |size: &Size| {
            fold::Part::Value(match size.kind() {
                Some(SizeKind::Op(..)) => return fold::Part::Operation,
                Some(SizeKind::Input(_) | SizeKind::Traced(_)) => {
                    Size::input(Digest::of("empty part", (number, size.digest())), 0)
                }
                Some(SizeKind::Len(node)) => match this.borrow_mut().node(backend, node) {
                    Ok(node) => Size::len(&node),
                    Err(error) => {
                        failure.replace(Some(error));
                        size.clone()
                    }
                },
                _ => size.clone(),
            })
        };
        let emptied = fold::fold(size, &part, &|op, a, b| Size::op(op, &a, &b));
        failure.into_inner().map_or(Ok(emptied), Err)
    }

    fn node(&mut self, backend: &BackendRef, node: &Node) -> Result<Node> {
        if node.stored().is_none() {
            return Ok(node.clone());
        }
        if let Some(known) = self.nodes.get(&node.digest()) {
            return Ok(known.clone());
        }
        let dtype = node.dtype();
        let data = match self.data.iter().find(|(of, _)| *of == dtype) {
            Some((_, data)) => data.clone(),
            None => {
                let data = backend.upload(dtype, &[])?;
                self.data.push((dtype, data.clone()));
                data
            }
        };
        let empty = Node::source(backend, dtype, 0, data);
        self.nodes.insert(node.digest(), empty.clone());
        Ok(empty)
    }
}

/// A part of a map.
#[derive(Clone)]
struct Part<R: Handles> {
    /// The value, by the position in the part.
    value: Expr<R>,
    /// The number of values.
    live: Expr<R>,
}

/// The value at a position of all parts together.
fn selected<R: Handles>(parts: &[Part<R>]) -> Expr<R> {
    let Some((last, earlier)) = parts.split_last() else { return Expr::u32(0) };
    let mut starts = vec![Expr::u32(0)];
    for (k, part) in earlier.iter().enumerate() {
        let start = if k == 0 { part.live.clone() } else { starts[k].clone().add(part.live.clone()) };
        starts.push(start);
    }
    let at = |part: &Part<R>, k: usize| match k {
        0 => part.value.clone(),
        _ => part.value.at(&Expr::index().sub(starts[k].clone())),
    };
    let rest = at(last, earlier.len());
    earlier
        .iter()
        .enumerate()
        .rev()
        .fold(rest, |rest, (k, part)| Expr::index().lt(starts[k + 1].clone()).select(at(part, k), rest))
}

/// The recipe of `out` as a map over the results of further maps, which are added to `stored`, and which the planner must
/// not inline.
pub(in crate::graph) fn as_map(
    out: &planned::Node,
    parts: &[(planned::Expr, planned::Extent)],
    limits: PlanLimits,
    (arena, stored): (&mut planned::Arena, &mut DigestSet),
) -> planned::Recipe {
    let widest = parts.iter().map(|(value, count)| arrays(value).len() + usize::from(count.live().is_some())).max();
    // Excludes the output, the status block and the count of the result.
    let free = limits.arrays.min(limits.bindings).saturating_sub(3) as usize;
    let arity = (free / widest.unwrap_or(1).max(1)).max(2);
    let mut map = |extent: planned::Extent, value: planned::Expr| {
        let dtype = value.dtype();
        let node = arena.computed(out.op(), dtype, extent, Recipe::Map(Map { value, whole: true }));
        stored.insert(node.digest());
        node
    };
    let mut level: Vec<(Part<InPlan>, planned::Extent)> =
        parts.iter().map(|(value, count)| (Part { value: value.clone(), live: count.expr() }, count.whole())).collect();
    while level.len() > arity {
        let mut above = Vec::with_capacity(level.len().div_ceil(arity));
        for group in level.chunks(arity) {
            if let [one] = group {
                above.push(one.clone());
                continue;
            }
            let parts: Vec<Part<InPlan>> = group.iter().map(|(part, _)| part.clone()).collect();
            let size = group[1..].iter().fold(group[0].1.size().clone(), |sum, (_, count)| sum.add(count.size()));
            let extent = planned::Extent::of(size).whole();
            let counts = parts.iter().map(|part| part.live.clone());
            let mut live = counts.reduce(Expr::add).unwrap_or_else(|| Expr::u32(0));
            if live.reads() {
                live = Expr::load(&map(planned::Extent::known(1), live), Expr::u32(0));
            }
            let node = map(extent.clone(), selected(&parts));
            above.push((Part { value: Expr::load(&node, Expr::index()), live }, extent));
        }
        level = above;
    }
    let parts: Vec<Part<InPlan>> = level.into_iter().map(|(part, _)| part).collect();
    Recipe::Map(Map { value: selected(&parts), whole: false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::size::fold::VISITED;

    #[test]
    fn few_classes_hold_any_number_of_parts() {
        let classes: std::collections::BTreeSet<usize> = (2..=1024).map(class).collect();
        assert!((2..=4096).all(|n| class(n) >= n && 2 * class(n) <= 3 * n), "at most half as many again");
        assert_eq!(classes.len(), 19);
    }

    /// Each operation has the one before it twice: 2^80 operations as a tree.
    #[test]
    fn an_empty_part_takes_time_linear_in_the_shared_operations() {
        let backend = crate::Device::of_traces().backend().clone();
        let size = Size::traced(&backend, Digest::of("test", "size"));
        let size = (0..40).fold(size, |size, _| size.add(&size));
        let value = (0..40).fold(Expr::size(&size), |value, _| value.clone().add(value));
        VISITED.set(0);
        let parts = vec![(value, Extent::known(1)); MOST_SELECTED + 2];
        let node = Node::append(&backend, "test", parts, &[]).expect("recorded");
        assert!(VISITED.get() < 1000, "{} sizes are visited", VISITED.get());
        let recipe = node.recipe();
        let Some(Recipe::Append(Append { parts })) = recipe.as_deref() else { panic!("appended parts") };
        assert_eq!(parts.len(), class(MOST_SELECTED + 2));
        assert_ne!(parts[MOST_SELECTED + 2].0, parts[0].0, "an empty part has sizes of its own");
    }
}
