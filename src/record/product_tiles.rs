//! Partition of the results of matrix products into tiles.

use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::{Extent, upper_bound};
use crate::graph::node::Rows;
use crate::graph::opcode::BinaryOp;
use crate::graph::recorder::Recorder;
use crate::graph::size::{RecordedSize, Size};

/// The tiles of all products: see [`Product`](crate::graph::node::Product).
pub(crate) struct Tiles {
    pub(crate) tiles: Rows,
    pub(crate) tile_capacity: Size,
    pub(crate) tile: u32,
}

impl Tiles {
    /// The tiles of `m` times `n` results of each batch, expressions in the batch. The sizes are upper bounds of the
    /// results, and of the rows and columns of all matrices.
    pub(crate) fn new(
        rec: Recorder<'_>,
        batches: &Extent,
        [m, n]: [&Expr; 2],
        results: &Size,
        [rows, columns]: [&Size; 2],
    ) -> Result<Self> {
        let [most, all_rows, all_columns, matrices] =
            [results, rows, columns, batches.size()].map(|size| u64::from(size.capacity()));
        let cut = Cut::new(most, all_rows, all_columns, matrices);
        let known = |e: &Expr| e.as_size().filter(|size| !size.contains_count());
        let (tiles, tile_capacity) = match (known(m), known(n)) {
            (Some(m), Some(n)) => {
                let side = |size: &Size| size.add(cut.tile - 1).div(cut.tile);
                let each = side(&m).mul(side(&n));
                if let (Some(each), Some(batches)) = (each.as_known(), batches.as_known()) {
                    rec.known(u64::from(each) * u64::from(batches))?;
                }
                let all = each.mul(batches.size());
                (Rows::Uniform(each), all)
            }
            _ => {
                let most = cut.most(results, [rows, columns], batches.size());
                let each = cut.side(m).mul(cut.side(n));
                let p = rec.rows_of_lengths(batches, each, &most)?;
                (p.rows().clone(), most)
            }
        };
        Ok(Self { tiles, tile_capacity, tile: cut.tile })
    }
}

/// Partition of the results into square tiles.
struct Cut {
    tile: u32,
}

impl Cut {
    /// Fewer tiles than this leave a device idle: smaller tiles are better then.
    const FEW: u64 = 128;

    /// Chooses the tile size. The arguments are upper bounds on the results, on the rows and columns of all matrices,
    /// and on the number of matrices.
    fn new(results: u64, rows: u64, columns: u64, batches: u64) -> Self {
        let fits = |t: u32| {
            let t = u64::from(t);
            (rows / batches).min(columns / batches) * 4 >= 3 * t && results / (t * t) >= Self::FEW
        };
        let tile = [64u32, 32].into_iter().find(|&t| fits(t)).unwrap_or(16);
        Self { tile }
    }

    /// Upper bound on the number of tiles, from upper bounds on the results, on the rows and columns of all matrices, and
    /// on the number of matrices.
    fn most(&self, results: &Size, [rows, columns]: [&Size; 2], batches: &Size) -> Size {
        // ceil(m / t) * ceil(n / t) <= (m / t + 1) * (n / t + 1), summed over the batches.
        let t = self.tile;
        results.div(t * t).add(rows.div(t)).add(columns.div(t)).add(1).add(batches).min(upper_bound(u64::MAX))
    }

    /// Number of tiles along a side of the given size.
    fn side(&self, size: &Expr) -> Expr {
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
