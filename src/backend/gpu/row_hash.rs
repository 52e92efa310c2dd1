//! The host side of `shaders/row_hash.wgsl` and `shaders/row_hash_long.wgsl`.

use super::codegen::{Binding, Element, Module, Modules, StorageArray};
use super::launch::{Lowered, partition};
use crate::dtype::DType;
use crate::graph::many_dispatches::ManyDispatches;
use crate::graph::node::{Recipe, RowDomain};
use crate::graph::opcode::HashOp;
use crate::graph::plan::{HASH_SEAT, Step};

/// Rows per workgroup.
pub(super) const ROWS: u32 = 256;

/// Index of the scratch buffer that holds the states of long strings (`row_hash_long.wgsl`).
pub(super) const SEATS: usize = 0;

const ROW_HASH: &str = include_str!("../../../shaders/row_hash.wgsl");
const ROW_HASH_LONG: &str = include_str!("../../../shaders/row_hash_long.wgsl");
const FINGERPRINT: &str = include_str!("../../../shaders/hash/fingerprint.wgsl");
const SIP: &str = include_str!("../../../shaders/hash/sip.wgsl");
const MURMUR: &str = include_str!("../../../shaders/hash/murmur.wgsl");

/// Lowers [`Recipe::Hash`].
pub(super) fn lower(step: &Step, first_slot: u32, modules: &mut Modules) -> Lowered {
    let Recipe::Hash { op, on, byte, longest } = &step.recipe else { unreachable!("bug: a hash is lowered") };
    let RowDomain { rows, nrows, nvals, .. } = on;
    let (nbytes, longest) = (nvals.capacity(), longest.value());
    let (piece, words) = piece(*op);
    let (at_once, leg) = (step.limits.longest_hashed_at_once(*op), step.limits.hash_leg(*op));
    let seats = step.limits.hash_seats(*op, nbytes, longest);
    let [a, b, c, d] = words;
    let n = nrows.capacity();
    let head = [n, a, b, c, d, at_once, seats, 0];
    let module = || {
        let mut m = Module::new(step, first_slot);
        partition(&mut m, rows, nrows);
        m.value_function("load", byte);
        m.push("fn store(row: u32, v: U64) {\n    store_out(row, v);\n}");
        m
    };
    if seats == 0 {
        let g = modules.get(step, ("row_hash", 0), || {
            let mut m = module();
            m.push("fn seat(row: u32, first: u32, len: u32) {\n}");
            m.finish(&[ROW_HASH, piece], "U64", Some(Element::of(DType::U64)), Vec::new())
        });
        return Lowered { launches: vec![g.launch("main", head, n.div_ceil(ROWS), 1)], ..Lowered::default() };
    }
    let g = modules.get(step, ("row_hash", 1), || {
        let mut m = module();
        let is_here = if step.is_oversized() { "!rg_missed()" } else { "true" };
        m.push(&format!("const LEG: u32 = {leg}u;\nfn is_here() -> bool {{\n    return {is_here};\n}}"));
        let scratch = vec![StorageArray::new("seats", Element::of(DType::U64), Binding::Scratch(SEATS))];
        m.finish(&[ROW_HASH, ROW_HASH_LONG, piece], "U64", Some(Element::of(DType::U64)), scratch)
    });
    let of_seats = |entry| g.launch(entry, head, seats.div_ceil(256), 1);
    let mut launches = vec![of_seats("clear"), g.launch("main", head, n.div_ceil(ROWS), 1)];
    let legs = longest.min(nbytes).div_ceil(leg);
    launches.extend(std::iter::repeat_n(of_seats("leg"), legs as usize));
    launches.push(of_seats("finish"));
    let limit = match (legs > 1, step.limits.ends_loops) {
        (false, _) => None,
        (true, true) => Some(ManyDispatches::LoopLimit),
        (true, false) => Some(ManyDispatches::WatchdogTimeout),
    };
    Lowered { launches, limit, scratch: vec![u64::from(seats) * HASH_SEAT], ..Lowered::default() }
}

/// The WGSL of a hash function, and its parameter words.
fn piece(op: HashOp) -> (&'static str, [u32; 4]) {
    let words = |v: u64| [v as u32, (v >> 32) as u32];
    match op {
        HashOp::Fingerprint => (FINGERPRINT, [0; 4]),
        HashOp::Sip { key } => {
            let ([a, b], [c, d]) = (words(key[0]), words(key[1]));
            (SIP, [a, b, c, d])
        }
        HashOp::Murmur { seed } => {
            let [a, b] = words(seed);
            (MURMUR, [a, b, 0, 0])
        }
    }
}
