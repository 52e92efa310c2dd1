//! The host side of `shaders/scan_rows.wgsl`.

use super::codegen::{
    Binding, Element, Kernel, ModuleBuilder, Phases, STORE, StorageArray, WORKGROUP_WORDS, lane_bits, looped,
    value_type,
};
use super::driver_limits::DriverLimits;
use super::launch::{FEWER_ROWS, Lowered, Lowering, partition_functions, too_many};
use super::legalize::Legalizer;
use super::primitive::GpuPrimitive;
use crate::error::{Error, Result, caller};
use crate::graph::plan::{SizedLimits, Step};
use crate::graph::planned::{InPlan, Node, Recipe, RowDomain, Rows};
use crate::graph::primitive::ScanRows;

/// Invocations per workgroup, and most rows of a group.
const INVOCATIONS: u32 = 256;

/// Groups among which many rows are divided before a group takes more rows than its invocations compute at once.
const GROUPS: u32 = 512;

/// Most groups at once whose registers are in scratch, and most bytes of these.
const SCRATCH_GROUPS: u64 = 1024;
const SCRATCH_BYTES: u64 = 32 << 20;

const SCAN_ROWS: &str = include_str!("../../../shaders/scan_rows.wgsl");

/// The kernel of a recurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct ScanRowsKernel;

impl Kernel for ScanRowsKernel {
    fn name(self) -> &'static str {
        "scan_rows"
    }
}

/// Division of rows and positions among workgroups and dispatches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// Rows per workgroup.
    pub group_rows: u32,
    /// Workgroups for all rows.
    pub groups: u32,
    /// Workgroups per dispatch.
    pub groups_at_once: u32,
    /// Positions of a row per dispatch.
    pub positions_at_once: u32,
    /// Bytes of scratch; 0 if registers are in workgroup memory.
    pub scratch: u64,
}

/// The phases and registers of a step, as far as schedules depend on them.
#[derive(Debug, Clone)]
pub struct StepCost {
    /// Numbers per row of each phase, and iterations of loops per number; last, those of the states.
    pub phases: Vec<(u32, u64)>,
    /// Iterations of loops per number of the initial states.
    pub initial: u64,
    /// Words of the registers of a row.
    pub row_words: u64,
}

impl StepCost {
    fn of(phases: &Phases) -> Self {
        let of_phases = phases.phases.iter().map(|phase| (phase.width, phase.iterations));
        let (initial, row_words) = (phases.initial_iterations, phases.row_words);
        Self { phases: of_phases.chain([(phases.state_numbers, STORE)]).collect(), initial, row_words }
    }

    /// Iterations of loops of one invocation per position of `group_rows` rows.
    fn iterations(&self, group_rows: u32) -> u64 {
        let phases = self.phases.iter().map(|&(width, each)| self.of_numbers(group_rows, width, each));
        phases.fold(1 + looped(self.phases.len() as u64, 0), u64::saturating_add)
    }

    /// Iterations of loops of one invocation over `width` numbers of each row.
    fn of_numbers(&self, group_rows: u32, width: u32, each: u64) -> u64 {
        let bits = lane_bits(width);
        let rows = group_rows.div_ceil(INVOCATIONS >> bits);
        looped(rows.into(), looped(width.div_ceil(1 << bits).into(), each))
    }

    /// Iterations of loops of one invocation before the first position.
    fn iterations_before(&self, group_rows: u32) -> u64 {
        let states = self
            .phases
            .last()
            .map_or(0, |&(width, each)| self.of_numbers(group_rows, width, each.saturating_add(self.initial)));
        looped(group_rows.into(), 0).saturating_add(states)
    }
}

/// Whether registers of that many words per row exceed workgroup memory.
fn is_wide(row_words: u64) -> bool {
    row_words > WORKGROUP_WORDS.into()
}

