//! The host side of `shaders/matmul.wgsl`.

/// Bytes of a matrix that a tile keeps in workgroup memory, at the most.
const STAGE: usize = 4096;

/// The template's constants for tiles of that many rows and columns (16, 32 or 64), of elements of that size.
pub fn constants(tile: u32, size: usize) -> String {
    let slab = STAGE / 64 / size;
    format!(
        "const EDGE_BITS: u32 = {}u;\nconst SLAB_BITS: u32 = {}u;",
        tile.clamp(16, 64).ilog2(),
        (slab as u32).ilog2()
    )
}

/// The template's parameter words.
pub fn head(batches: u32, tiles: u32, capacity: u32, transposed: [bool; 2]) -> [u32; 8] {
    let [left, right] = transposed.map(u32::from);
    [batches, tiles, capacity, left, right, 0, 0, 0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabs_halve_as_elements_grow() {
        assert!(constants(64, 4).contains("EDGE_BITS: u32 = 6u") && constants(64, 4).contains("SLAB_BITS: u32 = 4u"));
        assert!(constants(16, 8).contains("EDGE_BITS: u32 = 4u") && constants(16, 8).contains("SLAB_BITS: u32 = 3u"));
    }
}
