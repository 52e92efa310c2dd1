//! Run-length encoding and sequences: construction, lengths, overflow.

use std::rc::Rc;

use super::encoding::{Dense, Direction, Encoded, Ends, Value};
use super::operand::Operand;
use super::simd::{self, Loop};
use crate::graph::scalar::Scalar;

/// Least average run length, in positions, at which runs cost less than a dense encoding.
pub(super) const MIN_RUN_LEN: usize = 2;

/// Run-length encoding of one value per run. Dense if the runs are too short, constant if all values are known to be
/// equal. The run values become dense unless they are one ascending sequence.
pub(crate) fn runs<'a>(ends: Ends, values: Encoded<'a>) -> Encoded<'a> {
    let values = match values {
        Encoded::Constant(same) => return Encoded::Constant(same),
        Encoded::Bool(flags) if flags.iter().all(|&f| f == flags[0]) => {
            return Encoded::Constant(Scalar::Bool(flags[0]));
        }
        Encoded::Sequences(Direction::Ascending, ref ends, _) if ends.len() == 1 => values,
        _ => values.dense(),
    };
    let short = are_short(&ends);
    let out = Encoded::Runs(ends, Rc::new(values));
    if short { out.dense() } else { out }
}

/// Sequences with the given first values; dense if the sequences are too short.
pub(super) fn sequences<'a>(direction: Direction, ends: Ends, first: Dense<'a, u32>) -> Encoded<'a> {
    let short = are_short(&ends);
    let out = Encoded::Sequences(direction, ends, first);
    if short { out.dense() } else { out }
}

/// Sequences in the given direction with the given first values, one per run or one for all; run-length encoded
/// values if `direction` is `None`.
pub(super) fn sequences_or_runs<'a>(direction: Option<Direction>, ends: Ends, first: Encoded<'a>) -> Encoded<'a> {
    match direction {
        None => runs(ends, first),
        Some(direction) => {
            let first = u32::expanded(ends.len(), &first.dense());
            sequences(direction, ends, first)
        }
    }
}

/// Whether a dense encoding costs less than runs that end at `ends`.
fn are_short(ends: &[u32]) -> bool {
    ends.last().is_some_and(|&n| (n as usize) < MIN_RUN_LEN * ends.len())
}

/// Length of each run, in positions.
pub(super) fn lens(ends: &[u32]) -> Vec<u32> {
    let Some((first, rest)) = ends.split_first() else { return Vec::new() };
    let mut lens = Vec::with_capacity(ends.len());
    lens.push(*first);
    lens.extend(ends.iter().zip(rest).map(|(start, end)| end - start));
    lens
}

/// Length of the longest run, in positions.
pub(super) fn longest(ends: &[u32]) -> u32 {
    let pairs = ends.iter().zip(ends.get(1..).unwrap_or_default());
    simd::run(Greatest(pairs.map(|(start, end)| end - start))).max(ends.first().copied().unwrap_or(0))
}

/// The maximum of an iterator, or 0 if it is empty.
struct Greatest<I>(I);

impl<I: Iterator<Item = u32>> Loop for Greatest<I> {
    type Output = u32;
    #[inline(always)]
    fn run(self) -> u32 {
        self.0.fold(0, u32::max)
    }
}

/// Whether no ascending sequence overflows u32.
pub(super) fn stays_in_range(ends: &[u32], first: Operand<'_, u32>) -> bool {
    let stays_in_range = |first: u32, len: u32| first.checked_add(len.saturating_sub(1)).is_some();
    let Some(&n) = ends.last() else { return true };
    let greatest = match first {
        Operand::Constant(first) => first,
        Operand::Dense(first) => simd::run(Greatest(first.iter().copied())),
    };
    // No sequence is longer than all `n` positions. This bound suffices in most cases.
    stays_in_range(greatest, n) || lens(ends).iter().enumerate().all(|(run, &len)| stays_in_range(first.get(run), len))
}
