//! The host side of `shaders/compact.wgsl`.

/// Positions a workgroup looks at.
pub const TILE: u32 = 2048;

/// Words of a tile in which a bit says of each position whether it stays.
const FLAG_WORDS: u32 = TILE / 32;

/// The largest capacity.
pub const MAX_CAPACITY: u32 = u32::MAX - (1 << 12);

/// The number of tiles: workgroups of `upsweep` and `downsweep`.
pub const fn tiles(capacity: u32) -> u32 {
    capacity.div_ceil(TILE)
}

/// Words in the scratch buffer `tiles`: a count and the flags of each.
pub const fn scratch_len(capacity: u32) -> u32 {
    tiles(capacity) * (1 + FLAG_WORDS)
}

/// Whether the entry point `small` will do.
pub const fn is_small(capacity: u32) -> bool {
    capacity <= TILE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_has_a_tile_and_the_scratch_its_words() {
        for capacity in [1, 2047, 2048, 2049, 1 << 20, MAX_CAPACITY] {
            let covered = u64::from(tiles(capacity)) * u64::from(TILE);
            assert!(covered >= u64::from(capacity) && covered - u64::from(TILE) < u64::from(capacity));
            assert_eq!(is_small(capacity), tiles(capacity) == 1);
            assert_eq!(u64::from(scratch_len(capacity)), u64::from(tiles(capacity)) * 65);
        }
    }
}
