//! Vectors of host values, allocated without aborting.

use crate::backend::host_memory;
use crate::error::{Result, here};

/// Allocates room for `n` more values.
///
/// # Errors
/// The allocator refuses the memory.
#[track_caller]
pub(super) fn room<T>(out: &mut Vec<T>, n: usize) -> Result<()> {
    let bytes = n as u64 * size_of::<T>() as u64;
    out.try_reserve_exact(n).map_err(|_| host_memory::refused("the result of a read", bytes)).map_err(here())
}

/// Appends the converted items of a slice.
#[track_caller]
pub(super) fn extend<T, U>(out: &mut Vec<U>, items: &[T], convert: impl Fn(&T) -> U) -> Result<()> {
    room(out, items.len())?;
    out.extend(items.iter().map(convert));
    Ok(())
}

/// Appends the values whose bytes are given, with one copy. The bytes need no alignment.
#[track_caller]
pub(super) fn decode<T: bytemuck::AnyBitPattern>(out: &mut Vec<T>, bytes: &[u8]) -> Result<()> {
    room(out, bytes.len() / size_of::<T>())?;
    match bytemuck::try_cast_slice(bytes) {
        Ok(values) => out.extend_from_slice(values),
        Err(_) => out.extend(bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned::<T>)),
    }
    Ok(())
}
