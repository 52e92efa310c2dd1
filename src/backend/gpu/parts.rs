//! Arrays whose windows are more than a kernel may bind: bound in part, by several dispatches.
//!
//! The planner has left steps whose kernels read large arrays at positions that the host knows, or one of them at computed
//! ones ([`crate::graph::plan`]). A launch of such a step becomes a dispatch for each combination of
//!
//! - *tiles*: as many neighbours as have what they read and write in one binding an array. Tiles lie at positions that the
//!   host knows, those of a walk over rows too, once their cost is the position alone (`alpha` is 0);
//! - *rows*: a walk over rows goes over some of them at a time, as if there were no others: it is given their splits and their
//!   results, and every other tile finds nothing to do. A row is in one such group, and a block of it starts in one tile;
//! - *groups of windows* of arrays that are reached at computed positions. What is stored elsewhere is left out, and so is
//!   what would be made of something that was not there. Every element is stored by the dispatch that has what it takes.
//!   Searches for a row go by groups in order: a later group that has a row further on overwrites what an earlier one found.
//!
//! All other arrays are bound whole, or all their windows side by side. Dispatches that do nothing cost their start: this is
//! slow, and right.

use std::ops::Range;
use std::sync::Arc;

use super::codegen::{Binding, elements_per_word};
use super::launch::Launch;
use super::needs::{Need, needs};
use super::reach::{Reach, changed};
use super::windows::{Place, Windowed};
use crate::dtype::DType;
use crate::graph::plan::{PlanLimits, Step};

/// The most dispatches of a launch: the parameters of more would not fit a submission.
const MAX_DISPATCHES: usize = 1 << 19;

/// Where a window may begin.
const ALIGNMENT: u64 = 256;

/// Rows of a group are a multiple of this, so that each begins where a window may.
const ROWS: u64 = 256;

/// The launch in dispatches that bind parts of its arrays, which have `bytes` bytes. `None` if there is no way.
pub(super) fn split(step: &Step, launch: &Launch, bytes: &[u64]) -> Option<Vec<Windowed>> {
    let cut = Cut::new(step, launch, bytes)?;
    let mut out = Vec::new();
    for rows in pieces(cut.rows, cut.rows_each) {
        for tiles in pieces(cut.tiles, cut.tiles_each) {
            for turn in 0..cut.turns {
                for groups in (0..cut.groups[0]).flat_map(|a| (0..cut.groups[1]).map(move |b| [a, b])) {
                    if out.len() >= MAX_DISPATCHES {
                        return None;
                    }
                    out.push(cut.dispatch(launch, &At { rows: rows.clone(), tiles: tiles.clone(), turn, groups }));
                }
            }
        }
    }
    Some(out)
}

/// The range `0 .. all` in pieces; one that is empty, of nothing.
fn pieces(all: u64, each: u64) -> impl Iterator<Item = Range<u64>> {
    let each = each.max(1);
    (0..all.max(1)).step_by(each as usize).map(move |first| first..all.min(first + each))
}

/// Where a dispatch stands.
#[derive(Debug, Clone)]
struct At {
    rows: Range<u64>,
    tiles: Range<u64>,
    /// Which of the two places a tile has in an array.
    turn: u64,
    /// Of each axis the group of windows.
    groups: [u64; 2],
}

/// An array of a launch.
#[derive(Debug)]
struct Array {
    bytes: u64,
    /// Bytes of an element in storage.
    element: u64,
    need: Need,
    /// Bindings side by side.
    windows: u64,
}

/// How a launch is cut.
#[derive(Debug)]
struct Cut {
    limits: PlanLimits,
    arrays: Vec<Array>,
    text: Arc<str>,
    rows: u64,
    rows_each: u64,
    tiles: u64,
    tiles_each: u64,
    turns: u64,
    groups: [u64; 2],
}

