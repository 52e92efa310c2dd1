//! The host side of `shaders/row_hash.wgsl` and `shaders/row_hash_long.wgsl`.

use super::binding_windows::{AccessPattern, own_rows};
use super::codegen::{Binding, Element, Kernel, Misses, ModuleBuilder, StorageArray};
use super::driver_limits::DriverLimits;
use super::launch::{Lowered, Lowering, partition_functions};
use super::legalize::Legalizer;
use super::primitive::{Bound, GpuPrimitive};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::opcode::HashOp;
use crate::graph::plan::{SizedLimits, Step};
use crate::graph::planned::{InPlan, Node, Recipe, RowDomain, SizeView};
use crate::graph::primitive::RowHash;

/// Rows per workgroup.
const ROWS: u32 = 256;

/// Index of the scratch buffer that holds the states of long strings (`row_hash_long.wgsl`).
const STATES: usize = 0;

/// Bytes of scratch state per long string: see `shaders/row_hash_long.wgsl`.
const STATE_BYTES: u64 = 72;

const ROW_HASH: &str = include_str!("../../../shaders/row_hash.wgsl");
const ROW_HASH_LONG: &str = include_str!("../../../shaders/row_hash_long.wgsl");
const FINGERPRINT: &str = include_str!("../../../shaders/hash/fingerprint.wgsl");
const SIP: &str = include_str!("../../../shaders/hash/sip.wgsl");
const MURMUR: &str = include_str!("../../../shaders/hash/murmur.wgsl");

/// The entry point that hashes short strings, and lists the long ones.
const MAIN: &str = "main";

/// The entry point that hashes the next bytes of long strings.
const ADVANCE: &str = "advance";

/// The entry point that stores the hashes of long strings.
const FINISH: &str = "finish";

/// Byte strings that a step hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct HashedStrings {
    op: HashOp<()>,
    /// Bytes of all strings.
    nbytes: u32,
    /// Bytes of the longest string.
    longest: u32,
}

impl HashedStrings {
    fn of(hash: &RowHash<InPlan>, sizes: SizeView<'_>) -> Self {
        Self { op: hash.op.map(|_| ()), nbytes: sizes.capacity(&hash.on.nvals), longest: sizes.value(&hash.longest) }
    }
}

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
        let at_once = u64::from(driver.hash_bytes(&op)).min(window_bytes) as u32;
        Self { at_once, slots: if longest > at_once { nbytes / at_once + 1 } else { 0 } }
    }

    /// Bytes of scratch state.
    fn state_bytes(self) -> u64 {
        u64::from(self.slots) * STATE_BYTES
    }
}

/// The kernels that hash strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum RowHashKernel {
    /// Hashes each string in one dispatch.
    AtOnce,
    /// Hashes long strings in several dispatches.
    InParts,
}

impl Kernel for RowHashKernel {
    fn name(self) -> &'static str {
        "row_hash"
    }
}

