//! The operations that are measured.

use ragged::{Result, Tensor, s};

use crate::inputs::Inputs;

/// An operation that is measured.
#[derive(Debug, Clone, Copy)]
pub struct Workload {
    /// Its name, the same in the scripts for other libraries.
    pub name: &'static str,
    /// Records it.
    pub record: fn(&Inputs) -> Result<Tensor>,
}

/// All operations that there are.
pub const ALL: [Workload; 14] = [
    Workload { name: "sum", record: |i| i.x.reduce_sum(1, false) },
    Workload { name: "max", record: |i| i.x.reduce_max(1, false) },
    Workload { name: "mean", record: |i| i.x.reduce_mean(1, false) },
    Workload { name: "affine_sum", record: |i| ((&i.x * 2f32)? + 1f32)?.reduce_sum(1, false) },
    Workload { name: "row_add", record: |i| &i.x + &i.row },
    Workload { name: "slice_head", record: |i| i.x.slice(s![.., ..8]) },
    Workload { name: "slice_tail", record: |i| i.x.slice(s![.., -8..]) },
    Workload { name: "gather_rows", record: |i| i.x.gather(&i.ids, Some(0), 0) },
    Workload { name: "concat_axis1", record: |i| Tensor::concat(&[&i.x, &i.x], 1) },
    Workload { name: "to_padded", record: |i| i.x.to_tensor(0f32, Some(&[None, Some(64)])) },
    Workload { name: "softmax", record: |i| i.x.softmax(1) },
    Workload { name: "mask_gt_half", record: |i| i.x.boolean_mask(&i.x.greater(0.5f32)?) },
    Workload { name: "sort", record: |i| i.x.sort(1, false) },
    Workload { name: "embed_mean", record: |i| i.table.gather(&i.tokens, Some(0), 0)?.reduce_mean(1, false) },
];
