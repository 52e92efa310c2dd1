//! Memory of lists that this crate makes.

use ragged::Result;

use crate::fault::no_memory;

pub(crate) use crate::fault::MAX_VALUES;

/// An empty list with room for `n` items, for the use `what`.
///
/// # Errors
/// The allocator refuses the memory.
pub(crate) fn room<T>(what: &str, n: usize) -> Result<Vec<T>> {
    let mut out = Vec::new();
    out.try_reserve_exact(n).map_err(|_| no_memory(what, (n as u64).saturating_mul(size_of::<T>() as u64)))?;
    Ok(out)
}

/// Numbers that a tensor adopts.
pub(crate) struct Numbers<T>(pub(crate) Vec<T>);

impl<T: bytemuck::NoUninit> AsRef<[u8]> for Numbers<T> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}
