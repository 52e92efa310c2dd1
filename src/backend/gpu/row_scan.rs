//! The host side of `shaders/row_scan.wgsl`.

use super::row_reduce;

/// What a scan of rows dispatches and needs. Its tiles, blocks and partials are those of a row reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid(row_reduce::Grid);

impl Grid {
    /// The entry points with their grids, in order: two more where a row may have more than one block.
    pub fn stages(&self) -> impl Iterator<Item = (&'static str, (u32, u32, u32))> {
        let Self(g) = *self;
        let long = g.level2.map(|level2| [("level2", level2), ("add", g.level1)]);
        std::iter::once((g.entry, g.level1)).chain(long.into_iter().flatten())
    }

    /// The same where no row is longer than that.
    pub fn for_rows_up_to(self, longest: u32) -> Self {
        Self(self.0.for_rows_up_to(longest))
    }

    /// Elements in the scratch buffer `part`, which need not be cleared.
    pub fn part_len(&self) -> u32 {
        self.0.part_len
    }

    /// The template's parameter words.
    pub fn head(&self) -> [u32; 8] {
        self.0.head
    }
}

/// The grid for arrays of up to that many rows and values (a value has `inner` columns), or `None` if an index would not
/// fit 32 bits: split the array then. With no rows or no columns there is nothing to dispatch.
pub fn grid(nvals: u32, rows: u32, inner: u32) -> Option<Grid> {
    row_reduce::grid(nvals, rows, inner).map(Grid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cpu::row_scan::block_len;

    fn entries(nvals: u32, inner: u32) -> Vec<&'static str> {
        grid(nvals, 3, inner).unwrap().stages().map(|(entry, _)| entry).collect()
    }

    #[test]
    fn rows_of_one_block_take_one_dispatch() {
        assert_eq!(entries(block_len(1) as u32, 1), ["main"]);
        assert_eq!(entries(block_len(1) as u32 + 1, 1), ["main", "level2", "add"]);
        assert_eq!(entries(block_len(5) as u32, 5), ["wide"]);
        assert_eq!(entries(block_len(5) as u32 + 1, 5), ["wide", "level2", "add"]);
    }
}