impl Schedule {
    /// The schedule for up to `rows` rows, which is at least 1. `None` if a step exceeds the limits of the driver or of
    /// scratch of `max_scratch` bytes.
    pub(super) fn new(driver: DriverLimits, cost: &StepCost, rows: u32, max_scratch: u64) -> Option<Self> {
        let widest = cost.phases.iter().map(|&(width, _)| lane_bits(width)).max().unwrap_or(0);
        let at_once = INVOCATIONS >> widest;
        let fit =
            u64::from(WORKGROUP_WORDS).checked_div(cost.row_words).unwrap_or(1).clamp(1, INVOCATIONS.into()) as u32;
        let mut group_rows = if is_wide(cost.row_words) { 1 } else { at_once.max(rows.div_ceil(GROUPS)).min(fit) };
        let most = driver.recurrence_iterations(1);
        let of_position = |rows| cost.iterations_before(rows).saturating_add(cost.iterations(rows));
        // A dispatch computes a position of all rows of a group at least.
        while group_rows > 1 && of_position(group_rows) > most {
            group_rows = group_rows.div_ceil(2);
        }
        let groups = rows.div_ceil(group_rows);
        let (mut groups_at_once, mut scratch) = (groups, 0);
        if is_wide(cost.row_words) {
            let bytes = cost.row_words * 4;
            let most = (SCRATCH_BYTES.min(max_scratch) / bytes).clamp(1, SCRATCH_GROUPS).min(groups.into());
            (groups_at_once, scratch) = (most as u32, most * bytes);
            if scratch > max_scratch {
                return None;
            }
        }
        let left = driver.recurrence_iterations(groups_at_once).saturating_sub(cost.iterations_before(group_rows));
        let positions = left / cost.iterations(group_rows);
        let positions = if driver == DriverLimits::Timeout { positions.max(1) } else { positions };
        let positions_at_once = u32::try_from(positions).unwrap_or(u32::MAX);
        (positions > 0).then_some(Self { group_rows, groups, groups_at_once, positions_at_once, scratch })
    }

    /// The parameter words and the workgroups of each dispatch, for rows of at most `longest` elements, `nvals` in all.
    pub fn dispatches(self, rows: u32, nvals: u32, longest: u32) -> impl Iterator<Item = ([u32; 8], u32)> {
        let Self { group_rows, groups, groups_at_once, positions_at_once, .. } = self;
        let of_groups = move |first_group: u32| {
            let count = groups_at_once.min(groups - first_group);
            (0..longest).step_by(positions_at_once as usize).map(move |first| {
                let end = first.saturating_add(positions_at_once);
                ([rows, group_rows, nvals, groups, first, end, first_group, 0], count)
            })
        };
        (0..groups).step_by(groups_at_once as usize).flat_map(of_groups)
    }
}

impl GpuPrimitive for ScanRows<InPlan> {
    fn lower(&self, step: &Step, to: Lowering<'_>) -> Result<Lowered> {
        let Lowering { first_slot, sizes, modules, driver } = to;
        let RowDomain { rows, nrows, nvals, inner } = &self.on;
        let (n, count) = (sizes.capacity(nvals), sizes.capacity(nrows));
        if n == 0 || count == 0 {
            return Ok(Lowered::default());
        }
        let phases = Phases::of(self, step.limits.float64);
        let cost = StepCost::of(&phases);
        let widest = cost.phases.iter().map(|&(width, _)| width).fold(*inner, u32::max);
        if u64::from(n) * u64::from(widest) > u32::MAX.into() || count > u32::MAX - INVOCATIONS {
            return Err(too_many(step, (count, n, widest), "a recurrence"));
        }
        let dtype = self.initial.dtype();
        if dtype.size() < 4 {
            return Err(Error::argument(
                step.out.op(),
                format!("states of {dtype}; required: numbers of 4 or 8 bytes"),
            ));
        }
        let Some(schedule) = Schedule::new(driver, &cost, count, step.limits.window_bytes()) else {
            return Err(too_wide(step, &cost, step.limits.window_bytes()));
        };
        let g = modules.get(step, ScanRowsKernel, || {
            let mut m = ModuleBuilder::new(step, first_slot).without_row_context();
            partition_functions(&mut m, rows, nrows);
            let splits = if let Rows::Splits(splits) = rows { Some(splits) } else { None };
            m.recurrence(&phases, &self.initial, splits, self.reversed, schedule.scratch > 0);
            let registers = StorageArray::new("registers", Element::WORD, Binding::Scratch(0));
            let scratch = (schedule.scratch > 0).then_some(registers).into_iter().collect();
            m.finish(&[SCAN_ROWS], value_type(dtype), Some(Element::of(dtype)), scratch)
        });
        let longest = sizes.longest_walk(rows).min(n);
        let dispatches = schedule.dispatches(count, n, longest);
        let launches: Vec<_> = dispatches.map(|(head, groups)| g.launch(sizes, "main", head, groups, 1)).collect();
        let limit = (longest > schedule.positions_at_once).then(|| driver.reason());
        let scratch = if schedule.scratch > 0 { vec![schedule.scratch] } else { Vec::new() };
        Ok(Lowered { launches, limit, scratch, ..Lowered::default() })
    }

