//! The order in which the definitions of a program can be made: each after those that it refers to.

use super::{ArrayDef, ArrayId, ExprDef, ExprId, Program, SizeDef, SizeId};
use crate::graph::expr::ExprKind;
use crate::graph::primitive::Recipe;
use crate::graph::refs::Reference;

/// A definition of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::graph) enum Item {
    Array(ArrayId),
    Expr(ExprId),
    Size(SizeId),
}

/// The progress of a definition.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    /// Those that it refers to are on the way.
    Open,
    Done,
}

impl Program {
    /// All arrays and sizes, and the expressions in them, each after those that it refers to, and counts after their
    /// upper bounds. Needs no recursion, however deep the program.
    ///
    /// # Errors
    /// A definition that refers to itself.
    pub(in crate::graph) fn order(&self, bounds: &[(SizeId, SizeId)]) -> Result<Vec<Item>, Item> {
        let (arrays, exprs) = (self.arrays.len(), self.exprs.len());
        let index = |item: Item| match item {
            Item::Array(a) => a.index(),
            Item::Expr(e) => arrays + e.index(),
            Item::Size(s) => arrays + exprs + s.index(),
        };
        let mut bound_of = vec![None; self.sizes.len()];
        for (count, bound) in bounds {
            bound_of[count.index()] = Some(*bound);
        }
        let mut states = vec![State::New; arrays + exprs + self.sizes.len()];
        let mut out = Vec::with_capacity(states.len());
        let roots = (0..arrays as u32).map(|k| Item::Array(ArrayId(k)));
        let roots = roots.chain((0..self.sizes.len() as u32).map(|k| Item::Size(SizeId(k))));
        // The items on the way from the root, each with the number of its operands that are done: the memory is that of
        // the longest way, however many operands the items have.
        let mut path: Vec<(Item, u32)> = Vec::new();
        for root in roots {
            if states[index(root)] == State::New {
                states[index(root)] = State::Open;
                path.push((root, 0));
            }
            while let Some((item, next)) = path.last_mut() {
                let Some(operand) = self.operand(*item, *next as usize, &bound_of) else {
                    states[index(*item)] = State::Done;
                    out.push(*item);
                    path.pop();
                    continue;
                };
                *next += 1;
                match states[index(operand)] {
                    State::New => {
                        states[index(operand)] = State::Open;
                        path.push((operand, 0));
                    }
                    State::Open => return Err(*item),
                    State::Done => {}
                }
            }
        }
        Ok(out)
    }

    /// The definition that the item refers to in place `k`, in a time that does not depend on `k`.
    fn operand(&self, item: Item, k: usize, bound_of: &[Option<SizeId>]) -> Option<Item> {
        match item {
            Item::Array(array) => {
                let ArrayDef::Computed { extent, asserts, recipe, .. } = &self.arrays[array.index()] else {
                    return None;
                };
                let Some(k) = k.checked_sub(1) else { return Some(Item::Size(extent.size)) };
                let Some(k) = k.checked_sub(asserts.len()) else { return Some(Item::Array(asserts[k])) };
                // The only recipe with any number of references.
                if let Recipe::Append(p) = &**recipe {
                    let n = p.parts.len();
                    let count = p.parts.get(k).map(|(_, count)| Item::Size(count.size));
                    return count.or_else(|| p.parts.get(k.checked_sub(n)?).map(|(value, _)| Item::Expr(*value)));
                }
                let (mut out, mut left) = (None, k);
                recipe.visit(&mut |part| {
                    let item = match part {
                        Reference::Expr(e) => Item::Expr(*e),
                        Reference::Array(a) => Item::Array(*a),
                        Reference::Extent(x) => Item::Size(x.size),
                        Reference::Size(s) => Item::Size(*s),
                        Reference::Check(_) => return,
                    };
                    if left == 0 && out.is_none() {
                        out = Some(item);
                    }
                    left = left.wrapping_sub(1);
                });
                out
            }
            Item::Expr(expr) => {
                let ExprDef { kind, .. } = &self.exprs[expr.index()];
                let first = match kind {
                    ExprKind::Load(a, _) | ExprKind::RowOf(a, _) | ExprKind::Within(a, ..) => Some(Item::Array(*a)),
                    ExprKind::Size(s) => Some(Item::Size(*s)),
                    ExprKind::Call(_, arguments) => return arguments.get(k).map(|e| Item::Expr(*e)),
                    _ => None,
                };
                let k = match (first, k) {
                    (Some(_), 0) => return first,
                    (Some(_), k) => k - 1,
                    (None, k) => k,
                };
                kind.operands().nth(k).map(|e| Item::Expr(*e))
            }
            Item::Size(size) => {
                let operands = match self.sizes[size.index()] {
                    SizeDef::Const(_) | SizeDef::Input => [None, None],
                    SizeDef::Len(array) => [Some(Item::Array(array)), None],
                    SizeDef::Count { array, at } => [Some(Item::Array(array)), Some(Item::Size(at))],
                    SizeDef::Op(_, a, b) => [Some(Item::Size(a)), Some(Item::Size(b))],
                };
                let bound = bound_of[size.index()].map(Item::Size);
                operands.into_iter().chain([bound]).flatten().nth(k)
            }
        }
    }
}
