//! The measured operations.

use ragged::opt::shaped;
use ragged::{Result, Tensor, s};

use crate::inputs::{Inputs, PADDED, Rows, TAKEN, THRESHOLD};
use crate::least;

/// A measured operation.
#[derive(Debug, Clone, Copy)]
pub struct Workload {
    /// The name, also used by the scripts for other libraries.
    pub name: &'static str,
    /// Records the operation.
    pub record: fn(&Inputs) -> Result<Tensor>,
    /// Lower bound on the bytes that any implementation moves.
    pub least: fn(&Rows) -> u64,
}

const fn workload(name: &'static str, record: fn(&Inputs) -> Result<Tensor>, least: fn(&Rows) -> u64) -> Workload {
    Workload { name, record, least }
}

/// All operations.
pub const ALL: [Workload; 14] = [
    workload("sum", |i| i.x.reduce_sum(1), least::reduced),
    workload("max", |i| i.x.reduce_max(1), least::reduced),
    workload("mean", |i| i.x.reduce_mean(1), least::reduced),
    workload("affine_sum", |i| ((&i.x * 2f32)? + 1f32)?.reduce_sum(1), least::reduced),
    workload("row_add", |i| &i.x + &i.row, least::broadcast),
    workload("slice_head", |i| i.x.slice(s![.., ..i64::from(TAKEN)]), least::sliced),
    workload("slice_tail", |i| i.x.slice(s![.., -i64::from(TAKEN)..]), least::sliced),
    workload("gather_rows", |i| i.x.gather(&i.ids), least::gathered),
    workload("concat_axis1", |i| Tensor::concat(&[&i.x, &i.x], 1), least::doubled),
    workload("to_padded", |i| i.x.to_tensor(shaped(0f32, [-1, PADDED as i64])), least::padded),
    workload("softmax", |i| i.x.softmax(1), least::mapped),
    workload("mask_gt_half", |i| i.x.boolean_mask(&i.x.greater(THRESHOLD)?), least::masked),
    workload("sort", |i| i.x.sort(1), least::mapped),
    workload("embed_mean", |i| i.table.gather(&i.tokens)?.reduce_mean(1), least::embedded),
];
