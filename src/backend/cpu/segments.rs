//! Segments: construction, alignment of several operands to common segments, and selections of positions.

use std::rc::Rc;

use super::copier::{NO_CUTS, Source, copy, copy_elements, copy_segments};
use super::encoding::{Dense, Encoded, Ends, Step, Value, after, by_size, lists};
use super::loops;
use super::operand::Operand;
use super::simd::{self, Loop};
use crate::dtype::DType;
use crate::graph::scalar::Scalar;

/// A range of positions: its start and its end.
pub(crate) type Range = (u32, u32);

/// Least average segment length, in positions, at which segments cost less than a dense encoding.
pub(super) const MIN_LEN: usize = 2;

/// Segments with the given step and first values. Dense if the segments are too short, constant if all values are known
/// to be equal.
pub(crate) fn segments<'a>(ends: Ends, step: Step, first: Encoded<'a>) -> Encoded<'a> {
    let first = match first {
        Encoded::Constant(_) if step == 0 => return first,
        Encoded::Constant(_) => u32::wrap(u32::expanded(ends.len(), &first)),
        Encoded::Dense(DType::Bool, ref flags) if flags.iter().all(|&flag| flag == flags[0]) => {
            return Encoded::Constant(Scalar::Bool(flags[0] != 0));
        }
        Encoded::Segments(ref ends, 1, _) if step == 0 && ends.len() == 1 => first,
        _ => first.dense(),
    };
    let is_short = ends.last().is_some_and(|&n| (n as usize) < MIN_LEN * ends.len());
    let out = Encoded::Segments(ends, step, Rc::new(first));
    if is_short { out.dense() } else { out }
}

/// Length of each segment, in positions.
pub(super) fn lens(ends: &[u32]) -> impl Iterator<Item = u32> {
    let starts = [0].into_iter().chain(ends.iter().copied());
    ends.iter().zip(starts).map(|(end, start)| end - start)
}

/// The maximum of the numbers, or 0 if there are none.
struct Greatest<'l>(&'l [u32]);

impl Loop for Greatest<'_> {
    type Output = u32;
    #[inline(always)]
    fn run(self) -> u32 {
        self.0.iter().fold(0, |greatest, &x| greatest.max(x))
    }
}

/// Whether no ascending sequence overflows u32.
pub(super) fn stays_in_range(ends: &[u32], first: Operand<'_, u32>) -> bool {
    let stays_in_range = |first: u32, len: u32| first.checked_add(len.saturating_sub(1)).is_some();
    let Some(&n) = ends.last() else { return true };
    let greatest = match first {
        Operand::Constant(first) => first,
        Operand::Dense(first) => simd::run(Greatest(first)),
    };
    // No sequence is longer than all `n` positions. This bound suffices in most cases.
    stays_in_range(greatest, n) || lens(ends).enumerate().all(|(k, len)| stays_in_range(first.get(k), len))
}

/// Ends of the common segments: each lies within one segment of `a` and one of `b`.
pub(super) fn common_ends(a: &Ends, b: &Ends) -> Ends {
    if b.len() == 1 || a == b {
        return a.clone();
    }
    if a.len() == 1 {
        return b.clone();
    }
    let ends = Dense::collected(a.len() + b.len(), |ends| {
        let (a, b): (&[u32], &[u32]) = (a, b);
        let (mut i, mut j, mut n) = (0, 0, 0);
        while i < a.len() && j < b.len() {
            let end = a[i].min(b[j]);
            ends[n] = end;
            n += 1;
            i += usize::from(a[i] == end);
            j += usize::from(b[j] == end);
        }
        n
    });
    // Shares a list that already contains all ends: later comparisons of the same list take constant time.
    if ends == *a {
        a.clone()
    } else if ends == *b {
        b.clone()
    } else {
        ends
    }
}

/// Calls `f` for each part of a segment that the ranges of positions select, with the segment, the part's offset in the
/// segment, and the number of selected positions up to the part's end. Each range has at least one part.
#[inline(always)]
fn for_each_part(ends: &[u32], ranges: impl Iterator<Item = (u32, u32)>, mut f: impl FnMut(usize, u32, u32)) {
    let (mut segment, mut start, mut end) = (0, 0, 0);
    for (mut from, to) in ranges {
        loop {
            while ends[segment] <= from && segment + 1 < ends.len() {
                start = ends[segment];
                segment += 1;
            }
            let next = ends[segment].min(to).max(from);
            end += next - from;
            f(segment, from - start, end);
            from = next;
            if from >= to {
                break;
            }
        }
    }
}

