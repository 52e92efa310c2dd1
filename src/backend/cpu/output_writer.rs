//! Output writer for runs of elements, optimized for short runs.

use std::ops::DerefMut;

/// Elements written at a time.
pub(crate) const STEP: usize = 8;

/// Elements written for a run of at most as many elements. A loop of run-dependent length would mispredict its exit
/// branch, which costs more than a few stores of cached elements.
pub(crate) const fn fixed_len<T>() -> usize {
    if size_of::<T>() <= 4 { 4 * STEP } else { 2 * STEP }
}

/// As [`fixed_len`], for a run of one value, which needs no loads.
const FIXED_REPEAT_LEN: usize = 4 * STEP;

/// Append-only writer. A run is written in whole steps, past its end if the output has room; the next run overwrites
/// the excess.
pub(crate) struct OutputWriter<B> {
    out: B,
    len: usize,
}

impl<T: Copy + Default> OutputWriter<Vec<T>> {
    /// Writer to a new vector with room for `n` elements.
    pub(crate) fn new(n: usize) -> Self {
        // Padding, so that a short last run is written in whole steps too.
        Self { out: vec![T::default(); n + FIXED_REPEAT_LEN], len: 0 }
    }

    /// The elements written.
    pub(crate) fn finish(mut self) -> Vec<T> {
        self.out.truncate(self.len);
        self.out
    }
}

impl<'o, T> OutputWriter<&'o mut [T]> {
    /// Writer to a slice, from its start.
    pub(crate) fn of(out: &'o mut [T]) -> Self {
        Self { out, len: 0 }
    }

    /// Length of the slice.
    pub(crate) fn room(&self) -> usize {
        self.out.len()
    }
}

impl<T: Copy, B: DerefMut<Target = [T]>> OutputWriter<B> {
    /// Appends a value `len` times.
    #[inline(always)]
    pub(crate) fn repeat(&mut self, value: T, len: usize) {
        let start = self.len;
        self.len += len;
        if len <= FIXED_REPEAT_LEN
            && let Some(room) = self.out.get_mut(start..start + FIXED_REPEAT_LEN)
        {
            return room.fill(value);
        }
        match self.out.get_mut(start..start + len.next_multiple_of(STEP)) {
            Some(room) => room.as_chunks_mut().0.fill([value; STEP]),
            None => self.out[start..start + len].fill(value),
        }
    }

    /// Appends the values.
    #[inline(always)]
    pub(crate) fn extend(&mut self, values: impl ExactSizeIterator<Item = T>) {
        let start = self.len;
        self.len += values.len();
        for (slot, value) in self.out[start..self.len].iter_mut().zip(values) {
            *slot = value;
        }
    }

    /// Appends `from[start..start + len]`. A run of at most `fixed_len` elements is written as `fixed_len` elements,
    /// which is a compile-time constant.
    #[inline(always)]
    pub(crate) fn copy(&mut self, from: &[T], start: usize, len: usize, fixed_len: usize) {
        let at = self.len;
        if len <= fixed_len
            && let (Some(room), Some(from)) = (self.out.get_mut(at..at + fixed_len), from.get(start..start + fixed_len))
        {
            self.len += len;
            room.copy_from_slice(from);
        } else {
            self.convert(from, start, len, |x| x);
        }
    }

    /// Appends the `len` elements `from[first]`, `from[first - 1]`, …. A run of at most `fixed_len` elements is written
    /// as `fixed_len` elements, which is a compile-time constant.
    #[inline(always)]
    pub(crate) fn copy_back(&mut self, from: &[T], first: usize, len: usize, fixed_len: usize) {
        let at = self.len;
        let before = |len: usize| (first + 1).checked_sub(len).and_then(|start| from.get(start..=first));
        if len <= fixed_len
            && let (Some(room), Some(from)) = (self.out.get_mut(at..at + fixed_len), before(fixed_len))
        {
            self.len += len;
            let (room, from) = (room.as_chunks_mut::<STEP>().0, from.as_chunks::<STEP>().0);
            for (slot, &from) in room.iter_mut().zip(from.iter().rev()) {
                *slot = from;
                slot.reverse();
            }
        } else {
            self.convert_back(from, first, len, |x| x);
        }
    }

