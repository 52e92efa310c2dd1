//! The default tuning of each adapter.

use super::runtime::{AdapterKind, AdapterSummary};
use crate::tuning::Tuning;

/// NVIDIA's number as a vendor of PCI devices.
const NVIDIA: u32 = 0x10de;

/// The default tuning of an adapter. The parameters of software adapters and of NVIDIA's GPUs (an H200) are measured, by
/// `ragged-bench tune`. Those of others are derived from the memory coalescing rules of GPUs.
pub(super) const fn tuning_of(adapter: &AdapterSummary) -> Tuning {
    match (adapter.kind, adapter.vendor) {
        // Uncoalesced accesses are cheap on CPUs, and barriers expensive. Waits are cheap, and device memory is host
        // memory.
        (AdapterKind::Software, _) => Tuning::DEFAULT.coalesce_rows(false).stage_bytes(4 << 20),
        // The first-level cache holds the rows of all invocations of a multiprocessor.
        (_, NVIDIA) => Tuning::DEFAULT.map_tile(2048).row_cost(1).coalesce_rows(false),
        _ => Tuning::DEFAULT,
    }
}
