//! The default tuning of each class of adapter.

use super::runtime::AdapterKind;
use crate::tuning::Tuning;

/// The default tuning of a class. Only the class of software adapters is tuned by `ragged-bench tune`. The parameters
/// of the other classes are derived from the memory coalescing rules of GPUs, not measured.
pub(super) const fn tuning_of(kind: AdapterKind) -> Tuning {
    match kind {
        AdapterKind::Discrete | AdapterKind::Integrated | AdapterKind::Virtual | AdapterKind::Other => Tuning::DEFAULT,
        // Uncoalesced accesses are cheap on CPUs, and barriers expensive. Waits are cheap, and device memory is host
        // memory.
        AdapterKind::Software => Tuning::DEFAULT.coalesce_rows(false).stage_bytes(4 << 20),
    }
}
