//! Stream compaction of row splits: the non-empty rows among many empty ones.
//!
//! A branch per non-empty row would be mispredicted where such rows are irregular. The AVX2 loop compares eight rows at
//! a time and packs the non-empty ones by a permutation from a lookup table. Without AVX2, 64 comparisons form a bit
//! mask, and a loop extracts its set bits. Measured, per row: 0.16 ns with AVX2 at any density; without it, about the
//! same at low density and 0.6 ns with a third of the rows non-empty.

use super::simd::{self, Loop};

/// Counts the splits that are less than the previous split, and those that are greater.
pub(super) fn count_steps(splits: &[u32]) -> (u32, u32) {
    simd::run(Steps(splits))
}

struct Steps<'s>(&'s [u32]);

impl Loop for Steps<'_> {
    type Output = (u32, u32);
    #[inline(always)]
    fn run(self) -> (u32, u32) {
        let Self(splits) = self;
        let pairs = splits.iter().zip(splits.get(1..).unwrap_or_default());
        pairs.fold((0, 0), |(fall, rise), (a, b)| (fall + u32::from(a > b), rise + u32::from(a < b)))
    }
}

/// Non-empty rows.
#[derive(Debug, Default, PartialEq)]
pub(super) struct NonemptyRows {
    /// The rows' ends.
    pub(super) ends: Vec<u32>,
    /// The rows' numbers.
    pub(super) rows: Vec<u32>,
}

impl NonemptyRows {
    /// Finds the non-empty rows between `splits`. Rows are numbered from `row` on, and their ends are relative to
    /// `base`.
    pub(super) fn among(splits: &[u32], base: u32, row: u32) -> Self {
        let mut found = Self::default();
        #[cfg(target_arch = "x86_64")]
        if simd::has_avx2() {
            // SAFETY: the only requirement is a processor with AVX2 and POPCNT, which have just been detected.
            unsafe { avx2::add(&mut found, splits, base, row) };
            return found;
        }
        found.add_by_words(splits, base, row);
        found
    }

    pub(super) fn add(&mut self, end: u32, row: u32) {
        self.ends.push(end);
        self.rows.push(row);
    }

    #[cfg(target_arch = "x86_64")]
    fn extend(&mut self, ends: &[u32], rows: &[u32]) {
        self.ends.extend_from_slice(ends);
        self.rows.extend_from_slice(rows);
    }

    fn add_by_words(&mut self, splits: &[u32], base: u32, row: u32) {
        const WORD: usize = 64;
        let Some(ends) = splits.get(1..) else { return };
        let words = splits.as_chunks().0.iter().zip(ends.as_chunks().0);
        for (word, (starts, ends)) in words.clone().enumerate() {
            let mut flags = changes(starts, ends);
            while flags != 0 {
                let k = flags.trailing_zeros() as usize;
                self.add(ends[k].wrapping_sub(base), row + (word * WORD + k) as u32);
                flags &= flags - 1;
            }
        }
        self.add_one_by_one(splits, words.len() * WORD, base, row);
    }

    /// Adds the non-empty rows from index `first` on, one row per iteration.
    fn add_one_by_one(&mut self, splits: &[u32], first: usize, base: u32, row: u32) {
        for (k, ends) in splits.windows(2).enumerate().skip(first) {
            if ends[0] != ends[1] {
                self.add(ends[1].wrapping_sub(base), row + k as u32);
            }
        }
    }
}