/// The ends and first values of the selected parts of segments, of which there are at most `most`, at the positions to
/// which `place` moves their ends. The first one is preceded by a part of `lead` positions with an arbitrary value.
fn parts<'x>(
    (ends, step, first): (&Ends, Step, &Encoded<'_>),
    ranges: impl Iterator<Item = Range>,
    most: usize,
    lead: u32,
    mut place: impl FnMut(u32) -> u32,
) -> (Ends, Encoded<'x>) {
    let dense = first.dense();
    let (cuts, list) = lists(most, |cuts, list| {
        let mut n = 0;
        let mut add = |value, cut| {
            (cuts[n], list[n]) = (cut, value);
            n += 1;
        };
        if lead > 0 {
            add(0, lead);
        }
        match step {
            0 => for_each_part(ends, ranges, |segment, _, end| add(segment as u32, place(end))),
            _ => {
                let first = u32::operand(&dense);
                let value = |segment, skipped| after(first.get(segment), step, skipped);
                for_each_part(ends, ranges, |segment, skipped, end| add(value(segment, skipped), place(end)));
            }
        }
        n
    });
    let first = if step == 0 { gather(&dense, &list) } else { u32::wrap(list) };
    (cuts, first)
}

/// The values at the given positions of a constant or dense encoding.
fn gather<'x>(values: &Encoded<'_>, at: &[u32]) -> Encoded<'x> {
    match values {
        Encoded::Constant(s) => Encoded::Constant(*s),
        Encoded::Dense(dtype, bytes) => {
            let size = dtype.size();
            Encoded::filled(*dtype, at.len(), |out| copy_elements(size, bytes, at, out))
        }
        Encoded::Segments(..) => gather(&values.dense(), at),
    }
}

/// First values of segments, for the segments `ends` that refine those that end at `before`.
pub(super) fn refined<'a>(before: &Ends, step: Step, first: &Encoded<'a>, ends: &Ends) -> Encoded<'a> {
    if before == ends {
        return first.clone();
    }
    let dense = first.dense();
    if before.len() == 1 && step == 0 {
        return Encoded::Constant(dense.get(0));
    }
    // The containing segment, or the value at the start of the segment.
    let list = Dense::filled(ends.len(), |list| {
        let (first, before): (_, &[u32]) = (if step == 0 { None } else { Some(u32::operand(&dense)) }, before);
        let (mut around, mut start, mut start_around) = (0, 0, 0);
        for (out, &end) in list.iter_mut().zip(&ends[..]) {
            while before[around] <= start && around + 1 < before.len() {
                start_around = before[around];
                around += 1;
            }
            *out = first.map_or(around as u32, |first| after(first.get(around), step, start - start_around));
            start = end;
        }
    });
    if step == 0 { gather(&dense, &list) } else { u32::wrap(list) }
}

/// One operand over common segments.
pub(super) struct Aligned<'a> {
    /// The first value of each segment: constant, dense, or one ascending sequence.
    pub(super) first: Encoded<'a>,
    pub(super) step: Step,
}

/// The operands over common segments, if none of them is dense and at least one has segments.
pub(super) fn align<'e, 'a: 'e>(
    operands: impl Iterator<Item = &'e Encoded<'a>> + Clone,
) -> Option<(Ends, Vec<Aligned<'a>>)> {
    let mut ends: Option<Ends> = None;
    for operand in operands.clone() {
        match (operand, &ends) {
            (Encoded::Dense(..), _) => return None,
            (Encoded::Segments(own, ..), Some(others)) => ends = Some(common_ends(others, own)),
            (Encoded::Segments(own, ..), None) => ends = Some(own.clone()),
            (Encoded::Constant(_), _) => {}
        }
    }
    let ends = ends?;
    let aligned = operands.map(|operand| match operand {
        Encoded::Segments(own, step, first) => Aligned { first: refined(own, *step, first, &ends), step: *step },
        same => Aligned { first: same.clone(), step: 0 },
    });
    Some((ends.clone(), aligned.collect()))
}

