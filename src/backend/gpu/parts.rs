//! Arrays whose windows are more than a kernel may bind: bound in part, by several dispatches.
//!
//! The planner has left steps whose kernels read large arrays at positions that the host knows, or one of them at
//! computed ones ([`crate::graph::plan`]). A launch of such a step becomes a dispatch for each combination of
//!
//! - *tiles*: as many neighbours as have what they read and write in one binding an array. Tiles lie at positions that
//!   the host knows, those of a walk over rows too, once their cost is the position alone (`alpha` is 0);
//! - *rows*: a walk over rows goes over some of them at a time, as if there were no others: it is given their splits
//!   and their results, and every other tile finds nothing to do. A row is in one such group, and a block of it starts
//!   in one tile. A product goes over its batches so;
//! - *groups of windows* of arrays that are reached at computed positions. What is stored elsewhere is left out, and so
//!   is what would be made of something that was not there. Every element is stored by the dispatch that has what it
//!   takes. Searches for a row go by groups in order: a later group that has a row further on overwrites what an
//!   earlier one found. A product adds what each group has, in the order of its terms. A string is hashed by a group
//!   that has all of it: these groups have a window in common. One longer than a window or a leg is hashed in legs, each as far
//!   as its group has it.
//!
//! All other arrays are bound whole, or all their windows side by side. Dispatches that do nothing cost their start:
//! this is slow, and right.

use std::ops::Range;
use std::sync::Arc;

use super::codegen::Binding;
use super::launch::Launch;
use super::layout::window_bytes;
use super::needs::{Need, needs};
use super::reach::{Fetched, Reach, changed, element_sizes};
use super::windows::{BindingWindow, Refused, Windowed};
use crate::graph::node::Recipe;
use crate::graph::plan::{PlanLimits, Step};

/// The most dispatches of a launch: a submission holds a few times as many, of all its launches.
const MAX_DISPATCHES: u64 = 1 << 18;

/// Axes along which arrays that are reached anywhere are gone through.
const AXES: usize = 3;

/// Where a window may begin.
const ALIGNMENT: u64 = 256;

/// Rows of a group are a multiple of this, so that each begins where a window may.
const ROWS: u64 = 256;

/// The launch in dispatches that bind parts of its arrays, which have `bytes` bytes. `None` if there is no way.
pub(super) fn split(step: &Step, launch: &Launch, bytes: &[u64]) -> Option<Result<Vec<Windowed>, Refused>> {
    let cut = Cut::new(step, launch, bytes)?;
    let requested = cut.dispatches();
    if requested > MAX_DISPATCHES {
        return Some(Err(Refused { requested, unit: "dispatches", limit: MAX_DISPATCHES }));
    }
    let mut out = Vec::with_capacity(requested as usize);
    for rows in pieces(cut.rows, cut.rows_each) {
        for tiles in pieces(cut.tiles, cut.tiles_each) {
            for turn in 0..cut.turns {
                for groups in cut.groups_in_order() {
                    out.push(cut.dispatch(launch, &At { rows: rows.clone(), tiles: tiles.clone(), turn, groups }));
                }
            }
        }
    }
    Some(Ok(out))
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
    groups: [u64; AXES],
}

/// An array of a launch.
#[derive(Debug)]
struct Array {
    bytes: u64,
    /// Bytes of an element in storage.
    element: u64,
    need: Need,
    /// Bytes of one of several windows.
    window: u64,
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
    groups: [u64; AXES],
}

