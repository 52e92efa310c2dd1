//! Sources of copied values, and the loops that copy them run by run.
//!
//! Rows are short and vary in length: a loop of the row's length mispredicts its exit branch once per row, which costs
//! as much as copying 16 numbers. Short runs are therefore copied in a constant number of steps, past their ends; the
//! next piece overwrites the excess. Scattered runs are prefetched long before they are copied.

use std::ops::Range;
use std::rc::Rc;

use super::array::Stored;
use super::common_runs;
use super::encoding::{Dense, Direction, Ends};
use super::output_writer::{OutputWriter, STEP, fixed_len};
use super::run_arithmetic::{self, RunPrefixes};
use super::simd::{self, LINE, Loop};

/// Prefetch distance: in runs for scattered runs, in cache lines for single elements and for runs read backwards.
/// The processor prefetches by itself only what is read in order, and would wait for each of these.
const PREFETCH_DISTANCE: usize = 32;

/// ElementRuns are scattered if the span from the first to the last one exceeds this many times their elements.
const SCATTERED_SPAN: u32 = 2;

/// ElementRuns are also scattered if more than one in `JUMPS_SHARE` begins more than [`NEAR_ELEMENTS`] elements from the previous one. A
/// repeated row is still cached.
const JUMPS_SHARE: u32 = 8;
const NEAR_ELEMENTS: u32 = 4096;

/// A source of a block's values.
pub(super) enum CopySource<'a, S> {
    /// The same value at every position.
    Constant(S),
    /// Runs of consecutive elements of an array, forwards or backwards.
    Runs(ElementRuns<'a, S>),
    /// Elements of an array, one index per position.
    Gather { from: &'a [S], at: Dense<'a, u32> },
}

/// Runs of consecutive elements of an array, forwards or backwards from the first element of each run.
pub(super) struct ElementRuns<'a, S> {
    from: &'a [S],
    ends: Ends,
    firsts: Dense<'a, u32>,
    direction: Direction,
    /// Whether the runs are scattered and need prefetching.
    scattered: bool,
}

/// A source, or a selection between sources.
pub(super) enum CopyTree<'a, S> {
    Leaf(CopySource<'a, S>),
    /// The first alternative in the prefix of each run, the second one in the rest.
    Split(RunPrefixes, Box<[Self; 2]>),
}

/// A flattened selection: each run takes positions from several sources, one source after the other.
pub(super) struct CopyPlan<'a, S> {
    ends: Ends,
    /// For each source but the last, and for each run, the offset in the run at which the next source begins.
    cuts: Vec<Rc<Vec<u32>>>,
    /// The sources. ElementRuns have the runs of `ends`.
    sides: Vec<CopySource<'a, S>>,
}

/// Counts the runs that begin far from the previous one.
struct Jumps<'l>(&'l [u32]);

impl Loop for Jumps<'_> {
    type Output = u32;
    #[inline(always)]
    fn run(self) -> u32 {
        let Self(firsts) = self;
        let pairs = firsts.iter().zip(firsts.get(1..).unwrap_or_default());
        pairs.fold(0, |jumps, (a, b)| {
            jumps + u32::from(b.wrapping_sub(a.wrapping_sub(NEAR_ELEMENTS)) > 2 * NEAR_ELEMENTS)
        })
    }
}

/// A source that can store parts of runs.
trait CopyPart<S> {
    /// Stores the values at positions `at..to`, which begin `skipped` positions after the run's start.
    fn take(&self, run: usize, skipped: u32, at: u32, to: u32, out: &mut OutputWriter<&mut [S]>);
}

impl<S: Stored> CopyPart<S> for CopySource<'_, S> {
    #[inline(always)]
    fn take(&self, run: usize, skipped: u32, at: u32, to: u32, out: &mut OutputWriter<&mut [S]>) {
        match self {
            Self::Constant(value) => Repeat(*value).take(run, skipped, at, to, out),
            Self::Runs(runs) if runs.direction == Direction::Ascending => {
                Forward::<_, 4>(runs).take(run, skipped, at, to, out)
            }
            Self::Runs(runs) => runs.take_back(run, skipped, to - at, fixed_len::<S>(), out),
            Self::Gather { from, at: elements } => take_elements(from, elements, at as usize..to as usize, out),
        }
    }
}

