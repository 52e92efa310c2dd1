//! The rows that have values, among rows that mostly have none.
//!
//! A loop that turns or branches at each row with values is guessed wrong as often as they come unexpectedly. Here
//! eight rows are looked at at once, and what is kept of them is packed by a permutation that the outcome looks up:
//! 0.16 ns a row, however many have values. Without AVX2, the outcomes of 64 make a word of flags that a loop takes
//! apart: hardly slower where few have, and 0.6 ns where a third do.

use super::simd::{self, Loop};

/// How many splits are less than the one before them, and how many are more.
pub(super) fn steps(splits: &[u32]) -> (u32, u32) {
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

/// Rows that have values.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Filled {
    /// Where they end.
    pub(super) ends: Vec<u32>,
    /// Which they are.
    pub(super) rows: Vec<u32>,
}

impl Filled {
    /// Those of the rows between `splits`, the first one of which is `row`, with their ends less `base`.
    pub(super) fn among(splits: &[u32], base: u32, row: u32) -> Self {
        let mut found = Self::default();
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt") {
            // SAFETY: the only thing that it needs is a processor with these, which this one is.
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

    /// From row `first` on.
    fn add_one_by_one(&mut self, splits: &[u32], first: usize, base: u32, row: u32) {
        for (k, ends) in splits.windows(2).enumerate().skip(first) {
            if ends[0] != ends[1] {
                self.add(ends[1].wrapping_sub(base), row + k as u32);
            }
        }
    }
}

/// A flag for each position at which they differ: made without a branch, so that rows of no values cost no turn of a
/// loop.
#[inline(always)]
fn changes(a: &[u32; 64], b: &[u32; 64]) -> u64 {
    // In steps that vector code takes at once.
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

    use super::Filled;

    /// Rows looked at at once.
    const STEP: usize = 8;

    /// Rows kept before they are moved to memory.
    const NEAR: usize = 256;

    /// For each set of lanes, these lanes in their order.
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

    /// As [`Filled::among`].
    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn add(found: &mut Filled, splits: &[u32], base: u32, row: u32) {
        let Some(ends) = splits.get(1..) else { return };
        let steps = splits.as_chunks().0.iter().zip(ends.as_chunks().0);
        let first_behind = steps.len() * STEP;
        let bases = _mm256_set1_epi32(base as i32);
        let mut rows = _mm256_set1_epi32(row as i32);
        // Eight are stored where fewer are kept; vectors would have to be cleared for that.
        let (mut near_ends, mut near_rows, mut near) = ([0; NEAR + STEP], [0; NEAR + STEP], 0);
        for (starts, ends) in steps {
            let (starts, ends) = (vector(*starts), vector(*ends));
            let same = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(starts, ends)));
            let differ = !same as u8;
            let lanes = i64::from_le_bytes(PACKED[usize::from(differ)]);
            let lanes = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(lanes));
            *room(&mut near_ends, near) = numbers(_mm256_permutevar8x32_epi32(_mm256_sub_epi32(ends, bases), lanes));
            *room(&mut near_rows, near) = numbers(_mm256_add_epi32(rows, lanes));
            near += differ.count_ones() as usize;
            rows = _mm256_add_epi32(rows, _mm256_set1_epi32(STEP as i32));
            if near >= NEAR {
                found.extend(&near_ends[..near], &near_rows[..near]);
                near = 0;
            }
        }
        found.extend(&near_ends[..near], &near_rows[..near]);
        found.add_one_by_one(splits, first_behind, base, row);
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
    fn room(of: &mut [u32; NEAR + STEP], first: usize) -> &mut [u32; STEP] {
        of[first..].first_chunk_mut().expect("bug: rows kept that there is no room for")
    }
}

#[cfg(test)]
mod tests {
    use super::super::pieces::tests::Numbers;
    use super::*;

    #[test]
    fn rows_with_values_are_found_in_both_ways() {
        let mut numbers = Numbers(5);
        for _ in 0..3000 {
            let one_in = [1, 2, 3, 9, 40, 900][numbers.below(6) as usize];
            let mut splits = vec![numbers.below(9)];
            for _ in 0..numbers.below(700) {
                let len = if numbers.below(one_in) == 0 { numbers.below(4) } else { 0 };
                splits.push(splits[splits.len() - 1] + len);
            }
            let (base, row) = (splits[0], numbers.below(1000));
            let mut expected = Filled::default();
            for (k, ends) in splits.windows(2).enumerate().filter(|(_, ends)| ends[0] < ends[1]) {
                expected.add(ends[1] - base, row + k as u32);
            }
            let filled = expected.rows.len();
            assert_eq!(steps(&splits), (0, filled as u32));
            assert_eq!(Filled::among(&splits, base, row), expected, "{splits:?}");
            let mut by_words = Filled::default();
            by_words.add_by_words(&splits, base, row);
            assert_eq!(by_words, expected, "{splits:?}");
        }
        assert_eq!(Filled::among(&[], 0, 0), Filled::default());
    }

    #[test]
    fn steps_up_and_down_are_counted() {
        assert_eq!(steps(&[]), (0, 0));
        assert_eq!(steps(&[3]), (0, 0));
        assert_eq!(steps(&[3, 3, 9, 1, 0, 0, 2]), (2, 2));
    }
}
