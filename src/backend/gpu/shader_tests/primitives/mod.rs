//! Compares the primitives on every adapter with the CPU, with generated loads: packed stores, device-known counts,
//! rows of all lengths, keys of all widths.

mod compactions;
mod folds;
mod hashes;
mod histograms;
mod maps;
mod products;
mod recurrence_limits;
mod recurrences;
mod row_kernels;
mod sorts;

use super::ops;
use super::twins::{array, same_everywhere};
use crate::backend::gpu::kernel_tests::{Random, adversarial, splits};
use crate::dtype::DType;
use crate::graph::backend::BackendRef;
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Product, RowDomain, Rows};
use crate::graph::opcode::{BinaryOp, ReduceOp, UnaryOp};
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::recorder::Recorder;
use crate::graph::reducer::Reducer;
use crate::graph::scalar::Scalar;
use crate::math::MathFn;

/// The edge cases, and random small numbers, as bytes.
fn values(dtype: DType, n: u32, seed: u64) -> Vec<u8> {
    let edges = ops::edges(dtype);
    let mut random = Random(seed);
    let bits = (0..n).map(|_| match random.below(20) {
        0 => edges[random.below(edges.len() as u32) as usize],
        _ => {
            let v = random.below(2000);
            match dtype {
                DType::Bool => u64::from(v & 1),
                DType::F16 => u64::from(half::f16::from_f32((v as f32 - 1000.0) / 64.0).to_bits()),
                DType::BF16 => u64::from(half::bf16::from_f32((v as f32 - 1000.0) / 64.0).to_bits()),
                DType::F32 => u64::from(((v as f32 - 1000.0) / 64.0).to_bits()),
                DType::F64 => ((f64::from(v) - 1000.0) / 64.0).to_bits(),
                _ => u64::from(v),
            }
        }
    });
    ops::bytes(dtype, bits.collect::<Vec<_>>())
}

/// A device-known count.
fn counted(backend: &BackendRef, capacity: u32, live: u32) -> Extent {
    let at = array(backend, DType::U32, bytemuck::bytes_of(&[7, live]));
    Extent::bounded(capacity, Expr::load(&at, Expr::u32(1)))
}

fn words(backend: &BackendRef, of: &[u32]) -> Node {
    array(backend, DType::U32, bytemuck::cast_slice(of))
}
