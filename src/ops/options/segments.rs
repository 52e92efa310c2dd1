//! Ids of segments, and the number of segments.

use crate::tensor::{Tensor, WithNrows};

/// Ids of segments: a tensor, or [`with_nrows`](crate::opt::with_nrows)`(ids, n)` where segments follow the last id.
#[derive(Debug, Clone, Copy)]
pub struct SegmentIds<'a> {
    /// The ids.
    pub ids: &'a Tensor,
    /// The number of segments; `None` if the last id is that of the last segment.
    pub num_segments: Option<i64>,
}

impl<'a, X: AsRef<Tensor>> From<&'a X> for SegmentIds<'a> {
    fn from(ids: &'a X) -> Self {
        Self { ids: ids.as_ref(), num_segments: None }
    }
}
impl<'a, X: AsRef<Tensor>> From<WithNrows<&'a X>> for SegmentIds<'a> {
    fn from(given: WithNrows<&'a X>) -> Self {
        let (ids, nrows) = given.into_parts();
        Self { ids: ids.as_ref(), num_segments: Some(nrows) }
    }
}
