//! Output writer for segments of elements, optimized for short segments.

/// Elements written at a time.
pub(crate) const STEP: usize = 8;

/// Elements written for a segment of at most as many elements. A loop of segment-dependent length would mispredict its
/// exit branch, which costs more than a few stores of cached elements.
const FIXED_LEN: usize = 4 * STEP;

/// As [`FIXED_LEN`], for copies of elements of a type.
pub(crate) const fn fixed_len<T>() -> usize {
    if size_of::<T>() <= 4 { FIXED_LEN } else { FIXED_LEN / 2 }
}

/// Append-only writer. A segment is written in whole steps, past its end if the output has room; the next segment
/// overwrites the excess.
pub(crate) struct OutputWriter<'o, T> {
    out: &'o mut [T],
    len: usize,
}

impl<'o, T: Copy> OutputWriter<'o, T> {
    /// Writer to a slice, from its start.
    pub(crate) fn of(out: &'o mut [T]) -> Self {
        Self { out, len: 0 }
    }

    /// Appends `f(0)`, `f(1)`, …, `f(len - 1)`. May call `f` with greater numbers, too.
    #[inline(always)]
    pub(crate) fn generate(&mut self, len: usize, f: impl Fn(u32) -> T) {
        let start = self.len;
        self.len += len;
        if len <= FIXED_LEN
            && let Some(room) = self.out.get_mut(start..start + FIXED_LEN)
        {
            for (slot, k) in room.iter_mut().zip(0..) {
                *slot = f(k);
            }
        } else {
            let end = (start + len.next_multiple_of(STEP)).min(self.out.len());
            for (slot, k) in self.out[start..end].iter_mut().zip(0..) {
                *slot = f(k);
            }
        }
    }

    /// Appends `from[start..start + len]`. A segment of at most `fixed_len` elements is written as `fixed_len` elements,
    /// which is a compile-time constant.
    #[inline(always)]
    pub(crate) fn copy(&mut self, from: &[T], start: usize, len: usize, fixed_len: usize) {
        let at = self.len;
        self.len += len;
        if len <= fixed_len
            && let (Some(room), Some(from)) = (self.out.get_mut(at..at + fixed_len), from.get(start..start + fixed_len))
        {
            room.copy_from_slice(from);
        } else {
            self.out[at..at + len].copy_from_slice(&from[start..start + len]);
        }
    }

    /// Appends the `len` elements `from[first]`, `from[first - 1]`, …. A segment of at most `fixed_len` elements is
    /// written as `fixed_len` elements, which is a compile-time constant; a longer one in whole steps.
    #[inline(always)]
    pub(crate) fn copy_back(&mut self, from: &[T], first: usize, len: usize, fixed_len: usize) {
        let at = self.len;
        self.len += len;
        let written = if len <= fixed_len { fixed_len } else { len.next_multiple_of(STEP) };
        let before = (first + 1).checked_sub(written).and_then(|start| from.get(start..=first));
        if let (Some(room), Some(from)) = (self.out.get_mut(at..at + written), before) {
            let (room, from) = (room.as_chunks_mut::<STEP>().0, from.as_chunks::<STEP>().0);
            for (slot, &from) in room.iter_mut().zip(from.iter().rev()) {
                *slot = from;
                slot.reverse();
            }
        } else {
            let from = from[first + 1 - len..=first].iter().rev();
            for (slot, &x) in self.out[at..at + len].iter_mut().zip(from) {
                *slot = x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_appended_in_order() {
        let from: Vec<u32> = (1000..1100).collect();
        for lens in [[0, 1, 3], [15, 16, 17], [33, 0, 64], [60, 1, 1]] {
            let n: usize = lens.iter().sum();
            let (mut out, mut expected) = (vec![0; 3 * n], Vec::new());
            let mut writer = OutputWriter::of(&mut out);
            for (len, start) in lens.into_iter().zip([0, 50, 36]) {
                writer.copy(&from, start, len, fixed_len::<u32>());
                writer.generate(len, |k| 3 * k);
                writer.copy_back(&from, 99 - start, len, fixed_len::<u32>());
                expected.extend(&from[start..start + len]);
                expected.extend((0..len as u32).map(|k| 3 * k));
                expected.extend(from[..=99 - start].iter().rev().take(len));
            }
            assert_eq!(out, expected);
        }
    }
}
