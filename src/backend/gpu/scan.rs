//! The host side of `shaders/scan.wgsl`.

/// Elements a workgroup scans.
pub const TILE: u32 = 2048;

/// The largest capacity.
pub const MAX_CAPACITY: u32 = u32::MAX - (1 << 12);

/// The number of tiles: workgroups of `upsweep` and `downsweep`.
pub const fn tiles(capacity: u32) -> u32 {
    capacity / TILE + 1
}

/// Words in the scratch buffer `tiles`. The last one says whether the total overflowed.
pub const fn scratch_len(capacity: u32) -> u32 {
    2 * tiles(capacity) + 1
}

/// Whether the entry point `small` will do.
pub const fn is_small(capacity: u32) -> bool {
    capacity < TILE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_a_tile() {
        for capacity in [0, 1, 2047, 2048, 2049, 1 << 20, MAX_CAPACITY] {
            let covered = u64::from(tiles(capacity)) * u64::from(TILE);
            assert!(covered > u64::from(capacity) && covered - u64::from(TILE) <= u64::from(capacity));
            assert_eq!(is_small(capacity), tiles(capacity) == 1);
        }
    }
}