/// Restricts values to ascending ranges of positions.
pub(crate) fn restrict<'a>(encoded: &Encoded<'a>, ranges: &[Range]) -> Encoded<'a> {
    match encoded {
        Encoded::Constant(s) => Encoded::Constant(*s),
        Encoded::Segments(ends, step, first) => {
            let most = ranges.len() + ends.len();
            let (cuts, first) = parts((ends, *step, first), ranges.iter().copied(), most, 0, |end| end);
            segments(cuts, *step, first)
        }
        Encoded::Dense(dtype, bytes) => match ranges {
            &[(from, to)] => encoded.slice(from as usize..to as usize),
            _ => {
                let mut n = 0;
                let (ends, first) = lists(ranges.len(), |ends, first| {
                    for (k, &(from, to)) in ranges.iter().enumerate() {
                        n += to - from;
                        (ends[k], first[k]) = (n, from);
                    }
                    ranges.len()
                });
                Encoded::filled(*dtype, n as usize, |out| {
                    copy_segments(dtype.size(), bytes, &ends, 1, &u32::wrap(first), out);
                })
            }
        },
    }
}

/// Inverse of [`restrict`]: constants and segments at ascending ranges among `n` positions, with arbitrary values elsewhere.
fn spread<'x>(n: usize, encoded: &Encoded<'_>, ranges: &[Range]) -> Encoded<'x> {
    let (ends, step, first) = match encoded {
        Encoded::Segments(ends, step, first) => (ends, *step, first),
        constant => return Encoded::Constant(constant.get(0)),
    };
    let (mut k, mut start) = (0, 0);
    // Each range extends to the next one.
    let place = |end| {
        let (from, to) = ranges[k];
        if end - start < to - from {
            return from + (end - start);
        }
        (k, start) = (k + 1, end);
        ranges.get(k).map_or(n as u32, |next| next.0)
    };
    let own = ranges.iter().scan(0, |start, (from, to)| {
        let own = (*start, *start + (to - from));
        *start = own.1;
        Some(own)
    });
    let most = ranges.len() + ends.len() + 1;
    let (cuts, first) = parts((ends, step, first), own, most, ranges[0].0, place);
    segments(cuts, step, first)
}

/// The positions at which a condition holds, and the other ones.
pub(crate) fn partition(condition: &Encoded<'_>) -> [Vec<Range>; 2] {
    let mut sides = [Vec::new(), Vec::new()];
    let mut add = |start, end, flag| {
        let side: &mut Vec<Range> = &mut sides[usize::from(flag == 0)];
        match side.last_mut() {
            Some(last) if last.1 == start => last.1 = end,
            _ if start < end => side.push((start, end)),
            _ => {}
        }
    };
    match condition {
        Encoded::Segments(ends, _, flags) => {
            let flags = u8::operand(flags);
            let starts = [0].into_iter().chain(ends.iter().copied());
            ends.iter().zip(starts).enumerate().for_each(|(k, (&end, start))| add(start, end, flags.get(k)));
        }
        Encoded::Dense(_, flags) => (0..).zip(flags.iter()).for_each(|(k, &flag)| add(k, k + 1, flag)),
        Encoded::Constant(_) => unreachable!("bug: a partition by a constant"),
    }
    sides
}

/// Merges the values of two branches that were evaluated at their own ranges of positions only.
pub(crate) fn merge<'a>(
    n: usize,
    condition: &Encoded<'a>,
    (a, at_a): (&Encoded<'_>, &[Range]),
    (b, at_b): (&Encoded<'_>, &[Range]),
) -> Encoded<'a> {
    if !matches!((a, b), (Encoded::Dense(..), _) | (_, Encoded::Dense(..))) {
        return blend(n, condition, &spread(n, a, at_a), &spread(n, b, at_b));
    }
    // The ranges alternate. Each segment has a range of `a`, which is empty in the first one if `b` begins, and one of
    // `b`, which is empty in the last one if `a` ends.
    let lead = usize::from(at_b[0].0 == 0);
    let cuts: Vec<u32> = std::iter::repeat_n(0, lead).chain(at_a.iter().map(|range| range.1)).collect();
    let ends: Vec<u32> = at_b.iter().map(|range| range.1).chain([n as u32]).take(cuts.len()).collect();
    let (mut of_a, mut of_b, mut start) = (0, 0, 0);
    let (first_of_a, first_of_b) = lists(cuts.len(), |first_of_a, first_of_b| {
        for (k, (&cut, &end)) in cuts.iter().zip(&ends).enumerate() {
            (first_of_a[k], first_of_b[k]) = (of_a, u32::wrapping_sub(of_b, cut - start));
            of_a += cut - start;
            of_b += end - cut;
            start = end;
        }
        cuts.len()
    });
    let (a, b, dtype) = (a.dense(), b.dense(), a.dtype());
    let sources = [(&a, first_of_a, u32::wrap(cuts.into())), (&b, first_of_b, NO_CUTS)];
    let sources =
        sources.map(|(of, first, cuts)| Source { from: of.operand(), step: 1, first: u32::wrap(first), cuts });
    Encoded::filled(dtype, n, |out| copy(dtype.size(), &ends, &sources, out))
}