impl Cut {
    fn new(step: &Step, launch: &Launch, bytes: &[u64]) -> Option<Self> {
        let limits = step.limits;
        let is_small = |bytes: u64| bytes <= limits.max_binding;
        let element = |b: &Binding| match b {
            Binding::Read(n) => stored_size(n.dtype()),
            Binding::Output(k) => stored_size(step.outputs()[*k].dtype()),
            _ => 4,
        };
        let needs = needs(step, launch)?;
        // What fits a binding is bound whole, unless the kernel goes over some of the rows as if they were all.
        let by_rows = needs.iter().zip(bytes).any(|(need, &b)| matches!(need, Need::Rows { .. }) && !is_small(b));
        let array = |((need, &bytes), b): ((Need, &u64), &Binding)| {
            let is_cut = by_rows && matches!(need, Need::Rows { .. });
            let need = if is_small(bytes) && !is_cut { Need::Whole } else { need };
            Array { bytes, element: element(b), need, windows: 1 }
        };
        let mut arrays: Vec<Array> = needs.into_iter().zip(bytes).zip(&launch.bindings).map(array).collect();
        if arrays.iter().any(|a| a.need == Need::Whole && !is_small(a.bytes)) {
            return None;
        }
        for a in &mut arrays {
            if let Need::Start(bytes) = a.need {
                a.windows = a.bytes.min(bytes).div_ceil(limits.window_bytes());
            }
        }
        // What is not spoken for is shared by the others.
        let is_open = |a: &Array| matches!(a.need, Need::Rows { .. } | Need::Any { .. });
        let taken: u64 = arrays.iter().filter(|a| !is_open(a)).map(|a| a.windows).sum();
        let open = arrays.iter().filter(|a| is_open(a)).count() as u64;
        let left = u64::from(limits.bindings).checked_sub(taken).filter(|&left| left >= open)?;
        let mut cut = Self {
            limits,
            arrays,
            text: launch.text.clone(),
            rows: 1,
            rows_each: 1,
            tiles: u64::from(launch.workgroups),
            tiles_each: u64::from(launch.workgroups),
            turns: 1,
            groups: [1, 1],
        };
        if by_rows {
            cut.rows = u64::from(launch.params[0]);
            cut.spread_rows(left)?;
        } else if open > 0 {
            cut.spread_windows(left / open);
        }
        cut.spread_tiles()?;
        let reaches: Vec<Reach> = cut.arrays.iter().map(Array::reach).collect();
        cut.text = changed(&launch.text, &reaches, limits.window_bytes()).into();
        Some(cut)
    }

    /// As many rows at once as have their windows in so many bindings.
    fn spread_rows(&mut self, bindings: u64) -> Option<()> {
        let (rows, window) = (self.rows, self.limits.window_bytes());
        let windows = |a: &Array, rows: u64| match a.need {
            Need::Rows { bytes, more } => (bytes * rows + more).div_ceil(window),
            _ => 0,
        };
        let fits = |rows: u64| self.arrays.iter().map(|a| windows(a, rows)).sum::<u64>() <= bindings;
        // The most groups of 256 rows that fit, or all.
        let (mut most, mut beyond) = (0, rows.div_ceil(ROWS) + 1);
        while most + 1 < beyond {
            let middle = (most + beyond) / 2;
            if fits((middle * ROWS).min(rows)) { most = middle } else { beyond = middle }
        }
        self.rows_each = (most * ROWS).min(rows);
        for a in &mut self.arrays {
            if matches!(a.need, Need::Rows { .. }) {
                a.windows = windows(a, self.rows_each);
            }
        }
        (most > 0).then_some(())
    }

    /// As many windows at once of each array that is reached anywhere.
    fn spread_windows(&mut self, each: u64) {
        for a in &mut self.arrays {
            if let Need::Any { axis, .. } = a.need {
                let windows = a.bytes.div_ceil(self.limits.window_bytes());
                a.windows = each.min(windows);
                self.groups[axis] = self.groups[axis].max(windows.div_ceil(a.windows));
            }
        }
    }

    /// As many tiles at once as have what they need of each array in one binding.
    fn spread_tiles(&mut self) -> Option<()> {
        let most = |from: u64, bytes: u64, more: u64| {
            let slack = if (from | bytes).is_multiple_of(ALIGNMENT) { 0 } else { ALIGNMENT };
            self.limits.max_binding.checked_sub(more + slack).map(|left| left / bytes.max(1)).filter(|&n| n > 0)
        };
        let (mut each, mut turns) = (self.tiles, 1);
        for a in &self.arrays {
            match a.need {
                Need::Tiles { bytes, more } => each = each.min(most(0, bytes, more)?),
                Need::TilesTwice { bytes, then: (from, further) } => {
                    each = each.min(most(0, bytes, 0)?).min(most(from, further, 0)?);
                    turns = 2;
                }
                _ => {}
            }
        }
        (self.tiles_each, self.turns) = (each, turns);
        Some(())
    }