/// The same value at every position.
struct Repeat<S>(S);

impl<S: Stored> CopyPart<S> for Repeat<S> {
    #[inline(always)]
    fn take(&self, _: usize, _: u32, at: u32, to: u32, out: &mut OutputWriter<&mut [S]>) {
        out.repeat(self.0, (to - at) as usize);
    }
}

/// ElementRuns read forwards. ElementRuns of up to `STEPS` steps are written in a constant number of steps.
struct Forward<'l, 'a, S, const STEPS: usize>(&'l ElementRuns<'a, S>);

impl<S: Stored, const STEPS: usize> CopyPart<S> for Forward<'_, '_, S, STEPS> {
    #[inline(always)]
    fn take(&self, run: usize, skipped: u32, at: u32, to: u32, out: &mut OutputWriter<&mut [S]>) {
        self.0.take::<false>(run, skipped, to - at, fixed_len::<S>().min(STEPS * STEP), out);
    }
}

impl<S: Stored> CopySource<'_, S> {
    /// Stores all `len` values.
    pub(super) fn copy(&self, len: u32, mut out: OutputWriter<&mut [S]>) {
        match self {
            Self::Runs(runs) => runs.copy(out),
            other => other.take(0, 0, 0, len, &mut out),
        }
    }

    /// Whether the source is represented by a few numbers per run.
    pub(super) fn is_in_runs(&self) -> bool {
        !matches!(self, Self::Gather { .. })
    }
}

/// Stores the elements at the indices `list[places]`; an index out of range reads the last element. Not inlined,
/// because its instructions slow down loops that mostly copy runs.
#[inline(never)]
fn take_elements<S: Stored>(from: &[S], list: &[u32], places: Range<usize>, out: &mut OutputWriter<&mut [S]>) {
    let (last, line) = (from.len() - 1, LINE / size_of::<S>());
    // Prefetches one element per cache line of elements, since indices may be consecutive, forwards or backwards.
    for start in places.clone().step_by(line) {
        if let Some(&next) = list.get(start + PREFETCH_DISTANCE * line) {
            simd::prefetch(from, next as usize);
        }
        let some = &list[start..places.end.min(start + line)];
        out.extend(some.iter().map(|&at| from[(at as usize).min(last)]));
    }
}

impl<'a, S: Stored> ElementRuns<'a, S> {
    /// ElementRuns for runs that end at `ends`, each from its first element in direction `direction`.
    pub(super) fn new(from: &'a [S], direction: Direction, ends: Ends, firsts: Dense<'a, u32>) -> Self {
        let span = firsts[firsts.len() - 1].saturating_sub(firsts[0]);
        let scattered = span / SCATTERED_SPAN > ends[ends.len() - 1]
            || simd::run(Jumps(&firsts)) > firsts.len() as u32 / JUMPS_SHARE;
        Self { from, ends, firsts, direction, scattered }
    }

    /// The index of the element `skipped` positions after the run's first one.
    #[inline(always)]
    fn place(&self, run: usize, skipped: u32) -> u32 {
        self.direction.after(self.firsts[run], skipped)
    }

    /// Stores all values.
    fn copy(&self, out: OutputWriter<&mut [S]>) {
        debug_assert_eq!(self.ends.last().map(|&n| n as usize), Some(out.room()), "a block of another length");
        // The longest piece bounds the constant number of steps.
        match (run_arithmetic::longest(&self.ends) as usize).div_ceil(STEP) {
            0 | 1 => self.copy_in_steps::<1>(out),
            2 => self.copy_in_steps::<2>(out),
            _ => self.copy_in_steps::<4>(out),
        }
    }

    fn copy_in_steps<const STEPS: usize>(&self, out: OutputWriter<&mut [S]>) {
        match self.direction {
            Direction::Ascending => simd::run(CopyRuns::<S, STEPS, false> { runs: self, out }),
            Direction::Descending => simd::run(CopyRuns::<S, STEPS, true> { runs: self, out }),
        }
    }

