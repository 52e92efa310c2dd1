//! The default tuning of each class of adapter.

use super::runtime::AdapterKind;
use crate::tuning::Tuning;

/// The tuning where the program chooses none. A class has its own entry where `ragged-bench tune` shows the need for
/// one on its adapters: so far only software. The entry of the other classes is not measured, but derived from how GPUs
/// are known to read memory.
pub(super) const fn tuning_of(kind: AdapterKind) -> Tuning {
    match kind {
        AdapterKind::Discrete | AdapterKind::Integrated | AdapterKind::Virtual | AdapterKind::Other => Tuning::DEFAULT,
        // CPU caches serve access by row as well as by column, and each barrier is expensive. Waits are cheap, and
        // device memory is the program's own.
        AdapterKind::Software => Tuning::DEFAULT.coalesce_rows(false).stage_bytes(4 << 20),
    }
}
