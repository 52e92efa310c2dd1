//! Segment copier: fills an output with segments of arrays and constants.
//!
//! A loop of segment-dependent length mispredicts its exit branch about once per segment, which costs as much as copying
//! 16 numbers. Short segments are therefore copied in a constant number of steps, past their ends; the next segment
//! overwrites the excess. Scattered segments are prefetched.

use super::array::ArrayElement;
use super::encoding::{Encoded, Step, Value, after, by_size};
use super::operand::{AnyOperand, Operand};
use super::output_writer::{OutputWriter, STEP, fixed_len};
use super::simd::{self, LINE, Loop};

/// Prefetch distance: in segments for scattered segments, in cache lines for single elements and for segments read
/// backwards. The hardware prefetcher covers ascending accesses only.
const PREFETCH_DISTANCE: usize = 32;

/// Segments are scattered if the span from the first to the last one exceeds this many times their elements.
const SCATTERED_SPAN: u32 = 2;

/// Segments are also scattered if more than one in `JUMPS_SHARE` begins more than [`NEAR_ELEMENTS`] elements from the
/// start of the previous one. (Nearby rows are cached.)
const JUMPS_SHARE: u32 = 8;
const NEAR_ELEMENTS: u32 = 4096;

/// A source of values for a part of each segment.
pub(super) struct Source<'a> {
    /// The elements of an array, or a constant.
    pub(super) from: AnyOperand<'a>,
    /// Step from element to element.
    pub(super) step: Step,
    /// For each segment, the index of the element at its start, of dtype u32.
    pub(super) first: Encoded<'a>,
    /// For each segment, the position at which the next source begins, of dtype u32. Positions beyond the end of the
    /// segment stand for its end.
    pub(super) cuts: Encoded<'a>,
}

/// Cuts of the last source of segments.
pub(super) const NO_CUTS: Encoded<'static> = Encoded::Constant(crate::graph::scalar::Scalar::U32(u32::MAX));

/// Fills `out`, whose elements have `size` bytes, with segments that end at `ends`. Each takes values from the sources,
/// one source after the other. An index out of range reads the last element.
pub(super) fn copy(size: usize, ends: &[u32], sources: &[Source<'_>], out: &mut [u8]) {
    by_size!(size, W => {
        let sources: Vec<Reader<'_, W>> = sources.iter().map(|source| Reader::new(source, ends)).collect();
        let (sources, out) = (&sources[..], OutputWriter::of(bytemuck::cast_slice_mut(out)));
        // Where parts have at most one step on average, few have more than two.
        if ends.last().is_some_and(|&n| n as usize <= STEP * ends.len() * sources.len()) {
            simd::run(Copy::<W, 2> { ends, sources, out });
        } else {
            simd::run(Copy::<W, 4> { ends, sources, out });
        }
    });
}

/// As [`copy`], for a single array.
pub(super) fn copy_segments(size: usize, from: &[u8], ends: &[u32], step: Step, first: &Encoded<'_>, out: &mut [u8]) {
    let source = Source { from: AnyOperand::Dense(from), step, first: first.clone(), cuts: NO_CUTS };
    copy(size, ends, &[source], out);
}

/// Fills `out`, whose elements have `size` bytes, with the elements of an array at the given indices. An index out of
/// range reads the last element.
pub(super) fn copy_elements(size: usize, from: &[u8], at: &[u32], out: &mut [u8]) {
    by_size!(size, W => {
        let (from, out): (&[W], &mut [W]) = (bytemuck::cast_slice(from), bytemuck::cast_slice_mut(out));
        let (last, line) = (from.len() - 1, LINE / size);
        // One prefetch per cache line's worth of elements suffices for consecutive indices.
        for (k, (out, own)) in out.chunks_mut(line).zip(at.chunks(line)).enumerate() {
            if let Some(&next) = at.get((k + PREFETCH_DISTANCE) * line) {
                simd::prefetch(from, next as usize);
            }
            for (out, &at) in out.iter_mut().zip(own) {
                *out = from[(at as usize).min(last)];
            }
        }
    });
}

/// A source of values of a type.
struct Reader<'l, W> {
    from: Operand<'l, W>,
    step: Step,
    first: Operand<'l, u32>,
    cuts: Operand<'l, u32>,
    /// Whether the segments are scattered and need prefetching.
    scattered: bool,
}

/// Counts the segments that begin far from the previous one.
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

impl<'l, W: ArrayElement> Reader<'l, W> {
    fn new(source: &'l Source<'_>, ends: &[u32]) -> Self {
        let first = u32::operand(&source.first);
        let scattered = match first {
            Operand::Dense(first) => {
                let span = first[first.len() - 1].saturating_sub(first[0]);
                span / SCATTERED_SPAN > ends[ends.len() - 1]
                    || simd::run(Jumps(first)) > first.len() as u32 / JUMPS_SHARE
            }
            Operand::Constant(_) => false,
        };
        Self { from: source.from.of(), step: source.step, first, cuts: u32::operand(&source.cuts), scattered }
    }