    fn legalized(&self, _: &Node, _: &mut Legalizer<'_>) -> Recipe {
        Recipe::ScanRows(self.clone())
    }

    /// The output, and registers that exceed workgroup memory.
    fn buffers(&self, _: DriverLimits, limits: SizedLimits<'_>) -> u32 {
        1 + u32::from(is_wide(Phases::of(self, limits.limits.float64).row_words))
    }
}

/// The error for a step whose registers, or whose work per position, exceed the limits of the device.
fn too_wide(step: &Step, cost: &StepCost, max_scratch: u64) -> Error {
    let (requested, unit, limit) = match cost.row_words * 4 > max_scratch {
        true => (cost.row_words * 4, "bytes", max_scratch),
        false => (cost.iterations(1), "loop iterations", DriverLimits::LoopIterations.recurrence_iterations(1)),
    };
    Error::Limit {
        what: format!("{}, for the numbers of one element,", step.out.op()),
        requested,
        unit,
        limit,
        whose: format!("a recurrence on this GPU; {FEWER_ROWS}"),
        location: caller(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An LSTM cell of 32 units: a product, its gates, and the states.
    fn lstm() -> StepCost {
        StepCost { phases: vec![(128, 37), (32, 0), (64, 0)], initial: 0, row_words: 32 * 2 + 128 + 64 }
    }

    #[test]
    fn rows_are_divided_among_groups_first() {
        let rows = |n| Schedule::new(DriverLimits::Timeout, &lstm(), n, 1 << 30).unwrap().group_rows;
        assert_eq!([1, 64, 1024, 1025, 1537, 100_000].map(rows), [2, 2, 2, 3, 4, 12]);
        let narrow = StepCost { phases: vec![(1, 0)], initial: 0, row_words: 3 };
        let schedule = Schedule::new(DriverLimits::Timeout, &narrow, 1 << 20, 1 << 30).unwrap();
        assert_eq!((schedule.group_rows, schedule.groups), (256, 4096));
    }

    #[test]
    fn rows_of_a_thousand_elements_are_one_dispatch() {
        for rows in [1, 64, 1024] {
            let schedule = Schedule::new(DriverLimits::Timeout, &lstm(), rows, 1 << 30).unwrap();
            assert_eq!(schedule.dispatches(rows, 1000 * rows, 1000).count(), 1, "{rows} rows");
        }
    }

    #[test]
    fn dispatches_stay_below_the_loop_limit() {
        for cost in [lstm(), StepCost { phases: vec![(1, 0)], initial: 0, row_words: 3 }] {
            for rows in [1, 5000, 1 << 20] {
                let schedule = Schedule::new(DriverLimits::LoopIterations, &cost, rows, 1 << 30).unwrap();
                let each = cost.iterations(schedule.group_rows);
                assert!(u64::from(schedule.positions_at_once) * each < 65_535, "{cost:?}, {rows} rows");
            }
        }
        // Fewer rows per group, where a position of as many exceeds the limit.
        let cost = StepCost { phases: vec![(64, 6000), (64, 0)], initial: 90, row_words: 70 };
        let schedule = Schedule::new(DriverLimits::LoopIterations, &cost, 1 << 20, 1 << 30).unwrap();
        assert!(schedule.group_rows < 40 && cost.iterations(schedule.group_rows) < 60_000, "{schedule:?}");
        let wide = StepCost { phases: vec![(4096, 4160)], initial: 0, row_words: 9000 };
        assert!(Schedule::new(DriverLimits::LoopIterations, &wide, 1, 1 << 30).is_none());
        assert!(Schedule::new(DriverLimits::Timeout, &wide, 1, 1 << 30).is_some());
        assert!(Schedule::new(DriverLimits::Timeout, &wide, 1, 1 << 10).is_none(), "more than scratch");
    }

    #[test]
    fn dispatches_cover_all_groups_and_positions() {
        let schedule = Schedule { group_rows: 2, groups: 5, groups_at_once: 3, positions_at_once: 400, scratch: 0 };
        let all: Vec<_> = schedule.dispatches(9, 5000, 1000).map(|(h, n)| (h[4], h[5], h[6], n)).collect();
        let first = [(0, 400, 0, 3), (400, 800, 0, 3), (800, 1200, 0, 3)];
        assert_eq!(all[..3], first);
        assert_eq!(all[3..], first.map(|(a, b, _, _)| (a, b, 3, 2)));
    }
}
