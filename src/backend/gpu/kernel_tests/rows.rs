//! Row lengths that break kernels, and a small generator of random numbers.

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `bound`, which is not 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        ((self.next() >> 32) * u64::from(bound) >> 32) as u32
    }
}

/// The splits of rows of those lengths.
pub fn splits(lengths: &[u32]) -> Vec<u32> {
    std::iter::once(0)
        .chain(lengths.iter().scan(0, |sum, &len| {
            *sum += len;
            Some(*sum)
        }))
        .collect()
}
