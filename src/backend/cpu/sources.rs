//! Where values that are copied come from, and the loops that copy them, run by run.
//!
//! Rows are short and their lengths vary: a loop as long as a row is guessed wrong by the processor once a row, which
//! takes as long as copying 16 numbers. So short pieces are copied in a number of steps that does not depend on their
//! lengths, past their ends; what follows is written there next. And pieces that lie here and there are asked for long
//! before they are copied.

use std::ops::Range;
use std::rc::Rc;

use super::array::Stored;
use super::filling::{Filling, STEP, few};
use super::lanes::{Ends, Many, Way};
use super::pieces::{self, Fronts};
use super::sides;
use super::simd::{self, LINE, Loop};

/// Scattered pieces are asked for so many runs before they are copied, and single elements, and what is read backwards,
/// so many lines before: the processor, which sees by itself what is read in order, would wait for each.
const AHEAD: usize = 32;

/// Pieces are scattered if more than so many times their elements lie between the first and the last one.
const FAR: u32 = 2;

/// Or if more than one in so many begins further from the one before than this: a row that is repeated is still at hand.
const SOME: u32 = 8;
const NEARBY: u32 = 4096;

/// Where values of a block come from.
pub(super) enum Source<'a, S> {
    /// The same value at every position.
    One(S),
    /// Elements of an array that follow each other, forwards or backwards.
    Pieces(Pieces<'a, S>),
    /// Elements of an array, a position each.
    Elements { from: &'a [S], at: Many<'a, u32> },
}

/// Runs of elements of an array, which follow each other from the first of each run on, forwards or backwards.
pub(super) struct Pieces<'a, S> {
    from: &'a [S],
    ends: Ends,
    firsts: Many<'a, u32>,
    way: Way,
    /// Whether they lie here and there.
    scattered: bool,
}

/// What is chosen of several sources.
pub(super) enum Chosen<'a, S> {
    One(Source<'a, S>),
    /// In each run the first ones in the front, and the others behind it.
    Either(Fronts, Box<[Self; 2]>),
}

/// In each run some positions from each of several sources, one source after the other.
pub(super) struct Choice<'a, S> {
    ends: Ends,
    /// For each source but the last, and for each run, how many positions come before the next source's.
    cuts: Vec<Rc<Vec<u32>>>,
    /// Pieces are of these runs.
    sides: Vec<Source<'a, S>>,
}

/// How many pieces begin far from the one before.
struct Leaps<'l>(&'l [u32]);

impl Loop for Leaps<'_> {
    type Output = u32;
    #[inline(always)]
    fn run(self) -> u32 {
        let Self(firsts) = self;
        let pairs = firsts.iter().zip(firsts.get(1..).unwrap_or_default());
        pairs.fold(0, |leaps, (a, b)| leaps + u32::from(b.wrapping_sub(a.wrapping_sub(NEARBY)) > 2 * NEARBY))
    }
}

/// What stores values of a run.
trait Takes<S> {
    /// Stores the values of a run's positions from `at` to `to`, of which `skipped` of the run come before.
    fn take(&self, run: usize, skipped: u32, at: u32, to: u32, out: &mut Filling<&mut [S]>);
}

impl<S: Stored> Takes<S> for Source<'_, S> {
    #[inline(always)]
    fn take(&self, run: usize, skipped: u32, at: u32, to: u32, out: &mut Filling<&mut [S]>) {
        match self {
            Self::One(value) => Same(*value).take(run, skipped, at, to, out),
            Self::Pieces(pieces) if pieces.way == Way::Up => Upwards::<_, 4>(pieces).take(run, skipped, at, to, out),
            Self::Pieces(pieces) => pieces.take_back(run, skipped, to - at, few::<S>(), out),
            Self::Elements { from, at: elements } => take_elements(from, elements, at as usize..to as usize, out),
        }
    }
}

/// The same value at every position.
struct Same<S>(S);

impl<S: Stored> Takes<S> for Same<S> {
    #[inline(always)]
    fn take(&self, _: usize, _: u32, at: u32, to: u32, out: &mut Filling<&mut [S]>) {
        out.repeat(self.0, (to - at) as usize);
    }
}

