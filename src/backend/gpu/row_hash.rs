//! The host side of `shaders/row_hash.wgsl`.

use std::sync::Arc;

use super::codegen::Module;
use super::launch::{Lowered, partition};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Rows;
use crate::graph::opcode::HashOp;
use crate::graph::plan::Step;

/// Rows of a workgroup.
pub(super) const ROWS: u32 = 256;

const ROW_HASH: &str = include_str!("../../../shaders/row_hash.wgsl");
const FINGERPRINT: &str = include_str!("../../../shaders/hash/fingerprint.wgsl");
const SIP: &str = include_str!("../../../shaders/hash/sip.wgsl");
const MURMUR: &str = include_str!("../../../shaders/hash/murmur.wgsl");

/// Lowers [`Recipe::Hash`](crate::graph::node::Recipe::Hash).
pub(super) fn lower(
    step: &Step,
    first_slot: u32,
    op: HashOp,
    (rows, nrows): (&Rows, &Extent),
    byte: &Expr,
    label: &Arc<str>,
) -> Lowered {
    let mut m = Module::new(step, first_slot);
    partition(&mut m, rows, nrows);
    m.value_function("load", byte);
    m.push("fn store(row: u32, v: U64) {\n    out[row] = v;\n}");
    let words = |v: u64| [v as u32, (v >> 32) as u32];
    let n = nrows.capacity();
    let (piece, head) = match op {
        HashOp::Fingerprint => (FINGERPRINT, [n, 0, 0, 0, 0, 0, 0, 0]),
        HashOp::Sip { key } => {
            let ([a, b], [c, d]) = (words(key[0]), words(key[1]));
            (SIP, [n, a, b, c, d, 0, 0, 0])
        }
        HashOp::Murmur { seed } => {
            let [a, b] = words(seed);
            (MURMUR, [n, a, b, 0, 0, 0, 0, 0])
        }
    };
    let g = m.finish(&[ROW_HASH, piece], "U64", Some("U64"), &[]);
    let launch = g.launch(label, "main", head, n.div_ceil(ROWS), 1);
    Lowered { launches: vec![launch], ..Lowered::default() }
}
