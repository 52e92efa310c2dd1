//! Arithmetic on encoded values. Operands in segments are aligned to common segments; the operation is then computed on
//! the first values of the segments, once per segment.
//!
//! The loops in `operations` compute all values. This module only decides which values they compute.

use super::encoding::{Dense, Encoded, Ends, Value, lists};
use super::loops::map2;
use super::operand::{AnyOperand, Operand};
use super::operations;
use super::segments::{Aligned, align, lens, segments, stays_in_range};
use super::sequence_division::divide;
use crate::dtype::DType;
use crate::graph::opcode::{BinaryOp, UnaryOp};

/// Least average segment length, in positions, at which an operation per segment costs less than expanding the segments.
const MIN_LOOP_LEN: usize = 128;

/// `a op b` at `n` positions.
pub(crate) fn binary<'a>(op: BinaryOp, n: usize, a: &Encoded<'a>, b: &Encoded<'a>) -> Encoded<'a> {
    let dtype = op.result(a.dtype());
    if let (Encoded::Constant(_), Encoded::Constant(_)) = (a, b) {
        return Encoded::Constant(Encoded::filled(dtype, 1, |out| store(op, a, b, out)).get(0));
    }
    if let Some((ends, aligned)) = align([a, b].into_iter())
        && let Some(done) = by_segments(op, &ends, &aligned[0], &aligned[1])
    {
        return done;
    }
    Encoded::filled(dtype, n, |out| store(op, a, b, out))
}

/// Fills `out` with `a op b`. Operates per segment if one operand is dense and the other one has long segments.
pub(crate) fn store(op: BinaryOp, a: &Encoded<'_>, b: &Encoded<'_>, out: &mut [u8]) {
    let dtype = a.dtype();
    let (ends, first, many) = match (a, b) {
        (Encoded::Segments(ends, 0, first), Encoded::Dense(_, many))
        | (Encoded::Dense(_, many), Encoded::Segments(ends, 0, first))
            if is_long(ends) =>
        {
            (ends, first.dense(), many)
        }
        _ => return operations::binary(op, dtype, a.dense().operand(), b.dense().operand(), out),
    };
    let (size, out_size) = (dtype.size(), op.result(dtype).size());
    let mut start = 0;
    for (k, &end) in ends.iter().enumerate() {
        let positions = std::mem::replace(&mut start, end as usize)..end as usize;
        let many = AnyOperand::Dense(&many[positions.start * size..positions.end * size]);
        let one = AnyOperand::Constant(first.get(k));
        let (a, b) = if matches!(a, Encoded::Dense(..)) { (many, one) } else { (one, many) };
        operations::binary(op, dtype, a, b, &mut out[positions.start * out_size..positions.end * out_size]);
    }
}

/// Whether an operation per segment costs less than expanding the segments.
fn is_long(ends: &[u32]) -> bool {
    ends.last().is_some_and(|&n| n as usize >= MIN_LOOP_LEN * ends.len())
}

/// `a op b` for operands over common segments, if the result consists of segments.
fn by_segments<'a>(op: BinaryOp, ends: &Ends, a: &Aligned<'a>, b: &Aligned<'a>) -> Option<Encoded<'a>> {
    let firsts = |step| segments(ends.clone(), step, binary(op, ends.len(), &a.first, &b.first));
    if (a.step, b.step) == (0, 0) {
        return Some(firsts(0));
    }
    let [x, y] = [a, b].map(|operand| operand.first.dense());
    let (x, y) = (u32::operand(&x), u32::operand(&y));
    let in_range = || (a.step == 0 || stays_in_range(ends, x)) && (b.step == 0 || stays_in_range(ends, y));
    match (op, a.step, b.step) {
        (BinaryOp::Add, a, b) if (a + b).abs() <= 1 => Some(firsts(a + b)),
        (BinaryOp::Sub, a, b) if (a - b).abs() <= 1 => Some(firsts(a - b)),
        (_, -1, _) | (_, _, -1) => None,
        (BinaryOp::Lt | BinaryOp::Le, 1, 1) if in_range() => Some(firsts(0)),
        (BinaryOp::Lt | BinaryOp::Le, ..) if in_range() => Some(compare(op, ends, (a.step, x), y).flags()),
        (BinaryOp::Min, 1, 0) if in_range() => {
            let within = |(k, len): (usize, u32)| len == 0 || x.get(k) + (len - 1) <= y.get(k);
            lens(ends).enumerate().all(within).then(|| segments(ends.clone(), 1, a.first.clone()))
        }
        (BinaryOp::IndexDiv | BinaryOp::IndexRem, 1, 0) if in_range() => divide(op, ends, x, y),
        _ => None,
    }
}

