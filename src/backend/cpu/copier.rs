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
        if longest(ends) <= STEP as u32 {
            simd::run(Copy::<W, 1> { ends, sources, out });
        } else if ends.last().is_some_and(|&n| n as usize <= STEP * ends.len() * sources.len()) {
            simd::run(Copy::<W, 2> { ends, sources, out });
        } else {
            simd::run(Copy::<W, 4> { ends, sources, out });
        }
    });
}

/// Length of the longest segment.
fn longest(ends: &[u32]) -> u32 {
    let pairs = ends.iter().zip(ends.get(1..).unwrap_or_default());
    pairs.fold(ends.first().copied().unwrap_or(0), |longest, (start, end)| longest.max(end - start))
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
    values: Values<'l, W>,
    cuts: Operand<'l, u32>,
}

enum Values<'l, W> {
    Constant(W),
    /// Consecutive elements of an array.
    Forward(Elements<'l, W>),
    /// Elements of an array with another step.
    Other(Elements<'l, W>, Step),
}

/// Elements of an array, from the first one of each segment on.
struct Elements<'l, W> {
    from: &'l [W],
    first: &'l [u32],
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
        let values = match (source.from.of(), u32::operand(&source.first)) {
            (Operand::Constant(value), _) => Values::Constant(value),
            (Operand::Dense(from), Operand::Constant(at)) => Values::Constant(from[(at as usize).min(from.len() - 1)]),
            (Operand::Dense(from), Operand::Dense(first)) => {
                let span = first[first.len() - 1].saturating_sub(first[0]);
                let scattered = span / SCATTERED_SPAN > ends[ends.len() - 1]
                    || simd::run(Jumps(first)) > first.len() as u32 / JUMPS_SHARE;
                let elements = Elements { from, first, scattered };
                if source.step == 1 { Values::Forward(elements) } else { Values::Other(elements, source.step) }
            }
        };
        Self { values, cuts: u32::operand(&source.cuts) }
    }

    /// Stores `len` values of a segment from offset `skipped` on, in a constant number of steps if `len` is at most
    /// `fixed_len`.
    #[inline(always)]
    fn take(&self, segment: usize, skipped: u32, len: usize, fixed_len: usize, out: &mut OutputWriter<'_, W>) {
        match &self.values {
            // Copied, since stores to the output might change a value in memory, as far as the compiler knows.
            &Values::Constant(value) => out.generate(len, move |_| value),
            Values::Forward(elements) => {
                elements.forward(segment, elements.first[segment].wrapping_add(skipped), len, fixed_len, out);
            }
            Values::Other(elements, -1) => {
                elements.backward(segment, elements.first[segment].wrapping_sub(skipped), len, fixed_len, out);
            }
            Values::Other(Elements { from, first, .. }, _) => {
                let value = from[(first[segment] as usize).min(from.len() - 1)];
                out.generate(len, |_| value);
            }
        }
    }
}

impl<W: ArrayElement> Elements<'_, W> {
    /// Stores `len` consecutive elements from `first` on.
    #[inline(always)]
    fn forward(&self, segment: usize, first: u32, len: usize, fixed_len: usize, out: &mut OutputWriter<'_, W>) {
        if first as usize + len > self.from.len() {
            return self.clamped(first, 1, len, out);
        }
        if self.scattered {
            self.prefetch(segment + PREFETCH_DISTANCE, 1, fixed_len);
        }
        out.copy(self.from, first as usize, len, fixed_len);
    }

    /// Stores `len` consecutive elements from `first` on, backwards.
    #[inline(always)]
    fn backward(&self, segment: usize, first: u32, len: usize, fixed_len: usize, out: &mut OutputWriter<'_, W>) {
        let (at, line) = (first as usize, LINE / size_of::<W>());
        if at >= self.from.len() || len > at + 1 {
            return self.clamped(first, -1, len, out);
        }
        if self.scattered {
            self.prefetch(segment + PREFETCH_DISTANCE, -1, fixed_len);
        }
        // Later rows begin behind the segment in memory; the hardware prefetcher follows the descending accesses
        // instead. A constant number of lines for short segments avoids a branch misprediction.
        let lines = if len <= fixed_len { fixed_len } else { len.min(PREFETCH_DISTANCE * line) }.div_ceil(line);
        for k in 0..lines {
            simd::prefetch(self.from, (at + PREFETCH_DISTANCE * line).wrapping_sub(k * line));
        }
        out.copy_back(self.from, at, len, fixed_len);
    }

    /// Stores the elements at `len` indices from `first` on, some of which may be out of range. Inlined: a call would keep
    /// the writer's state in memory, which costs the loops over segments 15 % to 40 %.
    #[inline(always)]
    fn clamped(&self, first: u32, step: Step, len: usize, out: &mut OutputWriter<'_, W>) {
        out.generate(len, |k| self.from[(after(first, step, k) as usize).min(self.from.len() - 1)]);
    }

    /// Prefetches the first elements of a later segment. The hardware prefetcher covers the rest of long segments.
    #[inline(always)]
    fn prefetch(&self, segment: usize, step: Step, fixed_len: usize) {
        let Some(&first) = self.first.get(segment) else { return };
        let line = LINE / size_of::<W>();
        for k in 0..=fixed_len.div_ceil(line) {
            simd::prefetch(self.from, after(first, step, (k * line).min(fixed_len - 1) as u32) as usize);
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
        // Loops for slices, gathers, concatenations and paddings avoid a match per part.
        match sources {
            [Reader { values: Values::Forward(a), .. }] => {
                for (segment, (&end, &first)) in ends.iter().zip(a.first).enumerate() {
                    a.forward(segment, first, (end - start) as usize, fixed_len, &mut out);
                    start = end;
                }
            }
            [Reader { values: Values::Forward(a), cuts: Operand::Dense(cuts) }, b] => {
                for (segment, ((&end, &first), &cut)) in ends.iter().zip(a.first).zip(*cuts).enumerate() {
                    let cut = end.min(cut).max(start);
                    a.forward(segment, first, (cut - start) as usize, fixed_len, &mut out);
                    b.take(segment, cut - start, (end - cut) as usize, fixed_len, &mut out);
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