    /// Stores `len` values of a run from offset `skipped` on, in a constant number of steps if `len` is at most `fixed_len`.
    /// Indices out of range read the last element.
    #[inline(always)]
    fn take<const DOWN: bool>(
        &self,
        run: usize,
        skipped: u32,
        len: u32,
        fixed_len: usize,
        out: &mut OutputWriter<&mut [S]>,
    ) {
        // A compile-time constant.
        let direction = if DOWN { Direction::Descending } else { Direction::Ascending };
        debug_assert_eq!(self.direction, direction, "runs of another direction");
        let (first, elements) = (direction.after(self.firsts[run], skipped) as usize, self.from.len());
        let is_there =
            if DOWN { first < elements && len as usize <= first + 1 } else { first + len as usize <= elements };
        if !is_there {
            out.extend((skipped..skipped + len).map(|k| self.from[(self.place(run, k) as usize).min(elements - 1)]));
            return;
        }
        if self.scattered {
            self.prefetch_run(direction, run + PREFETCH_DISTANCE, fixed_len);
        }
        if DOWN {
            self.prefetch_behind(first, len as usize, fixed_len);
            out.copy_back(self.from, first, len as usize, fixed_len);
        } else {
            out.copy(self.from, first, len as usize, fixed_len);
        }
    }

    /// As [`ElementRuns::take`], for runs read backwards. Not inlined, so that loops over other sources stay fast.
    #[inline(never)]
    fn take_back(&self, run: usize, skipped: u32, len: u32, fixed_len: usize, out: &mut OutputWriter<&mut [S]>) {
        self.take::<true>(run, skipped, len, fixed_len, out);
    }

    /// Prefetches the first elements of a later run. The processor prefetches the rest of long runs by itself.
    #[inline(always)]
    fn prefetch_run(&self, direction: Direction, run: usize, fixed_len: usize) {
        let Some(&first) = self.firsts.get(run) else { return };
        let line = LINE / size_of::<S>();
        for k in 0..=fixed_len.div_ceil(line) {
            simd::prefetch(self.from, direction.after(first, (k * line).min(fixed_len - 1) as u32) as usize);
        }
    }

    /// Prefetches elements of later rows, behind a run that is read backwards. The hardware prefetcher does not look
    /// there when lines are requested in descending order, and needs some lines to detect an order at all. The number
    /// of lines is that of the run, or that of `fixed_len` elements for short runs: a constant, which avoids a branch
    /// misprediction.
    #[inline(always)]
    fn prefetch_behind(&self, first: usize, len: usize, fixed_len: usize) {
        let line = LINE / size_of::<S>();
        let ask = |k: usize| simd::prefetch(self.from, (first + PREFETCH_DISTANCE * line).wrapping_sub(k * line));
        if len <= fixed_len {
            (0..fixed_len.div_ceil(line)).for_each(ask);
        } else if len <= PREFETCH_DISTANCE * line {
            (0..=len / line).for_each(ask);
        }
    }

    /// The runs over finer runs, which divide their own.
    fn cut(self, ends: &Ends) -> Self {
        if self.ends == *ends {
            return self;
        }
        let firsts = common_runs::parts(&self.ends, ends).map(|(run, skipped)| self.place(run, skipped));
        Self { firsts: firsts.collect::<Vec<_>>().into(), ends: ends.clone(), ..self }
    }
}

