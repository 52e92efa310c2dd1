//! Copies of array elements: results that are elements of arrays are written straight to the output, without an
//! intermediate block of values.
//!
//! Slices, gathers, concatenations and paddings are such results: a load, or nested `select`s among loads and scalars.
//! The sources are evaluated at all positions of a block, including positions that select another source. This costs a
//! few numbers per row; restricting each source to its positions would split these numbers and join them again.

use super::array::Stored;
use super::eval::{Block, Op};
use super::filling::Filling;
use super::lanes::{Lane, Lanes, word};
use super::pieces::{self, Fronts};
use super::sources::{Choice, Chosen, Pieces, Source};
use crate::graph::opcode::BinaryOp;
use crate::graph::scalar::Scalar;

/// Positions at which a condition holds.
enum Condition {
    /// All positions, or none.
    Everywhere(bool),
    /// The front of each run, or the rest of each run.
    InRuns(Fronts),
}

impl<'a> Block<'a> {
    /// Fills `out` with the block's values, as words of their size, if they are elements of arrays. Returns whether the intermediate state is a
    /// few numbers per run. Returns `None` and writes nothing if the values are not elements of arrays.
    pub(super) fn copy<S: Stored>(&mut self, out: &mut [S]) -> Option<bool> {
        let last = self.program().ops().len() - 1;
        match &self.program().ops()[last] {
            Op::Load(..) => {}
            Op::Select([_, a, b], _) if self.is_copied(*a) && self.is_copied(*b) => {}
            _ => return None,
        }
        match self.chosen(last)? {
            Chosen::One(source) => {
                source.copy(out.len() as u32, Filling::of(out));
                Some(source.is_in_runs())
            }
            Chosen::Either(fronts, sides) => {
                let choice = Choice::new(Chosen::Either(fronts, sides));
                choice.copy(Filling::of(out));
                Some(choice.is_in_runs())
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
    fn chosen<S: Stored>(&mut self, place: usize) -> Option<Chosen<'a, S>> {
        let program = self.program();
        match &program.ops()[place] {
            Op::Select([c, a, b], _) => self.either(*c, [*a, *b], &mut |block, side| block.chosen(side)),
            Op::Scalar(s) => Some(Chosen::One(Source::One(word(*s)))),
            Op::Load(array, _, at) if array.len() > 0 => self.elements(array.slice(), *at),
            _ => None,
        }
    }

    /// Sources of the elements of `from` at the positions at `place`: of each alternative, if the position is selected
    /// per run.
    fn elements<S: Stored>(&mut self, from: &'a [S], place: usize) -> Option<Chosen<'a, S>> {
        if let Op::Select([c, a, b], _) = self.program().ops()[place]
            && !self.program().has_conditions(place)
            && let Some(chosen) = self.either(c, [a, b], &mut |block, side| block.elements(from, side))
        {
            return Some(chosen);
        }
        match self.eval(place) {
            Lanes::Ramps(way, ends, firsts) => Some(Chosen::One(Source::Pieces(Pieces::new(from, way, ends, firsts)))),
            Lanes::U32(at) => Some(Chosen::One(Source::Elements { from, at })),
            _ => None,
        }
    }

    /// A selection per run between the sources that `of` gives for two alternatives.
    fn either<S>(
        &mut self,
        condition: usize,
        [yes, no]: [usize; 2],
        of: &mut dyn FnMut(&mut Self, usize) -> Option<Chosen<'a, S>>,
    ) -> Option<Chosen<'a, S>> {
        let fronts = match self.condition(condition)? {
            Condition::Everywhere(holds) => return of(self, if holds { yes } else { no }),
            Condition::InRuns(fronts) => fronts,
        };
        let [front, rest] = if fronts.hold { [yes, no] } else { [no, yes] };
        match fronts.lens.iter().map(|&len| len as usize).sum::<usize>() {
            0 => of(self, rest),
            all if Some(all) == fronts.ends.last().map(|&n| n as usize) => of(self, front),
            _ => {
                let sides = [of(self, front)?, of(self, rest)?];
                Some(Chosen::Either(fronts, Box::new(sides)))
            }
        }
    }

    /// Positions at which the condition at `place` holds, if they are known per run.
    fn condition(&mut self, place: usize) -> Option<Condition> {
        if let Some(fronts) = self.compared(place) {
            return Some(Condition::InRuns(fronts));
        }
        match self.eval(place) {
            Lanes::One(Scalar::Bool(yes)) => Some(Condition::Everywhere(yes)),
            Lanes::Runs(ends, flags) => Some(Condition::InRuns(Fronts::of_flags(ends, bool::operand(&flags)))),
            _ => None,
        }
    }

    /// Positions at which the condition at `place` holds, if it compares a ramp with one number per run. A first
    /// operand of `and` that holds everywhere is skipped.
    fn compared(&mut self, place: usize) -> Option<Fronts> {
        let Op::Binary(op, a, b) = self.program().ops()[place] else { return None };
        let first = self.eval(a);
        match (op, first) {
            (BinaryOp::And, Lanes::One(Scalar::Bool(true))) => self.compared(b),
            (_, first) => pieces::fronts(op, &first, &self.eval(b)),
        }
    }
}
