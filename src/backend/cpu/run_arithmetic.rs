//! Arithmetic on encoded values. An operation on run-length encoded values is computed once per run, such as per row;
//! an operation on sequences is computed on their first values.
//!
//! The loops in `operations` compute all values. This module only decides which values they compute.

use super::common_runs::{RunOperand, align};
use super::encoding::{Direction, Encoded, Ends, Value};
use super::number::Number;
use super::operand::Operand;
use super::operations;
use super::run_encoding::{lens, runs, sequences_or_runs, stays_in_range};
use super::sequence_division;
use crate::graph::opcode::BinaryOp;

/// Least average run length, in positions, at which a loop per run costs less than expanding the runs.
const MIN_LOOP_LEN: usize = 48;

/// `a op b` at `n` positions.
pub(crate) fn binary<'a>(op: BinaryOp, n: usize, a: &Encoded<'a>, b: &Encoded<'a>) -> Encoded<'a> {
    if let (Encoded::Constant(_), Encoded::Constant(_)) = (a, b) {
        return Encoded::Constant(operations::binary(op, 1, a, b).get(0));
    }
    if let Some((ends, a, b)) = align(a, b) {
        if (a.direction, b.direction) == (None, None) {
            let values = binary(op, ends.len(), &a.values, &b.values);
            return runs(ends, values);
        }
        if let Some(done) = sequence(op, &ends, &a.dense(), &b.dense()) {
            return done;
        }
    }
    operations::binary(op, n, &a.dense(), &b.dense())
}

/// Stores `a op b` at `out.len()` positions. Returns false and stores nothing if the operation is not arithmetic or if
/// neither operand is dense.
pub(crate) fn store<T: Number>(op: BinaryOp, a: &Encoded<'_>, b: &Encoded<'_>, out: &mut [T]) -> bool {
    let is_compressed =
        |encoded: &Encoded<'_>| matches!(encoded, Encoded::Constant(_) | Encoded::Runs(..) | Encoded::Sequences(..));
    match (a, b) {
        _ if is_compressed(a) && is_compressed(b) => false,
        (many, Encoded::Runs(ends, values)) | (Encoded::Runs(ends, values), many) if are_long(ends) => {
            let (of_runs, is_right) = (values.dense(), matches!(b, Encoded::Runs(..)));
            let (many, of_runs) = (T::expanded(out.len(), many), T::operand(&of_runs));
            operations::store_arithmetic_by_runs(op, ends, &many, of_runs, is_right, out)
        }
        _ => {
            let (a, b) = (a.dense(), b.dense());
            operations::store_arithmetic(op, T::operand(&a), T::operand(&b), out)
        }
    }
}

/// Whether a loop per run costs less than expanding the runs.
fn are_long(ends: &[u32]) -> bool {
    ends.last().is_some_and(|&n| n as usize >= MIN_LOOP_LEN * ends.len())
}