impl<S> CopyTree<'_, S> {
    /// Ends of the runs in which each source is one piece and each prefix is one number.
    fn common_ends(&self, known: Option<Ends>) -> Option<Ends> {
        let with = |known: Option<Ends>, ends: &Ends| match known {
            Some(known) => Some(common_runs::common_ends(&known, ends)),
            None => Some(ends.clone()),
        };
        match self {
            Self::Leaf(CopySource::Runs(runs)) => with(known, &runs.ends),
            Self::Leaf(_) => known,
            Self::Split(prefixes, sides) => {
                sides.iter().fold(with(known, &prefixes.ends), |known, side| side.common_ends(known))
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

impl<'a, S: Stored> CopyPlan<'a, S> {
    /// Flattens a selection between more than one source.
    pub(super) fn new(chosen: CopyTree<'a, S>) -> Self {
        let ends = chosen.common_ends(None).expect("bug: a plan without runs");
        let mut out = Self { ends, cuts: Vec::new(), sides: Vec::new() };
        out.add(chosen, [None, None]);
        out
    }

    /// Adds the sources for the positions of each run between the cuts `from` and `to`.
    fn add(&mut self, chosen: CopyTree<'a, S>, [from, to]: [Option<&[u32]>; 2]) {
        match chosen {
            CopyTree::Leaf(source) => {
                self.sides.push(match source {
                    CopySource::Runs(runs) => CopySource::Runs(runs.cut(&self.ends)),
                    same => same,
                });
            }
            CopyTree::Split(RunPrefixes { ends, mut lens, .. }, sides) => {
                if ends != self.ends {
                    let parts = common_runs::parts(&ends, &self.ends);
                    lens = parts.map(|(run, skipped)| lens[run].saturating_sub(skipped)).collect();
                }
                simd::run(Clamp(&mut lens, from, to));
                let ([prefix, rest], cut) = (*sides, Rc::new(lens));
                self.add(prefix, [from, Some(&cut)]);
                self.cuts.push(cut.clone());
                self.add(rest, [Some(&cut), to]);
            }
        }
    }

    /// Stores all values.
    pub(super) fn copy(&self, out: OutputWriter<&mut [S]>) {
        debug_assert_eq!(self.ends.last().map(|&n| n as usize), Some(out.room()), "a block of another length");
        let Self { ends, cuts, sides } = self;
        // Concatenations and paddings have specialized loops, which do not test a source's kind at each run.
        match (&cuts[..], &sides[..]) {
            ([prefixes], [CopySource::Runs(prefix), CopySource::Runs(rest)])
                if [prefix.direction, rest.direction] == [Direction::Ascending; 2] =>
            {
                // ElementRuns of at most one step on average rarely have more than two.
                if ends.last().is_some_and(|&n| n as usize <= 2 * ends.len() * STEP) {
                    let (prefix, rest) = (&Forward::<_, 2>(prefix), &Forward::<_, 2>(rest));
                    simd::run(CopyTwo { ends, prefixes, prefix, rest, out });
                } else {
                    let (prefix, rest) = (&Forward::<_, 4>(prefix), &Forward::<_, 4>(rest));
                    simd::run(CopyTwo { ends, prefixes, prefix, rest, out });
                }
            }
            ([prefixes], [CopySource::Runs(prefix), CopySource::Constant(rest)])
                if prefix.direction == Direction::Ascending =>
            {
                simd::run(CopyTwo { ends, prefixes, prefix: &Forward::<_, 4>(prefix), rest: &Repeat(*rest), out });
            }
            ([prefixes], [prefix, rest]) => simd::run(CopyTwo { ends, prefixes, prefix, rest, out }),
            _ => simd::run(CopyMany { ends, cuts, sides, out }),
        }
    }

    /// Whether the source is represented by a few numbers per run.
    pub(super) fn is_in_runs(&self) -> bool {
        self.sides.iter().all(CopySource::is_in_runs)
    }
}

/// Copies a source's values of all runs, backwards if `DOWN`. Runs of up to `STEPS` steps, or fewer for large elements,
/// are written in a constant number of steps.
struct CopyRuns<'l, 'o, S, const STEPS: usize, const DOWN: bool> {
    runs: &'l ElementRuns<'l, S>,
    out: OutputWriter<&'o mut [S]>,
}

impl<S: Stored, const STEPS: usize, const DOWN: bool> Loop for CopyRuns<'_, '_, S, STEPS, DOWN> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { runs, mut out } = self;
        let fixed_len = fixed_len::<S>().min(STEPS * STEP);
        let mut start = 0;
        for (run, &end) in runs.ends.iter().enumerate() {
            runs.take::<DOWN>(run, 0, end - start, fixed_len, &mut out);
            start = end;
        }
    }
}

/// Copies a selection between two sources, for all runs.
struct CopyTwo<'l, 'o, S, A, B> {
    ends: &'l [u32],
    prefixes: &'l [u32],
    prefix: &'l A,
    rest: &'l B,
    out: OutputWriter<&'o mut [S]>,
}

impl<S: Stored, A: CopyPart<S>, B: CopyPart<S>> Loop for CopyTwo<'_, '_, S, A, B> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { ends, prefixes, prefix, rest, mut out } = self;
        let mut start = 0;
        for (run, (&end, &len)) in ends.iter().zip(prefixes).enumerate() {
            let len = len.min(end - start);
            prefix.take(run, 0, start, start + len, &mut out);
            rest.take(run, len, start + len, end, &mut out);
            start = end;
        }
    }
}