impl GpuPrimitive for RowHash<InPlan> {
    fn lower(&self, step: &Step, to: Lowering<'_>) -> Result<Lowered> {
        let Lowering { first_slot, sizes, modules, driver } = to;
        let Self { on: RowDomain { rows, nrows, .. }, byte, .. } = self;
        let op = self.op.map(|key| sizes.scalar(key).bits());
        let strings = HashedStrings::of(self, sizes);
        let (function, words) = function(op);
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
            let g = modules.get(step, RowHashKernel::AtOnce, || {
                let mut m = module();
                m.push("fn defer(row: u32, first: u32, len: u32) {\n}");
                m.finish(&[ROW_HASH, function], "U64", out(), Vec::new())
            });
            let launches = vec![g.launch(sizes, MAIN, head, n.div_ceil(ROWS), 1)];
            return Ok(Lowered { launches, ..Lowered::default() });
        }
        let per_dispatch = driver.hash_bytes(&op);
        let g = modules.get(step, RowHashKernel::InParts, || {
            let mut m = module();
            let is_bound = if step.is_oversized() { "!rg_missed()" } else { "true" };
            m.push(&format!(
                "const DISPATCH_BYTES: u32 = {per_dispatch}u;\nfn is_bound() -> bool {{\n    return {is_bound};\n}}"
            ));
            let states = StorageArray::new("states", Element::of(DType::U64), Binding::Scratch(STATES));
            m.finish(&[ROW_HASH, ROW_HASH_LONG, function], "U64", out(), vec![states])
        });
        let by_slot = |entry| g.launch(sizes, entry, head, slots.div_ceil(256), 1);
        let mut launches = vec![by_slot("clear"), g.launch(sizes, MAIN, head, n.div_ceil(ROWS), 1)];
        let dispatches = strings.longest.min(strings.nbytes).div_ceil(per_dispatch);
        launches.extend(std::iter::repeat_n(by_slot(ADVANCE), dispatches as usize));
        launches.push(by_slot(FINISH));
        let limit = (dispatches > 1).then(|| driver.reason());
        Ok(Lowered { launches, limit, scratch: vec![schedule.state_bytes()], ..Lowered::default() })
    }
    /// The bytes are a stored array already.
    fn legalized(&self, _: &Node, to: &mut Legalizer<'_>) -> Recipe {
        let RowDomain { rows, nrows, nvals, .. } = &self.on;
        let (rows, nrows) = to.iterated_rows(rows, nrows);
        let on = RowDomain { rows, nrows, nvals: to.count(nvals), inner: 1 };
        Recipe::RowHash(Self { on, byte: self.byte.clone(), longest: self.longest.clone(), op: self.op })
    }
    /// The output, and one binding per window of the scratch state of long strings.
    fn buffers(&self, driver: DriverLimits, limits: SizedLimits<'_>) -> u32 {
        let schedule = HashSchedule::new(driver, limits.limits.window_bytes(), HashedStrings::of(self, limits.sizes));
        match schedule.state_bytes() {
            0 => 1,
            bytes => 1 + limits.limits.windows(bytes),
        }
    }
    /// `main` reads the splits of its tile, and bytes at any position. The entry points for long strings access all hash
    /// states in scratch; `advance` also reads bytes, and `finish` stores results. The bytes of a string are contiguous.
    fn access_pattern(&self, at: &Bound<'_>) -> Option<AccessPattern> {
        let splits = own_rows(&self.on, &self.byte)?;
        Some(match (at.binding, at.launch.entry) {
            (Binding::Read(n), MAIN) if n == splits => AccessPattern::PerTile { bytes: u64::from(ROWS) * 4, more: 4 },
            (Binding::Read(n), MAIN | ADVANCE) if n != splits => AccessPattern::Random { axis: 0, misses: Misses::All },
            (Binding::Read(_), _) => AccessPattern::Unused,
            (Binding::Output(_), MAIN) => AccessPattern::tiles_of(ROWS, &at.step.out),
            (Binding::Output(_), FINISH) => AccessPattern::Random { axis: 0, misses: Misses::Never },
            (Binding::Output(_), _) => AccessPattern::Unused,
            (Binding::Scratch(_), _) => AccessPattern::Prefix(u64::MAX),
            _ => AccessPattern::Whole,
        })
    }
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
        let strings = |nbytes, longest| HashedStrings { op: HashOp::Murmur { seed: () }, nbytes, longest };
        let schedule =
            |nbytes, longest| HashSchedule::new(DriverLimits::LoopIterations, 1 << 30, strings(nbytes, longest));
        assert_eq!(schedule(u32::MAX, 256 << 10), HashSchedule { at_once: 256 << 10, slots: 0 });
        assert_eq!(schedule(1 << 20, (256 << 10) + 1), HashSchedule { at_once: 256 << 10, slots: 5 });
        assert_eq!(HashSchedule::new(DriverLimits::Timeout, 1 << 30, strings(u32::MAX, 4 << 20)).slots, 0);
        assert_eq!(HashSchedule::new(DriverLimits::Timeout, 64 << 10, strings(1 << 20, 1 << 20)).slots, 17);
        assert_eq!(schedule(1 << 20, 1 << 20).state_bytes(), 5 * 72);
        assert_eq!(HashSchedule::new(DriverLimits::Timeout, 1 << 30, strings(1 << 20, 1 << 20)).state_bytes(), 0);
    }
}