/// Pieces that are read forwards, of which so many steps are written in one go.
struct Upwards<'l, 'a, S, const STEPS: usize>(&'l Pieces<'a, S>);

impl<S: Stored, const STEPS: usize> Takes<S> for Upwards<'_, '_, S, STEPS> {
    #[inline(always)]
    fn take(&self, run: usize, skipped: u32, at: u32, to: u32, out: &mut Filling<&mut [S]>) {
        self.0.take::<false>(run, skipped, to - at, few::<S>().min(STEPS * STEP), out);
    }
}

impl<S: Stored> Source<'_, S> {
    /// Stores all its values, `len` of them.
    pub(super) fn copy(&self, len: u32, mut out: Filling<&mut [S]>) {
        match self {
            Self::Pieces(pieces) => pieces.copy(out),
            other => other.take(0, 0, 0, len, &mut out),
        }
    }

    /// Whether all that is kept of it is a few numbers a run.
    pub(super) fn is_in_runs(&self) -> bool {
        !matches!(self, Self::Elements { .. })
    }
}

/// Stores the elements at those places of a list; beyond the last one that one. Not within loops that mostly have
/// pieces, which take longer for the instructions between theirs.
#[inline(never)]
fn take_elements<S: Stored>(from: &[S], list: &[u32], places: Range<usize>, out: &mut Filling<&mut [S]>) {
    let (last, line) = (from.len() - 1, LINE / size_of::<S>());
    // One element stands for a line of them: they may follow each other, forwards or backwards.
    for start in places.clone().step_by(line) {
        if let Some(&next) = list.get(start + AHEAD * line) {
            simd::prefetch(from, next as usize);
        }
        let some = &list[start..places.end.min(start + line)];
        out.extend(some.iter().map(|&at| from[(at as usize).min(last)]));
    }
}

impl<'a, S: Stored> Pieces<'a, S> {
    /// Runs that end at `ends`, each from its first element on that way.
    pub(super) fn new(from: &'a [S], way: Way, ends: Ends, firsts: Many<'a, u32>) -> Self {
        let span = firsts[firsts.len() - 1].saturating_sub(firsts[0]);
        let scattered = span / FAR > ends[ends.len() - 1] || simd::run(Leaps(&firsts)) > firsts.len() as u32 / SOME;
        Self { from, ends, firsts, way, scattered }
    }

    /// The element so many positions after the run's first one.
    #[inline(always)]
    fn place(&self, run: usize, skipped: u32) -> u32 {
        self.way.after(self.firsts[run], skipped)
    }

    /// Stores all values.
    fn copy(&self, out: Filling<&mut [S]>) {
        debug_assert_eq!(self.ends.last().map(|&n| n as usize), Some(out.room()), "a block of another length");
        // No more of a piece need be written in one go than the longest one has.
        match (pieces::longest(&self.ends) as usize).div_ceil(STEP) {
            0 | 1 => self.copy_in_goes_of::<1>(out),
            2 => self.copy_in_goes_of::<2>(out),
            _ => self.copy_in_goes_of::<4>(out),
        }
    }

    fn copy_in_goes_of<const STEPS: usize>(&self, out: Filling<&mut [S]>) {
        match self.way {
            Way::Up => simd::run(PiecesLoop::<S, STEPS, false> { pieces: self, out }),
            Way::Down => simd::run(PiecesLoop::<S, STEPS, true> { pieces: self, out }),
        }
    }

    /// Stores the values of `len` of a run's positions, of which `skipped` come before, in one go if there are at most
    /// `few`. Those out of range are the last element.
    #[inline(always)]
    fn take<const DOWN: bool>(&self, run: usize, skipped: u32, len: u32, few: usize, out: &mut Filling<&mut [S]>) {
        // Known to the compiler.
        let way = if DOWN { Way::Down } else { Way::Up };
        debug_assert_eq!(self.way, way, "pieces of another way");
        let (first, elements) = (way.after(self.firsts[run], skipped) as usize, self.from.len());
        let is_there =
            if DOWN { first < elements && len as usize <= first + 1 } else { first + len as usize <= elements };
        if !is_there {
            out.extend((skipped..skipped + len).map(|k| self.from[(self.place(run, k) as usize).min(elements - 1)]));
            return;
        }
        if self.scattered {
            self.ask_for_run(way, run + AHEAD, few);
        }
        if DOWN {
            self.ask_beyond(first, len as usize, few);
            out.copy_back(self.from, first, len as usize, few);
        } else {
            out.copy(self.from, first, len as usize, few);
        }
    }

