//! Partition of the results of matrix products into tiles.

use crate::graph::expr::Expr;
use crate::graph::extent::upper_bound;
use crate::graph::opcode::BinaryOp;
use crate::graph::size::Size;

/// Partition of the results into square tiles.
pub(crate) struct Cut {
    pub(crate) tile: u32,
}

impl Cut {
    /// Fewer tiles than this leave a device idle: smaller tiles are better then.
    const FEW: u64 = 128;

    /// Chooses the tile size. The arguments are upper bounds on the results, on the rows and columns of all matrices,
    /// and on the number of matrices.
    pub(crate) fn new(results: u64, rows: u64, columns: u64, batches: u64) -> Self {
        let fits = |t: u32| {
            let t = u64::from(t);
            (rows / batches).min(columns / batches) * 4 >= 3 * t && results / (t * t) >= Self::FEW
        };
        let tile = [64u32, 32].into_iter().find(|&t| fits(t)).unwrap_or(16);
        Self { tile }
    }

    /// Upper bound on the number of tiles, from upper bounds on the results, on the rows and columns of all matrices, and
    /// on the number of matrices.
    pub(crate) fn most(&self, results: &Size, [rows, columns]: [&Size; 2], batches: &Size) -> Size {
        // ceil(m / t) * ceil(n / t) <= (m / t + 1) * (n / t + 1), summed over the batches.
        let t = self.tile;
        results.div(t * t).add(rows.div(t)).add(columns.div(t)).add(1).add(batches).min(upper_bound(u64::MAX))
    }

    /// Number of tiles along a side of the given size.
    pub(crate) fn side(&self, size: &Expr) -> Expr {
        let (bits, mask) = (Expr::u32(self.tile.ilog2()), Expr::u32(self.tile - 1));
        let part = size.clone().and(mask.clone()).add(mask);
        let whole = |e: Expr| e.binary(BinaryOp::Shr, bits.clone());
        whole(size.clone()).add(whole(part))
    }
}

#[cfg(test)]
mod tests {
    use super::Cut;
    use crate::graph::size::{RecordedSize, Size};

    #[test]
    fn tiles_are_never_more_than_said() {
        for (m, n, batches) in [(1u64, 1, 1), (17, 64, 3), (4096, 4096, 1), (65, 63, 1000), (0, 9, 7), (100_000, 1, 2)]
        {
            let cut = Cut::new(m * n * batches, m * batches, n * batches, batches);
            let tile = u64::from(cut.tile);
            let size = |n: u64| Size::from(n as u32);
            let most = cut.most(&size(m * n * batches), [&size(m * batches), &size(n * batches)], &size(batches));
            let most = u64::from(most.capacity());
            assert!(m.div_ceil(tile) * n.div_ceil(tile) * batches <= most, "{m} x {n} of {batches}");
        }
        assert_eq!(Cut::new(1 << 24, 1 << 12, 1 << 12, 1).tile, 64);
        assert_eq!(Cut::new(30 * 30, 30, 30, 1).tile, 16);
    }
}
