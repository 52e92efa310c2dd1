//! What the planner and the driver ask of the kernels of a primitive. Each file of a kernel answers for its primitive.

use super::binding_windows::AccessPattern;
use super::codegen::Binding;
use super::driver_limits::DriverLimits;
use super::launch::{Launch, Lowered, Lowering};
use super::legalize::Legalizer;
use crate::error::Result;
use crate::graph::digest::DigestSet;
use crate::graph::plan::{Kernels, SizedLimits, Step};
use crate::graph::planned::{Arena, Node, Recipe, SizeView};
use crate::graph::primitive::each_primitive;

/// The kernels of a primitive.
pub(super) trait GpuPrimitive {
    /// Lowers a step of this recipe to launches: templates, bindings and grids.
    ///
    /// # Errors
    /// The step is too large for 32-bit indices.
    fn lower(&self, step: &Step, to: Lowering<'_>) -> Result<Lowered>;

    /// The recipe over stored arrays, for a step that exceeds the bindings of a kernel.
    fn legalized(&self, out: &Node, to: &mut Legalizer<'_>) -> Recipe;

    /// Storage buffers that the kernels bind for the output and scratch.
    fn buffers(&self, _: DriverLimits, _: SizedLimits<'_>) -> u32 {
        1
    }

    /// Bindings beyond one that the windows of an output and of scratch take.
    fn output_windows(&self, out: &Node, limits: SizedLimits<'_>) -> u32 {
        limits.extra_windows(out)
    }

    /// The access pattern of an array that a launch of a legalized step binds; `None` if the pattern is unknown.
    fn access_pattern(&self, _: &Bound<'_>) -> Option<AccessPattern> {
        None
    }
}

/// An array that a launch binds.
#[derive(Debug)]
pub(super) struct Bound<'a> {
    pub(super) step: &'a Step,
    pub(super) sizes: SizeView<'a>,
    pub(super) launch: &'a Launch,
    pub(super) binding: &'a Binding,
    /// Bytes per element.
    pub(super) element: u64,
}

/// Lowers the step for a run.
///
/// # Errors
/// The step is too large for 32-bit indices.
pub(crate) fn lower(step: &Step, to: Lowering<'_>) -> Result<Lowered> {
    each_primitive!(&step.recipe, p => p.lower(step, to))
}

/// The access pattern of each array that the launch binds; `None` if a pattern is unknown.
pub(super) fn access_patterns(step: &Step, sizes: SizeView<'_>, launch: &Launch) -> Option<Vec<AccessPattern>> {
    let pattern = |array: &super::codegen::StorageArray| {
        let bound = Bound { step, sizes, launch, binding: &array.binding, element: array.element.bytes };
        each_primitive!(&step.recipe, p => p.access_pattern(&bound))
    };
    launch.arrays().iter().map(pattern).collect()
}

/// The kernels on a driver.
#[derive(Debug)]
pub(crate) struct GpuKernels(DriverLimits);

impl GpuKernels {
    /// The kernels on a driver of these limits.
    pub(crate) const fn of(driver: DriverLimits) -> &'static Self {
        match driver {
            DriverLimits::Timeout => &Self(DriverLimits::Timeout),
            DriverLimits::LoopIterations => &Self(DriverLimits::LoopIterations),
        }
    }
}

impl Kernels for GpuKernels {
    fn buffers(&self, recipe: &Recipe, limits: SizedLimits<'_>) -> u32 {
        each_primitive!(recipe, p => p.buffers(self.0, limits))
    }
    fn output_windows(&self, recipe: &Recipe, out: &Node, limits: SizedLimits<'_>) -> u32 {
        each_primitive!(recipe, p => p.output_windows(out, limits))
    }
    fn legalize(&self, step: Step, sizes: SizeView<'_>, arena: &mut Arena, done: &mut DigestSet) -> Vec<Step> {
        let mut legalizer = Legalizer::new(&step, sizes, arena, done);
        let recipe = each_primitive!(&step.recipe, p => p.legalized(&step.out, &mut legalizer));
        legalizer.finish(step, recipe)
    }
}

#[cfg(test)]
mod core_webgpu {
    use super::*;
    use crate::backend::gpu::backend::LARGE_PRODUCT;
    use crate::backend::gpu::row_reduce::MAX_STATE;
    use crate::graph::plan::{Float64Repr, Int64Repr, PlanLimits, ProductRepr};
    use crate::graph::step::fusion::Fusion;
    use crate::tuning::Tuning;

    impl PlanLimits {
        /// Limits of the smallest supported device. Its 64-bit floats are native if its 64-bit integers are.
        pub(crate) const fn of_core_webgpu(int64: Int64Repr) -> Self {
            Self {
                arrays: 8,
                bindings: 8,
                reads_any_number: false,
                max_binding: 128 << 20,
                fusion: Fusion::WhereCheaper,
                large_product: LARGE_PRODUCT,
                int64,
                float64: match int64 {
                    Int64Repr::Native => Float64Repr::Native,
                    Int64Repr::Pairs => Float64Repr::Pairs,
                },
                // Each representation with one of the other.
                products: match int64 {
                    Int64Repr::Native => ProductRepr::Native,
                    Int64Repr::Pairs => ProductRepr::Words,
                },
                kernels: GpuKernels::of(DriverLimits::LoopIterations),
                row_state: MAX_STATE,
                tuning: Tuning::DEFAULT,
            }
        }
    }
}
