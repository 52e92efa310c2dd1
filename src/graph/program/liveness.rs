//! Liveness of arrays after a run: finds the arrays that are referenced from outside of the recording.
//!
//! After a run an intermediate array is kept only if a tensor, or a recording that has not run yet, may still read it.
//! Any other array returns to the pool after its last reader. Liveness follows from reference counts: an allocation
//! with more references than the recording holds is referenced from outside, and so are its inputs.

use std::collections::HashMap;
use std::sync::Arc;

use super::Bindings;
use crate::graph::expr::{Expr, ExprKind};
use crate::graph::node::{Node, Recipe};
use crate::graph::refs::Reference;
use crate::graph::size::{Size, SizeKind, Symbol};

/// An allocation of a recording.
#[derive(Clone)]
enum Item {
    Node(Node),
    Expr(Expr),
    Symbol(Arc<Symbol>),
}

impl Item {
    fn address(&self) -> *const () {
        match self {
            Self::Node(n) => n.address(),
            Self::Expr(e) => e.address(),
            Self::Symbol(s) => Arc::as_ptr(s).cast(),
        }
    }

    /// Number of references to the allocation, except `self`.
    fn references(&self) -> usize {
        match self {
            Self::Node(n) => n.references(),
            Self::Expr(e) => e.references(),
            Self::Symbol(s) => Arc::strong_count(s),
        }
        .saturating_sub(1)
    }
}

/// Calls `f` for each allocation that an item references. A count references the array that holds it, unless
/// `counts_resolve`.
fn refers_to(item: &Item, counts_resolve: bool, f: &mut dyn FnMut(Item)) {
    let size = |s: &Size, f: &mut dyn FnMut(Item)| {
        if let Size::Symbol(symbol) = s {
            f(Item::Symbol(symbol.clone()));
        }
    };
    match item {
        Item::Node(node) => {
            let Some(recipe) = node.kept_recipe() else { return };
            size(node.extent().size(), f);
            node.asserts().iter().for_each(|n| f(Item::Node(n.clone())));
            Recipe::visit(&recipe, &mut |part| match part {
                Reference::Expr(e) => f(Item::Expr(e.clone())),
                Reference::Array(n) => f(Item::Node(n.clone())),
                Reference::Extent(x) => size(x.size(), f),
                Reference::Size(s) => size(s, f),
                Reference::Check(_) => {}
            });
        }
        Item::Expr(e) => {
            e.operands().for_each(|o| f(Item::Expr(o.clone())));
            e.node().into_iter().for_each(|n| f(Item::Node(n.clone())));
            if let ExprKind::Size(s) = e.kind() {
                size(s, f);
            }
        }
        Item::Symbol(symbol) => match Size::Symbol(symbol.clone()).kind() {
            Some(SizeKind::Op(_, a, b)) => [a, b].into_iter().for_each(|s| size(s, f)),
            Some(SizeKind::Len(node)) => f(Item::Node(node.clone())),
            Some(SizeKind::Count(count)) if !counts_resolve => {
                if let Some((node, at)) = count.location() {
                    f(Item::Node(node));
                    size(&at, f);
                }
                if let Some(bound) = count.bounded_by() {
                    size(&bound, f);
                }
            }
            _ => {}
        },
    }
}

impl Bindings {
    /// For each array, whether it is referenced from outside of the recording, directly or through items that are not
    /// `computed` in this run. `counts_resolve`: whether counts become host-known in the run and release their arrays.
    pub(crate) fn shared(&self, computed: &[bool], counts_resolve: bool) -> Vec<bool> {
        let mut known: HashMap<*const (), (Item, usize)> = HashMap::new();
        // The bindings hold one reference to every node and size.
        let nodes = self.nodes.iter().map(|n| Item::Node(n.clone()));
        let symbols = self.sizes.iter().filter_map(|s| match s {
            Size::Symbol(symbol) => Some(Item::Symbol(symbol.clone())),
            Size::Const(_) => None,
        });
        let mut stack = Vec::new();
        for item in nodes.chain(symbols) {
            known.entry(item.address()).or_insert_with(|| (item.clone(), 0)).1 += 1;
            stack.push(item);
        }
        while let Some(item) = stack.pop() {
            refers_to(&item, false, &mut |to| {
                let entry = known.entry(to.address()).or_insert_with(|| {
                    stack.push(to.clone());
                    (to.clone(), 0)
                });
                entry.1 += 1;
            });
        }
        let numbers: HashMap<*const (), usize> = self.nodes.iter().enumerate().map(|(k, n)| (n.address(), k)).collect();
        let mut out = vec![false; self.nodes.len()];
        // `known` holds one reference to each item.
        let is_outside = |(item, inside): &(Item, usize)| item.references() > *inside;
        let mut stack: Vec<Item> =
            known.values().filter(|entry| is_outside(entry)).map(|(item, _)| item.clone()).collect();
        let mut seen: std::collections::HashSet<*const ()> = stack.iter().map(Item::address).collect();
        while let Some(item) = stack.pop() {
            let number = numbers.get(&item.address()).copied();
            if let Some(k) = number {
                out[k] = true;
                if computed[k] {
                    continue;
                }
            }
            refers_to(&item, counts_resolve, &mut |to| {
                if seen.insert(to.address()) {
                    stack.push(to);
                }
            });
        }
        out
    }
}
