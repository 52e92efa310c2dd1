//! Appended arrays, part by part.

use super::array::Array;
use super::compiled_expr::{CompiledExpr, Inputs};
use super::compute::CpuPrimitive;
use super::eval::Block;
use crate::error::Result;
use crate::graph::plan::Step;
use crate::graph::planned::{Expr, Extent, InPlan};
use crate::graph::primitive::Append;

/// Positions per evaluated block.
const BLOCK: usize = 8192;

impl CpuPrimitive for Append<InPlan> {
    fn compute(&self, _: &Step, inputs: &Inputs, outputs: &mut [Array]) -> Result<()> {
        append(inputs, &self.parts, &mut outputs[0]);
        Ok(())
    }
}

/// Fills `out` with the values of all parts, one part after another.
pub(super) fn append(inputs: &Inputs, parts: &[(Expr, Extent)], out: &mut Array) {
    let size = out.dtype().size();
    let mut rest = out.bytes_mut();
    for (value, count) in parts {
        // An earlier condition failed if the parts exceed the result.
        let bytes = (inputs.sizes().capacity(count) as usize * size).min(rest.len());
        let (part, after) = std::mem::take(&mut rest).split_at_mut(bytes);
        rest = after;
        if part.is_empty() {
            continue;
        }
        let stored = value.own_load().map(|node| inputs.array(node).bytes());
        match stored.filter(|stored| stored.len() >= part.len()) {
            Some(stored) => part.copy_from_slice(&stored[..part.len()]),
            None => {
                let expr = CompiledExpr::new(inputs, value);
                for (k, block) in part.chunks_mut(BLOCK * size).enumerate() {
                    let n = block.len() / size;
                    Block::consecutive(&expr, (k * BLOCK) as u32, n).store(value.dtype(), block);
                }
            }
        }
    }
    rest.fill(0);
}
