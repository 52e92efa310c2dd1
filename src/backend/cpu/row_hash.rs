//! Hashes of rows of bytes, on all cores. CPU counterpart of `shaders/row_hash.wgsl`.

use super::array::Array;
use super::compiled_expr::{CompiledExpr, Inputs};
use super::compute::CpuPrimitive;
use super::eval::Block;
use super::fingerprint::{fetch64, fingerprint64};
use super::parallel;
use super::work_items::{RowStarts, WorkItem};
use crate::error::Result;
use crate::graph::opcode::HashOp;
use crate::graph::plan::Step;
use crate::graph::planned::{Expr, InPlan, Rows};
use crate::graph::primitive::RowHash;

/// Most bytes, and most rows, per work item. A longer row is a work item by itself.
const CHUNK: usize = 4096;

impl CpuPrimitive for RowHash<InPlan> {
    fn compute(&self, _: &Step, inputs: &Inputs, outputs: &mut [Array]) -> Result<()> {
        let nrows = inputs.count(&self.on.nrows);
        let op = self.op.map(|key| inputs.sizes().scalar(key).bits());
        row_hash(inputs, op, &self.on.rows, nrows, &self.byte, &mut outputs[0]);
        Ok(())
    }
}

/// The hashes of the first `nrows` rows.
pub(crate) fn row_hash(inputs: &Inputs, op: HashOp, rows: &Rows, nrows: usize, byte: &Expr, out: &mut Array) {
    let (starts, expr) = (RowStarts::new(inputs, rows), CompiledExpr::new(inputs, byte));
    let runs = starts.work_items(1, CHUNK, &mut out.slice_mut::<u64>()[..nrows]);
    parallel::for_each(runs, &|WorkItem { first, end, out }| {
        let (from, to) = (starts.at(first), starts.at(end));
        let bytes = Block::consecutive(&expr, from as u32, to - from).eval_as::<u8>();
        for (k, out) in out.iter_mut().enumerate() {
            let row = &bytes[starts.at(first + k) - from..starts.at(first + k + 1) - from];
            *out = match op {
                HashOp::Fingerprint => fingerprint64(row),
                HashOp::Sip { key } => siphash(row, key),
                HashOp::Murmur { seed } => murmur64a(row, seed),
            };
        }
    });
}

/// SipHash-2-4 (Aumasson and Bernstein 2012).
fn siphash(s: &[u8], key: [u64; 2]) -> u64 {
    let mut v = [
        key[0] ^ 0x736f_6d65_7073_6575,
        key[1] ^ 0x646f_7261_6e64_6f6d,
        key[0] ^ 0x6c79_6765_6e65_7261,
        key[1] ^ 0x7465_6462_7974_6573,
    ];
    fn round(v: &mut [u64; 4]) {
        v[0] = v[0].wrapping_add(v[1]);
        v[2] = v[2].wrapping_add(v[3]);
        v[1] = v[1].rotate_left(13) ^ v[0];
        v[3] = v[3].rotate_left(16) ^ v[2];
        v[0] = v[0].rotate_left(32).wrapping_add(v[3]);
        v[2] = v[2].wrapping_add(v[1]);
        v[3] = v[3].rotate_left(21) ^ v[0];
        v[1] = v[1].rotate_left(17) ^ v[2];
        v[2] = v[2].rotate_left(32);
    }
    let words = s.len() / 8;
    for k in 0..=words {
        let m = if k < words {
            fetch64(s, 8 * k)
        } else {
            let rest = s[8 * words..].iter().rev().fold(0u64, |m, &b| m << 8 | u64::from(b));
            rest | (s.len() as u64) << 56
        };
        v[3] ^= m;
        round(&mut v);
        round(&mut v);
        v[0] ^= m;
    }
    v[2] ^= 0xff;
    for _ in 0..4 {
        round(&mut v);
    }
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

/// MurmurHash64A (Appleby 2008, public domain).
fn murmur64a(s: &[u8], seed: u64) -> u64 {
    const M: u64 = 0xc6a4_a793_5bd1_e995;
    let mut h = seed ^ (s.len() as u64).wrapping_mul(M);
    let words = s.len() / 8;
    for k in 0..words {
        let mut m = fetch64(s, 8 * k).wrapping_mul(M);
        m = (m ^ m >> 47).wrapping_mul(M);
        h = (h ^ m).wrapping_mul(M);
    }
    let rest = &s[8 * words..];
    if !rest.is_empty() {
        h = (h ^ rest.iter().rev().fold(0u64, |m, &b| m << 8 | u64::from(b))).wrapping_mul(M);
    }
    h = (h ^ h >> 47).wrapping_mul(M);
    h ^ h >> 47
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siphash_equals_the_reference_vectors() {
        // The first and the sixteenth vector of the reference implementation: key and message bytes 0, 1, 2, ...
        let key = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
        assert_eq!(siphash(&[], key), 0x726f_db47_dd0e_0e31);
        let message: Vec<u8> = (0..15).collect();
        assert_eq!(siphash(&message, key), 0xa129_ca61_49be_45e5);
    }
}
