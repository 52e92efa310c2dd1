//! Splits a launch whose arrays have more windows than a kernel can bind into dispatches that bind parts of them.
//!
//! Legalized steps read large arrays at host-known positions, or one large array at computed positions
//! ([`legalize`](crate::backend::gpu::legalize)). A launch of such a step becomes one dispatch per combination of
//!
//! - *tiles*: as many consecutive tiles as access at most one binding of each array. The positions of tiles are
//!   host-known, also of tiles over rows, whose cost is the position alone here (`alpha` is 0);
//! - *rows*: a row reduction or row scan processes one group of rows per dispatch. The dispatch binds the splits and
//!   results of its group, and tiles outside the group have no work. Each row is in one group, and each of its blocks
//!   starts in one tile. A product processes its batches in the same way;
//! - *groups of windows* of arrays that are accessed at computed positions. Stores outside the bound group are dropped,
//!   and so are stores that depend on a load outside it. Every element is stored by the dispatch whose groups contain
//!   all its operands. Searches for a row process the groups in order: a later group with a later match overwrites the
//!   result of an earlier one. A product adds the terms of each group, in order. A string is hashed by a group that
//!   contains all of it, so consecutive groups overlap by a window. A string longer than a window or than the bytes
//!   hashed per dispatch is hashed by several groups, each up to the end of its bytes.
//!
//! All other arrays are bound whole, or with all their windows. Every dispatch costs a launch, even without work, so
//! this path is slow.

use std::ops::Range;
use std::sync::Arc;

use super::access_pattern::AccessPattern;
use super::array_part::{ALIGNMENT, AXES, Coverage, PartialArray};
use super::dispatch::{BindingWindow, LimitExceeded, WindowedDispatch};
use crate::backend::gpu::codegen::{Binding, StorageArray, Windowing};
use crate::backend::gpu::launch::Launch;
use crate::backend::gpu::primitive::access_patterns;
use crate::graph::plan::{PlanLimits, Step};
use crate::graph::planned::{Recipe, SizeView};

/// Maximum number of dispatches per launch. The limit of a submission is a few times as high.
const MAX_DISPATCHES: u64 = 1 << 18;

/// Row groups start at multiples of this many rows, which are aligned in each array.
const ROWS: u64 = 256;

/// Splits the launch into dispatches that bind parts of its arrays, of `bytes` bytes each. `None` if no split exists.
pub(super) fn split(
    step: &Step,
    sizes: SizeView<'_>,
    launch: &Launch,
    bytes: &[u64],
) -> Option<Result<Vec<WindowedDispatch>, LimitExceeded>> {
    let schedule = Schedule::new(step, sizes, launch, bytes)?;
    let requested = schedule.dispatches();
    if requested > MAX_DISPATCHES {
        return Some(Err(LimitExceeded { requested, unit: "dispatches", limit: MAX_DISPATCHES }));
    }
    let mut out = Vec::with_capacity(requested as usize);
    for rows in chunks(schedule.rows, schedule.rows_per_dispatch) {
        for tiles in chunks(schedule.tiles, schedule.tiles_per_dispatch) {
            for tile_range in 0..schedule.ranges_per_tile {
                for groups in schedule.groups_in_order() {
                    let part = Coverage { rows: rows.clone(), tiles: tiles.clone(), tile_range, groups };
                    out.push(schedule.dispatch(launch, &part));
                }
            }
        }
    }
    Some(Ok(out))
}

/// Splits `0..all` into ranges of at most `each` elements; one empty range if `all` is 0.
fn chunks(all: u64, each: u64) -> impl Iterator<Item = Range<u64>> {
    let each = each.max(1);
    (0..all.max(1)).step_by(each as usize).map(move |first| first..all.min(first + each))
}

/// How a launch is split into dispatches.
#[derive(Debug)]
struct Schedule {
    limits: PlanLimits,
    arrays: Vec<PartialArray>,
    text: Arc<str>,
    rows: u64,
    rows_per_dispatch: u64,
    tiles: u64,
    tiles_per_dispatch: u64,
    ranges_per_tile: u64,
    groups: [u64; AXES],
}

