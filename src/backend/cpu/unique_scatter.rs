//! Scatters to distinct indices, on all cores. Twin of `shaders/unique_scatter.wgsl`.

use std::sync::atomic::{AtomicU32, Ordering};

use super::array::Array;
use super::compiled_expr::{CompiledExpr, Inputs};
use super::compute::CpuPrimitive;
use super::eval::Block;
use super::parallel;
use crate::error::Result;
use crate::graph::plan::Step;
use crate::graph::planned::InPlan;
use crate::graph::primitive::UniqueScatter;

/// Positions per block.
const BLOCK: usize = 8192;

impl CpuPrimitive for UniqueScatter<InPlan> {
    fn compute(&self, _: &Step, inputs: &Inputs, outputs: &mut [Array]) -> Result<()> {
        let (n, dtype, len) = (inputs.count(&self.count), self.value.dtype(), outputs[0].len());
        outputs[0].zero_rest(0);
        let words = outputs[0].atomic_words();
        let (at, value) = (CompiledExpr::new(inputs, &self.at), CompiledExpr::new(inputs, &self.value));
        let written: Vec<AtomicU32> = if cfg!(debug_assertions) { zeros(len.div_ceil(32)) } else { Vec::new() };
        parallel::for_each_index(n.div_ceil(BLOCK), &|k| {
            let (start, n) = (k * BLOCK, BLOCK.min(n - k * BLOCK));
            let at = Block::consecutive(&at, start as u32, n).eval_as::<u32>();
            let mut values = vec![0; n * dtype.size()];
            Block::consecutive(&value, start as u32, n).store(dtype, &mut values);
            for (at, value) in at.iter().map(|&at| at as usize).zip(values.chunks_exact(dtype.size())) {
                if at < len {
                    if cfg!(debug_assertions)
                        && written[at / 32].fetch_or(1 << (at % 32), Ordering::Relaxed) >> (at % 32) & 1 == 1
                    {
                        inputs.written_twice.fetch_min(at as u32, Ordering::Relaxed);
                    }
                    store(words, at, value);
                }
            }
        });
        Ok(())
    }
}

fn zeros(n: usize) -> Vec<AtomicU32> {
    std::iter::repeat_with(|| AtomicU32::new(0)).take(n).collect()
}

/// Stores the bytes of element `at`, which were 0. Elements of less than a word share words with others.
fn store(words: &[AtomicU32], at: usize, value: &[u8]) {
    let (parts, rest) = value.as_chunks::<4>();
    let first = at * value.len();
    for (part, word) in parts.iter().zip(&words[first / 4..]) {
        word.store(u32::from_ne_bytes(*part), Ordering::Relaxed);
    }
    if !rest.is_empty() {
        let mut part = [0; 4];
        part[first % 4..][..rest.len()].copy_from_slice(rest);
        words[first / 4].fetch_or(u32::from_ne_bytes(part), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::backend::cpu::CpuBackend;
    use crate::dtype::DType;
    use crate::graph::backend::{Backend, BackendRef};
    use crate::graph::expr::Check;
    use crate::graph::recorder::Recorder;
    use crate::graph::{Expr, Extent, Node};

    fn scattered(dtype: DType, at: &[u32], values: &[u8], len: u32) -> Vec<u8> {
        read(dtype, at, values, len, |at| at).expect("reads")
    }

    /// As [`scattered`], to indices that are a function of `at`.
    fn read(dtype: DType, at: &[u32], values: &[u8], len: u32, index: impl Fn(Expr) -> Expr) -> Result<Vec<u8>> {
        let backend: BackendRef = Arc::new(CpuBackend::new(u64::MAX, false));
        let n = at.len() as u32;
        let load = |dtype, bytes: &[u8]| {
            let data = Backend::upload(&*backend, dtype, bytes).expect("uploads");
            Expr::load(&Node::source(&backend, dtype, n, data), Expr::index())
        };
        let exprs = (index(load(DType::U32, bytemuck::cast_slice(at))), load(dtype, values));
        let node = Recorder::new(&backend, "test").unique_scatter(Extent::known(n), exprs, Extent::known(len));
        Ok(backend.read(&[node])?.remove(0))
    }

    #[test]
    fn every_value_is_at_its_index() {
        for dtype in [DType::Bool, DType::I8, DType::U16, DType::BF16, DType::U32, DType::F32, DType::I64, DType::F64] {
            let size = dtype.size();
            for n in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5] {
                // A permutation of the first 2^17 numbers, some of which are no index.
                let at: Vec<u32> = (0..n as u32).map(|k| k.wrapping_mul(0x9E37_79B9) % (1 << 17)).collect();
                let len = 100_003;
                let bytes: Vec<u8> = (0..n * size).map(|k| if size == 1 { 1 } else { (k % 251) as u8 }).collect();
                let mut want = vec![0; len * size];
                for (&at, value) in at.iter().zip(bytes.chunks_exact(size)) {
                    if let Some(element) = want.chunks_exact_mut(size).nth(at as usize) {
                        element.copy_from_slice(value);
                    }
                }
                assert!(scattered(dtype, &at, &bytes, len as u32) == want, "{n} values of {dtype}");
            }
        }
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic = "writes index 7 twice"]
    fn an_index_that_is_written_twice_is_a_bug() {
        scattered(DType::U8, &[7, 3, 7], &[1, 2, 3], 9);
    }

    #[test]
    fn an_index_that_is_written_twice_after_a_failed_condition_is_its_error() {
        let check = Check::new("test", "indices must be below 8");
        let below = |at: Expr| at.clone().checked(check.clone(), at.lt(Expr::u32(8)));
        let error = read(DType::U8, &[7, 8, 7], &[1, 2, 3], 9, below).expect_err("a failed condition");
        assert!(error.to_string().contains("indices must be below 8"), "{error}");
    }
}
