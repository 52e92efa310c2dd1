//! Quotients and remainders of sequences by one divisor per segment. Between two multiples of the divisor, quotients are
//! constant and remainders are a sequence.

use super::encoding::{Encoded, Value, lists};
use super::operand::Operand;
use super::segments::segments;
use crate::graph::opcode::BinaryOp;

/// Average length of the parts below which they are expanded to a dense encoding. Otherwise the segments of other
/// operands would be refined to such short parts as well.
const MIN_PART_LEN: usize = 4;

/// Quotients or remainders of ascending sequences, which must not overflow, by one number per segment. `None` on
/// division by 0.
pub(super) fn divide<'a>(
    op: BinaryOp,
    ends: &[u32],
    first: Operand<'_, u32>,
    by: Operand<'_, u32>,
) -> Option<Encoded<'a>> {
    let is_quotient = op == BinaryOp::IndexDiv;
    let n = ends.last().map_or(0, |&n| n as usize);
    let mut is_defined = true;
    let (cuts, values) = lists(n, |cuts, values| {
        if let (&[n], by @ 1..) = (ends, by.get(0)) {
            return divide_one(is_quotient, n, first.get(0), by, cuts, values);
        }
        let (mut parts, mut start) = (0, 0);
        for (k, &end) in ends.iter().enumerate() {
            let (first, by) = (first.get(k), by.get(k));
            if start < end && by == 0 {
                is_defined = false;
                break;
            }
            // Numbers below the divisor avoid the division.
            let (mut quotient, mut rest) = if first < by || by == 0 { (0, first) } else { (first / by, first % by) };
            while start < end {
                start = end.min(start.saturating_add(by - rest));
                cuts[parts] = start;
                values[parts] = if is_quotient { quotient } else { rest };
                parts += 1;
                // The quotient overflows only after the last part, where it is unused.
                (quotient, rest) = (quotient.wrapping_add(1), 0);
            }
        }
        parts
    });
    if !is_defined {
        return None;
    }
    let is_fine = n < MIN_PART_LEN * cuts.len();
    let out = segments(cuts, i32::from(!is_quotient), u32::wrap(values));
    Some(if is_fine { out.dense() } else { out })
}

/// Divides one segment of `n` positions, in loops that the compiler vectorizes. Returns the number of parts.
fn divide_one(is_quotient: bool, n: u32, first: u32, by: u32, cuts: &mut [u32], values: &mut [u32]) -> usize {
    let (quotient, rest) = (first / by, first % by);
    let parts = (u64::from(rest) + u64::from(n)).div_ceil(by.into()) as usize;
    for (cut, k) in cuts[..parts].iter_mut().zip(1u32..) {
        *cut = k.wrapping_mul(by).wrapping_sub(rest);
    }
    cuts[parts - 1] = n;
    for (value, k) in values[..parts].iter_mut().zip(0..) {
        *value = if is_quotient { quotient + k } else { 0 };
    }
    if !is_quotient {
        values[0] = rest;
    }
    parts
}