    /// Stores `len` values of a segment from offset `skipped` on, in a constant number of steps if `len` is at most
    /// `fixed_len`.
    #[inline(always)]
    fn take(&self, segment: usize, skipped: u32, len: usize, fixed_len: usize, out: &mut OutputWriter<'_, W>) {
        match (self.from, self.step) {
            (Operand::Constant(value), _) => out.generate(len, |_| value),
            (Operand::Dense(from), 1) => self.forward(from, segment, skipped, len, fixed_len, out),
            (Operand::Dense(from), _) => self.backward(from, segment, skipped, len, fixed_len, out),
        }
    }

    /// As [`Reader::take`], for elements of an array read forwards.
    #[inline(always)]
    fn forward(
        &self,
        from: &[W],
        segment: usize,
        skipped: u32,
        len: usize,
        fixed_len: usize,
        out: &mut OutputWriter<'_, W>,
    ) {
        let first = self.first.get(segment).wrapping_add(skipped) as usize;
        if first + len > from.len() {
            return self.clamped(from, first as u32, 1, len, out);
        }
        if self.scattered {
            self.prefetch(from, segment + PREFETCH_DISTANCE, fixed_len);
        }
        out.copy(from, first, len, fixed_len);
    }

    /// As [`Reader::take`], for elements of an array read backwards, or one element repeated. Not inlined, to keep loops
    /// over other sources small.
    #[inline(never)]
    fn backward(
        &self,
        from: &[W],
        segment: usize,
        skipped: u32,
        len: usize,
        fixed_len: usize,
        out: &mut OutputWriter<'_, W>,
    ) {
        let first = after(self.first.get(segment), self.step, skipped);
        let at = first as usize;
        if self.step == 0 || at >= from.len() || len > at + 1 {
            return self.clamped(from, first, self.step, len, out);
        }
        if self.scattered {
            self.prefetch(from, segment + PREFETCH_DISTANCE, fixed_len);
        }
        // Later rows begin behind the segment in memory; the hardware prefetcher follows the descending accesses
        // instead. A constant number of lines for short segments avoids a branch misprediction.
        let line = LINE / size_of::<W>();
        for k in 0..len.max(fixed_len).min(PREFETCH_DISTANCE * line).div_ceil(line) {
            simd::prefetch(from, (at + PREFETCH_DISTANCE * line).wrapping_sub(k * line));
        }
        out.copy_back(from, at, len, fixed_len);
    }

    /// Stores the elements at `len` indices from `first` on, some of which may be out of range.
    #[inline(never)]
    fn clamped(&self, from: &[W], first: u32, step: Step, len: usize, out: &mut OutputWriter<'_, W>) {
        out.generate(len, |k| from[(after(first, step, k) as usize).min(from.len() - 1)]);
    }

    /// Prefetches the first elements of a later segment. The hardware prefetcher covers the rest of long segments.
    #[inline(always)]
    fn prefetch(&self, from: &[W], segment: usize, fixed_len: usize) {
        let Operand::Dense(first) = self.first else { return };
        let Some(&first) = first.get(segment) else { return };
        let line = LINE / size_of::<W>();
        for k in 0..=fixed_len.div_ceil(line) {
            simd::prefetch(from, after(first, self.step, (k * line).min(fixed_len - 1) as u32) as usize);
        }
    }
}

/// Copies all segments. Parts of up to `STEPS` steps, or fewer for large elements, are written in a constant number of
/// steps.
struct Copy<'l, 'o, W, const STEPS: usize> {
    ends: &'l [u32],
    sources: &'l [Reader<'l, W>],
    out: OutputWriter<'o, W>,
}

impl<W: ArrayElement, const STEPS: usize> Loop for Copy<'_, '_, W, STEPS> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { ends, sources, mut out } = self;
        let fixed_len = fixed_len::<W>().min(STEPS * STEP);
        let mut start = 0;
        // Loops for one source, and for two arrays read forwards, avoid a match per segment.
        match sources {
            [Reader { from: Operand::Dense(from), step: 1, first: Operand::Dense(_), .. }] => {
                for (segment, &end) in ends.iter().enumerate() {
                    sources[0].forward(from, segment, 0, (end - start) as usize, fixed_len, &mut out);
                    start = end;
                }
            }
            [
                a @ Reader { from: Operand::Dense(from_a), step: 1, cuts: Operand::Dense(cuts), .. },
                b @ Reader { from: Operand::Dense(from_b), step: 1, .. },
            ] => {
                for (segment, (&end, &cut)) in ends.iter().zip(*cuts).enumerate() {
                    let cut = end.min(cut).max(start);
                    a.forward(from_a, segment, 0, (cut - start) as usize, fixed_len, &mut out);
                    b.forward(from_b, segment, cut - start, (end - cut) as usize, fixed_len, &mut out);
                    start = end;
                }
            }
            _ => {
                for (segment, &end) in ends.iter().enumerate() {
                    let mut at = start;
                    for source in sources {
                        let to = end.min(source.cuts.get(segment)).max(at);
                        source.take(segment, at - start, (to - at) as usize, fixed_len, &mut out);
                        at = to;
                    }
                    start = end;
                }
            }
        }
    }
}
