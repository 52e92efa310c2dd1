//! Vectors filled run by run, fast where the runs are short.

/// Elements written at a time.
const STEP: usize = 8;

/// A vector that is being filled. A run is written in whole steps, past its end; the run that follows writes there again.
pub(crate) struct Filling<T> {
    /// A step longer than it will be.
    out: Vec<T>,
    len: usize,
}

impl<T: Copy + Default> Filling<T> {
    /// A vector of `n` elements, of which none is there yet.
    pub(crate) fn new(n: usize) -> Self {
        Self { out: vec![T::default(); n + STEP], len: 0 }
    }

    /// Room for `len` more elements, in whole steps; what is not written now is written by the next run.
    #[inline(always)]
    fn room(&mut self, len: usize) -> &mut [[T; STEP]] {
        let start = self.len;
        self.len += len;
        self.out[start..start + len.next_multiple_of(STEP)].as_chunks_mut().0
    }

    /// Adds a value `len` times.
    #[inline(always)]
    pub(crate) fn repeat(&mut self, value: T, len: usize) {
        for slot in self.room(len) {
            *slot = [value; STEP];
        }
    }

    /// Adds `from[start..start + len]`.
    #[inline(always)]
    pub(crate) fn copy(&mut self, from: &[T], start: usize, len: usize) {
        self.convert(from, start, len, |x| x);
    }

    /// Adds `f` of each of `from[start..start + len]`.
    #[inline(always)]
    pub(crate) fn convert<S: Copy>(&mut self, from: &[S], start: usize, len: usize, f: impl Fn(S) -> T) {
        let room = self.room(len);
        match from.get(start..start + len.next_multiple_of(STEP)) {
            Some(from) => {
                for (slot, from) in room.iter_mut().zip(from.as_chunks::<STEP>().0) {
                    // All are read before one is written, since they might be the same memory for all the compiler knows.
                    *slot = from.map(&f);
                }
            }
            // The source ends within the last step.
            None => {
                for (slot, &x) in room.as_flattened_mut().iter_mut().zip(&from[start..start + len]) {
                    *slot = f(x);
                }
            }
        }
    }

    /// The vector.
    pub(crate) fn finish(mut self) -> Vec<T> {
        self.out.truncate(self.len);
        self.out
    }
}

impl Filling<u32> {
    /// Adds `first`, `first + 1`, … (wrapping), `len` of them.
    #[inline(always)]
    pub(crate) fn ramp(&mut self, first: u32, len: usize) {
        for (slot, k) in self.room(len).iter_mut().zip(0u32..) {
            let first = first.wrapping_add(k * STEP as u32);
            for (slot, j) in slot.iter_mut().zip(0..) {
                *slot = first.wrapping_add(j);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_follow_each_other() {
        let from: Vec<u32> = (1000..1100).collect();
        for lens in [[0, 1, 3], [15, 16, 17], [33, 0, 64], [1, 1, 1]] {
            let n: usize = lens.iter().sum();
            let (mut filling, mut expected) = (Filling::new(4 * n), Vec::new());
            for (len, start) in lens.into_iter().zip([0, 50, 36]) {
                filling.repeat(7, len);
                filling.copy(&from, start, len);
                filling.convert(&from, start, len, |x| x + 1);
                filling.ramp(u32::MAX - 1, len);
                expected.extend(vec![7; len]);
                expected.extend(&from[start..start + len]);
                expected.extend(from[start..start + len].iter().map(|x| x + 1));
                expected.extend((0..len as u32).map(|k| (u32::MAX - 1).wrapping_add(k)));
            }
            assert_eq!(filling.finish(), expected);
        }
    }
}