    /// As [`Pieces::take`], of pieces backwards: not within loops that mostly have others either.
    #[inline(never)]
    fn take_back(&self, run: usize, skipped: u32, len: u32, few: usize, out: &mut Filling<&mut [S]>) {
        self.take::<true>(run, skipped, len, few, out);
    }

    /// Asks for the first elements of a later run: of long ones the processor sees by itself what follows.
    #[inline(always)]
    fn ask_for_run(&self, way: Way, run: usize, few: usize) {
        let Some(&first) = self.firsts.get(run) else { return };
        let line = LINE / size_of::<S>();
        for k in 0..=few.div_ceil(line) {
            simd::prefetch(self.from, way.after(first, (k * line).min(few - 1) as u32) as usize);
        }
    }

    /// Asks for what later rows have, behind a run that is read backwards: a processor that sees lines asked for in
    /// descending order does not look there, and takes some lines to see an order at all. As many lines as the run has, or
    /// as `few` elements have: then their number need not be guessed.
    #[inline(always)]
    fn ask_beyond(&self, first: usize, len: usize, few: usize) {
        let line = LINE / size_of::<S>();
        let ask = |k: usize| simd::prefetch(self.from, (first + AHEAD * line).wrapping_sub(k * line));
        if len <= few {
            (0..few.div_ceil(line)).for_each(ask);
        } else if len <= AHEAD * line {
            (0..=len / line).for_each(ask);
        }
    }

    /// Over runs that its own consist of.
    fn cut(self, ends: &Ends) -> Self {
        if self.ends == *ends {
            return self;
        }
        let firsts = sides::parts(&self.ends, ends).map(|(run, skipped)| self.place(run, skipped));
        Self { firsts: firsts.collect::<Vec<_>>().into(), ends: ends.clone(), ..self }
    }
}

impl<S> Chosen<'_, S> {
    /// The runs in which each source is one piece and each front one number.
    fn common_ends(&self, known: Option<Ends>) -> Option<Ends> {
        let with = |known: Option<Ends>, ends: &Ends| match known {
            Some(known) => Some(sides::common_ends(&known, ends)),
            None => Some(ends.clone()),
        };
        match self {
            Self::One(Source::Pieces(pieces)) => with(known, &pieces.ends),
            Self::One(_) => known,
            Self::Either(fronts, sides) => {
                sides.iter().fold(with(known, &fronts.ends), |known, side| side.common_ends(known))
            }
        }
    }
}

/// Numbers that are not below the first and not above the second ones.
struct Clamp<'l>(&'l mut [u32], Option<&'l [u32]>, Option<&'l [u32]>);

impl Loop for Clamp<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self(numbers, low, high) = self;
        for (number, &low) in numbers.iter_mut().zip(low.unwrap_or_default()) {
            *number = low.max(*number);
        }
        for (number, &high) in numbers.iter_mut().zip(high.unwrap_or_default()) {
            *number = high.min(*number);
        }
    }
}

impl<'a, S: Stored> Choice<'a, S> {
    /// What is chosen of more than one source.
    pub(super) fn new(chosen: Chosen<'a, S>) -> Self {
        let ends = chosen.common_ends(None).expect("bug: a choice without runs");
        let mut out = Self { ends, cuts: Vec::new(), sides: Vec::new() };
        out.add(chosen, [None, None]);
        out
    }

