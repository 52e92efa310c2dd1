//! Scatters to distinct indices, on all cores. Twin of `shaders/unique_scatter.wgsl`.

use std::sync::atomic::{AtomicU32, Ordering};

use super::array::Array;
use super::compiled_expr::{CompiledExpr, Inputs};
use super::compute::CpuPrimitive;
use super::encoding::{Dense, Encoded, Value};
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
        if self.base.is_none() {
            outputs[0].zero_rest(0);
        }
        let to = Output { words: outputs[0].atomic_words(), len, size: dtype.size(), is_set: self.base.is_some() };
        let (at, value) = (CompiledExpr::new(inputs, &self.at), CompiledExpr::new(inputs, &self.value));
        let written: Vec<AtomicU32> = if cfg!(debug_assertions) { zeros(len.div_ceil(32)) } else { Vec::new() };
        let write = |at: u32, values: &[u8]| {
            if cfg!(debug_assertions) {
                for at in (at as usize..len).take(values.len() / to.size) {
                    if written[at / 32].fetch_or(1 << (at % 32), Ordering::Relaxed) >> (at % 32) & 1 == 1 {
                        inputs.written_twice.fetch_min(at as u32, Ordering::Relaxed);
                    }
                }
            }
            to.store(at, values);
        };
        parallel::for_each_index(n.div_ceil(BLOCK), &|k| {
            let (start, n) = (k * BLOCK, BLOCK.min(n - k * BLOCK));
            let at = Block::consecutive(&at, start as u32, n).root();
            let values = Dense::filled(n * dtype.size(), |values| {
                Block::consecutive(&value, start as u32, n).store(dtype, values);
            });
            match &at {
                // Consecutive elements, such as rows of a table.
                Encoded::Segments(ends, 1, first) => {
                    let (first, mut start) = (u32::expanded(ends.len(), first), 0);
                    for (&at, &end) in first.iter().zip(&ends[..]) {
                        let end = end as usize * to.size;
                        let values = &values[std::mem::replace(&mut start, end)..end];
                        // Indices are modulo 2^32.
                        let most = ((1u64 << 32) - u64::from(at)).saturating_mul(to.size as u64);
                        let (before, wrapped) = values.split_at(values.len().min(most as usize));
                        write(at, before);
                        write(0, wrapped);
                    }
                }
                at => {
                    for (&at, value) in u32::expanded(n, at).iter().zip(values.chunks_exact(to.size)) {
                        write(at, value);
                    }
                }
            }
        });
        Ok(())
    }
}

fn zeros(n: usize) -> Vec<AtomicU32> {
    std::iter::repeat_with(|| AtomicU32::new(0)).take(n).collect()
}

/// Where values are written to.
struct Output<'o> {
    words: &'o [AtomicU32],
    /// Number of elements.
    len: usize,
    /// Bytes per element.
    size: usize,
    /// Whether the elements may have other bytes than 0.
    is_set: bool,
}

impl Output<'_> {
    /// Stores the bytes of elements from element `at` on, without those beyond the last.
    fn store(&self, at: u32, values: &[u8]) {
        let at = at as usize;
        let values = &values[..values.len().min(self.len.saturating_sub(at) * self.size)];
        if self.size >= size_of::<u32>() {
            self.store_words(at * self.size / size_of::<u32>(), values);
        } else {
            for (at, value) in (at..).zip(values.chunks_exact(self.size)) {
                self.store_part(at * self.size, value);
            }
        }
    }

    fn store_words(&self, first: usize, values: &[u8]) {
        let (parts, _) = values.as_chunks::<4>();
        let words = self.words.get(first..).unwrap_or_default();
        for (part, word) in parts.iter().zip(words) {
            word.store(u32::from_ne_bytes(*part), Ordering::Relaxed);
        }
    }

    /// Stores bytes of one word, which other elements may share.
    fn store_part(&self, first: usize, value: &[u8]) {
        let word = &self.words[first / 4];
        let bytes = first % 4..first % 4 + value.len();
        let mut part = [0; 4];
        part[bytes.clone()].copy_from_slice(value);
        if self.is_set {
            let mut others = [u8::MAX; 4];
            others[bytes].fill(0);
            word.fetch_and(u32::from_ne_bytes(others), Ordering::Relaxed);
        }
        word.fetch_or(u32::from_ne_bytes(part), Ordering::Relaxed);
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

    /// Rows of a table, the last of which is cut off, in descending order.
    #[test]
    fn rows_are_written_as_runs() {
        for (dtype, width) in [(DType::U8, 3), (DType::U16, 5), (DType::F32, 7), (DType::I64, 2)] {
            let (rows, size) = (3000u32, dtype.size());
            let bytes: Vec<u8> = (0..rows as usize * width * size).map(|k| (k % 251) as u8).collect();
            let row = |at: Expr| Expr::u32(rows - 1).sub(at.div(Expr::u32(width as u32)));
            let index = |at: Expr| {
                let column = at.clone().rem(Expr::u32(width as u32));
                row(at).mul(Expr::u32(width as u32)).add(column)
            };
            let positions: Vec<u32> = (0..rows * width as u32).collect();
            let len = rows as usize * width - 1;
            let found = read(dtype, &positions, &bytes, len as u32, |_| index(Expr::index())).expect("reads");
            let mut want: Vec<u8> = bytes.chunks_exact(width * size).rev().flatten().copied().collect();
            want.truncate(len * size);
            assert!(found == want, "{dtype}");
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
