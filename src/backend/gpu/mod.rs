//! The GPU backend: steps become WGSL kernels, which a runtime over wgpu runs.
//!
//! ```text
//! plan (graph::plan) -> lower (template, bindings, grid) -> codegen (WGSL)
//!      -> binding_windows (arrays larger than a binding) -> prepare (kernels for the sizes of a run, compiled and cached)
//!      -> record (buffers, commands) -> runtime (pool, pipelines, queue)
//! ```
//!
//! One file per primitive, named after its kernel, holds its grids, scratch sizes and launches.

mod append;
mod backend;
mod binding_windows;
mod bounds;
mod buffer_assignment;
mod codegen;
mod commands;
mod compiled_plan;
mod driver_limits;
mod launch;
mod legalize;
mod prepare;
mod primitive;
mod probe;
mod read;
pub(crate) mod runtime;

pub(crate) use backend::GpuBackend;

pub(crate) mod compact;
mod histogram;
mod map;
pub(crate) mod matmul;
pub(crate) mod rank_bitmap;
mod row_grid;
mod row_hash;
pub(crate) mod row_reduce;
pub(crate) mod row_scan;
pub(crate) mod row_sort;
pub(crate) mod scan;
mod scan_rows;
pub(crate) mod sort;
mod tile_fold;
mod top_k;
mod tuning;
mod unique_scatter;

#[cfg(test)]
mod kernel_tests;
#[cfg(test)]
mod shader_tests;

/// Maximum number of workgroups along one dimension of a grid.
pub const MAX_GROUPS: u32 = 65_535;

/// A two-dimensional grid of at least `count` workgroups. The shader's linear workgroup index is `wid.x + wid.y *
/// num_workgroups.x`.
pub fn fold_grid(count: u32) -> (u32, u32) {
    if count <= MAX_GROUPS { (count, 1) } else { (MAX_GROUPS, count.div_ceil(MAX_GROUPS)) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn folded_grids_cover_and_stay_in_range() {
        for count in [0, 1, 65_534, 65_535, 65_536, 131_070, 131_071, 1 << 30, 0xfffe_0001] {
            let (x, y) = super::fold_grid(count);
            assert!(u64::from(x) * u64::from(y) >= u64::from(count), "{count}");
            assert!(x <= super::MAX_GROUPS && y <= super::MAX_GROUPS, "{count}: {x} x {y}");
        }
    }
}