    /// Adds sources for the positions of each run from the first of these cuts up to the second one.
    fn add(&mut self, chosen: Chosen<'a, S>, [from, to]: [Option<&[u32]>; 2]) {
        match chosen {
            Chosen::One(source) => {
                self.sides.push(match source {
                    Source::Pieces(pieces) => Source::Pieces(pieces.cut(&self.ends)),
                    same => same,
                });
            }
            Chosen::Either(Fronts { ends, mut lens, .. }, sides) => {
                if ends != self.ends {
                    let parts = sides::parts(&ends, &self.ends);
                    lens = parts.map(|(run, skipped)| lens[run].saturating_sub(skipped)).collect();
                }
                simd::run(Clamp(&mut lens, from, to));
                let ([front, rest], cut) = (*sides, Rc::new(lens));
                self.add(front, [from, Some(&cut)]);
                self.cuts.push(cut.clone());
                self.add(rest, [Some(&cut), to]);
            }
        }
    }

    /// Stores all values.
    pub(super) fn copy(&self, out: Filling<&mut [S]>) {
        debug_assert_eq!(self.ends.last().map(|&n| n as usize), Some(out.room()), "a block of another length");
        let Self { ends, cuts, sides } = self;
        // Joins and paddings: what a side is need not be asked at each run.
        match (&cuts[..], &sides[..]) {
            ([fronts], [Source::Pieces(front), Source::Pieces(rest)]) if [front.way, rest.way] == [Way::Up; 2] => {
                // Pieces of a step on average are seldom longer than two.
                if ends.last().is_some_and(|&n| n as usize <= 2 * ends.len() * STEP) {
                    let (front, rest) = (&Upwards::<_, 2>(front), &Upwards::<_, 2>(rest));
                    simd::run(ChoiceLoop { ends, fronts, front, rest, out });
                } else {
                    let (front, rest) = (&Upwards::<_, 4>(front), &Upwards::<_, 4>(rest));
                    simd::run(ChoiceLoop { ends, fronts, front, rest, out });
                }
            }
            ([fronts], [Source::Pieces(front), Source::One(rest)]) if front.way == Way::Up => {
                simd::run(ChoiceLoop { ends, fronts, front: &Upwards::<_, 4>(front), rest: &Same(*rest), out });
            }
            ([fronts], [front, rest]) => simd::run(ChoiceLoop { ends, fronts, front, rest, out }),
            _ => simd::run(ChoicesLoop { ends, cuts, sides, out }),
        }
    }

    /// Whether all that is kept of it is a few numbers a run.
    pub(super) fn is_in_runs(&self) -> bool {
        self.sides.iter().all(Source::is_in_runs)
    }
}

/// A source's values of all runs, of which so many steps are written in one go, or as many as are worth it. They are read
/// backwards or not.
struct PiecesLoop<'l, 'o, S, const STEPS: usize, const DOWN: bool> {
    pieces: &'l Pieces<'l, S>,
    out: Filling<&'o mut [S]>,
}

impl<S: Stored, const STEPS: usize, const DOWN: bool> Loop for PiecesLoop<'_, '_, S, STEPS, DOWN> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { pieces, mut out } = self;
        let few = few::<S>().min(STEPS * STEP);
        let mut start = 0;
        for (run, &end) in pieces.ends.iter().enumerate() {
            pieces.take::<DOWN>(run, 0, end - start, few, &mut out);
            start = end;
        }
    }
}

/// What is chosen of all runs.
struct ChoiceLoop<'l, 'o, S, A, B> {
    ends: &'l [u32],
    fronts: &'l [u32],
    front: &'l A,
    rest: &'l B,
    out: Filling<&'o mut [S]>,
}

impl<S: Stored, A: Takes<S>, B: Takes<S>> Loop for ChoiceLoop<'_, '_, S, A, B> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { ends, fronts, front, rest, mut out } = self;
        let mut start = 0;
        for (run, (&end, &len)) in ends.iter().zip(fronts).enumerate() {
            let len = len.min(end - start);
            front.take(run, 0, start, start + len, &mut out);
            rest.take(run, len, start + len, end, &mut out);
            start = end;
        }
    }
}

/// What is chosen of all runs, of any number of sources.
struct ChoicesLoop<'l, 'a, 'o, S> {
    ends: &'l [u32],
    cuts: &'l [Rc<Vec<u32>>],
    sides: &'l [Source<'a, S>],
    out: Filling<&'o mut [S]>,
}