impl Schedule {
    fn new(step: &Step, sizes: SizeView<'_>, launch: &Launch, bytes: &[u64]) -> Option<Self> {
        let limits = step.limits;
        let is_small = |bytes: u64| bytes <= limits.max_binding;
        let patterns = access_patterns(step, sizes, launch)?;
        let may_miss = |p: &AccessPattern| matches!(p, AccessPattern::Random { misses, .. } if misses.are_possible());
        let may_miss = patterns.iter().any(may_miss);
        let is_per_row = |p: &AccessPattern| matches!(p, AccessPattern::PerRow { .. });
        let by_rows = patterns.iter().zip(bytes).any(|(p, &b)| is_per_row(p) && !is_small(b));
        let array = |((pattern, &bytes), array): ((AccessPattern, &u64), &StorageArray)| {
            // Arrays that fit one binding are bound whole, with three exceptions: per-row arrays of a kernel over
            // groups of rows, arrays with random access, and written arrays of a kernel whose loads may miss.
            let is_written = matches!(array.binding, Binding::Output(_) | Binding::Scratch(_));
            let is_partial = match pattern {
                AccessPattern::PerRow { .. } => by_rows,
                AccessPattern::Random { .. } => true,
                _ => may_miss && is_written,
            };
            let pattern = if is_small(bytes) && !is_partial { AccessPattern::Whole } else { pattern };
            PartialArray::new(bytes, array.element.bytes, pattern, limits.max_binding)
        };
        let mut arrays: Vec<PartialArray> = patterns.into_iter().zip(bytes).zip(launch.arrays()).map(array).collect();
        PartialArray::align_axes(&mut arrays);
        if arrays.iter().any(|a| a.pattern == AccessPattern::Whole && !is_small(a.bytes)) {
            return None;
        }
        for a in &mut arrays {
            if let AccessPattern::Prefix(bytes) = a.pattern {
                a.windows = a.bytes.min(bytes).div_ceil(a.window());
            }
        }
        // Arrays with access per row or random access share the remaining bindings.
        let is_variable =
            |a: &PartialArray| matches!(a.pattern, AccessPattern::PerRow { .. } | AccessPattern::Random { .. });
        let taken: u64 = arrays.iter().filter(|a| !is_variable(a)).map(|a| a.windows).sum();
        let open = arrays.iter().filter(|a| is_variable(a)).count() as u64;
        let left = u64::from(limits.bindings).checked_sub(taken).filter(|&left| left >= open)?;
        let mut schedule = Self {
            limits,
            arrays,
            text: "".into(),
            rows: 1,
            rows_per_dispatch: 1,
            tiles: u64::from(launch.workgroups),
            tiles_per_dispatch: u64::from(launch.workgroups),
            ranges_per_tile: 1,
            groups: [1; AXES],
        };
        let anywhere =
            schedule.arrays.iter().filter(|a| matches!(a.pattern, AccessPattern::Random { .. })).count() as u64;
        let mut of_rows = 0;
        if by_rows {
            schedule.rows = u64::from(launch.params[0]);
            schedule.fit_rows(if anywhere == 0 { left } else { left * (open - anywhere) / open })?;
            let is_of_rows = |a: &&PartialArray| matches!(a.pattern, AccessPattern::PerRow { .. });
            of_rows = schedule.arrays.iter().filter(is_of_rows).map(|a| a.windows).sum();
        }
        if let Some(each) = (left - of_rows).checked_div(anywhere) {
            schedule.fit_windows(each)?;
        }
        schedule.fit_tiles()?;
        let windowings: Vec<Windowing> = schedule.arrays.iter().map(PartialArray::windowing).collect();
        // The kernel of a product handles missed loads itself.
        let stores_after_misses = matches!(step.recipe, Recipe::Product(_));
        schedule.text = launch.module.text_with(&windowings, stores_after_misses).into();
        Some(schedule)
    }

