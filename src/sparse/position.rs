//! Positions of entries in a dense result.

use super::coordinates::Coordinates;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::tensor::{Tensor, Values};

/// The dimensions of a dense result: fewer than 2^32 - 1 elements.
pub(super) struct DenseDims {
    dims: Vec<u32>,
    total: Extent,
}

impl DenseDims {
    /// # Errors
    /// 2^32 - 1 elements or more, in all or along a dimension.
    pub(super) fn new(rec: Recorder<'_>, dims: &[u64]) -> Result<Self> {
        let dims = dims.iter().map(|&d| Ok(rec.known(d)?.capacity()));
        let dims = dims.collect::<Result<Vec<_>>>()?;
        let total = if dims.contains(&0) { 0 } else { dims.iter().fold(1u64, |n, &d| n.saturating_mul(d.into())) };
        let total = rec.known(total)?;
        Ok(Self { dims, total })
    }

    /// Number of elements.
    pub(super) fn total(&self) -> &Extent {
        &self.total
    }

    /// The row-major position of the entry `Index`, whose coordinate in each of these dimensions is that in the
    /// dimension of `dims` of the sparse tensor. Arbitrary for an entry with a coordinate out of range.
    pub(super) fn position(&self, coordinates: &Coordinates, dims: impl IntoIterator<Item = usize>) -> Expr {
        let all = dims.into_iter().map(|d| coordinates.of(d).cast(DType::U32));
        self.position_of(all)
    }

    /// The row-major position of these coordinates, u32.
    pub(super) fn position_of(&self, coordinates: impl IntoIterator<Item = Expr>) -> Expr {
        self.dims.iter().zip(coordinates).fold(Expr::u32(0), |at, (&size, c)| at.mul(Expr::u32(size)).add(c))
    }

    /// The dense tensor of these dimensions.
    pub(super) fn tensor(&self, rec: Recorder<'_>, values: Values) -> Result<Tensor> {
        let (outer, inner) = match self.dims.split_first() {
            Some((&first, inner)) => (Some(Extent::known(first)), inner.to_vec()),
            None => (None, Vec::new()),
        };
        rec.tensor(Vec::new(), outer, inner, values)
    }
}
