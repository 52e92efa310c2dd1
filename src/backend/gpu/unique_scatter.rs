//! The host side of `shaders/unique_scatter.wgsl`.

use super::binding_windows::AccessPattern;
use super::codegen::{Binding, Element, Kernel, Misses, ModuleBuilder, value_type};
use super::launch::{Lowered, Lowering, check_elements, live_function};
use super::legalize::Legalizer;
use super::primitive::{Bound, GpuPrimitive};
use crate::error::Result;
use crate::graph::plan::Step;
use crate::graph::planned::{InPlan, Node, Recipe};
use crate::graph::primitive::UniqueScatter;

/// Positions per workgroup.
const TILE: u32 = 1024;

/// The largest capacity.
const MAX_CAPACITY: u32 = u32::MAX - (1 << 12);

const UNIQUE_SCATTER: &str = include_str!("../../../shaders/unique_scatter.wgsl");

/// The kernel that scatters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct UniqueScatterKernel;

impl Kernel for UniqueScatterKernel {
    fn name(self) -> &'static str {
        "unique_scatter"
    }
}

impl GpuPrimitive for UniqueScatter<InPlan> {
    fn lower(&self, step: &Step, to: Lowering<'_>) -> Result<Lowered> {
        let Lowering { first_slot, sizes, modules, .. } = to;
        let (n, len) = (sizes.capacity(&self.count), sizes.capacity(step.out.extent()));
        check_elements(step, n, MAX_CAPACITY, "a scatter")?;
        let cleared_outputs = if self.base.is_some() { Vec::new() } else { vec![0] };
        if n == 0 || len == 0 {
            return Ok(Lowered { cleared_outputs, ..Lowered::default() });
        }
        let dtype = self.value.dtype();
        let g = modules.get(step, UniqueScatterKernel, || {
            let mut m = ModuleBuilder::new(step, first_slot).without_row_context();
            live_function(&mut m, "live", &self.count);
            m.value_function("at", &self.at);
            m.value_function("value", &self.value);
            m.compact_output(dtype);
            let out = Element::of_shared_words(dtype);
            m.finish(&[UNIQUE_SCATTER], value_type(dtype), Some(out), Vec::new())
        });
        let launches = vec![g.launch(sizes, "main", [n, len, 0, 0, 0, 0, 0, 0], n.div_ceil(TILE), 1)];
        Ok(Lowered { launches, cleared_outputs, ..Lowered::default() })
    }

    fn legalized(&self, _: &Node, to: &mut Legalizer<'_>) -> Recipe {
        let (at, value) = (to.stored_input(&self.at, &self.count, 1), to.stored_input(&self.value, &self.count, 1));
        Recipe::UniqueScatter(Self { at, value, count: to.count(&self.count), base: self.base.clone() })
    }

    fn access_pattern(&self, at: &Bound<'_>) -> Option<AccessPattern> {
        Some(match at.binding {
            Binding::Read(n) => AccessPattern::tiles_of(TILE, n),
            Binding::Output(_) => AccessPattern::Random { axis: 0, misses: Misses::Never },
            _ => AccessPattern::Whole,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::backend::gpu::shader_tests::twins::{array, same_everywhere, same_on, small_bindings};
    use crate::dtype::DType;
    use crate::graph::backend::BackendRef;
    use crate::graph::recorder::Recorder;
    use crate::graph::{Expr, Extent, Node};

    /// A scatter of `live` of `n` values to some of `len` elements.
    fn scatter(backend: &BackendRef, dtype: DType, (live, n, len): (u32, u32, u32), is_counted: bool) -> Node {
        // A permutation of a power of two above the number of elements: some indices are out of range.
        let mask = (n.max(len).next_power_of_two() * 2).wrapping_sub(1);
        let at: Vec<u32> = (0..n).map(|k| k.wrapping_mul(0x9E37_79B9) & mask).collect();
        let bytes: Vec<u8> =
            (0..n as usize * dtype.size()).map(|k| if dtype == DType::Bool { 1 } else { (k % 113) as u8 }).collect();
        let load = |dtype, bytes: &[u8]| Expr::load(&array(backend, dtype, bytes), Expr::index());
        let count = match is_counted {
            true => {
                Extent::bounded(n, Expr::load(&array(backend, DType::U32, bytemuck::bytes_of(&live)), Expr::u32(0)))
            }
            false => Extent::known(n),
        };
        let exprs = (load(DType::U32, bytemuck::cast_slice(&at)), load(dtype, &bytes));
        Recorder::new(backend, "test").unique_scatter(count, exprs, Extent::known(len))
    }

    const DTYPES: [DType; 13] = [
        DType::Bool,
        DType::I8,
        DType::U8,
        DType::I16,
        DType::U16,
        DType::F16,
        DType::BF16,
        DType::I32,
        DType::U32,
        DType::F32,
        DType::I64,
        DType::U64,
        DType::F64,
    ];

    #[test]
    fn scatters_at_every_size_class() {
        for dtype in DTYPES {
            same_everywhere("unique scatter", |backend| {
                let mut out = Vec::new();
                for n in [0, 1, 2, 255, 256, 1023, 1024, 1025, 5000] {
                    for len in [0, 1, 3, 4, 1000, 7001] {
                        out.push((format!("{n} {dtype} to {len}"), scatter(backend, dtype, (n, n, len), false)));
                        let counted = scatter(backend, dtype, (n / 3, n, len), true);
                        out.push((format!("{} of {n} {dtype} to {len}", n / 3), counted));
                    }
                }
                out
            });
        }
    }

    #[test]
    fn scatters_in_windows() {
        let gpus = small_bindings();
        for dtype in [DType::U8, DType::F16, DType::U32, DType::I64] {
            same_on(&gpus, "unique scatter", |backend| {
                let sizes = [(3000, 3000, 200_000), (150_000, 150_000, 3000), (9000, 300_000, 400_000)];
                let scatter = |(live, n, len)| {
                    (format!("{live} of {n} {dtype} to {len}"), scatter(backend, dtype, (live, n, len), live < n))
                };
                sizes.into_iter().map(scatter).collect()
            });
        }
    }

    #[test]
    fn scatters_of_more_workgroups_than_a_grid_is_wide() {
        let n = (65_536 << 10) + 700;
        same_everywhere("unique scatter", |backend| {
            // The last 1000 positions write, from the last one down.
            let at = Expr::u32(n - 1).sub(Expr::index());
            let exprs = (at, Expr::index());
            let node = Recorder::new(backend, "test").unique_scatter(Extent::known(n), exprs, Extent::known(1000));
            vec![("the end".into(), node)]
        });
    }
}
