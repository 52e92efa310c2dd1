//! Constants of the canonical order, in which values of a row are combined.
//!
//! The order is a function of the row's length and the inner width alone, so that a row has the same bits on every
//! backend and in every batch. `shaders/row_reduce.wgsl` and `shaders/row_scan.wgsl` state it; the loops of the CPU
//! backend and the grids of the GPU backend take its constants from here. Folds by few keys have an order of their own: see
//! [`super::tile_fold`].

/// Values per block of one column. A longer row has several blocks, which are combined independently.
pub(crate) const BLOCK: u32 = 256;

/// Row reductions.
pub(crate) mod reduction {
    use super::BLOCK;

    /// The longest row of one column that is folded left to right.
    pub(crate) const FOLD_LEN: usize = 16;

    /// Lanes within a block, for one column.
    pub(crate) const LANES: usize = 32;

    /// The longest row of several columns that is folded left to right; also the number of values per lane in a block
    /// of several columns.
    pub(crate) const COLUMNS_FOLD_LEN: usize = 64;

    /// Lanes within a block, for several columns.
    pub(crate) const fn wide_lanes(inner: usize) -> usize {
        if inner > 8 { 8 } else { inner.next_power_of_two() / 2 }
    }

    /// Values per block, the part of a row that is reduced independently. Rows given in chunks must be cut at multiples
    /// of this, counted from the row's start.
    pub(crate) const fn block_len(inner: usize) -> usize {
        if inner <= 1 { BLOCK as usize } else { COLUMNS_FOLD_LEN * wide_lanes(inner) }
    }

    /// Number of lanes that fold the partials of a row's blocks.
    pub(crate) const fn level2_lanes(inner: usize) -> usize {
        if inner >= 16 { 16 } else { 256 / inner.next_power_of_two() }
    }
}

/// Sums of matrix products. Terms are added in ascending order within blocks, the sums of the blocks within groups, and
/// the sums of the groups. Each of these sums begins with 0, so that a sum without terms that is added to another one
/// changes nothing: no sum is -0.
///
/// The error of a sum of `k` terms is at most `256 + 256 + k / 65,536` rounding errors, each of at most half an ulp of
/// the sum of the magnitudes; a single ascending sum has `k` of them. Groups are added in one ascending sum, since
/// products of more than 2^24 terms are rare. Measured for 1,000,000 terms of f32, relative to the sum of the magnitudes,
/// the maximum of 512 results: 2.5e-7 for uniform positive numbers, 2.1e-9 for normal ones, 3.9e-6 for equal ones, whose
/// rounding errors within blocks have one sign.
pub(crate) mod product {
    use super::BLOCK as VALUES;

    /// Terms per block.
    pub(crate) const BLOCK: u32 = VALUES;

    /// Terms per group: those of 256 blocks.
    pub(crate) const GROUP: u32 = 256 * BLOCK;
}

/// Scans of rows.
pub(crate) mod row_scan {
    use super::BLOCK;

    /// Positions per chunk, the part of a block that is folded independently, for one column.
    pub(crate) const CHUNK: usize = 8;

    /// Blocks per group of the lower level of block totals.
    pub(crate) const INNER_GROUP: usize = 8;

    /// Blocks per group of the upper level of block totals.
    pub(crate) const OUTER_GROUP: usize = 128;

    /// Values per block, the part of a row that is scanned independently. Rows given in chunks must be cut at multiples
    /// of this, counted from the row's start.
    pub(crate) const fn block_len(inner: usize) -> usize {
        if inner == 1 { BLOCK as usize } else { 64 }
    }
}