/// A condition that changes at most once per segment.
pub(super) struct Prefixes {
    pub(super) ends: Ends,
    /// For each segment, the end of its prefix: the positions from its start at which the condition equals `hold`.
    pub(super) cuts: Dense<'static, u32>,
    /// The condition's value in the prefixes; the rest of each segment has the opposite value.
    pub(super) hold: bool,
}

/// The condition `a op b` as prefixes, if it compares an ascending sequence with one number per segment.
pub(super) fn prefixes<'a>(op: BinaryOp, a: &Encoded<'a>, b: &Encoded<'a>) -> Option<Prefixes> {
    let is_order = matches!(op, BinaryOp::Lt | BinaryOp::Le);
    let (ends, aligned) = is_order.then(|| align([a, b].into_iter()))??;
    let (a, b) = (&aligned[0], &aligned[1]);
    let (x, y) = (a.first.dense(), b.first.dense());
    let sequence = match (a.step, b.step) {
        (1, 0) => &x,
        (0, 1) => &y,
        _ => return None,
    };
    stays_in_range(&ends, u32::operand(sequence))
        .then(|| compare(op, &ends, (a.step, u32::operand(&x)), u32::operand(&y)))
}

/// Compares an ascending sequence that does not wrap with one number per segment. The left operand is the sequence if
/// its step is 1.
fn compare(op: BinaryOp, ends: &Ends, (step, a): (i32, Operand<'_, u32>), b: Operand<'_, u32>) -> Prefixes {
    let is_left = step == 1;
    let (sequence, bound) = if is_left { (a, b) } else { (b, a) };
    // Length of the prefix of `first, first + 1, …` below the bound, or up to the bound if `at_most`.
    let at_most = is_left == (op == BinaryOp::Le);
    let below = |first: u32, bound: u32| bound.saturating_sub(first).saturating_add((at_most && first <= bound).into());
    let cuts = Dense::filled(ends.len(), |cuts| {
        map2(sequence, bound, below, cuts);
        cuts[0] = cuts[0].min(ends[0]);
        for ((cut, &start), &end) in cuts[1..].iter_mut().zip(&ends[..]).zip(&ends[1..]) {
            *cut = end.min(start.saturating_add(*cut));
        }
    });
    Prefixes { cuts, hold: is_left, ends: ends.clone() }
}

impl Prefixes {
    /// The prefixes of a condition with one value per segment.
    pub(super) fn of_flags(ends: &Ends, flags: Operand<'_, u8>) -> Self {
        let cuts = Dense::filled(ends.len(), |cuts| {
            let mut start = 0;
            for (k, (cut, &end)) in cuts.iter_mut().zip(&ends[..]).enumerate() {
                *cut = if flags.get(k) != 0 { end } else { start };
                start = end;
            }
        });
        Self { cuts, hold: true, ends: ends.clone() }
    }

    /// The condition as run-length encoded flags.
    fn flags<'a>(&self) -> Encoded<'a> {
        let (ends, flags) = lists(2 * self.ends.len(), |ends, flags| {
            let (mut n, mut start) = (0, 0);
            for (&end, &prefix) in self.ends.iter().zip(&self.cuts[..]) {
                for (cut, flag) in [(prefix, self.hold), (end, !self.hold)] {
                    if cut > start {
                        n += usize::from(n == 0 || flags[n - 1] != u32::from(flag));
                        (ends[n - 1], flags[n - 1]) = (cut, flag.into());
                        start = cut;
                    }
                }
            }
            n
        });
        segments(ends, 0, cast(DType::Bool, flags.len(), &u32::wrap(flags)))
    }
}

/// Applies an operation to each value, once per segment for run-length encoded values.
fn map<'a>(n: usize, a: &Encoded<'a>, f: impl Fn(usize, &Encoded<'a>) -> Encoded<'a>) -> Encoded<'a> {
    match a {
        Encoded::Constant(_) => Encoded::Constant(f(1, a).get(0)),
        Encoded::Segments(ends, 0, first) => segments(ends.clone(), 0, f(ends.len(), &first.dense())),
        a => f(n, &a.dense()),
    }
}

