//! Figures that suit one class of adapter better than another. They steer how work is cut and moved, never its results.
//!
//! A class gets a row of its own where a measurement asks for one: `ragged-bench ceilings` gives the costs that they weigh up.

use super::runtime::AdapterKind;

/// What is chosen by the class of adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tuning {
    /// Storage buffers that a kernel binds at most, where the adapter allows as many: core WebGPU's 8 are few for a fused
    /// look-up and concatenation, and every one more costs the driver's tracking.
    pub(super) most_buffers: u32,
    /// Data-dependent results up to this many bytes are read at their capacity, so that one wait suffices; larger ones are
    /// read in two: the count, then what there is. A wait is worth the bytes that are moved in its time.
    pub(super) read_at_capacity: u64,
    /// Whether the driver ends the loops of an invocation after 65,535 turns: longer ones are cut, or refused.
    pub(super) ends_loops: bool,
}

/// Right for any adapter.
const SANE: Tuning = Tuning { most_buffers: 12, read_at_capacity: 32 << 20, ends_loops: false };

impl Tuning {
    /// The row of a class.
    pub(super) const fn of(kind: AdapterKind) -> Self {
        match kind {
            // Mesa's llvmpipe ends loops.
            AdapterKind::Software => Self { ends_loops: true, ..SANE },
            AdapterKind::Discrete | AdapterKind::Integrated | AdapterKind::Virtual | AdapterKind::Other => SANE,
        }
    }
}