/// Blends two branches that were evaluated at all positions: `a` where the condition holds, else `b`. Blends per segment
/// if no operand is dense and both branches have the same step.
pub(crate) fn blend<'a>(n: usize, condition: &Encoded<'a>, a: &Encoded<'a>, b: &Encoded<'a>) -> Encoded<'a> {
    if let Some((ends, aligned)) = align([condition, a, b].into_iter())
        && aligned[1].step == aligned[2].step
    {
        let [condition, a, b] = [0, 1, 2].map(|k| aligned[k].first.dense());
        return segments(ends.clone(), aligned[1].step, blend(ends.len(), &condition, &a, &b));
    }
    let (condition, a, b) = (u8::expanded(n, condition), a.dense(), b.dense());
    Encoded::filled(a.dtype(), n, |out| {
        by_size!(a.dtype().size(), W => {
            loops::blend::<W>(&condition, a.operand().of(), b.operand().of(), bytemuck::cast_slice_mut(out));
        });
    })
}

#[cfg(test)]
mod tests {
    use super::super::random_encodings::{Random, dense, segments_of};
    use super::*;

    #[test]
    fn common_segments_end_where_either_does() {
        let common = |a: &[u32], b: &[u32]| common_ends(&a.to_vec().into(), &b.to_vec().into()).to_vec();
        assert_eq!(common(&[3, 5], &[2, 3, 5]), [2, 3, 5]);
        assert_eq!(common(&[1, 3, 5], &[2, 5]), [1, 2, 3, 5]);
        assert_eq!(common(&[5], &[2, 5]), [2, 5]);
        // The result has as many segments as the first list, but without its empty last segment.
        assert_eq!(common(&[3, 5, 5], &[2, 3, 5]), [2, 3, 5]);
        assert_eq!(common(&[3, 3, 5], &[3, 5]), [3, 3, 5]);
    }

    #[test]
    fn the_finer_list_of_ends_is_shared() {
        let (fine, coarse): (Ends, Ends) = (vec![2, 3, 5].into(), vec![3, 5].into());
        for common in [common_ends(&fine, &coarse), common_ends(&coarse, &fine)] {
            assert!(std::ptr::eq(&common[..], &fine[..]));
        }
    }

    #[test]
    fn merging_inverts_restricting() {
        let mut random = Random(3);
        for _ in 0..3000 {
            let n = 1 + random.below(300);
            let (a, b) = (random.encoded(n), random.encoded(n));
            let ends = random.ends(n);
            let flags: Vec<u8> = (0..ends.len()).map(|_| random.below(2) as u8).collect();
            let runs = segments_of(&ends, 0, Encoded::flags(flags.into()));
            let each = u8::expanded(n as usize, &runs);
            let [in_a, in_b] = partition(&runs);
            if in_a.is_empty() || in_b.is_empty() {
                continue;
            }
            let [of_a, of_b] = [&a, &b].map(|values| dense(n, values));
            let restricted = |values: &[u32], flag| -> Vec<u32> {
                values.iter().zip(&each[..]).filter(|(_, f)| **f == flag).map(|(value, _)| *value).collect()
            };
            let (x, y) = (restrict(&a, &in_a), restrict(&b, &in_b));
            let (of_x, of_y) = (restricted(&of_a, 1), restricted(&of_b, 0));
            assert_eq!(dense(of_x.len() as u32, &x), of_x, "{a:?} at {in_a:?}");
            assert_eq!(dense(of_y.len() as u32, &y), of_y, "{b:?} at {in_b:?}");
            let expected: Vec<u32> = (0..n as usize).map(|k| if each[k] != 0 { of_a[k] } else { of_b[k] }).collect();
            for condition in [&runs, &runs.dense()] {
                let [in_a, in_b] = partition(condition);
                let merged = merge(n as usize, condition, (&x, &in_a), (&y, &in_b));
                assert_eq!(dense(n, &merged), expected, "{a:?} and {b:?} by {condition:?}");
                assert_eq!(dense(n, &blend(n as usize, condition, &a, &b)), expected, "{a:?} and {b:?}");
            }
        }
    }
}
