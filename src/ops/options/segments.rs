//! Ids of segments, and the number of segments.

use crate::setters::setters;
use crate::tensor::{Tensor, WithNrows};

/// Ids of segments: a tensor, or [`with_nrows`](crate::opt::with_nrows)`(ids, n)` where segments follow the last id.
///
/// Options that are known at run time only:
///
/// ```
/// use ragged::opt::SegmentIds;
/// use ragged::{Device, RaggedTensor};
/// let ids = RaggedTensor::from_nested([0, 0, 1], &Device::cpu())?;
/// let given = SegmentIds::from(&ids).num_segments(Some(4));
/// assert_eq!(given.num_segments, Some(4));
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct SegmentIds<'a> {
    /// The ids.
    pub ids: &'a Tensor,
    /// The number of segments; `None` if the last id is that of the last segment.
    pub num_segments: Option<i64>,
}

setters! {
    impl[] SegmentIds<'_> {
        num_segments: into Option<i64>;
    }
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
