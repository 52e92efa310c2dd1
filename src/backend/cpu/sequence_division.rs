//! Quotients and remainders of sequences by one divisor per run. Between two multiples of the divisor, quotients are
//! constant and remainders are a sequence.

use super::encoding::{Dense, Direction, Encoded, Ends, Value};
use super::operand::Operand;
use super::run_encoding::{runs, sequences, stays_in_range};
use crate::graph::opcode::BinaryOp;

/// Average length of the parts below which they are expanded to a dense encoding. Otherwise the runs of other operands
/// would be refined to such short parts as well.
const MIN_PART_LEN: usize = 4;

/// Parts buffered on the stack before they are appended to the vectors. Each `Vec::push` would depend on the previous
/// one through the length in memory.
const BUFFERED: usize = 128;

/// Parts of runs between the multiples of the divisor: their ends and first values.
struct Parts {
    ends: Vec<u32>,
    values: Vec<u32>,
}

impl Parts {
    /// Divides runs that end at `ends` and hold ascending sequences from `first` on, which must not overflow. The value
    /// of a part is `f` of the run's `base`, the quotient and the remainder. `None` on division by 0.
    #[inline(always)]
    fn by_runs(
        ends: &[u32],
        first: &[u32],
        by: &[u32],
        base: &[u32],
        f: impl Fn(u32, u32, u32) -> u32,
    ) -> Option<Self> {
        let room = 2 * ends.len();
        let mut parts = Self { ends: Vec::with_capacity(room), values: Vec::with_capacity(room) };
        let (mut buffered_ends, mut buffered_values, mut buffered) = ([0; BUFFERED], [0; BUFFERED], 0);
        let mut start = 0;
        for (((&end, &first), &by), &base) in ends.iter().zip(first).zip(by).zip(base) {
            if buffered + 2 > BUFFERED {
                parts.extend(&buffered_ends[..buffered], &buffered_values[..buffered]);
                buffered = 0;
            }
            let len = end - start;
            // At most two parts, the first of which starts at 0. Both are written without a branch.
            if first == 0 && len <= by.saturating_mul(2) {
                (buffered_ends[buffered], buffered_ends[buffered + 1]) = (end.min(start.saturating_add(by)), end);
                (buffered_values[buffered], buffered_values[buffered + 1]) = (f(base, 0, 0), f(base, 1, 0));
                buffered += usize::from(len > 0) + usize::from(len > by);
                start = end;
                continue;
            }
            if len == 0 {
                continue;
            }
            if by == 0 {
                return None;
            }
            // Numbers below the divisor avoid the division.
            let (mut quotient, mut rest) = if first < by { (0, first) } else { (first / by, first % by) };
            while start < end {
                start = end.min(start.saturating_add(by - rest));
                if buffered >= BUFFERED {
                    parts.extend(&buffered_ends, &buffered_values);
                    buffered = 0;
                }
                buffered_ends[buffered] = start;
                buffered_values[buffered] = f(base, quotient, rest);
                buffered += 1;
                // The quotient overflows only after the last part, where it is unused.
                (quotient, rest) = (quotient.wrapping_add(1), 0);
            }
        }
        parts.extend(&buffered_ends[..buffered], &buffered_values[..buffered]);
        Some(parts)
    }

    #[inline(never)]
    fn extend(&mut self, ends: &[u32], values: &[u32]) {
        self.ends.extend_from_slice(ends);
        self.values.extend_from_slice(values);
    }

    /// Divides one run of `n` positions by a non-zero divisor.
    fn of_one(n: u32, first: u32, by: u32, is_quotient: bool) -> Self {
        debug_assert!(n > 0, "an empty run");
        let (quotient, rest) = (first / by, first % by);
        let parts = (u64::from(rest) + u64::from(n)).div_ceil(by.into()) as u32;
        let end = |part: u32| (u64::from(part) * u64::from(by) - u64::from(rest)).min(n.into()) as u32;
        let mut values: Vec<u32> = (0..parts).map(|part| if is_quotient { quotient + part } else { 0 }).collect();
        if !is_quotient {
            values[0] = rest;
        }
        Self { ends: (1..=parts).map(end).collect(), values }
    }

    /// The parts as runs of one value each, or as ascending sequences.
    fn encoded<'a>(self, are_sequences: bool) -> Encoded<'a> {
        let is_fine = self.ends.last().is_some_and(|&n| (n as usize) < MIN_PART_LEN * self.ends.len());
        let (ends, values) = (self.ends.into(), self.values.into());
        let out =
            if are_sequences { sequences(Direction::Ascending, ends, values) } else { runs(ends, u32::wrap(values)) };
        if is_fine { out.dense() } else { out }
    }
}

