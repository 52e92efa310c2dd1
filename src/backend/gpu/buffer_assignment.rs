//! Assigns buffers to the arrays of a plan: arrays whose lifetimes do not overlap share a buffer.

/// Live ranges of the arrays of a run.
#[derive(Debug, Default)]
pub(super) struct Lifetimes(Vec<Lifetime>);

/// Live range of an array: from the step that computes it to the last step that reads it.
#[derive(Debug, Clone, Copy)]
struct Lifetime {
    bytes: u64,
    from: usize,
    /// `None` for an array that outlives the run.
    last: Option<usize>,
}

impl Lifetime {
    fn overlaps(&self, other: &Self) -> bool {
        let is_before = |a: &Self, b: &Self| a.last.is_some_and(|last| last < b.from);
        !is_before(self, other) && !is_before(other, self)
    }
}

/// The buffer of each array, and the bytes of each buffer.
pub(super) struct BufferAssignment {
    pub(super) buffer_of: Vec<usize>,
    pub(super) bytes: Vec<u64>,
}

impl Lifetimes {
    /// Adds an array of that many bytes, live from step `from` to step `last`, or beyond the run if `last` is `None`.
    /// Returns its index.
    pub(super) fn add(&mut self, bytes: u64, from: usize, last: Option<usize>) -> usize {
        self.0.push(Lifetime { bytes, from, last });
        self.0.len() - 1
    }

    /// Assigns buffers to the arrays, largest first. Each array takes the smallest buffer whose arrays have disjoint
    /// live ranges, or a new buffer. An array that outlives the run shares only with arrays of about its size. `most`
    /// maps the bytes of an array to its largest buffer: an array that fits one binding is bound with its whole buffer,
    /// which must fit too.
    pub(super) fn assign_buffers(&self, most: impl Fn(u64) -> u64) -> BufferAssignment {
        let mut by_size: Vec<usize> = (0..self.0.len()).collect();
        by_size.sort_by_key(|&k| (std::cmp::Reverse(self.0[k].bytes), k));
        let mut users: Vec<Vec<usize>> = Vec::new();
        let mut out = BufferAssignment { buffer_of: vec![0; self.0.len()], bytes: Vec::new() };
        for k in by_size {
            let array = &self.0[k];
            let most = if array.last.is_some() {
                most(array.bytes)
            } else {
                most(array.bytes).min((2 * array.bytes).saturating_add(1))
            };
            let fits = |at: &usize| out.bytes[*at] <= most;
            let is_free = |at: &usize| users[*at].iter().all(|&other| !array.overlaps(&self.0[other]));
            // Buffers are in descending order of size: take the smallest that fits.
            let at = (0..out.bytes.len()).rev().find(|at| fits(at) && is_free(at)).unwrap_or_else(|| {
                out.bytes.push(array.bytes);
                users.push(Vec::new());
                out.bytes.len() - 1
            });
            users[at].push(k);
            out.buffer_of[k] = at;
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_with_disjoint_live_ranges_share_buffers() {
        let mut all = Lifetimes::default();
        let first = all.add(1000, 0, Some(1));
        let second = all.add(1000, 1, Some(2));
        let third = all.add(900, 2, None);
        let fourth = all.add(600, 3, Some(4));
        let fifth = all.add(1000, 5, Some(5));
        let small = all.add(100, 6, Some(6));
        let small_and_kept = all.add(100, 7, None);
        let BufferAssignment { buffer_of, bytes } = all.assign_buffers(|_| u64::MAX);
        assert_ne!(buffer_of[first], buffer_of[second], "the second is computed while the first is read");
        assert_eq!(buffer_of[third], buffer_of[first], "about the size");
        assert_eq!(buffer_of[fourth], buffer_of[second]);
        assert_eq!(buffer_of[fifth], buffer_of[second], "the first is kept");
        assert_eq!(buffer_of[small], buffer_of[second], "far smaller");
        assert_ne!(buffer_of[small_and_kept], buffer_of[second], "far smaller, and kept");
        assert_eq!(bytes, [1000, 1000, 100]);
    }

    #[test]
    fn a_small_array_reuses_the_buffer_of_a_large_one() {
        let mut all = Lifetimes::default();
        let [small, large, last] =
            [(10, 0, Some(0)), (1000, 1, Some(1)), (500, 2, None)].map(|(b, f, l)| all.add(b, f, l));
        let BufferAssignment { buffer_of, bytes } = all.assign_buffers(|_| u64::MAX);
        assert_eq!((buffer_of[small], buffer_of[large], buffer_of[last]), (0, 0, 0));
        assert_eq!(bytes, [1000]);
    }

    /// The buffer of the larger array cannot be bound whole.
    #[test]
    fn an_array_that_fits_a_binding_shares_with_no_larger_one() {
        let mut all = Lifetimes::default();
        let [fits, exceeds] = [(100, 0, Some(0)), (101, 1, Some(1))].map(|(b, f, l)| all.add(b, f, l));
        let BufferAssignment { buffer_of, .. } = all.assign_buffers(|bytes| if bytes <= 100 { 100 } else { 1000 });
        assert_ne!(buffer_of[fits], buffer_of[exceeds]);
    }
}