    /// Sets `rows_per_dispatch` to the maximum for which the windows fit this many bindings. `None` if no group of rows
    /// fits.
    fn fit_rows(&mut self, bindings: u64) -> Option<()> {
        let rows = self.rows;
        let windows = |a: &PartialArray, rows: u64| match a.pattern {
            AccessPattern::PerRow { bytes, more } => (bytes * rows + more).div_ceil(a.window()),
            _ => 0,
        };
        let fits = |rows: u64| self.arrays.iter().map(|a| windows(a, rows)).sum::<u64>() <= bindings;
        // Binary search for the maximum number of groups of 256 rows that fit.
        let (mut most, mut beyond) = (0, rows.div_ceil(ROWS) + 1);
        while most + 1 < beyond {
            let middle = (most + beyond) / 2;
            if fits((middle * ROWS).min(rows)) { most = middle } else { beyond = middle }
        }
        self.rows_per_dispatch = (most * ROWS).min(rows);
        for a in &mut self.arrays {
            if matches!(a.pattern, AccessPattern::PerRow { .. }) {
                a.windows = windows(a, self.rows_per_dispatch);
            }
        }
        (most > 0).then_some(())
    }

    /// Binds up to `each` windows of every array with random access.
    fn fit_windows(&mut self, each: u64) -> Option<()> {
        for a in &mut self.arrays {
            if let AccessPattern::Random { axis, .. } = a.pattern {
                let windows = a.bytes.div_ceil(a.window()).max(1);
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

    /// Sets `tiles_per_dispatch` to the maximum number of tiles that access at most one binding of each array.
    fn fit_tiles(&mut self) -> Option<()> {
        let most = |from: u64, bytes: u64, more: u64| {
            let slack = if (from | bytes).is_multiple_of(ALIGNMENT) { 0 } else { ALIGNMENT };
            self.limits.max_binding.checked_sub(more + slack).map(|left| left / bytes.max(1)).filter(|&n| n > 0)
        };
        let (mut each, mut ranges) = (self.tiles, 1);
        for a in &self.arrays {
            match a.pattern {
                AccessPattern::PerTile { bytes, more } => each = each.min(most(0, bytes, more)?),
                AccessPattern::TwicePerTile { bytes, then: (from, further) } => {
                    each = each.min(most(0, bytes, 0)?).min(most(from, further, 0)?);
                    ranges = 2;
                }
                _ => {}
            }
        }
        (self.tiles_per_dispatch, self.ranges_per_tile) = (each, ranges);
        Some(())
    }

    fn dispatches(&self) -> u64 {
        let pieces = [
            self.rows.div_ceil(self.rows_per_dispatch.max(1)),
            self.tiles.div_ceil(self.tiles_per_dispatch.max(1)),
            self.ranges_per_tile,
        ];
        pieces.into_iter().chain(self.groups).fold(1, |n, k| n.saturating_mul(k.max(1)))
    }

    /// Every combination of groups; the last axis varies fastest.
    fn groups_in_order(&self) -> impl Iterator<Item = [u64; AXES]> {
        let [a, b, c] = self.groups;
        (0..a * b * c).map(move |k| [k / (b * c), k / c % b, k % c])
    }

    fn dispatch(&self, launch: &Launch, part: &Coverage) -> WindowedDispatch {
        let mut params = launch.params.clone();
        if self.rows > 1 {
            params[0] = (part.rows.end - part.rows.start) as u32;
        }
        params.extend([part.tiles.start as u32, 0, 0, 0]);
        let mut bindings = Vec::new();
        for (array, a) in self.arrays.iter().enumerate() {
            let (windows, range) = a.bind(part);
            bindings.extend(windows.into_iter().map(|bytes| BindingWindow { array, bytes }));
            params.extend(range.into_iter().flat_map(|[first, len]| [first, len, 0, 0]));
        }
        let workgroups = (part.tiles.end - part.tiles.start) as u32;
        WindowedDispatch { text: self.text.clone(), bindings, params, workgroups }
    }
}
