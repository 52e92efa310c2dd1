//! Sums of f32 in the engine's canonical order, which `shaders/row_reduce.wgsl` defines: the order depends only on the
//! number of values and on the width.
//!
//! A short row is summed from left to right. A longer row is divided into blocks. Lane `l` of a block sums the block's
//! values `l`, `l + lanes`, `l + 2 * lanes`, ..., and a halving tree adds the lanes. The sums of several blocks are
//! added in the same way, in more lanes.

/// Longest row of scalars that is summed from left to right.
const SHORT: usize = 16;

/// Lanes of a block of scalars.
const LANES: usize = 32;

/// Scalars per block.
const BLOCK: usize = 256;

/// Most lanes for the sums of blocks of scalars.
const BLOCK_LANES: usize = 256;

/// Longest row of vectors that is summed from left to right, and vectors per lane of a block.
const FOLDED: usize = 64;

/// Adds the lanes by a halving tree; their number is a power of two.
fn tree<const W: usize>(lanes: &mut [[f32; W]]) -> [f32; W] {
    let mut half = lanes.len() / 2;
    while half > 0 {
        let (low, high) = lanes.split_at_mut(half);
        for (a, b) in low.iter_mut().zip(high) {
            add(a, b);
        }
        half /= 2;
    }
    lanes[0]
}

fn add<const W: usize>(sum: &mut [f32; W], value: &[f32; W]) {
    for (a, b) in sum.iter_mut().zip(value) {
        *a += b;
    }
}

/// The sum of the scalars.
pub fn sum(values: &[f32]) -> f32 {
    if values.len() <= SHORT {
        return values.iter().fold(0.0, |a, b| a + b);
    }
    if values.len() <= BLOCK {
        return block(values);
    }
    let blocks = values.len().div_ceil(BLOCK);
    let mut lanes = vec![[0.0]; blocks.next_power_of_two().min(BLOCK_LANES)];
    let n = lanes.len();
    for (k, values) in values.chunks(BLOCK).enumerate() {
        lanes[k % n][0] += block(values);
    }
    tree(&mut lanes)[0]
}

fn block(values: &[f32]) -> f32 {
    let mut lanes = [[0.0]; LANES];
    for values in values.chunks(LANES) {
        for (lane, value) in lanes.iter_mut().zip(values) {
            lane[0] += value;
        }
    }
    tree(&mut lanes)[0]
}

/// The sum of the table rows `ids`, for widths of at least 2.
pub fn sum_rows<const W: usize>(table: &[[f32; W]], ids: &[u32]) -> [f32; W] {
    if ids.len() <= FOLDED {
        let mut sum = [0.0; W];
        for &id in ids {
            add(&mut sum, &table[id as usize]);
        }
        return sum;
    }
    let (lanes, block_lanes) = const {
        assert!(W > 1, "one column has another order: `sum`");
        let lanes = if W > 8 { 8 } else { W.next_power_of_two() / 2 };
        (lanes, if W >= 16 { 16 } else { 256 / W.next_power_of_two() })
    };
    let block = |ids: &[u32]| {
        let mut sums = [[0.0; W]; 8];
        for ids in ids.chunks(lanes) {
            for (sum, &id) in sums.iter_mut().zip(ids) {
                add(sum, &table[id as usize]);
            }
        }
        tree(&mut sums[..lanes])
    };
    let size = FOLDED * lanes;
    if ids.len() <= size {
        return block(ids);
    }
    let mut sums = vec![[0.0; W]; ids.len().div_ceil(size).next_power_of_two().min(block_lanes)];
    let n = sums.len();
    for (k, ids) in ids.chunks(size).enumerate() {
        add(&mut sums[k % n], &block(ids));
    }
    tree(&mut sums)
}
