//! Uploads of host data as arrays of the graph.

use std::any::Any;
use std::sync::Arc;

use crate::dtype::DType;
use crate::error::{Result, here};
use crate::graph::backend::BackendRef;
use crate::graph::node::Node;

/// Copies `bytes` (whole elements of `dtype`, little endian) into storage, for the operation `op`.
///
/// # Errors
/// No memory for the array on the device.
#[track_caller]
pub(crate) fn upload(
    backend: &BackendRef,
    op: &'static str,
    dtype: DType,
    bytes: &[u8],
) -> Result<Arc<dyn Any + Send + Sync>> {
    backend.upload(dtype, bytes).map_err(|e| e.of(op)).map_err(here())
}

/// An uploaded array of less than 2^32 elements; see [`upload`].
///
/// # Errors
/// As [`upload`].
#[track_caller]
pub(crate) fn uploaded(backend: &BackendRef, op: &'static str, dtype: DType, bytes: &[u8]) -> Result<Node> {
    let len = (bytes.len() / dtype.size()) as u32;
    Ok(Node::source(backend, dtype, len, upload(backend, op, dtype, bytes)?))
}
