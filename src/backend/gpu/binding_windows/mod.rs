//! Binding windows: arrays that exceed one storage-buffer binding.
//!
//! A kernel is generated without knowledge of how its arrays are bound. It accesses an array through functions
//! (`load_x(i)`, `store_x(i, v)`: [`codegen`](super::codegen)) and takes the index of its workgroup from
//! `workgroup_index`. Once the sizes of a run are known, this module decides per launch:
//!
//! 1. *How each array is bound* ([`Windowing`](super::codegen::Windowing)): in one binding, in several windows that
//!    hold all of it, or in part. The generator then declares the array accordingly. Only the declarations and the
//!    bodies of these functions differ from those of arrays in one binding; the rest of the kernel's text is the same,
//!    and no text is searched or rewritten.
//! 2. *Into which dispatches the launch is split*, and the windows and parameters of each.
//!
//! Every window takes one of the storage buffers that a kernel may bind: at least 8, and far more on most adapters. If
//! the windows of all arrays fit, all are bound ([`all_windows`]). Otherwise the planner legalizes the step
//! ([`legalize`](super::legalize)) into steps whose access patterns are known, and their launches are split into dispatches that
//! bind parts of the arrays ([`partial`]).
//!
//! | file | |
//! |---|---|
//! | [`window`] | sizes of windows |
//! | [`dispatch`] | results of a split: dispatches with their bindings, or an exceeded limit |
//! | [`all_windows`] | one dispatch that binds all windows; for a map, one per window of positions |
//! | [`access_pattern`] | access patterns of arrays |
//! | [`row_tile`] | the access patterns of kernels that iterate over rows |
//! | [`array_part`] | the part of an array that a dispatch binds |
//! | [`partial`] | dispatches that bind parts: the rows, tiles and groups of windows of each |

mod access_pattern;
mod all_windows;
mod array_part;
mod dispatch;
mod partial;
mod row_tile;
mod window;

pub(super) use access_pattern::AccessPattern;
pub(super) use dispatch::{BindingWindow, LimitExceeded, WindowedDispatch};
pub(super) use row_tile::{LEVEL2, RowTile, own_rows};

use super::launch::Launch;
use crate::graph::plan::Step;
use crate::graph::planned::SizeView;

/// Splits a launch of the step into dispatches whose arrays are bound as windows. `bytes` are the sizes of the arrays,
/// in binding order. `None` if each array fits one binding.
pub(super) fn split(
    step: &Step,
    sizes: SizeView<'_>,
    launch: &Launch,
    bytes: &[u64],
) -> Result<Option<Vec<WindowedDispatch>>, LimitExceeded> {
    if bytes.iter().all(|&b| step.limits.windows(b) == 1) {
        return Ok(None);
    }
    if step.is_oversized()
        && let Some(parts) = partial::split(step, sizes, launch, bytes)
    {
        return parts.map(Some);
    }
    all_windows::split(step, launch, bytes).map(Some)
}
