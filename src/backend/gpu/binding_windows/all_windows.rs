//! Dispatches that bind all windows of all arrays.
//!
//! A map is split into several dispatches, each over the positions of one window. The output, and the arrays that are
//! read at the element's own position only, then take one binding each.

use std::sync::Arc;

use super::dispatch::{BindingWindow, LimitExceeded, WindowedDispatch};
use super::window::window_bits;
use crate::backend::gpu::codegen::{Binding, StorageArray, Windowing, elements_per_word};
use crate::backend::gpu::launch::Launch;
use crate::backend::gpu::map::MAP_TILE;
use crate::dtype::DType;
use crate::graph::digest::DigestSet;
use crate::graph::plan::Step;
use crate::graph::planned::Recipe;

/// The dispatches of the launch. `bytes` are the sizes of its arrays, in binding order.
pub(super) fn split(step: &Step, launch: &Launch, bytes: &[u64]) -> Result<Vec<WindowedDispatch>, LimitExceeded> {
    let limits = step.limits;
    let at_own = step.at_own_position();
    let arrays: Vec<Array> =
        launch.arrays().iter().zip(bytes).map(|(array, &bytes)| Array::new(step, array, bytes, &at_own)).collect();
    let windowings: Vec<Windowing> = arrays.iter().map(|a| a.windowing).collect();
    let requested = arrays.iter().map(|a| a.windows).fold(0, u32::saturating_add);
    if step.is_oversized() || requested > limits.bindings {
        return Err(LimitExceeded { requested: requested.into(), unit: "bindings", limit: limits.bindings.into() });
    }
    let text: Arc<str> = launch.module.text_with(&windowings, true).into();
    // Tiles per dispatch of a map: as many as fit one window of each array.
    let widest = arrays.iter().filter_map(|a| a.bytes_per_tile).max();
    let tiles = widest.map_or(launch.workgroups, |tile| (limits.window_bytes() / tile) as u32);
    let part = |first: u32| {
        let workgroups = tiles.min(launch.workgroups - first);
        let mut bindings = Vec::new();
        for (array, a) in arrays.iter().enumerate() {
            a.bind(array, (first, workgroups), &mut bindings);
        }
        let mut params = launch.params.clone();
        if widest.is_some() {
            params.extend([first, 0, 0, 0]);
        }
        WindowedDispatch { text: text.clone(), bindings, params, workgroups }
    };
    Ok((0..launch.workgroups).step_by(tiles.max(1) as usize).map(part).collect())
}

/// An array of a launch.
struct Array {
    bytes: u64,
    windowing: Windowing,
    /// Bindings of the array.
    windows: u32,
    /// Bytes per window, if there are several.
    window: u64,
    /// Bytes per tile, for an array whose binding starts at the first tile of the dispatch.
    bytes_per_tile: Option<u64>,
}

impl Array {
    /// `at_own` are the arrays that the step reads only at its own position.
    fn new(step: &Step, array: &StorageArray, bytes: u64, at_own: &DigestSet) -> Self {
        let max_binding = step.limits.max_binding;
        let bits = window_bits(max_binding, array.element.bytes);
        let window = array.element.bytes << bits;
        let out = Self { bytes, windowing: Windowing::Whole, windows: 1, window, bytes_per_tile: None };
        if bytes <= max_binding {
            return out;
        }
        match dtype_by_position(step, &array.binding, at_own) {
            Some(dtype) => Self {
                windowing: Windowing::Tiles { tile: MAP_TILE / elements_per_word(dtype) },
                bytes_per_tile: Some(u64::from(MAP_TILE) * dtype.size() as u64),
                ..out
            },
            None => {
                let windows = bytes.div_ceil(window).try_into().unwrap_or(u32::MAX);
                Self { windowing: Windowing::Windows { count: windows, bits }, windows, ..out }
            }
        }
    }

    /// Appends the bindings of the array for a dispatch over `workgroups` tiles from tile `first` on.
    fn bind(&self, array: usize, (first, workgroups): (u32, u32), out: &mut Vec<BindingWindow>) {
        let range = |from: u64, len: u64| Some(from..self.bytes.min(from + len));
        match (self.windowing, self.bytes_per_tile) {
            (Windowing::Windows { count, .. }, _) => {
                let window = |k: u32| range(u64::from(k) * self.window, self.window);
                out.extend((0..count).map(|k| BindingWindow { array, bytes: window(k) }));
            }
            (_, Some(tile)) => {
                let from = u64::from(first) * tile;
                // An array that ends before this position is not read, but a range of it must be bound.
                let from = if from < self.bytes { from } else { 0 };
                out.push(BindingWindow { array, bytes: range(from, u64::from(workgroups) * tile) });
            }
            _ => out.push(BindingWindow { array, bytes: None }),
        }
    }
}

/// The dtype of an array that a map accesses at its own position only; `None` for any other array.
fn dtype_by_position(step: &Step, binding: &Binding, at_own: &DigestSet) -> Option<DType> {
    match binding {
        Binding::Read(n) => at_own.contains(&n.digest()).then(|| n.dtype()),
        Binding::Output(_) => matches!(step.recipe, Recipe::Map(_)).then(|| step.out.dtype()),
        _ => None,
    }
}
