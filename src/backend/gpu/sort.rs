//! The host side of `shaders/sort.wgsl`.

/// Elements a workgroup sorts.
pub const TILE: u32 = 2048;

/// Bits that a pass sorts by.
pub const DIGIT_BITS: u32 = 8;

/// The largest capacity: so many digit counts have to fit a scan.
pub const MAX_CAPACITY: u32 = u32::MAX - (1 << 15);

/// The number of tiles: workgroups of `count` and `scatter`.
pub const fn tiles(capacity: u32) -> u32 {
    capacity.div_ceil(TILE)
}

/// The number of digit counts, which is the capacity of the scan between `count` and `scatter`. The scratch buffer
/// `digits` is one word longer.
pub const fn counts_len(capacity: u32) -> u32 {
    tiles(capacity) << DIGIT_BITS
}

/// How many passes keys of that many bits take. Keys of no bits need none: the permutation is the identity.
pub const fn passes(key_bits: u32) -> u32 {
    key_bits.div_ceil(DIGIT_BITS)
}

/// The template's parameter words for a pass, counted from 0.
pub const fn head(capacity: u32, pass: u32) -> [u32; 8] {
    [capacity, pass * DIGIT_BITS, 0, 0, 0, 0, 0, 0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::gpu::scan;

    #[test]
    fn counts_fit_a_scan() {
        assert!(counts_len(MAX_CAPACITY) < scan::MAX_CAPACITY);
        assert_eq!(counts_len(0), 0);
        assert_eq!(counts_len(1), 256);
        assert_eq!(counts_len(2049), 512);
    }

    #[test]
    fn passes_cover_the_bits() {
        assert_eq!([0, 1, 8, 9, 31, 32].map(passes), [0, 1, 1, 2, 4, 4]);
    }
}
