//! Copies of array elements: results that are elements of arrays are written straight to the output, without an
//! intermediate block of values.
//!
//! Slices, gathers, concatenations and paddings are such results: a load, or nested `select`s among loads and scalars.
//! The sources are evaluated at all positions of a block, including positions that select another source. This costs a
//! few numbers per row; restricting each source to its positions would split these numbers and join them again.

use super::array::Stored;
use super::compiled_expr::Op;
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
    /// Fills `out` with the block's values, as words of their size, if they are elements of arrays. Returns whether the
    /// intermediate state is a few numbers per run. Returns `None` and writes nothing if the values are not elements of
    /// arrays.
    pub(super) fn copy<S: Stored>(&mut self, out: &mut [S]) -> Option<bool> {
        let last = self.program().ops().len() - 1;
        match &self.program().ops()[last] {
            Op::Load(..) => {}
            Op::Select([_, a, b], _) if self.is_copied(*a) && self.is_copied(*b) => {}
            _ => return None,
        }
        match self.chosen(last)? {
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

    /// Whether the operation at `place` is a load, a scalar or a `select` among these, and may be evaluated at
    /// positions that do not use its result. Operations with checks may not: a check must hold only where its result is
    /// used.
    fn is_copied(&self, place: usize) -> bool {
        match &self.program().ops()[place] {
            Op::Scalar(_) => true,
            Op::Load(array, ..) => array.len() > 0 && !self.program().has_conditions(place),
            Op::Select([_, a, b], _) => {
                !self.program().has_conditions(place) && self.is_copied(*a) && self.is_copied(*b)
            }
            _ => false,
        }
    }

    /// Sources of the values of the operation at `place`, if it is a load, a scalar or a `select` among these by runs.
    fn chosen<S: Stored>(&mut self, place: usize) -> Option<CopyTree<'a, S>> {
        let program = self.program();
        match &program.ops()[place] {
            Op::Select([c, a, b], _) => self.either(*c, [*a, *b], &mut |block, side| block.chosen(side)),
            Op::Scalar(s) => Some(CopyTree::Leaf(CopySource::Constant(word(*s)))),
            Op::Load(array, _, at) if array.len() > 0 => self.elements(array.slice(), *at),
            _ => None,
        }
    }

    /// Sources of the elements of `from` at the positions at `place`: of each alternative, if the position is selected
    /// per run.
    fn elements<S: Stored>(&mut self, from: &'a [S], place: usize) -> Option<CopyTree<'a, S>> {
        if let Op::Select([c, a, b], _) = self.program().ops()[place]
            && !self.program().has_conditions(place)
            && let Some(chosen) = self.either(c, [a, b], &mut |block, side| block.elements(from, side))
        {
            return Some(chosen);
        }
        match self.eval(place) {
            Encoded::Sequences(direction, ends, firsts) => {
                Some(CopyTree::Leaf(CopySource::Runs(ElementRuns::new(from, direction, ends, firsts))))
            }
            Encoded::U32(at) => Some(CopyTree::Leaf(CopySource::Gather { from, at })),
            _ => None,
        }
    }

    /// A selection per run between the sources that `of` gives for two alternatives.
    fn either<S>(
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

    /// Positions at which the condition at `place` holds, if they are known per run.
    fn condition(&mut self, place: usize) -> Option<Condition> {
        if let Some(prefixes) = self.compared(place) {
            return Some(Condition::InRuns(prefixes));
        }
        match self.eval(place) {
            Encoded::Constant(Scalar::Bool(yes)) => Some(Condition::Everywhere(yes)),
            Encoded::Runs(ends, flags) => Some(Condition::InRuns(RunPrefixes::of_flags(ends, bool::operand(&flags)))),
            _ => None,
        }
    }

    /// Positions at which the condition at `place` holds, if it compares a sequence with one number per run. A first
    /// operand of `and` that holds everywhere is skipped.
    fn compared(&mut self, place: usize) -> Option<RunPrefixes> {
        let Op::Binary(op, a, b) = self.program().ops()[place] else { return None };
        let first = self.eval(a);
        match (op, first) {
            (BinaryOp::And, Encoded::Constant(Scalar::Bool(true))) => self.compared(b),
            (_, first) => run_arithmetic::prefixes(op, &first, &self.eval(b)),
        }
    }
}
