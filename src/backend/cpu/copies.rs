//! Copies of array elements: results that are elements of arrays are written straight to the output, without an
//! intermediate block of values.
//!
//! Slices, gathers, concatenations and paddings are such results: a load, or nested `select`s among loads and scalars.
//! The sources are evaluated at all positions of a block, including positions that select another source. This costs a
//! few numbers per row; restricting each source to its positions would split these numbers and join them again.

use super::array::Stored;
use super::eval::{Block, Op};
use super::filling::Filling;
use super::lanes::{Lane, Lanes};
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
    /// Fills `out` with the block's values if they are elements of arrays. Returns whether the intermediate state is a
    /// few numbers per run. Returns `None` and writes nothing if the values are not elements of arrays.
    pub(super) fn copy<T: Lane, S: Stored>(&mut self, out: &mut [S], store: &impl Fn(T) -> S) -> Option<bool> {
        let last = self.program().ops().len() - 1;
        match &self.program().ops()[last] {
            Op::Load(..) => {}
            Op::Select([_, a, b], _) if self.is_copied(*a) && self.is_copied(*b) => {}
            _ => return None,
        }
        match self.chosen(last, store)? {
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
    fn chosen<T: Lane, S: Stored>(&mut self, place: usize, store: &impl Fn(T) -> S) -> Option<Chosen<'a, S>> {
        let Op::Select([c, a, b], _) = self.program().ops()[place] else {
            return self.source(place, store).map(Chosen::One);
        };
        let fronts = match self.condition(c)? {
            Condition::Everywhere(yes) => return self.chosen(if yes { a } else { b }, store),
            Condition::InRuns(fronts) => fronts,
        };
        let [front, rest] = if fronts.hold { [a, b] } else { [b, a] };
        match fronts.lens.iter().map(|&len| len as usize).sum::<usize>() {
            0 => self.chosen(rest, store),
            all if Some(all) == fronts.ends.last().map(|&n| n as usize) => self.chosen(front, store),
            _ => {
                let sides = [self.chosen(front, store)?, self.chosen(rest, store)?];
                Some(Chosen::Either(fronts, Box::new(sides)))
            }
        }
    }

    /// Source of the values of the operation at `place`, if it is a load or a scalar.
    fn source<T: Lane, S: Stored>(&mut self, place: usize, store: &impl Fn(T) -> S) -> Option<Source<'a, S>> {
        let program = self.program();
        match &program.ops()[place] {
            Op::Scalar(s) => Some(Source::One(store(T::operand(&Lanes::One(*s)).get(0)))),
            Op::Load(array, _, at) if array.len() > 0 => match self.eval(*at) {
                Lanes::Ramps(way, ends, firsts) => Some(Source::Pieces(Pieces::new(array.slice(), way, ends, firsts))),
                Lanes::U32(at) => Some(Source::Elements { from: array.slice(), at }),
                _ => None,
            },
            _ => None,
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
