//! Limits of operations whose result is a list of tensors.

use crate::backend::host_memory::counted_allocations;
use crate::error::{Error, Result};
use crate::graph::backend::CountedMemory;
use crate::graph::recorder::Recorder;
use crate::tensor::{Tensor, Values};

/// Greatest number of tensors in a list.
pub(crate) const MOST_TENSORS: u64 = 1 << 20;

/// Bytes per tensor of its recorded arrays: flat values, and each row partition.
const ARRAY_BYTES: u64 = 1 << 10;

/// Counts the host memory of a list of `n` tensors like `x`, each with `further` arrays, before it is recorded: against the
/// budget of a CPU device, and on a GPU against the memory that the machine has available.
///
/// # Errors
/// More than [`MOST_TENSORS`]; no memory for them.
pub(crate) fn counted_tensors(rec: Recorder<'_>, x: &Tensor, n: u64, further: u64) -> Result<CountedMemory> {
    if n > MOST_TENSORS {
        return Err(Error::Limit {
            what: rec.op.into(),
            requested: n,
            unit: "tensors",
            limit: MOST_TENSORS,
            whose: "a list of tensors".into(),
            location: rec.location,
        });
    }
    let of_strings = u64::from(matches!(x.values_ref(), Values::Strings { .. }));
    let arrays = 1 + x.partitions().len() as u64 + of_strings + further;
    rec.at(counted_allocations(x.backend(), rec.op, n * arrays * ARRAY_BYTES))
}
