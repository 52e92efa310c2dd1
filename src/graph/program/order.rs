//! The order in which the definitions of a program can be made: each after those that it refers to.

use super::{ArrayDef, ArrayId, ExprDef, ExprId, Program, SizeDef, SizeId};
use crate::graph::expr::ExprKind;
use crate::graph::refs::Reference;

/// A definition of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
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
    pub(super) fn order(&self, bounds: &[(SizeId, SizeId)]) -> Result<Vec<Item>, Item> {
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
        let mut stack = Vec::new();
        for root in roots {
            stack.push(root);
            while let Some(&item) = stack.last() {
                match states[index(item)] {
                    State::New => {
                        states[index(item)] = State::Open;
                        let first = stack.len();
                        self.for_each_operand(item, &bound_of, &mut |operand| stack.push(operand));
                        if stack[first..].iter().any(|&operand| states[index(operand)] == State::Open) {
                            return Err(item);
                        }
                        stack[first..].reverse();
                    }
                    State::Open => {
                        states[index(item)] = State::Done;
                        out.push(item);
                        stack.pop();
                    }
                    // Reached on two ways.
                    State::Done => {
                        stack.pop();
                    }
                }
            }
        }
        Ok(out)
    }

    /// Calls `f` with every definition that the item refers to.
    fn for_each_operand(&self, item: Item, bound_of: &[Option<SizeId>], f: &mut dyn FnMut(Item)) {
        match item {
            Item::Array(array) => {
                let ArrayDef::Computed { extent, asserts, recipe, .. } = &self.arrays[array.index()] else { return };
                f(Item::Size(extent.size));
                asserts.iter().for_each(|a| f(Item::Array(*a)));
                recipe.visit(&mut |part| match part {
                    Reference::Expr(e) => f(Item::Expr(*e)),
                    Reference::Array(a) => f(Item::Array(*a)),
                    Reference::Extent(x) => f(Item::Size(x.size)),
                    Reference::Size(s) => f(Item::Size(*s)),
                    Reference::Check(_) => {}
                });
            }
            Item::Expr(expr) => {
                let ExprDef { kind, .. } = &self.exprs[expr.index()];
                match kind {
                    ExprKind::Load(a, _) | ExprKind::RowOf(a, _) | ExprKind::Within(a, ..) => f(Item::Array(*a)),
                    ExprKind::Size(s) => f(Item::Size(*s)),
                    _ => {}
                }
                kind.operands().for_each(|e| f(Item::Expr(*e)));
            }
            Item::Size(size) => {
                match &self.sizes[size.index()] {
                    SizeDef::Const(_) | SizeDef::Input => {}
                    SizeDef::Len(array) => f(Item::Array(*array)),
                    SizeDef::Count { array, at } => {
                        f(Item::Array(*array));
                        f(Item::Size(*at));
                    }
                    SizeDef::Op(_, a, b) => {
                        f(Item::Size(*a));
                        f(Item::Size(*b));
                    }
                }
                bound_of[size.index()].into_iter().for_each(|bound| f(Item::Size(bound)));
            }
        }
    }
}
