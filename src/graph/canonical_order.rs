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

/// Sums of matrix products. At most 256 terms are added in one ascending sum. More terms are added in ascending order
/// within runs of 16, the sums of the runs within blocks of 256 terms, those of the blocks within sections of 4096 terms,
/// those of the sections within groups of 65,536 terms, and the sums of the groups. Each of these sums begins with 0. That of
/// at most 256 terms is added to 0 too: no sum is -0, except for that of a run.
///
/// The product of two f32 and the sum before it make a fused multiply-add, which is rounded once; that of two f64 is rounded
/// before it is added.
///
/// The error of a sum of `k > 256` terms is at most `4 * 16 + k / 65,536` rounding errors, each of at most half an ulp
/// of the sum of the magnitudes; a single ascending sum has `k` of them. The sums of all levels are short because the
/// rounding errors of an ascending sum of equal terms may have one sign. Groups are added in one ascending sum, since
/// products of more than 2^24 terms are rare. Measured for 1,000,000 terms of f32, relative to the sum of the
/// magnitudes, the maximum of 6 results: 1.1e-7 for uniform positive numbers, 2.9e-10 for those of both signs, 4.8e-7
/// for equal ones.
pub(crate) mod product {
    /// Terms per run, and parts per sum of the levels up to a group.
    pub(crate) const RUN: u32 = 16;

    /// Terms per block. Sums of at most that many terms have one level.
    pub(crate) const BLOCK: u32 = RUN * RUN;

    /// Terms per section.
    pub(crate) const SECTION: u32 = RUN * BLOCK;

    /// Terms per group.
    pub(crate) const GROUP: u32 = RUN * SECTION;
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
