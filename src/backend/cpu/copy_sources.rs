//! Sources of direct copies, and the loops that copy them run by run.
//!
//! A loop of run-dependent length mispredicts its exit branch about once per run, which costs as much as copying 16
//! numbers. Short runs are therefore copied in a constant number of steps, past their ends; the next run overwrites the
//! excess. Scattered runs are prefetched.

use std::ops::Range;

use super::array::ArrayElement;
use super::common_runs;
use super::encoding::{Dense, Direction, Ends};
use super::output_writer::{OutputWriter, STEP, fixed_len};
use super::run_encoding;
use super::simd::{self, LINE, Loop};

/// Prefetch distance: in runs for scattered runs, in cache lines for single elements and for runs read backwards. The
/// hardware prefetcher covers ascending accesses only.
const PREFETCH_DISTANCE: usize = 32;

/// Runs are scattered if the span from the first to the last one exceeds this many times their elements.
const SCATTERED_SPAN: u32 = 2;

/// Runs are also scattered if more than one in `JUMPS_SHARE` begins more than [`NEAR_ELEMENTS`] elements from the
/// start of the previous run. (Nearby rows are cached.)
const JUMPS_SHARE: u32 = 8;
const NEAR_ELEMENTS: u32 = 4096;

/// A source of values for the positions of a block.
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
    pub(super) from: &'a [S],
    pub(super) ends: Ends,
    pub(super) firsts: Dense<'a, u32>,
    pub(super) direction: Direction,
    /// Whether the runs are scattered and need prefetching.
    pub(super) scattered: bool,
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

/// A source that can copy part of a run.
pub(super) trait CopyPart<S> {
    /// Stores the values at positions `at..to` of the block, the first of which has offset `skipped` in its run.
    fn take(&self, run: usize, skipped: u32, at: u32, to: u32, out: &mut OutputWriter<&mut [S]>);
}

impl<S: ArrayElement> CopyPart<S> for CopySource<'_, S> {
    #[inline(always)]
    fn take(&self, run: usize, skipped: u32, at: u32, to: u32, out: &mut OutputWriter<&mut [S]>) {
        match self {
            Self::Constant(value) => Repeat(*value).take(run, skipped, at, to, out),
            Self::Runs(runs) if runs.direction == Direction::Ascending => {
                Forward::<_, 4>(runs).take(run, skipped, at, to, out);
            }
            Self::Runs(runs) => runs.take_back(run, skipped, to - at, fixed_len::<S>(), out),
            Self::Gather { from, at: elements } => take_elements(from, elements, at as usize..to as usize, out),
        }
    }
}

/// The same value at every position.
pub(super) struct Repeat<S>(pub(super) S);

impl<S: ArrayElement> CopyPart<S> for Repeat<S> {
    #[inline(always)]
    fn take(&self, _: usize, _: u32, at: u32, to: u32, out: &mut OutputWriter<&mut [S]>) {
        out.repeat(self.0, (to - at) as usize);
    }
}

/// Runs read forwards. Runs of up to `STEPS` steps are written in a constant number of steps.
pub(super) struct Forward<'l, 'a, S, const STEPS: usize>(pub(super) &'l ElementRuns<'a, S>);

impl<S: ArrayElement, const STEPS: usize> CopyPart<S> for Forward<'_, '_, S, STEPS> {
    #[inline(always)]
    fn take(&self, run: usize, skipped: u32, at: u32, to: u32, out: &mut OutputWriter<&mut [S]>) {
        self.0.take::<false>(run, skipped, to - at, fixed_len::<S>().min(STEPS * STEP), out);
    }
}

impl<S: ArrayElement> CopySource<'_, S> {
    /// Stores all `len` values.
    pub(super) fn copy(&self, len: u32, mut out: OutputWriter<&mut [S]>) {
        match self {
            Self::Runs(runs) => runs.copy(out),
            other => other.take(0, 0, 0, len, &mut out),
        }
    }

    /// Whether the source is run-length encoded.
    pub(super) fn is_in_runs(&self) -> bool {
        !matches!(self, Self::Gather { .. })
    }
}

/// Stores the elements at the indices `list[positions]`. An index out of range reads the last element. Not inlined:
/// its code would slow down loops that mostly copy runs.
#[inline(never)]
fn take_elements<S: ArrayElement>(from: &[S], list: &[u32], positions: Range<usize>, out: &mut OutputWriter<&mut [S]>) {
    let (last, line) = (from.len() - 1, LINE / size_of::<S>());
    // One prefetch per cache line's worth of elements suffices for consecutive indices.
    for start in positions.clone().step_by(line) {
        if let Some(&next) = list.get(start + PREFETCH_DISTANCE * line) {
            simd::prefetch(from, next as usize);
        }
        let some = &list[start..positions.end.min(start + line)];
        out.extend(some.iter().map(|&at| from[(at as usize).min(last)]));
    }
}