impl<S: Stored> Loop for ChoicesLoop<'_, '_, '_, S> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { ends, cuts, sides, mut out } = self;
        let Some((last, sides)) = sides.split_last() else { return };
        let mut start = 0;
        for (run, &end) in ends.iter().enumerate() {
            let mut at = start;
            for (side, cuts) in sides.iter().zip(cuts) {
                let to = end.min(start + cuts[run]);
                if to > at {
                    side.take(run, at - start, at, to, &mut out);
                    at = to;
                }
            }
            if end > at {
                last.take(run, at - start, at, end, &mut out);
            }
            start = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pieces::tests::Numbers;
    use super::*;

    /// A source of any kind, and its value at each of `n` positions.
    fn source<'a>(numbers: &mut Numbers, n: u32, from: &'a [u16]) -> (Source<'a, u16>, Vec<u16>) {
        let near = |numbers: &mut Numbers| match numbers.below(8) {
            0 => u32::MAX - numbers.below(50),
            1 => from.len() as u32 - numbers.below(50),
            _ => numbers.below(from.len() as u32),
        };
        let value = |at: u32| from[(at as usize).min(from.len() - 1)];
        match numbers.below(4) {
            0 => {
                let value = numbers.below(1000) as u16;
                (Source::One(value), vec![value; n as usize])
            }
            1 => {
                let at: Vec<u32> = (0..n).map(|_| near(numbers)).collect();
                let values = at.iter().map(|&at| value(at)).collect();
                (Source::Elements { from, at: at.into() }, values)
            }
            _ => {
                let ends = numbers.ends(n);
                let firsts: Vec<u32> = ends.iter().map(|_| near(numbers)).collect();
                let (mut values, mut start, way) = (Vec::new(), 0, [Way::Up, Way::Down][numbers.below(2) as usize]);
                for (&end, first) in ends.iter().zip(&firsts) {
                    values.extend((0..end - start).map(|k| value(way.after(*first, k))));
                    start = end;
                }
                let scattered = numbers.below(2) == 0;
                (Source::Pieces(Pieces { from, ends, firsts: firsts.into(), way, scattered }), values)
            }
        }
    }

    /// What is chosen in some way of some sources, and the value at each of `n` positions.
    fn chosen<'a>(numbers: &mut Numbers, n: u32, depth: u32, from: &'a [u16]) -> (Chosen<'a, u16>, Vec<u16>) {
        if depth == 0 {
            let (source, values) = source(numbers, n, from);
            return (Chosen::One(source), values);
        }
        let [a, b] = [(); 2].map(|()| numbers.below(depth));
        let ((a, in_a), (b, in_b)) = (chosen(numbers, n, a, from), chosen(numbers, n, b, from));
        let ends = match &a {
            Chosen::One(Source::Pieces(pieces)) if numbers.below(2) == 0 => pieces.ends.clone(),
            _ => numbers.ends(n),
        };
        let (mut lens, mut values, mut start) = (Vec::new(), Vec::new(), 0);
        for &end in ends.iter() {
            // Often all, or none.
            lens.push(numbers.below(2 * (end - start) + 2).saturating_sub((end - start) / 2).min(end - start));
            let cut = (start + lens[lens.len() - 1]) as usize;
            values.extend_from_slice(&in_a[start as usize..cut]);
            values.extend_from_slice(&in_b[cut..end as usize]);
            start = end;
        }
        (Chosen::Either(Fronts { ends, lens, hold: true }, Box::new([a, b])), values)
    }

    #[test]
    fn every_position_has_the_value_of_its_side() {
        let mut numbers = Numbers(5);
        let from: Vec<u16> = (0..400).map(|k| 1000 + k).collect();
        for turn in 0..6000 {
            let n = 1 + numbers.below(300);
            let mut out = vec![0; n as usize];
            match chosen(&mut numbers, n, turn % 4, &from) {
                (Chosen::One(source), expected) => {
                    source.copy(n, Filling::of(&mut out));
                    assert_eq!(out, expected);
                }
                (chosen, expected) => {
                    Choice::new(chosen).copy(Filling::of(&mut out));
                    assert_eq!(out, expected);
                }
            }
        }
    }
}
