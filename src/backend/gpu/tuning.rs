//! The tuning of each class of adapter.

use super::runtime::AdapterKind;
use crate::tuning::Tuning;

/// What is chosen where the program chooses nothing. A class gets a row of its own where `ragged-bench tune` asks for
/// one on its adapters. So far that is software; the others' row is reasoned, from how GPUs are known to read memory.
pub(super) const fn tuning_of(kind: AdapterKind) -> Tuning {
    match kind {
        AdapterKind::Discrete | AdapterKind::Integrated | AdapterKind::Virtual | AdapterKind::Other => Tuning::SANE,
        // A processor's caches serve a row as well as a column, and each barrier costs. Waits cost little, and memory is
        // the program's own.
        AdapterKind::Software => Tuning::SANE.coalesce_rows(false).stage_bytes(4 << 20),
    }
}

/// Whether the driver ends the loops of an invocation after 65,535 turns, as Mesa's llvmpipe does: longer ones are
/// cut into several dispatches.
pub(super) const fn ends_loops(kind: AdapterKind) -> bool {
    matches!(kind, AdapterKind::Software)
}
