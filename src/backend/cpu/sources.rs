//! Sources of copied values, and the loops that copy them run by run.
//!
//! Rows are short and vary in length: a loop of the row's length mispredicts its exit branch once per row, which costs
//! as much as copying 16 numbers. Short pieces are therefore copied in a constant number of steps, past their ends; the
//! next piece overwrites the excess. Scattered pieces are prefetched long before they are copied.

use std::ops::Range;
use std::rc::Rc;

use super::array::Stored;
use super::filling::{Filling, STEP, few};
use super::lanes::{Ends, Many, Way};
use super::pieces::{self, Fronts};
use super::sides;
use super::simd::{self, LINE, Loop};

/// Prefetch distance: in runs for scattered pieces, in cache lines for single elements and for pieces read backwards.
/// The processor prefetches by itself only what is read in order, and would wait for each of these.
const AHEAD: usize = 32;

/// Pieces are scattered if the span from the first to the last one exceeds this many times their elements.
const FAR: u32 = 2;

/// Pieces are also scattered if more than one in `SOME` begins more than [`NEARBY`] elements from the previous one. A
/// repeated row is still cached.
const SOME: u32 = 8;
const NEARBY: u32 = 4096;

/// A source of a block's values.
pub(super) enum Source<'a, S> {
    /// The same value at every position.
    One(S),
    /// Runs of consecutive elements of an array, forwards or backwards.
    Pieces(Pieces<'a, S>),
    /// Elements of an array, one index per position.
    Elements { from: &'a [S], at: Many<'a, u32> },
}

/// Runs of consecutive elements of an array, forwards or backwards from the first element of each run.
pub(super) struct Pieces<'a, S> {
    from: &'a [S],
    ends: Ends,
    firsts: Many<'a, u32>,
    way: Way,
    /// Whether the pieces are scattered and need prefetching.
    scattered: bool,
}

/// A source, or a selection between sources.
pub(super) enum Chosen<'a, S> {
    One(Source<'a, S>),
    /// The first alternative in the front of each run, the second one in the rest.
    Either(Fronts, Box<[Self; 2]>),
}

/// A flattened selection: each run takes positions from several sources, one source after the other.
pub(super) struct Choice<'a, S> {
    ends: Ends,
    /// For each source but the last, and for each run, the offset in the run at which the next source begins.
    cuts: Vec<Rc<Vec<u32>>>,
    /// The sources. Pieces have the runs of `ends`.
    sides: Vec<Source<'a, S>>,
}

/// Counts the pieces that begin far from the previous one.
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

/// A source that can store parts of runs.
trait Takes<S> {
    /// Stores the values at positions `at..to`, which begin `skipped` positions after the run's start.
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

/// Pieces read forwards. Pieces of up to `STEPS` steps are written in a constant number of steps.
struct Upwards<'l, 'a, S, const STEPS: usize>(&'l Pieces<'a, S>);

impl<S: Stored, const STEPS: usize> Takes<S> for Upwards<'_, '_, S, STEPS> {
    #[inline(always)]
    fn take(&self, run: usize, skipped: u32, at: u32, to: u32, out: &mut Filling<&mut [S]>) {
        self.0.take::<false>(run, skipped, to - at, few::<S>().min(STEPS * STEP), out);
    }
}

impl<S: Stored> Source<'_, S> {
    /// Stores all `len` values.
    pub(super) fn copy(&self, len: u32, mut out: Filling<&mut [S]>) {
        match self {
            Self::Pieces(pieces) => pieces.copy(out),
            other => other.take(0, 0, 0, len, &mut out),
        }
    }

    /// Whether the source is represented by a few numbers per run.
    pub(super) fn is_in_runs(&self) -> bool {
        !matches!(self, Self::Elements { .. })
    }
}

/// Stores the elements at the indices `list[places]`; an index out of range reads the last element. Not inlined,
/// because its instructions slow down loops that mostly copy pieces.
#[inline(never)]
fn take_elements<S: Stored>(from: &[S], list: &[u32], places: Range<usize>, out: &mut Filling<&mut [S]>) {
    let (last, line) = (from.len() - 1, LINE / size_of::<S>());
    // Prefetches one element per cache line of elements, since indices may be consecutive, forwards or backwards.
    for start in places.clone().step_by(line) {
        if let Some(&next) = list.get(start + AHEAD * line) {
            simd::prefetch(from, next as usize);
        }
        let some = &list[start..places.end.min(start + line)];
        out.extend(some.iter().map(|&at| from[(at as usize).min(last)]));
    }
}

