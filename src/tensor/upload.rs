//! Uploads flat values from host memory to a device, with one copy.

use super::Values;
use crate::backend::host_memory::counted_vec;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result, caller, here};
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::shared_slice::SharedSlice;
use crate::graph::size::RecordedSize;
use crate::shape::RowPartition;

/// Uploads numbers of a dtype, given as bytes.
///
/// # Errors
/// More than 2^32 - 2 numbers, or more bytes than the device can hold; a dtype that it cannot compute with.
#[track_caller]
pub(super) fn numbers(op: &'static str, device: &Device, dtype: DType, bytes: &[u8]) -> Result<Values> {
    Extent::known_u64(op, (bytes.len() / dtype.size()) as u64)?;
    check_bytes(op, device, bytes.len() as u64)?;
    let backend = device.backend();
    let rec = Recorder::new(backend, op);
    Ok(Values::Numbers(rec.uploaded(dtype, bytes)?))
}

/// Numbers of a dtype in memory of the user's program: adopted where the device can read it in place, else uploaded.
///
/// # Errors
/// As [`numbers`].
#[track_caller]
pub(super) fn adopted(op: &'static str, device: &Device, dtype: DType, memory: &SharedSlice) -> Result<Values> {
    let n = memory.bytes().len();
    let count = Extent::known_u64(op, (n / dtype.size()) as u64)?.capacity();
    check_bytes(op, device, n as u64)?;
    let backend = device.backend();
    let data = backend.adopt(dtype, memory).map_err(|e| e.of(op)).map_err(here())?;
    Ok(Values::Numbers(Node::source(backend, dtype, count, data)))
}

/// Uploads byte strings.
///
/// # Errors
/// More than 2^32 - 2 strings or bytes, or more bytes than the device can hold.
#[track_caller]
pub(super) fn strings<'a>(
    op: &'static str,
    device: &Device,
    strings: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
) -> Result<Values> {
    Extent::known_u64(op, strings.len() as u64)?;
    let backend = device.backend();
    let rec = Recorder::new(backend, op);
    let total: u64 = strings.clone().map(|s| s.len() as u64).sum();
    check_bytes(op, device, total)?;
    Extent::known_u64(op, total)?;
    let (mut splits, _counted) = counted_vec(backend, op, strings.len() + 1)?;
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
            let (mut out, counted) = counted_vec(backend, op, total as usize)?;
            strings.for_each(|s| out.extend_from_slice(s));
            joined = out;
            (&joined, Some(counted))
        }
    };
    let partition = RowPartition::from_host_splits(rec, splits)?;
    let bytes = rec.uploaded(DType::U8, bytes)?;
    Ok(Values::Strings { strings: partition, bytes })
}

#[track_caller]
fn check_bytes(op: &'static str, device: &Device, bytes: u64) -> Result<()> {
    let backend = device.backend();
    if bytes <= backend.max_bytes() {
        return Ok(());
    }
    Err(Error::Limit {
        what: op.into(),
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
    pub(crate) fn upload_strings(op: &'static str, device: &Device, splits: Vec<u32>, bytes: &[u8]) -> Result<Self> {
        check_bytes(op, device, bytes.len() as u64)?;
        Extent::known_u64(op, bytes.len() as u64)?;
        let backend = device.backend();
        let rec = Recorder::new(backend, op);
        let strings = RowPartition::from_host_splits(rec, splits)?;
        let bytes = rec.uploaded(DType::U8, bytes)?;
        Ok(Self::Strings { strings, bytes })
    }
}