/// Copies a selection between any number of sources, for all runs.
struct CopyMany<'l, 'a, 'o, S> {
    ends: &'l [u32],
    cuts: &'l [Rc<Vec<u32>>],
    sides: &'l [CopySource<'a, S>],
    out: OutputWriter<&'o mut [S]>,
}

impl<S: Stored> Loop for CopyMany<'_, '_, '_, S> {
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
    use super::super::run_arithmetic::tests::Numbers;
    use super::*;

    /// A random source, and its value at each of `n` positions.
    fn source<'a>(numbers: &mut Numbers, n: u32, from: &'a [u16]) -> (CopySource<'a, u16>, Vec<u16>) {
        let near = |numbers: &mut Numbers| match numbers.below(8) {
            0 => u32::MAX - numbers.below(50),
            1 => from.len() as u32 - numbers.below(50),
            _ => numbers.below(from.len() as u32),
        };
        let value = |at: u32| from[(at as usize).min(from.len() - 1)];
        match numbers.below(4) {
            0 => {
                let value = numbers.below(1000) as u16;
                (CopySource::Constant(value), vec![value; n as usize])
            }
            1 => {
                let at: Vec<u32> = (0..n).map(|_| near(numbers)).collect();
                let values = at.iter().map(|&at| value(at)).collect();
                (CopySource::Gather { from, at: at.into() }, values)
            }
            _ => {
                let ends = numbers.ends(n);
                let firsts: Vec<u32> = ends.iter().map(|_| near(numbers)).collect();
                let (mut values, mut start, direction) =
                    (Vec::new(), 0, [Direction::Ascending, Direction::Descending][numbers.below(2) as usize]);
                for (&end, first) in ends.iter().zip(&firsts) {
                    values.extend((0..end - start).map(|k| value(direction.after(*first, k))));
                    start = end;
                }
                let scattered = numbers.below(2) == 0;
                (CopySource::Runs(ElementRuns { from, ends, firsts: firsts.into(), direction, scattered }), values)
            }
        }
    }

    /// A random selection between sources, and its value at each of `n` positions.
    fn chosen<'a>(numbers: &mut Numbers, n: u32, depth: u32, from: &'a [u16]) -> (CopyTree<'a, u16>, Vec<u16>) {
        if depth == 0 {
            let (source, values) = source(numbers, n, from);
            return (CopyTree::Leaf(source), values);
        }
        let [a, b] = [(); 2].map(|()| numbers.below(depth));
        let ((a, in_a), (b, in_b)) = (chosen(numbers, n, a, from), chosen(numbers, n, b, from));
        let ends = match &a {
            CopyTree::Leaf(CopySource::Runs(runs)) if numbers.below(2) == 0 => runs.ends.clone(),
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
        (CopyTree::Split(RunPrefixes { ends, lens, hold: true }, Box::new([a, b])), values)
    }

    #[test]
    fn every_position_has_the_value_of_its_side() {
        let mut numbers = Numbers(5);
        let from: Vec<u16> = (0..400).map(|k| 1000 + k).collect();
        for turn in 0..6000 {
            let n = 1 + numbers.below(300);
            let mut out = vec![0; n as usize];
            match chosen(&mut numbers, n, turn % 4, &from) {
                (CopyTree::Leaf(source), expected) => {
                    source.copy(n, OutputWriter::of(&mut out));
                    assert_eq!(out, expected);
                }
                (chosen, expected) => {
                    CopyPlan::new(chosen).copy(OutputWriter::of(&mut out));
                    assert_eq!(out, expected);
                }
            }
        }
    }
}
