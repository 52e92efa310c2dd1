//! Rows of elements, stored once for readers at computed positions.
//!
//! A map that repeats a number of each row, such as the gradient of a mean, needs the row of its element. A reader at
//! computed positions, such as a sum by key, would search for it at each. Where the elements have several numbers, the row
//! of each element takes less memory than all numbers: the planner adds the array of these rows, and the reader loads it.

use super::Planner;
use crate::graph::digest::{Digest, DigestMap, DigestSet};
use crate::graph::planned::{Arena, Expr, ExprKind, Node, Recipe};
use crate::graph::primitive::Map;
use crate::graph::step::cost::contains_search;
use crate::graph::walk::{for_each_expr, for_each_node};

/// The rows of the elements of maps, by the search for the own row and the extent of the map.
#[derive(Debug, Default)]
pub(super) struct RowNumbers(DigestMap<Node>);

impl RowNumbers {
    /// Adds those of all maps below the roots that have several numbers per element. They cost nothing where no reader
    /// loads them.
    pub(super) fn new(roots: &[Node], arena: &mut Arena) -> Self {
        let mut all = Self::default();
        let (mut visited, mut stack) = (DigestSet::default(), roots.to_vec());
        while let Some(node) = stack.pop() {
            let Some(recipe) = node.recipe().filter(|_| visited.insert(node.digest())) else { continue };
            recipe.exprs().into_iter().for_each(|e| for_each_node(e, &mut |n| stack.push(n.clone())));
            stack.extend(recipe.array().into_iter().chain(node.asserts()).cloned());
            if let Recipe::Map(Map { value, .. }) = &*recipe {
                all.add(&node, value, arena);
            }
        }
        all
    }

    fn add(&mut self, node: &Node, value: &Expr, arena: &mut Arena) {
        for_each_expr(value, &mut |search| {
            // Elements that take more memory than the number of their row.
            let is_wide = |width: u32| node.dtype().size() as u64 * u64::from(width) > 4;
            let Some((splits, width)) = search.own_row().filter(|(_, width)| is_wide(*width)) else { return };
            let rows = self.0.entry(key(search, node));
            rows.or_insert_with(|| {
                arena.map(node.op(), node.extent().part(width), Expr::row_of(splits, Expr::index()))
            });
        });
    }
}

fn key(search: &Expr, node: &Node) -> Digest {
    Digest::of("rows of elements", (search, node.extent()))
}

impl Planner<'_> {
    /// The expression `value` of the map with the rows of elements loaded instead of searched for; `None` if it has no such
    /// search, or another one.
    pub(super) fn with_row_numbers(&self, node: &Node, value: &Expr) -> Option<Expr> {
        fn go(e: &Expr, known: &dyn Fn(&Expr) -> Option<Node>, memo: &mut DigestMap<Expr>) -> Option<Expr> {
            if let Some(done) = memo.get(&e.digest()) {
                return Some(done.clone());
            }
            let out = match e.kind() {
                ExprKind::RowOf(_, element) => Expr::load(&known(e)?, element.clone()),
                _ => {
                    let operands = e.operands().map(|o| go(o, known, memo)).collect::<Option<Vec<Expr>>>()?;
                    e.with_operands(operands.into_iter())
                }
            };
            memo.insert(e.digest(), out.clone());
            Some(out)
        }
        let known = |search: &Expr| self.row_numbers.0.get(&key(search, node)).cloned();
        contains_search(value).then(|| go(value, &known, &mut DigestMap::default())).flatten()
    }
}