/// `op a` at `n` positions, of dtype `result`.
pub(crate) fn unary<'a>(op: UnaryOp, result: DType, n: usize, a: &Encoded<'a>) -> Encoded<'a> {
    map(n, a, |n, a| Encoded::filled(result, n, |out| operations::unary(op, a.dtype(), a.operand(), out)))
}

/// The values converted to `to`.
pub(crate) fn cast<'a>(to: DType, n: usize, a: &Encoded<'a>) -> Encoded<'a> {
    map(n, a, |n, a| Encoded::filled(to, n, |out| operations::cast(a.dtype(), to, a.operand(), out)))
}

/// Reinterprets the bits of the values as another dtype of the same width.
pub(crate) fn bitcast<'a>(to: DType, n: usize, a: &Encoded<'a>) -> Encoded<'a> {
    match to {
        DType::Bool => cast(to, n, a),
        _ => map(n, a, |_, a| a.bitcast(to)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::random_encodings::{Random, dense, segments_of};
    use super::*;
    use crate::graph::scalar::Scalar;

    fn numbers(values: &[u32]) -> Encoded<'static> {
        u32::wrap(values.to_vec().into())
    }

    #[test]
    fn quotients_by_one_may_be_the_greatest_number() {
        let a = segments_of(&[1, 3], 1, numbers(&[u32::MAX, 0]));
        let one = Encoded::Constant(Scalar::U32(1));
        for by in [one.clone(), segments_of(&[1, 3], 0, one)] {
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
                    let expected = Encoded::filled(op.result(DType::U32), n as usize, |out| {
                        operations::binary(op, DType::U32, a.dense().operand(), b.dense().operand(), out);
                    });
                    assert_eq!(got, dense(n, &expected), "{op:?} of {a:?} and {b:?}");
                    let mut stored = vec![0; n as usize * op.result(DType::U32).size()];
                    store(op, a, b, &mut stored);
                    let AnyOperand::Dense(expected) = expected.operand() else { panic!("a constant") };
                    assert_eq!(stored, expected, "{op:?} of {a:?} and {b:?}");
                }
            }
        }
    }

    #[test]
    fn reversed_rows_stay_sequences() {
        let ends = [10, 30, 90];
        let runs = |values: [u32; 3]| segments_of(&ends, 0, numbers(&values));
        let index = segments_of(&[90], 1, numbers(&[0]));
        let offset = binary(BinaryOp::Sub, 90, &index, &runs([0, 10, 30]));
        let mirrored = binary(BinaryOp::Sub, 90, &runs([9, 19, 59]), &offset);
        let from = binary(BinaryOp::Add, 90, &runs([0, 10, 30]), &mirrored);
        let is = |encoded: &Encoded<'_>, step: i32, expected: [u32; 3]| match encoded {
            Encoded::Segments(_, s, first) => *s == step && u32::expanded(3, first)[..] == expected,
            _ => false,
        };
        assert!(is(&from, -1, [9, 29, 89]), "{from:?}");
        let len = binary(BinaryOp::Add, 90, &mirrored, &offset);
        assert!(is(&len, 0, [9, 19, 59]), "{len:?}");
    }

    #[test]
    fn prefixes_end_where_the_condition_changes() {
        let index = segments_of(&[4, 4, 10], 1, numbers(&[0, 0, 5]));
        let bound = segments_of(&[4, 4, 10], 0, numbers(&[3, 9, 2]));
        let found = prefixes(BinaryOp::Lt, &index, &bound).expect("a sequence and runs");
        assert_eq!((&found.cuts[..], found.hold), (&[3, 4, 4][..], true));
        let found = prefixes(BinaryOp::Le, &bound, &index).expect("runs and a sequence");
        assert_eq!((&found.cuts[..], found.hold), (&[3, 4, 4][..], false));
        assert!(prefixes(BinaryOp::Lt, &bound, &bound).is_none());
    }
}
