//! Uploads flat values from host memory to a device, with one copy.

use super::Values;
use crate::backend::host_memory::counted_vec;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result, caller, here};
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::size::RecordedSize;
use crate::shape::RowPartition;

/// Uploads numbers of a dtype, given as bytes.
///
/// # Errors
/// More than 2^32 - 2 numbers, or more bytes than the device can hold; a dtype that it cannot compute with.
#[track_caller]
pub(super) fn numbers(device: &Device, dtype: DType, bytes: &[u8]) -> Result<Values> {
    supported(device, dtype)?;
    let len = Extent::known_u64("a tensor", (bytes.len() / dtype.size()) as u64)?.capacity();
    check_bytes(device, "a tensor", bytes.len() as u64)?;
    let backend = device.backend();
    Ok(Values::Numbers(Node::source(backend, dtype, len, backend.upload(dtype, bytes).map_err(here())?)))
}

/// Uploads byte strings.
///
/// # Errors
/// More than 2^32 - 2 strings or bytes, or more bytes than the device can hold.
#[track_caller]
pub(super) fn strings<'a>(device: &Device, strings: impl ExactSizeIterator<Item = &'a [u8]> + Clone) -> Result<Values> {
    supported(device, DType::Str)?;
    Extent::known_u64("a tensor", strings.len() as u64)?;
    let backend = device.backend();
    let total: u64 = strings.clone().map(|s| s.len() as u64).sum();
    check_bytes(device, "a string tensor", total)?;
    let len = Extent::known_u64("a string tensor", total)?.capacity();
    let (mut splits, _counted) = counted_vec(backend, "an upload", strings.len() + 1)?;
    let mut end = 0;
    splits.push(end);
    splits.extend(strings.clone().map(|s| {
        end += s.len() as u32;
        end
    }));
    let mut all = strings.clone();
    let joined;
    let (bytes, _counted): (&[u8], _) = match (all.next(), all.len()) {
        (Some(one), 0) => (one, None),
        _ => {
            let (mut out, counted) = counted_vec(backend, "an upload", total as usize)?;
            strings.for_each(|s| out.extend_from_slice(s));
            joined = out;
            (&joined, Some(counted))
        }
    };
    let partition = RowPartition::from_host_splits(backend, splits)?;
    let bytes = Node::source(backend, DType::U8, len, backend.upload(DType::U8, bytes).map_err(here())?);
    Ok(Values::Strings { strings: partition, bytes })
}

#[track_caller]
fn supported(device: &Device, dtype: DType) -> Result<()> {
    device.backend().supports(dtype).map_err(|hint| Error::unsupported("a tensor", dtype, hint)).map_err(here())
}

#[track_caller]
fn check_bytes(device: &Device, what: &str, bytes: u64) -> Result<()> {
    let backend = device.backend();
    if bytes <= backend.max_bytes() {
        return Ok(());
    }
    Err(Error::Limit {
        what: what.into(),
        requested: bytes,
        unit: "bytes",
        limit: backend.max_bytes(),
        whose: backend.name().into(),
        location: caller(),
    })
}

impl Values {
    /// Uploads byte strings given by their splits, which must be valid, and their bytes.
    ///
    /// # Errors
    /// More bytes than the device can hold.
    #[track_caller]
    pub(crate) fn upload_strings(device: &Device, splits: Vec<u32>, bytes: &[u8]) -> Result<Self> {
        check_bytes(device, "a string tensor", bytes.len() as u64)?;
        let len = Extent::known_u64("a string tensor", bytes.len() as u64)?.capacity();
        let backend = device.backend();
        let strings = RowPartition::from_host_splits(backend, splits)?;
        let bytes = Node::source(backend, DType::U8, len, backend.upload(DType::U8, bytes).map_err(here())?);
        Ok(Self::Strings { strings, bytes })
    }
}
