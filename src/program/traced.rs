//! The trace of a program: inputs without values, and the program of what was recorded from them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::layout::{Layout, frozen};
use super::parts::Parts;
use super::spec::TensorSpec;
use super::{ArrayOrigin, Captured, Code, Place, Program, SizeOrigin};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::graph::digest::{Digest, DigestMap};
use crate::graph::node::Node;
use crate::graph::program::{ArrayDef, Frozen, SizeDef};
use crate::graph::run::traced_run::TracedProgram;
use crate::graph::size::{RecordedSize, Size};
use crate::tensor::Tensor;

/// Inputs without values.
pub(super) struct Traced {
    /// Tells programs apart.
    pub(super) number: u64,
    pub(super) inputs: Vec<Tensor>,
    pub(super) parts: Vec<Parts>,
}

impl Traced {
    /// Inputs of these specifications.
    ///
    /// # Errors
    /// A specification that no program can be traced for.
    #[track_caller]
    pub(super) fn of(op: &'static str, specs: &[TensorSpec]) -> Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let device = Device::of_traces();
        let mut out = Self { number, inputs: Vec::new(), parts: Vec::new() };
        for (input, spec) in specs.iter().enumerate() {
            if let Some(fault) = spec.fault() {
                return Err(Error::argument(op, fault));
            }
            let (x, parts) = Parts::traced(spec, device.backend(), Digest::of("traced", (number, input)))?;
            out.inputs.push(x);
            out.parts.push(parts);
        }
        Ok(out)
    }

    /// The program of these outputs, which were recorded from the inputs.
    pub(super) fn program(&self, specs: &[TensorSpec], outputs: &[&Tensor], is_of_file: bool) -> Program {
        let (mut arrays, mut sizes) = (DigestMap::default(), DigestMap::default());
        for (input, parts) in self.parts.iter().enumerate() {
            let place = |part: usize| Place { input: input as u32, part: part as u32 };
            arrays.extend(parts.arrays.iter().enumerate().map(|(part, node)| (node.digest(), place(part))));
            sizes.extend(parts.sizes.iter().enumerate().map(|(part, size)| (size.digest(), place(part))));
        }
        let (frozen, layouts) = frozen(outputs);
        let Frozen { program, bindings, bounds, .. } = frozen;
        let array = |(node, def): (&Node, &ArrayDef)| match def {
            ArrayDef::Computed { .. } => None,
            ArrayDef::Input(_) => Some(match arrays.get(&node.digest()) {
                Some(place) => ArrayOrigin::Input(*place),
                None => ArrayOrigin::Captured(Captured { node: node.clone(), copies: Mutex::default() }),
            }),
        };
        let mut is_output = vec![false; bindings.nodes.len()];
        layouts.iter().flat_map(Layout::arrays).for_each(|array| is_output[array.index()] = true);
        let mut holds_output_count = vec![false; bindings.nodes.len()];
        let extents = layouts.iter().flat_map(|layout| layout.extents().map(|extent| extent.size()));
        let of_arrays = program.arrays().filter(|(array, _)| is_output[array.index()]);
        let sizes_of_arrays = of_arrays.filter_map(|(_, def)| def.computed()).map(|(size, _)| size);
        for count in extents.chain(sizes_of_arrays).flat_map(|size| program.counts_in(size)) {
            if let Some((array, _)) = program.count_location(count) {
                holds_output_count[array.index()] = true;
            }
        }
        let size = |(size, def): (&Size, &SizeDef)| match def {
            SizeDef::Input => Some(match sizes.get(&size.digest()) {
                Some(place) => SizeOrigin::Input(*place),
                None => SizeOrigin::Known(size.capacity()),
            }),
            _ => None,
        };
        Program(Arc::new(Code {
            inputs: specs.to_vec(),
            number: self.number,
            arrays: bindings.nodes.iter().zip(program.arrays().map(|(_, def)| def)).map(array).collect(),
            sizes: bindings.sizes.iter().zip(program.sizes()).map(size).collect(),
            traced: TracedProgram { program: Arc::new(program), trace: bindings, is_output, holds_output_count },
            outputs: layouts,
            bounds,
            is_of_file,
            planned_on: Mutex::default(),
        }))
    }
}