impl Cut {
    fn new(step: &Step, launch: &Launch, bytes: &[u64]) -> Option<Self> {
        let limits = step.limits;
        let is_small = |bytes: u64| bytes <= limits.max_binding;
        let elements = element_sizes(launch.text());
        let needs = needs(step, launch, &elements)?;
        let fetches = needs.iter().any(|need| matches!(need, Need::Any { fetched, .. } if fetched.may_miss()));
        let by_rows = needs.iter().zip(bytes).any(|(need, &b)| matches!(need, Need::Rows { .. }) && !is_small(b));
        let array = |(((need, &bytes), b), element): (((Need, &u64), &Binding), u64)| {
            // What fits a binding is bound whole, but for what the kernel is to take as if there were no more, what may
            // be missed, and what is then not to be stored.
            let is_written = matches!(b, Binding::Output(_) | Binding::Scratch(_));
            let is_cut = match need {
                Need::Rows { .. } => by_rows,
                Need::Any { .. } => true,
                _ => fetches && is_written,
            };
            let need = if is_small(bytes) && !is_cut { Need::Whole } else { need };
            Array { bytes, element, window: window_bytes(limits.max_binding, element), need, windows: 1 }
        };
        let each = needs.into_iter().zip(bytes).zip(launch.bindings()).zip(elements);
        let mut arrays: Vec<Array> = each.map(array).collect();
        if arrays.iter().any(|a| a.need == Need::Whole && !is_small(a.bytes)) {
            return None;
        }
        for a in &mut arrays {
            if let Need::Start(bytes) = a.need {
                a.windows = a.bytes.min(bytes).div_ceil(a.window);
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
            text: launch.text().clone(),
            rows: 1,
            rows_each: 1,
            tiles: u64::from(launch.workgroups),
            tiles_each: u64::from(launch.workgroups),
            turns: 1,
            groups: [1; AXES],
        };
        let anywhere = cut.arrays.iter().filter(|a| matches!(a.need, Need::Any { .. })).count() as u64;
        let mut of_rows = 0;
        if by_rows {
            cut.rows = u64::from(launch.params[0]);
            cut.spread_rows(if anywhere == 0 { left } else { left * (open - anywhere) / open })?;
            let is_of_rows = |a: &&Array| matches!(a.need, Need::Rows { .. });
            of_rows = cut.arrays.iter().filter(is_of_rows).map(|a| a.windows).sum();
        }
        if let Some(each) = (left - of_rows).checked_div(anywhere) {
            cut.spread_windows(each)?;
        }
        cut.spread_tiles()?;
        let reaches: Vec<Reach> = cut.arrays.iter().map(Array::reach).collect();
        // A product says itself what it makes of what is not there.
        let stores_all = matches!(step.recipe, Recipe::Product(_));
        cut.text = changed(launch.text(), &reaches, limits.max_binding, stores_all).into();
        Some(cut)
    }

    /// As many rows at once as have their windows in so many bindings.
    fn spread_rows(&mut self, bindings: u64) -> Option<()> {
        let rows = self.rows;
        let windows = |a: &Array, rows: u64| match a.need {
            Need::Rows { bytes, more } => (bytes * rows + more).div_ceil(a.window),
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
    fn spread_windows(&mut self, each: u64) -> Option<()> {
        for a in &mut self.arrays {
            if let Need::Any { axis, .. } = a.need {
                let windows = a.bytes.div_ceil(a.window).max(1);
                a.windows = each.min(windows);
                let more = windows - a.windows;
                if more > 0 && a.step() == 0 {
                    return None;
                }
                self.groups[axis] = self.groups[axis].max(1 + more.div_ceil(a.step().max(1)));
            }
        }
        Some(())
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

    fn dispatches(&self) -> u64 {
        let pieces =
            [self.rows.div_ceil(self.rows_each.max(1)), self.tiles.div_ceil(self.tiles_each.max(1)), self.turns];
        pieces.into_iter().chain(self.groups).fold(1, |n, k| n.saturating_mul(k.max(1)))
    }

    /// Every combination of groups, those of the last axis first.
    fn groups_in_order(&self) -> impl Iterator<Item = [u64; AXES]> {
        let [a, b, c] = self.groups;
        (0..a * b * c).map(move |k| [k / (b * c), k / c % b, k % c])
    }

    fn dispatch(&self, launch: &Launch, at: &At) -> Windowed {
        let mut params = launch.params.clone();
        let workgroups = (at.tiles.end - at.tiles.start) as u32;
        params.extend([at.tiles.start as u32, 0, 0, 0]);
        let mut bindings = Vec::new();
        for (binding, array) in self.arrays.iter().enumerate() {
            let mut bind = |bytes| bindings.push(BindingWindow { binding, bytes });
            match array.reach() {
                Reach::Part { .. } => {
                    let range = array.part(at);
                    // Rows are numbered from the first that is bound.
                    let first = if matches!(array.need, Need::Rows { .. }) { 0 } else { range.start };
                    let len = range.end - range.start;
                    params.extend([(first / array.element) as u32, (len / array.element) as u32, 0, 0]);
                    array.windows(range).for_each(|window| bind(Some(window)));
                }
                Reach::Windows(_) => {
                    let range = array.part(at);
                    array.windows(range).for_each(|window| bind(Some(window)));
                }
                Reach::Whole | Reach::Own { .. } => bind(None),
            }
        }
        if self.rows > 1 {
            params[0] = (at.rows.end - at.rows.start) as u32;
        }
        Windowed { text: self.text.clone(), bindings, params, workgroups }
    }
}

impl Array {
    fn reach(&self) -> Reach {
        let windows = self.windows as u32;
        match self.need {
            Need::Whole => Reach::Whole,
            Need::Start(_) => Reach::Windows(windows),
            Need::Any { fetched, .. } => Reach::Part { windows, fetched },
            _ => Reach::Part { windows, fetched: Fetched::Never },
        }
    }

    /// How many windows a group begins after the one before. Where an invocation stores nothing unless it had all that
    /// it reads, groups have a window in common: what is no longer than a window is whole in one of them.
    fn step(&self) -> u64 {
        match self.need {
            Need::Any { fetched: Fetched::All, .. } => self.windows - 1,
            _ => self.windows,
        }
    }

    /// The bytes that a dispatch needs, and perhaps some around.
    fn part(&self, at: &At) -> Range<u64> {
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
                let first = self.bytes.min(at.groups[axis] * self.step() * self.window);
                first..self.bytes.min(first + self.windows * self.window)
            }
            Need::Start(bytes) => 0..self.bytes.min(bytes),
            Need::Whole | Need::Nothing => 0..self.bytes.min(self.window),
        }
    }

    /// The range in as many windows as the text has.
    fn windows(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let (only, window) = (self.windows == 1, self.window);
        (0..self.windows).map(move |k| {
            let first = range.start + k * window;
            match first < range.end {
                true if only => range.clone(),
                true => first..range.end.min(first + window),
                // The last of several groups may have fewer: what is never reached, far from the others.
                false => k * ALIGNMENT..(k + 1) * ALIGNMENT,
            }
        })
    }
}
