//! Results that are elements of arrays: copied to where they are stored, without a block of values in between.
//!
//! Slices, gathers, joins and paddings are such: a load, or a choice between two of these, or between one and a number.
//! Where each comes from is worked out for all positions of a block, also for those that the other one is chosen for:
//! that is a few numbers a row, while keeping to the chosen positions would mean to cut these numbers apart and to join
//! them.

use super::array::Stored;
use super::eval::{Block, Op};
use super::filling::Filling;
use super::lanes::{Lane, Lanes};
use super::pieces::{self, Fronts};
use super::sources::{Choice, Pieces, Source};
use crate::graph::opcode::BinaryOp;
use crate::graph::scalar::Scalar;

/// What a block takes of a choice.
enum Taken<'a, S> {
    /// All from the operation at that place.
    Side(usize),
    Both(Choice<'a, S>),
}

impl<'a> Block<'a> {
    /// Fills `out` with the block's values, if they are elements of arrays, and returns whether all that was worked out
    /// is a few numbers a run; does nothing if they are not.
    pub(super) fn copy<T: Lane, S: Stored>(&mut self, out: &mut [S], store: &impl Fn(T) -> S) -> Option<bool> {
        let program = self.program();
        let last = program.ops().len() - 1;
        let place = match &program.ops()[last] {
            Op::Load(..) => last,
            Op::Select([c, a, b], _) => match self.choose(*c, *a, *b, store)? {
                Taken::Side(place) => place,
                Taken::Both(choice) => {
                    choice.copy(Filling::of(out));
                    return Some(choice.is_in_runs());
                }
            },
            _ => return None,
        };
        let source = self.source(place, store)?;
        source.copy(out.len() as u32, Filling::of(out));
        Some(source.is_in_runs())
    }

    /// Where the values of the operation at that place come from, if that is a load or a number.
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

    /// What is chosen by the condition at `c` of the operations at `a` and `b`, if these are loads and numbers.
    fn choose<T: Lane, S: Stored>(
        &mut self,
        c: usize,
        a: usize,
        b: usize,
        store: &impl Fn(T) -> S,
    ) -> Option<Taken<'a, S>> {
        let program = self.program();
        let is_copied = |place: usize| match &program.ops()[place] {
            Op::Scalar(_) => true,
            // A condition holds where it is asked for; elsewhere it need not.
            Op::Load(array, ..) => array.len() > 0 && !program.has_conditions(place),
            _ => false,
        };
        if !is_copied(a) || !is_copied(b) {
            return None;
        }
        let fronts = match self.compared(c) {
            Some(fronts) => fronts,
            None => match self.eval(c) {
                Lanes::One(Scalar::Bool(yes)) => return Some(Taken::Side(if yes { a } else { b })),
                Lanes::Runs(ends, flags) => Fronts::of_flags(ends, bool::operand(&flags)),
                _ => return None,
            },
        };
        let [front, rest] = if fronts.hold { [a, b] } else { [b, a] };
        match fronts.lens.iter().map(|&len| len as usize).sum::<usize>() {
            0 => Some(Taken::Side(rest)),
            all if Some(all) == fronts.ends.last().map(|&n| n as usize) => Some(Taken::Side(front)),
            _ => {
                let sides = [self.source(front, store)?, self.source(rest, store)?];
                Some(Taken::Both(Choice::new(fronts, sides)))
            }
        }
    }

    /// Where the condition at that place holds, if it compares a ramp with a number a run; also behind another one that
    /// holds everywhere.
    fn compared(&mut self, place: usize) -> Option<Fronts> {
        let Op::Binary(op, a, b) = self.program().ops()[place] else { return None };
        let first = self.eval(a);
        match (op, first) {
            (BinaryOp::And, Lanes::One(Scalar::Bool(true))) => self.compared(b),
            (_, first) => pieces::fronts(op, &first, &self.eval(b)),
        }
    }
}
