//! Binds an array that exceeds one binding as several windows.
//!
//! [`super::reach`] rewrites the kernel's text accordingly, so that no earlier stage needs to know.
//!
//! A map is split into several dispatches, each over the positions of one window. Its output, and the arrays that it
//! reads only at its own position, then take one binding each.
//!
//! Every window takes one of the storage buffers that a kernel may bind: at least 8, and far more on most adapters. The
//! planner counts them, and stores intermediate results where a kernel would bind too many. Where that does not
//! suffice, arrays are bound in part: [`super::parts`].

use std::ops::Range;
use std::sync::Arc;

use super::codegen::{Binding, elements_per_word};
use super::launch::Launch;
use super::layout::window_bytes;
use super::map::MAP_TILE;
use super::parts;
use super::reach::{Reach, changed, element_sizes};
use crate::dtype::DType;
use crate::graph::node::Recipe;
use crate::graph::plan::Step;

/// One of a launch's bindings, or a window of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BindingWindow {
    /// Index of the binding in the launch.
    pub(super) binding: usize,
    /// The bytes of the window; `None` for the whole array.
    pub(super) bytes: Option<Range<u64>>,
}

/// A launch with its arrays as windows, or one of the dispatches into which it is split.
#[derive(Debug)]
pub(super) struct Windowed {
    pub(super) text: Arc<str>,
    /// The bindings, from binding 1 on.
    pub(super) bindings: Vec<BindingWindow>,
    pub(super) params: Vec<u32>,
    pub(super) workgroups: u32,
}

/// A limit that a launch exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) requested: u64,
    pub(super) unit: &'static str,
    pub(super) limit: u64,
}

/// The step's launch with its arrays as windows, split into several launches where possible. `bytes` are the sizes of
/// its arrays, in binding order. `None` if each array fits one binding.
pub(super) fn split(step: &Step, launch: &Launch, bytes: &[u64]) -> Result<Option<Vec<Windowed>>, Refused> {
    let limits = step.limits;
    if bytes.iter().all(|&b| limits.windows(b) == 1) {
        return Ok(None);
    }
    let is_oversized = step.is_oversized();
    if is_oversized && let Some(parts) = parts::split(step, launch, bytes) {
        return parts.map(Some);
    }
    let at_own = step.at_own_position();
    let own_dtype = |b: &Binding| match b {
        Binding::Read(n) => at_own.contains(&n.digest()).then(|| n.dtype()),
        Binding::Output(_) => matches!(step.recipe, Recipe::Map { .. }).then(|| step.out.dtype()),
        _ => None,
    };
    let mut widest = 0;
    let windows: Vec<u64> =
        element_sizes(launch.text()).into_iter().map(|size| window_bytes(limits.max_binding, size)).collect();
    let reach = |((b, &bytes), window): ((&Binding, &u64), &u64)| match own_dtype(b) {
        _ if bytes <= limits.max_binding => Reach::Whole,
        Some(dtype) => {
            widest = widest.max(dtype.size());
            Reach::Own { lanes: elements_per_word(dtype) }
        }
        None => Reach::Windows(bytes.div_ceil(*window).try_into().unwrap_or(u32::MAX)),
    };
    let reaches: Vec<Reach> = launch.bindings().iter().zip(bytes).zip(&windows).map(reach).collect();
    let needed = reaches.iter().map(|r| if let Reach::Windows(n) = r { *n } else { 1 }).fold(0, u32::saturating_add);
    if is_oversized || needed > limits.bindings {
        return Err(Refused { requested: needed.into(), unit: "bindings", limit: limits.bindings.into() });
    }
    let text: Arc<str> = changed(launch.text(), &reaches, limits.max_binding, true).into();
    // Tiles of a map that fit one window of each array.
    let tiles = match widest {
        0 => launch.workgroups,
        size => (limits.window_bytes() / (u64::from(MAP_TILE) * size as u64)) as u32,
    };
    let part = |first: u32| {
        let workgroups = tiles.min(launch.workgroups - first);
        let mut bindings = Vec::new();
        for (binding, (reach, &bytes)) in reaches.iter().zip(bytes).enumerate() {
            let range = |from: u64, len: u64| Some(from..bytes.min(from + len));
            match *reach {
                Reach::Whole | Reach::Part { .. } => bindings.push(BindingWindow { binding, bytes: None }),
                Reach::Windows(n) => {
                    let window = windows[binding];
                    let all = (0..u64::from(n)).map(|k| BindingWindow { binding, bytes: range(k * window, window) });
                    bindings.extend(all);
                }
                Reach::Own { .. } => {
                    let dtype = own_dtype(&launch.bindings()[binding]).map_or(4, DType::size) as u64;
                    let tile = u64::from(MAP_TILE) * dtype;
                    let from = u64::from(first) * tile;
                    // An array that ends before this position is not read, but some range of it has to be bound.
                    let from = if from < bytes { from } else { 0 };
                    bindings.push(BindingWindow { binding, bytes: range(from, u64::from(workgroups) * tile) });
                }
            }
        }
        let mut params = launch.params.clone();
        if widest > 0 {
            params[FIRST_TILE] = first;
        }
        Windowed { text: text.clone(), bindings, params, workgroups }
    };
    Ok(Some((0..launch.workgroups).step_by(tiles.max(1) as usize).map(part).collect()))
}

/// Index of the parameter word that holds the first tile of a map's dispatch.
const FIRST_TILE: usize = 4;