/// Bit mask of the positions at which `a` and `b` differ, computed without branches.
#[inline(always)]
fn changes(a: &[u32; 64], b: &[u32; 64]) -> u64 {
    // Each step is one vector comparison.
    const STEP: usize = 8;
    let steps = a.as_chunks::<STEP>().0.iter().zip(b.as_chunks::<STEP>().0).enumerate();
    steps.fold(0, |flags, (step, (a, b))| {
        let differ = (0..STEP).fold(0, |differ, k| differ | u64::from(a[k] != b[k]) << k);
        flags | differ << (step * STEP)
    })
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::NonemptyRows;

    /// Rows compared at a time.
    const STEP: usize = 8;

    /// Rows buffered on the stack before they are appended to the vectors.
    const BUFFERED: usize = 256;

    /// Packing permutation of each set of lanes: the lanes of the set in ascending order.
    static PACKED: [[u8; STEP]; 1 << STEP] = {
        let mut packed = [[0; STEP]; 1 << STEP];
        let mut set = 0;
        while set < packed.len() {
            let (mut lane, mut n) = (0, 0);
            while lane < STEP {
                if set >> lane & 1 == 1 {
                    packed[set][n] = lane as u8;
                    n += 1;
                }
                lane += 1;
            }
            set += 1;
        }
        packed
    };

    /// As [`NonemptyRows::among`].
    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn add(found: &mut NonemptyRows, splits: &[u32], base: u32, row: u32) {
        let Some(ends) = splits.get(1..) else { return };
        let steps = splits.as_chunks().0.iter().zip(ends.as_chunks().0);
        let first_remaining = steps.len() * STEP;
        let bases = _mm256_set1_epi32(base as i32);
        let mut rows = _mm256_set1_epi32(row as i32);
        // Each store writes eight elements, of which the next store may overwrite some. `Vec` offers no such stores.
        let (mut buffered_ends, mut buffered_rows, mut buffered) = ([0; BUFFERED + STEP], [0; BUFFERED + STEP], 0);
        for (starts, ends) in steps {
            let (starts, ends) = (vector(*starts), vector(*ends));
            let same = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(starts, ends)));
            let differ = !same as u8;
            let lanes = i64::from_le_bytes(PACKED[usize::from(differ)]);
            let lanes = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(lanes));
            *room(&mut buffered_ends, buffered) =
                numbers(_mm256_permutevar8x32_epi32(_mm256_sub_epi32(ends, bases), lanes));
            *room(&mut buffered_rows, buffered) = numbers(_mm256_add_epi32(rows, lanes));
            buffered += differ.count_ones() as usize;
            rows = _mm256_add_epi32(rows, _mm256_set1_epi32(STEP as i32));
            if buffered >= BUFFERED {
                found.extend(&buffered_ends[..buffered], &buffered_rows[..buffered]);
                buffered = 0;
            }
        }
        found.extend(&buffered_ends[..buffered], &buffered_rows[..buffered]);
        found.add_one_by_one(splits, first_remaining, base, row);
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn vector(numbers: [u32; STEP]) -> __m256i {
        bytemuck::cast(numbers)
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn numbers(vector: __m256i) -> [u32; STEP] {
        bytemuck::cast(vector)
    }

    #[inline(always)]
    fn room(of: &mut [u32; BUFFERED + STEP], first: usize) -> &mut [u32; STEP] {
        of[first..].first_chunk_mut().expect("bug: the buffer is full")
    }
}

#[cfg(test)]
mod tests {
    use super::super::random_encodings::Random;
    use super::*;

    #[test]
    fn both_algorithms_find_the_nonempty_rows() {
        let mut random = Random(5);
        for _ in 0..3000 {
            let one_in = [1, 2, 3, 9, 40, 900][random.below(6) as usize];
            let mut splits = vec![random.below(9)];
            for _ in 0..random.below(700) {
                let len = if random.below(one_in) == 0 { random.below(4) } else { 0 };
                splits.push(splits[splits.len() - 1] + len);
            }
            let (base, row) = (splits[0], random.below(1000));
            let mut expected = NonemptyRows::default();
            for (k, ends) in splits.windows(2).enumerate().filter(|(_, ends)| ends[0] < ends[1]) {
                expected.add(ends[1] - base, row + k as u32);
            }
            let nonempty = expected.rows.len();
            assert_eq!(count_steps(&splits), (0, nonempty as u32));
            assert_eq!(NonemptyRows::among(&splits, base, row), expected, "{splits:?}");
            let mut by_words = NonemptyRows::default();
            by_words.add_by_words(&splits, base, row);
            assert_eq!(by_words, expected, "{splits:?}");
        }
        assert_eq!(NonemptyRows::among(&[], 0, 0), NonemptyRows::default());
    }

    #[test]
    fn increases_and_decreases_are_counted() {
        assert_eq!(count_steps(&[]), (0, 0));
        assert_eq!(count_steps(&[3]), (0, 0));
        assert_eq!(count_steps(&[3, 3, 9, 1, 0, 0, 2]), (2, 2));
    }
}
