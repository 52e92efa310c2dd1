//! The host side of `shaders/row_hash.wgsl` and `shaders/row_hash_long.wgsl`.

use super::codegen::{Binding, Element, ModuleBuilder, StorageArray};
use super::driver_limits::DriverLimits;
use super::launch::{Lowered, Lowering, partition_functions};
use crate::dtype::DType;
use crate::graph::node::{Recipe, RowDomain};
use crate::graph::opcode::HashOp;
use crate::graph::plan::{HashedStrings, Step};

/// Rows per workgroup.
pub(super) const ROWS: u32 = 256;

/// Index of the scratch buffer that holds the states of long strings (`row_hash_long.wgsl`).
pub(super) const STATES: usize = 0;

/// Bytes of scratch state per long string: see `shaders/row_hash_long.wgsl`.
const STATE_BYTES: u64 = 72;

const ROW_HASH: &str = include_str!("../../../shaders/row_hash.wgsl");
const ROW_HASH_LONG: &str = include_str!("../../../shaders/row_hash_long.wgsl");
const FINGERPRINT: &str = include_str!("../../../shaders/hash/fingerprint.wgsl");
const SIP: &str = include_str!("../../../shaders/hash/sip.wgsl");
const MURMUR: &str = include_str!("../../../shaders/hash/murmur.wgsl");

/// Distribution of strings over dispatches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct HashSchedule {
    /// Longest string, in bytes, that one dispatch hashes.
    at_once: u32,
    /// Slots of scratch state for longer strings; 0 if there can be none.
    slots: u32,
}

impl HashSchedule {
    /// A string that is hashed in one dispatch must fit one window, since each dispatch may bind one only.
    fn new(driver: DriverLimits, window_bytes: u64, strings: HashedStrings) -> Self {
        let HashedStrings { op, nbytes, longest } = strings;
        let at_once = u64::from(driver.hash_bytes(op)).min(window_bytes) as u32;
        Self { at_once, slots: if longest > at_once { nbytes / at_once + 1 } else { 0 } }
    }

    /// Bytes of scratch state.
    fn state_bytes(self) -> u64 {
        u64::from(self.slots) * STATE_BYTES
    }
}

/// The function by which the planner predicts the scratch state of a hash on such a driver.
pub(super) const fn state_bytes(driver: DriverLimits) -> fn(u64, HashedStrings) -> u64 {
    match driver {
        DriverLimits::Timeout => {
            |window, strings| HashSchedule::new(DriverLimits::Timeout, window, strings).state_bytes()
        }
        DriverLimits::LoopIterations => {
            |window, strings| HashSchedule::new(DriverLimits::LoopIterations, window, strings).state_bytes()
        }
    }
}

/// Lowers [`Recipe::Hash`].
pub(super) fn lower(step: &Step, driver: DriverLimits, to: Lowering<'_>) -> Lowered {
    let Lowering { first_slot, sizes, modules } = to;
    let Recipe::Hash { op, on, byte, longest } = &step.recipe else { unreachable!("bug: another recipe") };
    let RowDomain { rows, nrows, nvals, .. } = on;
    let strings = HashedStrings { op: *op, nbytes: sizes.capacity(nvals), longest: sizes.value(longest) };
    let (function, words) = function(*op);
    let schedule = HashSchedule::new(driver, step.limits.window_bytes(), strings);
    let HashSchedule { at_once, slots } = schedule;
    let [a, b, c, d] = words;
    let n = sizes.capacity(nrows);
    let head = [n, a, b, c, d, at_once, slots, 0];
    let module = || {
        let mut m = ModuleBuilder::new(step, first_slot);
        partition_functions(&mut m, rows, nrows);
        m.value_function("load", byte);
        m.push("fn store(row: u32, v: U64) {\n    store_out(row, v);\n}");
        m
    };
    let out = || Some(Element::of(DType::U64));
    if slots == 0 {
        let g = modules.get(step, ("row_hash", 0), || {
            let mut m = module();
            m.push("fn defer(row: u32, first: u32, len: u32) {\n}");
            m.finish(&[ROW_HASH, function], "U64", out(), Vec::new())
        });
        return Lowered { launches: vec![g.launch(sizes, "main", head, n.div_ceil(ROWS), 1)], ..Lowered::default() };
    }
    let per_dispatch = driver.hash_bytes(*op);
    let g = modules.get(step, ("row_hash", 1), || {
        let mut m = module();
        let is_bound = if step.is_oversized() { "!rg_missed()" } else { "true" };
        m.push(&format!(
            "const DISPATCH_BYTES: u32 = {per_dispatch}u;\nfn is_bound() -> bool {{\n    return {is_bound};\n}}"
        ));
        let states = StorageArray::new("states", Element::of(DType::U64), Binding::Scratch(STATES));
        m.finish(&[ROW_HASH, ROW_HASH_LONG, function], "U64", out(), vec![states])
    });
    let by_slot = |entry| g.launch(sizes, entry, head, slots.div_ceil(256), 1);
    let mut launches = vec![by_slot("clear"), g.launch(sizes, "main", head, n.div_ceil(ROWS), 1)];
    let dispatches = strings.longest.min(strings.nbytes).div_ceil(per_dispatch);
    launches.extend(std::iter::repeat_n(by_slot("advance"), dispatches as usize));
    launches.push(by_slot("finish"));
    let limit = (dispatches > 1).then(|| driver.reason());
    Lowered { launches, limit, scratch: vec![schedule.state_bytes()], ..Lowered::default() }
}

/// The WGSL of a hash function, and its parameter words.
fn function(op: HashOp) -> (&'static str, [u32; 4]) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_strings_have_enough_slots() {
        let strings = |nbytes, longest| HashedStrings { op: HashOp::Murmur { seed: 7 }, nbytes, longest };
        let schedule =
            |nbytes, longest| HashSchedule::new(DriverLimits::LoopIterations, 1 << 30, strings(nbytes, longest));
        assert_eq!(schedule(u32::MAX, 256 << 10), HashSchedule { at_once: 256 << 10, slots: 0 });
        assert_eq!(schedule(1 << 20, (256 << 10) + 1), HashSchedule { at_once: 256 << 10, slots: 5 });
        assert_eq!(HashSchedule::new(DriverLimits::Timeout, 1 << 30, strings(u32::MAX, 4 << 20)).slots, 0);
        assert_eq!(HashSchedule::new(DriverLimits::Timeout, 64 << 10, strings(1 << 20, 1 << 20)).slots, 17);
        assert_eq!(state_bytes(DriverLimits::LoopIterations)(1 << 30, strings(1 << 20, 1 << 20)), 5 * 72);
        assert_eq!(state_bytes(DriverLimits::Timeout)(1 << 30, strings(1 << 20, 1 << 20)), 0);
    }
}
