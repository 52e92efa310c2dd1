//! Splits a launch whose arrays have more windows than a kernel can bind into dispatches that bind parts of them.
//!
//! The planner has left steps whose kernels read large arrays at host-known positions, or one large array at computed
//! positions ([`crate::graph::plan`]). A launch of such a step becomes one dispatch per combination of
//!
//! - *tiles*: as many consecutive tiles as access at most one binding of each array. The host knows the positions of
//!   tiles. Tiles over rows are no exception, since their cost is the position alone here (`alpha` is 0);
//! - *rows*: a row reduction or row scan processes one group of rows at a time, as if there were no others. A dispatch
//!   binds the splits and results of its group, and tiles outside the group have no work. Each row is in one group, and
//!   each of its blocks starts in one tile. A product processes its batches in the same way;
//! - *groups of windows* of arrays that are accessed at computed positions. Stores outside the bound group are dropped,
//!   and so are stores that depend on a load outside it. Every element is stored by the dispatch whose groups hold all
//!   that it depends on. Searches for a row process the groups in order: a later group that holds a later match
//!   overwrites the result of an earlier one. A product adds the terms that each group holds, in order. A string is
//!   hashed by a group that holds all of it, so consecutive groups share a window. A string longer than a window or a
//!   leg (the bytes hashed per dispatch) is hashed in legs, each as far as its group holds the bytes.
//!
//! All other arrays are bound whole, or with all their windows. Dispatches without work still cost their launch: this
//! path is slow, but correct.

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

/// Maximum number of dispatches per launch. A submission holds a few times as many, over all its launches.
const MAX_DISPATCHES: u64 = 1 << 18;

/// Number of axes of arrays that are accessed at any position, as in [`Need::Any`].
const AXES: usize = 3;

/// Byte alignment of the start of a window.
const ALIGNMENT: u64 = 256;

/// Row groups start at multiples of this many rows, so that their start is aligned in each array.
const ROWS: u64 = 256;

/// Splits the launch into dispatches that bind parts of its arrays, of `bytes` bytes each. `None` if no split exists.
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

/// Splits `0..all` into ranges of at most `each`; a single empty range if `all` is 0.
fn pieces(all: u64, each: u64) -> impl Iterator<Item = Range<u64>> {
    let each = each.max(1);
    (0..all.max(1)).step_by(each as usize).map(move |first| first..all.min(first + each))
}

/// The part of a launch that one dispatch covers.
#[derive(Debug, Clone)]
struct At {
    rows: Range<u64>,
    tiles: Range<u64>,
    /// Which of a tile's two ranges in an array, for [`Need::TilesTwice`].
    turn: u64,
    /// The group of windows on each axis.
    groups: [u64; AXES],
}

/// An array of a launch.
#[derive(Debug)]
struct Array {
    bytes: u64,
    /// Bytes per element in storage.
    element: u64,
    need: Need,
    /// Bytes per window, if the array takes several.
    window: u64,
    /// Windows that a dispatch binds.
    windows: u64,
}

/// How a launch is split into dispatches.
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
            // Arrays that fit one binding are bound whole, with three exceptions: arrays by row of a kernel that must
            // see no rows outside its group, arrays whose loads may miss, and written arrays of a kernel that stores
            // nothing after a miss.
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
        // Arrays accessed by row or at any position share the remaining bindings.
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
        // The kernel of a product handles missed loads itself.
        let stores_all = matches!(step.recipe, Recipe::Product(_));
        cut.text = changed(launch.text(), &reaches, limits.max_binding, stores_all).into();
        Some(cut)
    }

    /// Sets `rows_each` to the most rows whose windows fit this many bindings. `None` if no group of rows fits.
    fn spread_rows(&mut self, bindings: u64) -> Option<()> {
        let rows = self.rows;
        let windows = |a: &Array, rows: u64| match a.need {
            Need::Rows { bytes, more } => (bytes * rows + more).div_ceil(a.window),
            _ => 0,
        };
        let fits = |rows: u64| self.arrays.iter().map(|a| windows(a, rows)).sum::<u64>() <= bindings;
        // Binary search for the most groups of 256 rows that fit.
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

    /// Binds up to `each` windows at once of every array that is accessed at any position.
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

    /// Sets `tiles_each` to the most tiles that access at most one binding of each array.
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

    /// Every combination of groups; the last axis varies fastest.
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
                    // Rows are numbered from the first bound row.
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

    /// Number of windows from the start of one group to the start of the next. Groups overlap by one window where an
    /// invocation stores only if none of its loads missed: a range of at most one window then lies entirely in one
    /// group.
    fn step(&self) -> u64 {
        match self.need {
            Need::Any { fetched: Fetched::All, .. } => self.windows - 1,
            _ => self.windows,
        }
    }

    /// The bytes that a dispatch accesses, possibly with more around them.
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

    /// Divides the range into as many windows as the text declares.
    fn windows(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let (only, window) = (self.windows == 1, self.window);
        (0..self.windows).map(move |k| {
            let first = range.start + k * window;
            match first < range.end {
                true if only => range.clone(),
                true => first..range.end.min(first + window),
                // The last group may have fewer windows: bind a range that is never accessed, away from the others.
                false => k * ALIGNMENT..(k + 1) * ALIGNMENT,
            }
        })
    }
}
