//! Results that are elements of arrays: copied to where they are stored, without a block of values in between.
//!
//! Slices, gathers, joins and paddings are such: a load, or a choice between two of these, or between one and a number.

use super::array::Stored;
use super::eval::{Block, Op};
use super::filling::Filling;
use super::lanes::{Lane, Lanes, Operand};

/// One side of a choice, whose values are taken in their order.
struct Source<'l, S> {
    values: Values<'l, S>,
    /// How many were taken.
    at: u32,
}

enum Values<'l, S> {
    One(S),
    /// Pieces of an array, by the number of values up to the end of each and by where each begins.
    Pieces {
        from: &'l [S],
        ends: &'l [u32],
        first: &'l [u32],
        piece: usize,
    },
    /// Elements of an array; out of range the last one.
    Elements {
        from: &'l [S],
        at: &'l [u32],
    },
}

impl<'l, S: Stored> Source<'l, S> {
    /// The elements of the array, which has some, at those positions: if these are single ones, or ramps that lie in it.
    fn of(from: &'l [S], at: &'l Lanes<'_>) -> Option<Self> {
        let (ends, first) = match at {
            Lanes::Ramps(ends, first) => (ends, first),
            Lanes::U32(at) => return Some(Self { values: Values::Elements { from, at }, at: 0 }),
            _ => return None,
        };
        let mut start = 0;
        let within = ends.iter().zip(first.iter()).all(|(&end, &first)| {
            let len = end - start;
            start = end;
            u64::from(first) + u64::from(len) <= from.len() as u64
        });
        within.then_some(Self { values: Values::Pieces { from, ends, first, piece: 0 }, at: 0 })
    }

    /// Stores the next `len` values.
    #[inline(always)]
    fn take(&mut self, mut len: u32, out: &mut Filling<&mut [S]>) {
        match &mut self.values {
            Values::Elements { from, at } => {
                let last = from.len() - 1;
                let (start, end) = (self.at as usize, (self.at + len) as usize);
                out.extend(at[start..end].iter().map(|&at| from[(at as usize).min(last)]));
                self.at += len;
            }
            Values::One(value) => out.repeat(*value, len as usize),
            Values::Pieces { from, ends, first, piece } => {
                while len > 0 {
                    while ends[*piece] <= self.at {
                        *piece += 1;
                    }
                    let start = piece.checked_sub(1).map_or(0, |before| ends[before]);
                    let now = (ends[*piece] - self.at).min(len);
                    out.copy(from, (first[*piece] + (self.at - start)) as usize, now as usize);
                    self.at += now;
                    len -= now;
                }
            }
        }
    }
}

impl<'a> Block<'a> {
    /// Fills `out` with the values of the operation at that place, if they are elements of arrays; returns false, and does
    /// nothing, if not.
    pub(super) fn copy<T: Lane, S: Stored>(&mut self, place: usize, out: &mut [S], store: &impl Fn(T) -> S) -> bool {
        let program = self.program();
        match &program.ops()[place] {
            Op::Load(array, _, at) if array.len() > 0 => {
                let at = self.eval(*at);
                let Some(mut source) = Source::of(array.slice(), &at) else { return false };
                source.take(out.len() as u32, &mut Filling::of(out));
                true
            }
            Op::Select([c, a, b], _) => {
                let is_source = |place: usize| match &program.ops()[place] {
                    Op::Load(array, ..) => array.len() > 0,
                    Op::Scalar(_) => true,
                    _ => false,
                };
                if !is_source(*a) || !is_source(*b) {
                    return false;
                }
                let Lanes::Runs(ends, flags) = self.eval(*c) else { return false };
                let flags = bool::operand(&flags);
                let [at_a, at_b] = Self::sides(&ends, flags);
                if at_a.len() == 0 || at_b.len() == 0 {
                    return false;
                }
                // The positions that each side is loaded at.
                let positions = |place: usize, chosen| match &program.ops()[place] {
                    Op::Load(_, _, at) => Some(self.part(*at, chosen)),
                    _ => None,
                };
                let (of_a, of_b) = (positions(*a, &at_a), positions(*b, &at_b));
                let sides = (self.source(*a, of_a.as_ref(), store), self.source(*b, of_b.as_ref(), store));
                let (Some(mut a), Some(mut b)) = sides else { return false };
                let (mut out, mut start) = (Filling::of(out), 0);
                for (k, &end) in ends.iter().enumerate() {
                    let side = if flags.get(k) { &mut a } else { &mut b };
                    side.take(end - start, &mut out);
                    start = end;
                }
                true
            }
            _ => false,
        }
    }

    /// One side of a choice.
    fn source<'l, T: Lane, S: Stored>(
        &self,
        place: usize,
        at: Option<&'l Lanes<'_>>,
        store: &impl Fn(T) -> S,
    ) -> Option<Source<'l, S>>
    where
        'a: 'l,
    {
        match &self.program().ops()[place] {
            Op::Load(array, ..) => Source::of(array.slice(), at?),
            Op::Scalar(s) => {
                let value = Lanes::One(*s);
                let Operand::One(value) = T::operand(&value) else { return None };
                Some(Source { values: Values::One(store(value)), at: 0 })
            }
            _ => None,
        }
    }
}
