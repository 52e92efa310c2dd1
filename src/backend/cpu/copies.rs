//! Results that are elements of arrays: copied to where they are stored, without a block of values in between.
//!
//! Slices, gathers, joins and paddings are such: a load, or a choice between two of these, or between one and a number.
//! Where each comes from is worked out for all positions of a block, also for those that the other one is chosen for:
//! that is a few numbers a row, while keeping to the chosen positions would mean to cut these numbers apart and to join
//! them.

use super::array::Stored;
use super::eval::{Block, Op};
use super::filling::Filling;
use super::lanes::{Ends, Lane, Lanes, Many};
use super::pieces::{self, Fronts};
use super::simd;
use crate::graph::scalar::Scalar;

/// Scattered pieces are asked for so many runs before they are copied: the processor, which sees by itself what is read
/// in order, would wait for each.
const AHEAD: usize = 8;

/// Bytes of a line of the cache.
const LINE: usize = 64;

/// Where values of a block come from.
enum Source<'a, S> {
    /// The same value at every position.
    One(S),
    /// Elements of an array that follow each other: the first of each run; and whether the pieces lie here and there.
    Pieces { from: &'a [S], firsts: Many<'a, u32>, scattered: bool, runs: Runs },
    /// Elements of an array, a position each.
    Elements { from: &'a [S], at: Many<'a, u32> },
}

/// In each run so many positions from the one source, the others from the other.
struct Choice<'a, S> {
    fronts: Vec<u32>,
    runs: Runs,
    sides: [Source<'a, S>; 2],
}

/// Runs of positions, and where the last visit ended.
struct Runs {
    ends: Ends,
    run: usize,
    start: u32,
}

impl Runs {
    fn new(ends: Ends) -> Self {
        Self { ends, run: 0, start: 0 }
    }

    /// Calls `f` for each run that has positions from `at` to `to`: with the run, its start, and those positions. From
    /// visit to visit they only grow.
    #[inline(always)]
    fn visit(&mut self, mut at: u32, to: u32, mut f: impl FnMut(usize, u32, u32, u32)) {
        let ends = &self.ends[..];
        let (mut run, mut start) = (self.run, self.start);
        while at < to {
            while ends[run] <= at {
                start = ends[run];
                run += 1;
            }
            let end = ends[run].min(to);
            f(run, start, at, end);
            at = end;
        }
        (self.run, self.start) = (run, start);
    }
}

impl<S: Stored> Source<'_, S> {
    /// Stores the values of the positions from `at` to `to`, which only grow from call to call.
    #[inline(always)]
    fn take(&mut self, at: u32, to: u32, out: &mut Filling<&mut [S]>) {
        match self {
            Self::One(value) => out.repeat(*value, (to - at) as usize),
            Self::Pieces { from, firsts, scattered, runs } => {
                let firsts = &firsts[..];
                runs.visit(at, to, |run, start, at, end| {
                    if *scattered && let Some(&first) = firsts.get(run + AHEAD) {
                        // Short pieces begin in one line of the cache and end in the next.
                        simd::prefetch(from, first as usize);
                        simd::prefetch(from, first as usize + LINE / size_of::<S>());
                    }
                    copy(from, firsts[run].wrapping_add(at - start), end - at, out);
                });
            }
            Self::Elements { from, at: elements } => {
                let last = from.len() - 1;
                out.extend(elements[at as usize..to as usize].iter().map(|&at| from[(at as usize).min(last)]));
            }
        }
    }

    /// Whether all that is kept of it is a few numbers a run.
    fn is_in_runs(&self) -> bool {
        !matches!(self, Self::Elements { .. })
    }
}

impl<S: Stored> Choice<'_, S> {
    /// Stores all values.
    fn take(self, len: u32, out: &mut Filling<&mut [S]>) {
        let Self { fronts, mut runs, sides: [mut front, mut rest] } = self;
        runs.visit(0, len, |run, start, at, end| {
            let cut = (start + fronts[run]).min(end);
            if at < cut {
                front.take(at, cut, out);
            }
            if cut < end {
                rest.take(cut, end, out);
            }
        });
    }
}

/// Adds `len` elements; those out of range are the last one.
#[inline(always)]
fn copy<S: Stored>(from: &[S], first: u32, len: u32, out: &mut Filling<&mut [S]>) {
    if first as usize + len as usize <= from.len() {
        out.copy(from, first as usize, len as usize);
    } else {
        let last = from.len() - 1;
        out.extend((0..len as usize).map(|k| from[(first.wrapping_add(k as u32) as usize).min(last)]));
    }
}

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
        let (len, mut out) = (out.len() as u32, Filling::of(out));
        let place = match &program.ops()[last] {
            Op::Load(..) => last,
            Op::Select([c, a, b], _) => match self.choose(*c, *a, *b, store)? {
                Taken::Both(choice) => {
                    let [front, rest] = &choice.sides;
                    let in_runs = front.is_in_runs() && rest.is_in_runs();
                    choice.take(len, &mut out);
                    return Some(in_runs);
                }
                Taken::Side(place) => place,
            },
            _ => return None,
        };
        let mut source = self.source(place, store)?;
        source.take(0, len, &mut out);
        Some(source.is_in_runs())
    }

    /// Where the values of the operation at that place come from, if that is a load or a number.
    fn source<T: Lane, S: Stored>(&mut self, place: usize, store: &impl Fn(T) -> S) -> Option<Source<'a, S>> {
        let program = self.program();
        match &program.ops()[place] {
            Op::Scalar(s) => Some(Source::One(store(T::operand(&Lanes::One(*s)).get(0)))),
            Op::Load(array, _, at) if array.len() > 0 => {
                let from = array.slice();
                match self.eval(*at) {
                    Lanes::Ramps(ends, firsts) => {
                        let scattered = !firsts.is_sorted();
                        Some(Source::Pieces { from, firsts, scattered, runs: Runs::new(ends) })
                    }
                    Lanes::U32(at) => Some(Source::Elements { from, at }),
                    _ => None,
                }
            }
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
        let Fronts { ends, lens: fronts, hold } = match self.compared(c) {
            Some(fronts) => fronts,
            None => match self.eval(c) {
                Lanes::One(Scalar::Bool(yes)) => return Some(Taken::Side(if yes { a } else { b })),
                Lanes::Runs(ends, flags) => Fronts::of_flags(ends, bool::operand(&flags)),
                _ => return None,
            },
        };
        let [front, rest] = if hold { [a, b] } else { [b, a] };
        match fronts.iter().map(|&len| len as usize).sum::<usize>() {
            0 => Some(Taken::Side(rest)),
            all if Some(all) == ends.last().map(|&n| n as usize) => Some(Taken::Side(front)),
            _ => {
                let sides = [self.source(front, store)?, self.source(rest, store)?];
                Some(Taken::Both(Choice { fronts, runs: Runs::new(ends), sides }))
            }
        }
    }

    /// Where the condition at that place holds, if it compares a ramp with a number a run.
    fn compared(&mut self, place: usize) -> Option<Fronts> {
        let Op::Binary(op, a, b) = self.program().ops()[place] else { return None };
        let (a, b) = (self.eval(a), self.eval(b));
        pieces::fronts(op, &a, &b)
    }
}
