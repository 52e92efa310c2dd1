//! Direct copies: expressions whose values are array elements are copied to the output without an intermediate block.
//!
//! Slices, gathers, concatenations and paddings are such expressions: a load, or nested `select`s of loads and scalars.
//! The indices of every source are evaluated at all positions of a block, including positions that select another
//! source: a few numbers per row, where restricting each source to its own positions would split and merge them.

use super::array::ArrayElement;
use super::compiled_expr::{Op, OpId};
use super::copy_plan::{CopyPlan, CopyTree};
use super::copy_sources::{CopySource, ElementRuns};
use super::encoding::{Encoded, Value, word};
use super::eval::Block;
use super::output_writer::OutputWriter;
use super::run_arithmetic::{self, RunPrefixes};
use crate::graph::opcode::BinaryOp;
use crate::graph::scalar::Scalar;

/// Positions at which a condition holds.
enum Condition {
    /// All positions, or none.
    Everywhere(bool),
    /// The prefix of each run, or the rest of each run.
    InRuns(RunPrefixes),
}

impl<'a> Block<'a> {
    /// Fills `out` with the block's values, as words of their size. Returns whether all indices are run-length encoded.
    /// Returns `None` and writes nothing if the values are not copies of array elements.
    pub(super) fn copy<S: ArrayElement>(&mut self, out: &mut [S]) -> Option<bool> {
        let root = self.expr().root();
        match &self.expr().ops()[root] {
            Op::Load(..) => {}
            Op::Select([_, a, b], _) if self.is_copied(*a) && self.is_copied(*b) => {}
            _ => return None,
        }
        match self.copy_tree(root)? {
            CopyTree::Leaf(source) => {
                source.copy(out.len() as u32, OutputWriter::of(out));
                Some(source.is_in_runs())
            }
            CopyTree::Split(prefixes, sides) => {
                let plan = CopyPlan::new(CopyTree::Split(prefixes, sides));
                plan.copy(OutputWriter::of(out));
                Some(plan.is_in_runs())
            }
        }
    }

    /// Whether operation `id` is a load, a scalar or a `select` of these, without checks. (A check applies only to the
    /// positions that use its result.)
    fn is_copied(&self, id: OpId) -> bool {
        match &self.expr().ops()[id] {
            Op::Scalar(_) => true,
            Op::Load(array, ..) => array.len() > 0 && !self.expr().has_conditions(id),
            Op::Select([_, a, b], _) => !self.expr().has_conditions(id) && self.is_copied(*a) && self.is_copied(*b),
            _ => false,
        }
    }

    /// Sources of the values of operation `id`, if it is a load, a scalar or a `select` of these with a condition per
    /// run.
    fn copy_tree<S: ArrayElement>(&mut self, id: OpId) -> Option<CopyTree<'a, S>> {
        let expr = self.expr();
        match &expr.ops()[id] {
            Op::Select([c, a, b], _) => self.select_tree(*c, [*a, *b], &mut |block, side| block.copy_tree(side)),
            Op::Scalar(s) => Some(CopyTree::Leaf(CopySource::Constant(word(*s)))),
            Op::Load(array, _, at) if array.len() > 0 => self.element_tree(array.slice(), *at),
            _ => None,
        }
    }

    /// Sources of the elements of `from` at the indices that operation `id` computes. A `select` of indices per run
    /// gives a source per branch.
    fn element_tree<S: ArrayElement>(&mut self, from: &'a [S], id: OpId) -> Option<CopyTree<'a, S>> {
        if let Op::Select([c, a, b], _) = self.expr().ops()[id]
            && !self.expr().has_conditions(id)
            && let Some(chosen) = self.select_tree(c, [a, b], &mut |block, side| block.element_tree(from, side))
        {
            return Some(chosen);
        }
        match self.eval(id) {
            Encoded::Sequences(direction, ends, firsts) => {
                Some(CopyTree::Leaf(CopySource::Runs(ElementRuns::new(from, direction, ends, firsts))))
            }
            Encoded::U32(at) => Some(CopyTree::Leaf(CopySource::Gather { from, at })),
            _ => None,
        }
    }

    /// Selection per run between the sources that `of` gives for the two branches.
    fn select_tree<S>(
        &mut self,
        condition: usize,
        [yes, no]: [usize; 2],
        of: &mut dyn FnMut(&mut Self, usize) -> Option<CopyTree<'a, S>>,
    ) -> Option<CopyTree<'a, S>> {
        let prefixes = match self.condition(condition)? {
            Condition::Everywhere(holds) => return of(self, if holds { yes } else { no }),
            Condition::InRuns(prefixes) => prefixes,
        };
        let [prefix, rest] = if prefixes.hold { [yes, no] } else { [no, yes] };
        match prefixes.lens.iter().map(|&len| len as usize).sum::<usize>() {
            0 => of(self, rest),
            all if Some(all) == prefixes.ends.last().map(|&n| n as usize) => of(self, prefix),
            _ => {
                let sides = [of(self, prefix)?, of(self, rest)?];
                Some(CopyTree::Split(prefixes, Box::new(sides)))
            }
        }
    }

    /// Positions at which condition `id` holds, if they are known per run.
    fn condition(&mut self, id: OpId) -> Option<Condition> {
        if let Some(prefixes) = self.compared_prefixes(id) {
            return Some(Condition::InRuns(prefixes));
        }
        match self.eval(id) {
            Encoded::Constant(Scalar::Bool(yes)) => Some(Condition::Everywhere(yes)),
            Encoded::Runs(ends, flags) => Some(Condition::InRuns(RunPrefixes::of_flags(ends, bool::operand(&flags)))),
            _ => None,
        }
    }

    /// Positions at which condition `id` holds, if it compares a sequence with one number per run. A left operand of
    /// `and` that holds everywhere is skipped.
    fn compared_prefixes(&mut self, id: OpId) -> Option<RunPrefixes> {
        let Op::Binary(op, a, b) = self.expr().ops()[id] else { return None };
        let first = self.eval(a);
        match (op, first) {
            (BinaryOp::And, Encoded::Constant(Scalar::Bool(true))) => self.compared_prefixes(b),
            (_, first) => run_arithmetic::prefixes(op, &first, &self.eval(b)),
        }
    }
}
