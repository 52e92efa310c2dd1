//! The shape of a tensor: how its elements are laid out, apart from what they are.

use std::fmt;

use super::RowPartition;
use crate::graph::extent::Extent;

/// The shape of a ragged tensor: its row partitions, outermost first, and the shape of its flat values.
///
/// ```text
/// dimension   0              1 ..= k          k + 1 ..
///             rows           one a partition  inner dimensions, uniform
/// ```
///
/// Dimension 0 is always uniform, as is one under a partition whose rows have one length, and every inner one. Sizes
/// may be known on the device only. Cheap to clone; shapes that share partitions have equal rows for free.
///
/// ```
/// # use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested(vec![vec![3, 1], vec![], vec![4]], &Device::cpu())?;
/// let shape = x.erased().ragged_shape();
/// assert_eq!(shape.to_string(), "[3, None]");
/// assert_eq!((shape.rank(), shape.ragged_rank()), (2, 1));
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// Source: TensorFlow's `DynamicRaggedShape`.
#[derive(Debug, Clone)]
pub struct RaggedShape {
    pub(crate) partitions: Vec<RowPartition>,
    /// The flat values' outermost dimension; none for a scalar.
    pub(crate) outer: Option<Extent>,
    /// The flat values' other dimensions.
    pub(crate) inner: Vec<u32>,
}

impl RaggedShape {
    /// How many dimensions it has.
    pub fn rank(&self) -> usize {
        if self.outer.is_none() { 0 } else { 1 + self.partitions.len() + self.inner.len() }
    }

    /// How many row partitions it has; 0 for a dense shape.
    pub fn ragged_rank(&self) -> usize {
        self.partitions.len()
    }

    /// The row partitions, outermost first.
    pub fn row_partitions(&self) -> &[RowPartition] {
        &self.partitions
    }

    /// The size of each uniform dimension; none for a ragged one, or one whose size is known on the device only.
    pub fn sizes(&self) -> Vec<Option<u64>> {
        if self.outer.is_none() {
            return Vec::new();
        }
        let mut out = vec![self.nrows_extent().as_known().map(u64::from)];
        out.extend(self.partitions.iter().map(|p| p.uniform_row_length().map(u64::from)));
        out.extend(self.inner.iter().map(|&d| Some(u64::from(d))));
        out
    }

    /// The flat values' dimensions after the outermost.
    pub fn inner_shape(&self) -> &[u32] {
        &self.inner
    }

    /// The number of rows of the outermost dimension; 1 for a scalar.
    pub(crate) fn nrows_extent(&self) -> Extent {
        let first = self.partitions.first().map(RowPartition::nrows_extent);
        first.or(self.outer.as_ref()).cloned().unwrap_or_else(|| Extent::known(1))
    }
}

impl fmt::Display for RaggedShape {
    /// The static shape, as TensorFlow writes it: `[3, None, 2]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (k, size) in self.sizes().into_iter().enumerate() {
            let comma = if k == 0 { "" } else { ", " };
            match size {
                Some(size) => write!(f, "{comma}{size}")?,
                None => write!(f, "{comma}None")?,
            }
        }
        f.write_str("]")
    }
}