    /// Appends `f` of each of the `len` elements `from[first]`, `from[first - 1]`, ….
    #[inline(always)]
    pub(crate) fn convert_back<S: Copy>(&mut self, from: &[S], first: usize, len: usize, f: impl Fn(S) -> T) {
        let at = self.len;
        self.len += len;
        let steps = len.next_multiple_of(STEP);
        let whole = (first + 1).checked_sub(steps).and_then(|start| from.get(start..=first));
        match (self.out.get_mut(at..at + steps), whole) {
            (Some(room), Some(from)) => {
                for (slot, from) in room.as_chunks_mut().0.iter_mut().zip(from.as_chunks::<STEP>().0.iter().rev()) {
                    *slot = from.map(&f);
                    slot.reverse();
                }
            }
            _ => {
                for (slot, &x) in self.out[at..at + len].iter_mut().zip(from[first + 1 - len..=first].iter().rev()) {
                    *slot = f(x);
                }
            }
        }
    }

    /// Appends `f` of each element of `from[start..start + len]`.
    #[inline(always)]
    pub(crate) fn convert<S: Copy>(&mut self, from: &[S], start: usize, len: usize, f: impl Fn(S) -> T) {
        let at = self.len;
        self.len += len;
        let steps = len.next_multiple_of(STEP);
        match (self.out.get_mut(at..at + steps), from.get(start..start + steps)) {
            (Some(room), Some(from)) => {
                for (slot, from) in room.as_chunks_mut().0.iter_mut().zip(from.as_chunks::<STEP>().0) {
                    // Reads a whole step before writing it: the compiler cannot rule out that the slices alias.
                    *slot = from.map(&f);
                }
            }
            // Either slice ends within the last step.
            _ => {
                for (slot, &x) in self.out[at..at + len].iter_mut().zip(&from[start..start + len]) {
                    *slot = f(x);
                }
            }
        }
    }
}

impl<B: DerefMut<Target = [u32]>> OutputWriter<B> {
    /// Appends `f(0)`, `f(1)`, …, `f(len - 1)`.
    #[inline(always)]
    pub(crate) fn numbers(&mut self, len: usize, f: impl Fn(u32) -> u32) {
        let start = self.len;
        self.len += len;
        let end = (start + len.next_multiple_of(STEP)).min(self.out.len());
        let (steps, rest) = self.out[start..end].as_chunks_mut::<STEP>();
        let remaining = (steps.len() * STEP) as u32;
        for (step, k) in steps.iter_mut().zip(0u32..) {
            for (slot, j) in step.iter_mut().zip(0..) {
                *slot = f(k * STEP as u32 + j);
            }
        }
        for (slot, j) in rest.iter_mut().zip(0..) {
            *slot = f(remaining + j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill<B: DerefMut<Target = [u32]>>(writer: &mut OutputWriter<B>, from: &[u32], len: usize, start: usize) {
        writer.repeat(7, len);
        writer.copy(from, start, len, fixed_len::<u32>());
        writer.convert(from, start, len, |x| x + 1);
        writer.numbers(len, |k| 3 * k);
        writer.copy_back(from, 99 - start, len, fixed_len::<u32>());
        writer.convert_back(from, 99 - start, len, |x| x + 2);
        writer.extend(from[..len].iter().copied());
    }

    #[test]
    fn runs_are_appended_in_order() {
        let from: Vec<u32> = (1000..1100).collect();
        for lens in [[0, 1, 3], [15, 16, 17], [33, 0, 64], [60, 1, 1]] {
            let n: usize = lens.iter().sum();
            let (mut writer, mut expected) = (OutputWriter::new(7 * n), Vec::new());
            let mut slice = vec![0; 7 * n];
            let mut slice_writer = OutputWriter::of(&mut slice[..]);
            for (len, start) in lens.into_iter().zip([0, 50, 36]) {
                fill(&mut writer, &from, len, start);
                fill(&mut slice_writer, &from, len, start);
                expected.extend(vec![7; len]);
                expected.extend(&from[start..start + len]);
                expected.extend(from[start..start + len].iter().map(|x| x + 1));
                expected.extend((0..len as u32).map(|k| 3 * k));
                let back = || from[..=99 - start].iter().rev().take(len);
                expected.extend(back());
                expected.extend(back().map(|x| x + 2));
                expected.extend(&from[..len]);
            }
            assert_eq!(writer.finish(), expected);
            assert_eq!(slice, expected);
        }
    }
}