impl<'a, S: Stored> Pieces<'a, S> {
    /// Pieces for runs that end at `ends`, each from its first element in direction `way`.
    pub(super) fn new(from: &'a [S], way: Way, ends: Ends, firsts: Many<'a, u32>) -> Self {
        let span = firsts[firsts.len() - 1].saturating_sub(firsts[0]);
        let scattered = span / FAR > ends[ends.len() - 1] || simd::run(Leaps(&firsts)) > firsts.len() as u32 / SOME;
        Self { from, ends, firsts, way, scattered }
    }

    /// The index of the element `skipped` positions after the run's first one.
    #[inline(always)]
    fn place(&self, run: usize, skipped: u32) -> u32 {
        self.way.after(self.firsts[run], skipped)
    }

    /// Stores all values.
    fn copy(&self, out: Filling<&mut [S]>) {
        debug_assert_eq!(self.ends.last().map(|&n| n as usize), Some(out.room()), "a block of another length");
        // The longest piece bounds the constant number of steps.
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

    /// Stores `len` values of a run from offset `skipped` on, in a constant number of steps if `len` is at most `few`.
    /// Indices out of range read the last element.
    #[inline(always)]
    fn take<const DOWN: bool>(&self, run: usize, skipped: u32, len: u32, few: usize, out: &mut Filling<&mut [S]>) {
        // A compile-time constant.
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

    /// As [`Pieces::take`], for pieces read backwards. Not inlined, so that loops over other sources stay fast.
    #[inline(never)]
    fn take_back(&self, run: usize, skipped: u32, len: u32, few: usize, out: &mut Filling<&mut [S]>) {
        self.take::<true>(run, skipped, len, few, out);
    }

    /// Prefetches the first elements of a later run. The processor prefetches the rest of long runs by itself.
    #[inline(always)]
    fn ask_for_run(&self, way: Way, run: usize, few: usize) {
        let Some(&first) = self.firsts.get(run) else { return };
        let line = LINE / size_of::<S>();
        for k in 0..=few.div_ceil(line) {
            simd::prefetch(self.from, way.after(first, (k * line).min(few - 1) as u32) as usize);
        }
    }

    /// Prefetches elements of later rows, behind a run that is read backwards. The hardware prefetcher does not look
    /// there when lines are requested in descending order, and needs some lines to detect an order at all. The number
    /// of lines is that of the run, or that of `few` elements for short runs: a constant, which avoids a branch
    /// misprediction.
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

    /// The pieces over finer runs, which divide their own.
    fn cut(self, ends: &Ends) -> Self {
        if self.ends == *ends {
            return self;
        }
        let firsts = sides::parts(&self.ends, ends).map(|(run, skipped)| self.place(run, skipped));
        Self { firsts: firsts.collect::<Vec<_>>().into(), ends: ends.clone(), ..self }
    }
}

impl<S> Chosen<'_, S> {
    /// Ends of the runs in which each source is one piece and each front is one number.
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

/// Clamps numbers to optional lower and upper bounds, element by element.
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
    /// Flattens a selection between more than one source.
    pub(super) fn new(chosen: Chosen<'a, S>) -> Self {
        let ends = chosen.common_ends(None).expect("bug: a choice without runs");
        let mut out = Self { ends, cuts: Vec::new(), sides: Vec::new() };
        out.add(chosen, [None, None]);
        out
    }

    /// Adds the sources for the positions of each run between the cuts `from` and `to`.
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
        // Concatenations and paddings have specialized loops, which do not test a source's kind at each run.
        match (&cuts[..], &sides[..]) {
            ([fronts], [Source::Pieces(front), Source::Pieces(rest)]) if [front.way, rest.way] == [Way::Up; 2] => {
                // Pieces of at most one step on average rarely have more than two.
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

    /// Whether the source is represented by a few numbers per run.
    pub(super) fn is_in_runs(&self) -> bool {
        self.sides.iter().all(Source::is_in_runs)
    }
}

/// Copies a source's values of all runs, backwards if `DOWN`. Runs of up to `STEPS` steps, or fewer for large elements,
/// are written in a constant number of steps.
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

/// Copies a selection between two sources, for all runs.
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

/// Copies a selection between any number of sources, for all runs.
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

    /// A random source, and its value at each of `n` positions.
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

    /// A random selection between sources, and its value at each of `n` positions.
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