    fn dispatch(&self, launch: &Launch, at: &At) -> Windowed {
        let mut params = launch.params.clone();
        let workgroups = (at.tiles.end - at.tiles.start) as u32;
        params.extend([at.tiles.start as u32, 0, 0, 0]);
        let mut places = Vec::new();
        for (binding, array) in self.arrays.iter().enumerate() {
            let mut place = |window| places.push(Place { binding, window });
            match array.reach() {
                Reach::Part { .. } => {
                    let range = array.part(at, self.limits.window_bytes());
                    // Rows are numbered from the first that is bound.
                    let first = if matches!(array.need, Need::Rows { .. }) { 0 } else { range.start };
                    let len = range.end - range.start;
                    params.extend([(first / array.element) as u32, (len / array.element) as u32, 0, 0]);
                    array.windows(range, self.limits.window_bytes()).for_each(|window| place(Some(window)));
                }
                Reach::Windows(_) => {
                    let range = array.part(at, self.limits.window_bytes());
                    array.windows(range, self.limits.window_bytes()).for_each(|window| place(Some(window)));
                }
                Reach::Whole | Reach::Own { .. } => place(None),
            }
        }
        if self.rows > 1 {
            params[0] = (at.rows.end - at.rows.start) as u32;
        }
        Windowed { text: self.text.clone(), places, params, workgroups }
    }
}

impl Array {
    fn reach(&self) -> Reach {
        let windows = self.windows as u32;
        match self.need {
            Need::Whole => Reach::Whole,
            Need::Start(_) => Reach::Windows(windows),
            Need::Any { is_fetched, .. } => Reach::Part { windows, is_fetched },
            _ => Reach::Part { windows, is_fetched: false },
        }
    }

    /// The bytes that a dispatch needs, and perhaps some around.
    fn part(&self, at: &At, window: u64) -> Range<u64> {
        let tiles = |from: u64, bytes: u64, more: u64| {
            let last = (self.bytes.max(1) - 1) / ALIGNMENT * ALIGNMENT;
            let start = (from + bytes * at.tiles.start) / ALIGNMENT * ALIGNMENT;
            start.min(last)..self.bytes.min(from + bytes * at.tiles.end + more)
        };
        match self.need {
            Need::Tiles { bytes, more } => tiles(0, bytes, more),
            Need::TilesTwice { bytes, .. } if at.turn == 0 => tiles(0, bytes, 0),
            Need::TilesTwice { then: (from, bytes), .. } => tiles(from, bytes, 0),
            Need::Rows { bytes, more } => bytes * at.rows.start..self.bytes.min(bytes * at.rows.end + more),
            Need::Any { axis, .. } => {
                // The last group is full too.
                let last = self.bytes.div_ceil(window) - self.windows;
                let first = (at.groups[axis] * self.windows).min(last) * window;
                first..self.bytes.min(first + self.windows * window)
            }
            Need::Start(bytes) => 0..self.bytes.min(bytes),
            Need::Whole | Need::Nothing => 0..self.bytes.min(window),
        }
    }

    /// The range in as many windows as the text has.
    fn windows(&self, range: Range<u64>, window: u64) -> impl Iterator<Item = Range<u64>> {
        let only = self.windows == 1;
        (0..self.windows).map(move |k| {
            let first = range.start + k * window;
            match first < range.end {
                true if only => range.clone(),
                true => first..range.end.min(first + window),
                // The last of several groups of rows may have fewer: what is never reached, far from the others.
                false => k * ALIGNMENT..(k + 1) * ALIGNMENT,
            }
        })
    }
}

/// Bytes of an element in storage, which is a word for those that share one.
fn stored_size(dtype: DType) -> u64 {
    if elements_per_word(dtype) > 1 { 4 } else { dtype.size() as u64 }
}
