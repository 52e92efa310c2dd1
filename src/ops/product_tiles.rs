//! Partition of the results of matrix products into tiles.

use crate::graph::expr::Expr;
use crate::graph::opcode::BinaryOp;

/// Partition of the results into square tiles.
pub(super) struct Cut {
    pub(super) tile: u32,
    /// Upper bound on the number of tiles.
    pub(super) most: u64,
}

impl Cut {
    /// Fewer tiles than this leave a device idle: smaller tiles are better then.
    const FEW: u64 = 128;

    /// Chooses the tile size. The arguments are upper bounds on the results, on the rows and columns of all matrices,
    /// and on the number of matrices.
    pub(super) fn new(results: u64, rows: u64, columns: u64, batches: u64) -> Self {
        // ceil(m / t) * ceil(n / t) <= (m / t + 1) * (n / t + 1), summed over the batches.
        let most = |t: u64| results / (t * t) + (rows + columns) / t + batches;
        let fits = |t: u64| (rows / batches).min(columns / batches) * 4 >= 3 * t && results / (t * t) >= Self::FEW;
        let tile = [64, 32].into_iter().find(|&t| fits(t)).unwrap_or(16);
        Self { tile: tile as u32, most: most(tile) }
    }

    /// Number of tiles along a side of the given size.
    pub(super) fn side(&self, size: &Expr) -> Expr {
        let (bits, mask) = (Expr::u32(self.tile.ilog2()), Expr::u32(self.tile - 1));
        let part = size.clone().and(mask.clone()).add(mask);
        let whole = |e: Expr| e.binary(BinaryOp::Shr, bits.clone());
        whole(size.clone()).add(whole(part))
    }
}

#[cfg(test)]
mod tests {
    use super::Cut;

    #[test]
    fn tiles_are_never_more_than_said() {
        for (m, n, batches) in [(1u64, 1, 1), (17, 64, 3), (4096, 4096, 1), (65, 63, 1000), (0, 9, 7), (100_000, 1, 2)]
        {
            let cut = Cut::new(m * n * batches, m * batches, n * batches, batches);
            let tile = u64::from(cut.tile);
            assert!(m.div_ceil(tile) * n.div_ceil(tile) * batches <= cut.most, "{m} x {n} of {batches}");
        }
        assert_eq!(Cut::new(1 << 24, 1 << 12, 1 << 12, 1).tile, 64);
        assert_eq!(Cut::new(30 * 30, 30, 30, 1).tile, 16);
    }
}