/// `a op b` for a sequence and another operand, if the result is run-length encoded or consists of sequences.
fn sequence<'a>(op: BinaryOp, ends: &Ends, a: &RunOperand<'a>, b: &RunOperand<'a>) -> Option<Encoded<'a>> {
    use Direction::{Ascending, Descending};
    let (x, y) = (a.numbers(), b.numbers());
    let each = |direction| {
        Some(sequences_or_runs(direction, ends.clone(), operations::binary(op, ends.len(), &a.values, &b.values)))
    };
    match (op, a.direction, b.direction) {
        (BinaryOp::Add, direction, None) | (BinaryOp::Add, None, direction) | (BinaryOp::Sub, direction, None) => {
            each(direction)
        }
        (BinaryOp::Add, Some(a), Some(b)) if a != b => each(None),
        (BinaryOp::Sub, None, Some(direction)) => each(Some(direction.opposite())),
        (BinaryOp::Sub, a, b) if a == b => each(None),
        (BinaryOp::Min, Some(Ascending), None) if stays_in_range(ends, x) => {
            let within = |(k, &len): (usize, &u32)| len == 0 || x.get(k) + (len - 1) <= y.get(k);
            lens(ends)
                .iter()
                .enumerate()
                .all(within)
                .then(|| sequences_or_runs(a.direction, ends.clone(), a.values.clone()))
        }
        (_, Some(Descending), _) | (_, _, Some(Descending)) => None,
        (BinaryOp::Lt | BinaryOp::Le, direction_a, direction_b) => {
            if direction_a.is_some() && !stays_in_range(ends, x) || direction_b.is_some() && !stays_in_range(ends, y) {
                return None;
            }
            if direction_a == direction_b { each(None) } else { Some(compare(op, ends, a, b).flags()) }
        }
        (BinaryOp::IndexDiv | BinaryOp::IndexRem, Some(Ascending), None) if stays_in_range(ends, x) => {
            sequence_division::divide(op, ends, &a.values, &b.values)
        }
        _ => None,
    }
}

/// A condition that changes at most once per run.
pub(super) struct RunPrefixes {
    pub(super) ends: Ends,
    /// Length of each run's prefix: the positions from its start at which the condition equals `hold`.
    pub(super) lens: Vec<u32>,
    /// The condition's value in the prefixes; the rest of each run has the opposite value.
    pub(super) hold: bool,
}

/// The condition `a op b` as prefixes, if it compares an ascending sequence with one number per run.
pub(super) fn prefixes<'a>(op: BinaryOp, a: &Encoded<'a>, b: &Encoded<'a>) -> Option<RunPrefixes> {
    let is_order = matches!(op, BinaryOp::Lt | BinaryOp::Le);
    let (ends, a, b) = is_order.then(|| align(a, b))??;
    let is_left = match (a.direction, b.direction) {
        (Some(Direction::Ascending), None) => true,
        (None, Some(Direction::Ascending)) => false,
        _ => return None,
    };
    let (a, b) = (a.dense(), b.dense());
    let sequence = if is_left { &a } else { &b };
    stays_in_range(&ends, sequence.numbers()).then(|| compare(op, &ends, &a, &b))
}

/// Compares an ascending sequence that does not wrap with one number per run.
fn compare(op: BinaryOp, ends: &Ends, a: &RunOperand<'_>, b: &RunOperand<'_>) -> RunPrefixes {
    let is_left = a.direction.is_some();
    let (sequence, bound) = if is_left { (a, b) } else { (b, a) };
    // Length of the prefix of `first, first + 1, …` below the bound, or up to the bound if `at_most`.
    let at_most = is_left == (op == BinaryOp::Le);
    let below = |first: u32, bound: u32| bound.saturating_sub(first).saturating_add((at_most && first <= bound).into());
    let mut prefixes: Vec<u32> = match (sequence.numbers(), bound.numbers()) {
        (Operand::Dense(first), Operand::Dense(bound)) => first.iter().zip(bound).map(|(&f, &b)| below(f, b)).collect(),
        (first, bound) => (0..ends.len()).map(|k| below(first.get(k), bound.get(k))).collect(),
    };
    for (prefix, &len) in prefixes.iter_mut().zip(&lens(ends)) {
        *prefix = len.min(*prefix);
    }
    RunPrefixes { lens: prefixes, hold: is_left, ends: ends.clone() }
}

impl RunPrefixes {
    /// The prefixes of a condition with one value per run.
    pub(super) fn of_flags(ends: Ends, flags: Operand<'_, bool>) -> Self {
        let prefix = |(k, len)| if flags.get(k) { len } else { 0 };
        Self { lens: lens(&ends).into_iter().enumerate().map(prefix).collect(), hold: true, ends }
    }

