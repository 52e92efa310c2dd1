//! Lower bounds on the bytes that an implementation of an operation moves, at the actual row lengths: each operand once
//! per mention, data at computed indices once per use, each output once, splits once. A table of up to 4 MiB, which
//! fits caches, counts once.
//!
//! `Tensor::explain` counts at capacities, which may be far larger: a slice of at most 8 values per row has a capacity
//! of 8 values per row, but nothing in empty rows.

use crate::inputs::{PADDED, Rows, TABLE, TAKEN, THRESHOLD};

/// Bytes of a value, of a row's result, of a split, of a token.
const WORD: u64 = 4;

/// Bytes of the index of a gathered row.
const ID: u64 = 8;

/// Largest table in bytes that counts once.
const CACHED_TABLE: u64 = 4 << 20;

fn nrows(rows: &Rows) -> u64 {
    rows.lengths.len() as u64
}

/// Bytes of all values, or of another array of this size.
fn values(rows: &Rows) -> u64 {
    WORD * rows.values.len() as u64
}

/// Bytes of the splits, or of other splits of as many rows.
fn splits(rows: &Rows) -> u64 {
    WORD * (nrows(rows) + 1)
}

/// Bytes of one number per row.
fn numbers(rows: &Rows) -> u64 {
    WORD * nrows(rows)
}

/// Bytes of the first or the last `most` values of each row.
fn within(rows: &Rows, most: u32) -> u64 {
    WORD * rows.lengths.iter().map(|&l| u64::from(l.min(most))).sum::<u64>()
}

/// One number per row, computed from the row's values.
pub fn reduced(rows: &Rows) -> u64 {
    values(rows) + splits(rows) + numbers(rows)
}

/// Values in the same rows, each computed from the values of its row.
pub fn mapped(rows: &Rows) -> u64 {
    values(rows) + splits(rows) + values(rows)
}

/// Values in the same rows, each computed from the input value and one number per row.
pub fn broadcast(rows: &Rows) -> u64 {
    mapped(rows) + numbers(rows)
}

/// Slices of at most [`TAKEN`] values per row.
pub fn sliced(rows: &Rows) -> u64 {
    2 * within(rows, TAKEN) + 2 * splits(rows)
}

/// Whole rows, gathered by index.
pub fn gathered(rows: &Rows) -> u64 {
    let taken = WORD * rows.ids.iter().map(|&id| u64::from(rows.lengths[id as usize])).sum::<u64>();
    let read = if values(rows) <= CACHED_TABLE { taken.min(values(rows)) } else { taken };
    ID * nrows(rows) + read + taken + 2 * splits(rows)
}

/// Each row concatenated with itself.
pub fn doubled(rows: &Rows) -> u64 {
    2 * values(rows) + 2 * values(rows) + 2 * splits(rows)
}

/// Rows padded or truncated to [`PADDED`] numbers.
pub fn padded(rows: &Rows) -> u64 {
    within(rows, PADDED) + splits(rows) + numbers(rows) * u64::from(PADDED)
}

/// The values above [`THRESHOLD`] in new rows. Each value is read once, for the condition and the result.
pub fn masked(rows: &Rows) -> u64 {
    let kept = WORD * rows.values.iter().filter(|&&v| v > THRESHOLD).count() as u64;
    values(rows) + kept + 2 * splits(rows)
}

/// The mean of the table rows that each row's tokens index.
pub fn embedded(rows: &Rows) -> u64 {
    let [height, width] = TABLE.map(|n| n as u64);
    values(rows) + WORD * height * width + splits(rows) + numbers(rows) * width
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::ALL;

    fn least(op: &str, rows: &Rows) -> u64 {
        let workload = ALL.iter().find(|w| w.name == op).unwrap_or_else(|| panic!("no {op}"));
        (workload.least)(rows)
    }

    /// Rows of 3, 0, 70 and 9 values: 82 values in 328 bytes, 5 splits in 20, 4 numbers in 16. Two values in three are
    /// above the threshold: 55.
    fn rows() -> Rows {
        let values = (0..82).map(|k| [0.75, 0.5, 1.0][k % 3]).collect();
        Rows { lengths: vec![3, 0, 70, 9], values, ids: vec![3, 3, 1, 0] }
    }

    #[test]
    fn lower_bounds_equal_counts_by_hand() {
        let rows = rows();
        for (op, bytes) in [
            ("sum", 328 + 20 + 16),
            ("max", 328 + 20 + 16),
            ("mean", 328 + 20 + 16),
            ("affine_sum", 328 + 20 + 16),
            ("row_add", 328 + 16 + 20 + 328),
            // 3, 0, 8 and 8 values are read and written.
            ("slice_head", 76 + 20 + 76 + 20),
            ("slice_tail", 76 + 20 + 76 + 20),
            // 9, 9, 0 and 3 values, by 4 numbers of 8 bytes.
            ("gather_rows", 32 + 20 + 84 + 84 + 20),
            ("concat_axis1", 328 + 328 + 20 + 656 + 20),
            // 3, 0, 64 and 9 values are read, 64 per row are written.
            ("to_padded", 304 + 20 + 1024),
            ("softmax", 328 + 20 + 328),
            ("mask_gt_half", 328 + 20 + 220 + 20),
            ("sort", 328 + 20 + 328),
            // 1024 rows of 16 numbers once; 16 numbers per row are written.
            ("embed_mean", 328 + 65_536 + 20 + 256),
        ] {
            assert_eq!(least(op, &rows), bytes, "{op}");
        }
    }

    #[test]
    fn only_a_small_table_counts_once() {
        // One row with all values and an empty row; the first row is gathered twice.
        let twice = |values: usize| {
            let rows = Rows { lengths: vec![values as u32, 0], values: vec![0.0; values], ids: vec![0, 0] };
            least("gather_rows", &rows) - 16 - 24
        };
        assert_eq!(twice(1 << 20), 3 * (4 << 20));
        assert_eq!(twice((1 << 20) + 1), 4 * ((4 << 20) + 4));
    }
}
