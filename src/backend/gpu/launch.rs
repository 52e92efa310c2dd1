//! Kernel launches, and generated functions that several templates share.

use std::sync::Arc;

use super::codegen::{KernelModule, ModuleBuilder, ParamWord, StepModules, StorageArray};
use super::driver_limits::DriverLimits;
use super::runtime::RuntimeChecks;
use crate::error::{Error, Result, caller};
use crate::graph::plan::Step;
use crate::graph::planned::{Expr, Extent, Rows, Size, SizeView};
use crate::graph::step::many_dispatches::ManyDispatches;

pub(super) const ROW_TILES: &str = include_str!("../../../shaders/lib/row_tiles.wgsl");
pub(super) const TILE_SORT: &str = include_str!("../../../shaders/lib/tile_sort.wgsl");
pub(super) const WORKGROUP_SCAN: &str = include_str!("../../../shaders/lib/workgroup_scan.wgsl");

/// Remedy where a step exceeds a limit of the device.
pub(super) const FEWER_ROWS: &str = "process fewer rows at a time, or use a CPU device";

/// One kernel launch.
#[derive(Debug, Clone)]
pub(crate) struct Launch {
    /// The module, which is the same in every run.
    pub(crate) module: Arc<KernelModule>,
    /// The entry point.
    pub(crate) entry: &'static str,
    /// The template's parameter words, then the generated ones.
    pub(crate) params: Vec<u32>,
    /// Workgroups, folded to two dimensions.
    pub(crate) workgroups: u32,
    /// The grid's third dimension.
    pub(crate) depth: u32,
    /// The runtime checks that wgpu adds to the kernel.
    pub(crate) checks: RuntimeChecks,
}

impl Launch {
    /// The module's text.
    pub(crate) fn text(&self) -> &Arc<str> {
        &self.module.text
    }

    /// The arrays, in the order of their bindings, from binding 1 on.
    pub(crate) fn arrays(&self) -> &[StorageArray] {
        &self.module.arrays
    }
}

/// What a step is lowered for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lowering<'a> {
    /// The first slot of the status block to which the checks of the step report.
    pub(crate) first_slot: u32,
    /// The sizes of the run.
    pub(crate) sizes: SizeView<'a>,
    /// The modules of the step, which are the same in every run.
    pub(crate) modules: &'a StepModules,
    /// Limits of the serial work per dispatch.
    pub(crate) driver: DriverLimits,
}

/// A step's launches, in order.
#[derive(Debug, Default)]
pub(crate) struct Lowered {
    pub(crate) launches: Vec<Launch>,
    /// Bytes of each scratch buffer.
    pub(crate) scratch: Vec<u64>,
    /// Overflow flag of a scan: the scratch buffer, and the index of the word that is nonzero if the total overflowed.
    pub(crate) overflow: Option<(usize, u32)>,
    /// Outputs to clear before the first launch, since several invocations set bits of one word.
    pub(crate) cleared_outputs: Vec<usize>,
    /// The limit that requires additional launches, other than the binding limit.
    pub(crate) limit: Option<ManyDispatches>,
}

impl KernelModule {
    /// One launch of the module, with the sizes and scalars of a run.
    pub(super) fn launch(
        self: &Arc<Self>,
        sizes: SizeView<'_>,
        entry: &'static str,
        head: [u32; 8],
        workgroups: u32,
        depth: u32,
    ) -> Launch {
        let mut params = Vec::with_capacity(head.len() + self.scalars.len());
        params.extend(head);
        params.extend(self.scalars.iter().map(|word| match word {
            ParamWord::Constant(n) => *n,
            ParamWord::Size(size) => sizes.value(size),
            ParamWord::Low(scalar) => sizes.scalar(scalar).bits() as u32,
            ParamWord::High(scalar) => (sizes.scalar(scalar).bits() >> 32) as u32,
        }));
        Launch { module: self.clone(), entry, params, workgroups, depth, checks: self.checks() }
    }
}

/// Adds the function `name`, which returns the number of live elements of the extent.
pub(super) fn live_function(m: &mut ModuleBuilder<'_>, name: &str, extent: &Extent) {
    count_function(m, name, extent.size(), extent.live());
}

/// As [`live_function`], of `live` elements, at most `capacity`; of all up to the capacity if `live` is `None`.
pub(super) fn count_function(m: &mut ModuleBuilder<'_>, name: &str, capacity: &Size, live: Option<Expr>) {
    match live {
        Some(e) => m.count_function(name, &e.min(Expr::size(capacity))),
        // A host-known count equals the capacity.
        None => {
            let n = m.size(capacity);
            m.push(&format!("fn {name}() -> u32 {{\n    return {n};\n}}"));
        }
    }
}

/// Adds `splits_at` and, for uniform rows, `live_rows`.
pub(super) fn partition_functions(m: &mut ModuleBuilder<'_>, rows: &Rows, nrows: &Extent) {
    match rows {
        Rows::Splits(node) => m.splits_function(node),
        Rows::Uniform(len) => {
            live_function(m, "live_rows", nrows);
            m.uniform_splits_function(len);
        }
    }
}

/// Fails if the step has more elements than the template's indices allow.
pub(super) fn check_elements(step: &Step, elements: u32, limit: u32, whose: &str) -> Result<()> {
    if elements <= limit {
        return Ok(());
    }
    Err(Error::Limit {
        what: step.out.op().into(),
        requested: u64::from(elements),
        unit: "elements",
        limit: u64::from(limit),
        whose: format!("{whose} on a GPU; {FEWER_ROWS}"),
        location: caller(),
    })
}

/// The error for a row step with more rows and values than its template's indices allow.
pub(super) fn too_many(step: &Step, (nrows, nvals, inner): (u32, u32, u32), whose: &str) -> Error {
    Error::Limit {
        what: format!("{}, in rows and values,", step.out.op()),
        requested: u64::from(nvals) * u64::from(inner) + u64::from(nrows),
        unit: "elements",
        limit: u64::from(u32::MAX) - (1 << 14),
        whose: format!("{whose} on a GPU; {FEWER_ROWS}"),
        location: caller(),
    }
}