/// Quotients or remainders of sequences, which must not overflow, by one number per run. `None` on division by 0.
pub(super) fn divide<'a>(op: BinaryOp, ends: &[u32], first: &Encoded<'_>, by: &Encoded<'_>) -> Option<Encoded<'a>> {
    let is_quotient = op == BinaryOp::IndexDiv;
    let [first, by] = [first, by].map(|operand| u32::expanded(ends.len(), operand));
    let parts = match (ends, by[0]) {
        (&[n], by @ 1..) => Parts::of_one(n, first[0], by, is_quotient),
        _ if is_quotient => Parts::by_runs(ends, &first, &by, &first, |_, quotient, _| quotient)?,
        _ => Parts::by_runs(ends, &first, &by, &first, |_, _, rest| rest)?,
    };
    Some(parts.encoded(!is_quotient))
}

/// `start + x % by` for sequences `x` that do not overflow and one `start` and `by` per run: indices that cycle through
/// elements, such as those of repeated rows. `None` for other operands and on division by 0. One pass over the runs;
/// separate operations would divide the runs and then refine `start` to the parts.
pub(super) fn cycle<'a>(start: &Encoded<'_>, x: &Encoded<'_>, by: &Encoded<'_>) -> Option<Encoded<'a>> {
    let Encoded::Sequences(Direction::Ascending, ends, first) = x else { return None };
    let (start, by) = (one_per_run(start, ends)?, one_per_run(by, ends)?);
    if !stays_in_range(ends, Operand::Dense(first)) {
        return None;
    }
    Some(Parts::by_runs(ends, first, &by, &start, |start, _, rest| start.wrapping_add(rest))?.encoded(true))
}

/// One value per run of `ends`, if `encoded` has these runs or is constant.
fn one_per_run<'a>(encoded: &Encoded<'a>, ends: &Ends) -> Option<Dense<'a, u32>> {
    match encoded {
        Encoded::Constant(_) => Some(u32::expanded(ends.len(), encoded)),
        Encoded::Runs(own, values) if own == ends => Some(u32::expanded(ends.len(), &values.dense())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::operations;
    use super::super::random_encodings::{Random, dense};
    use super::super::run_encoding::lens;
    use super::*;

    #[test]
    fn cycles_equal_the_dense_loops() {
        let mut random = Random(7);
        let mut count_by_result = [0; 4];
        for _ in 0..4000 {
            let n = 1 + random.below(300);
            let ends = random.ends(n);
            let by_most = [2, 9, 60, 400][random.below(4) as usize];
            let base = [0, 0, u32::MAX - 400][random.below(3) as usize];
            let far = [0, 0, 0, u32::MAX - 200][random.below(4) as usize];
            let mut a_run = |most: u32, least: u32| -> Vec<u32> {
                ends.iter().map(|_| least.wrapping_add(random.below(most))).collect()
            };
            let (mut first, start, mut by) =
                (a_run(100, far), a_run(500, base), a_run(by_most, u32::from(by_most > 2)));
            // Runs that start at 0, and divisors that exceed the number of positions.
            for (first, by) in first.iter_mut().zip(&mut by) {
                *first *= random.below(2);
                if random.below(20) == 0 {
                    *by = [1 << 31, (1 << 31) - 1, u32::MAX][random.below(3) as usize];
                }
            }
            let wraps = first.iter().zip(lens(&ends)).any(|(first, len)| first.checked_add(len.max(1) - 1).is_none());
            let x = Encoded::Sequences(Direction::Ascending, ends.clone(), first.into());
            let mut encoded = |values: Vec<u32>| match random.below(3) {
                0 => Encoded::Constant(values[0].into()),
                _ => Encoded::Runs(ends.clone(), u32::wrap(values.into()).into()),
            };
            let (start, by) = (encoded(start), encoded(by));
            let got = cycle(&start, &x, &by);
            count_by_result[match &got {
                None => 0,
                Some(Encoded::Sequences(_, cuts, _)) if cuts.len() == ends.len() => 1,
                Some(Encoded::Sequences(..)) => 2,
                Some(_) => 3,
            }] += 1;
            let rest = operations::binary(BinaryOp::IndexRem, n as usize, &x.dense(), &by.dense());
            let expected = operations::binary(BinaryOp::Add, n as usize, &start.dense(), &rest.dense());
            let what = format!("{start:?} + {x:?} % {by:?}");
            assert_eq!(got.is_none(), wraps || dense(n, &by).contains(&0), "{what}");
            if let Some(got) = got {
                assert_eq!(dense(n, &got), dense(n, &expected), "{what}");
            }
        }
        assert!(count_by_result.iter().all(|&n| n > 100), "{count_by_result:?}");
    }

    #[test]
    fn operands_with_other_runs_are_no_cycle() {
        let sequence = |ends: Vec<u32>| Encoded::Sequences(Direction::Ascending, ends.into(), vec![0, 0].into());
        let run = |ends: Vec<u32>| Encoded::Runs(ends.into(), u32::wrap(vec![4, 5].into()).into());
        assert!(cycle(&run(vec![8, 40]), &sequence(vec![8, 40]), &run(vec![8, 40])).is_some());
        assert!(cycle(&run(vec![9, 40]), &sequence(vec![8, 40]), &run(vec![8, 40])).is_none());
        assert!(cycle(&run(vec![8, 40]), &sequence(vec![8, 40]), &run(vec![9, 40])).is_none());
    }
}