impl<'a, S: ArrayElement> ElementRuns<'a, S> {
    /// Runs that end at `ends`. Each starts at its element of `firsts` and reads in `direction`.
    pub(super) fn new(from: &'a [S], direction: Direction, ends: Ends, firsts: Dense<'a, u32>) -> Self {
        let span = firsts[firsts.len() - 1].saturating_sub(firsts[0]);
        let scattered = span / SCATTERED_SPAN > ends[ends.len() - 1]
            || simd::run(Jumps(&firsts)) > firsts.len() as u32 / JUMPS_SHARE;
        Self { from, ends, firsts, direction, scattered }
    }

    /// The index of the element `skipped` positions after the run's first one.
    #[inline(always)]
    fn index(&self, run: usize, skipped: u32) -> u32 {
        self.direction.after(self.firsts[run], skipped)
    }

    /// Stores all values.
    fn copy(&self, out: OutputWriter<&mut [S]>) {
        debug_assert_eq!(self.ends.last().map(|&n| n as usize), Some(out.room()), "a block of another length");
        // The longest run bounds the constant number of steps.
        match (run_encoding::longest(&self.ends) as usize).div_ceil(STEP) {
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

    /// Stores `len` values of a run from offset `skipped` on, in a constant number of steps if `len` is at most
    /// `fixed_len`. An index out of range reads the last element.
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
        let is_in_range =
            if DOWN { first < elements && len as usize <= first + 1 } else { first + len as usize <= elements };
        if !is_in_range {
            out.extend((skipped..skipped + len).map(|k| self.from[(self.index(run, k) as usize).min(elements - 1)]));
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

    /// As [`ElementRuns::take`], for runs read backwards. Not inlined, to keep loops over other sources small.
    #[inline(never)]
    fn take_back(&self, run: usize, skipped: u32, len: u32, fixed_len: usize, out: &mut OutputWriter<&mut [S]>) {
        self.take::<true>(run, skipped, len, fixed_len, out);
    }

    /// Prefetches the first elements of a later run. The hardware prefetcher covers the rest of long runs.
    #[inline(always)]
    fn prefetch_run(&self, direction: Direction, run: usize, fixed_len: usize) {
        let Some(&first) = self.firsts.get(run) else { return };
        let line = LINE / size_of::<S>();
        for k in 0..=fixed_len.div_ceil(line) {
            simd::prefetch(self.from, direction.after(first, (k * line).min(fixed_len - 1) as u32) as usize);
        }
    }

    /// Prefetches the elements that follow a run read backwards in memory, where later rows begin. The hardware
    /// prefetcher follows the descending accesses instead. As many lines are prefetched as the run has, or a constant
    /// number for short runs, which avoids a branch misprediction.
    #[inline(always)]
    fn prefetch_behind(&self, first: usize, len: usize, fixed_len: usize) {
        let line = LINE / size_of::<S>();
        let prefetch = |k: usize| simd::prefetch(self.from, (first + PREFETCH_DISTANCE * line).wrapping_sub(k * line));
        if len <= fixed_len {
            (0..fixed_len.div_ceil(line)).for_each(prefetch);
        } else if len <= PREFETCH_DISTANCE * line {
            (0..=len / line).for_each(prefetch);
        }
    }

    /// The same elements over the runs `ends`, which refine its own.
    pub(super) fn refined(self, ends: &Ends) -> Self {
        if self.ends == *ends {
            return self;
        }
        let firsts = common_runs::containing_runs(&self.ends, ends).map(|(run, skipped)| self.index(run, skipped));
        Self { firsts: firsts.collect::<Vec<_>>().into(), ends: ends.clone(), ..self }
    }
}

/// Copies all runs, reading backwards if `DOWN`. Runs of up to `STEPS` steps, or fewer for large elements, are written
/// in a constant number of steps.
struct CopyRuns<'l, 'o, S, const STEPS: usize, const DOWN: bool> {
    runs: &'l ElementRuns<'l, S>,
    out: OutputWriter<&'o mut [S]>,
}

impl<S: ArrayElement, const STEPS: usize, const DOWN: bool> Loop for CopyRuns<'_, '_, S, STEPS, DOWN> {
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