    /// The condition as run-length encoded flags.
    fn flags<'a>(&self) -> Encoded<'a> {
        let most = 2 * self.ends.len();
        let (mut cuts, mut flags) = (Vec::with_capacity(most), Vec::with_capacity(most));
        let mut start = 0;
        for (&end, &len) in self.ends.iter().zip(&self.lens) {
            for (cut, flag) in [(start + len, self.hold), (end, !self.hold)] {
                if cut > start {
                    if flags.last() == Some(&flag) {
                        cuts.pop();
                        flags.pop();
                    }
                    cuts.push(cut);
                    flags.push(flag);
                    start = cut;
                }
            }
        }
        runs(cuts.into(), bool::wrap(flags.into()))
    }
}

/// Applies an operation to each value, once per run for run-length encoded values.
pub(crate) fn map_runs<'a>(n: usize, a: &Encoded<'a>, f: impl Fn(usize, &Encoded<'a>) -> Encoded<'a>) -> Encoded<'a> {
    match a {
        Encoded::Constant(_) => Encoded::Constant(f(1, a).get(0)),
        Encoded::Runs(ends, values) => runs(ends.clone(), f(ends.len(), &values.dense())),
        Encoded::Sequences(..) => f(n, &a.dense()),
        dense => f(n, dense),
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::super::random_encodings::{Random, dense};
    use super::*;
    use crate::graph::scalar::Scalar;

    #[test]
    fn quotients_by_one_may_be_the_greatest_number() {
        let a = Encoded::Sequences(Direction::Ascending, vec![1, 3].into(), vec![u32::MAX, 0].into());
        let one = Encoded::Constant(Scalar::U32(1));
        for by in [one.clone(), Encoded::Runs(vec![1, 3].into(), Rc::new(one))] {
            assert_eq!(dense(3, &binary(BinaryOp::IndexDiv, 3, &a, &by)), [u32::MAX, 0, 1]);
            assert_eq!(dense(3, &binary(BinaryOp::IndexRem, 3, &a, &by)), [0; 3]);
        }
    }

    #[test]
    fn operations_on_encoded_values_equal_the_dense_loops() {
        use BinaryOp as B;
        let mut random = Random(1);
        for round in 0..4000 {
            let n = 1 + random.below(300);
            let (a, mut b) = (random.encoded(n), random.encoded(n));
            if round % 3 == 0 {
                b = Encoded::Constant(Scalar::U32(random.below(20)));
            }
            for op in [B::Add, B::Sub, B::Mul, B::IndexDiv, B::IndexRem, B::Div, B::Min, B::Max, B::Lt, B::Le, B::Eq] {
                for (a, b) in [(&a, &b), (&b, &a)] {
                    let got = dense(n, &binary(op, n as usize, a, b));
                    let expected = dense(n, &operations::binary(op, n as usize, &a.dense(), &b.dense()));
                    assert_eq!(got, expected, "{op:?} of {a:?} and {b:?}");
                }
            }
        }
    }

    #[test]
    fn reversed_rows_stay_sequences() {
        let ends: Ends = vec![10, 30, 90].into();
        let runs = |values: [u32; 3]| Encoded::Runs(ends.clone(), u32::wrap(values.to_vec().into()).into());
        let index = Encoded::Sequences(Direction::Ascending, vec![90].into(), vec![0].into());
        let offset = binary(BinaryOp::Sub, 90, &index, &runs([0, 10, 30]));
        let mirrored = binary(BinaryOp::Sub, 90, &runs([9, 19, 59]), &offset);
        let from = binary(BinaryOp::Add, 90, &runs([0, 10, 30]), &mirrored);
        assert!(
            matches!(&from, Encoded::Sequences(Direction::Descending, _, first) if first[..] == [9, 29, 89]),
            "{from:?}"
        );
        let len = binary(BinaryOp::Add, 90, &mirrored, &offset);
        assert!(matches!(&len, Encoded::Runs(_, values) if u32::expanded(3, values)[..] == [9, 19, 59]), "{len:?}");
    }
}
