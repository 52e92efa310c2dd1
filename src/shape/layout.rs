//! Where the elements of a tensor are, apart from what they are.

use super::RowPartition;
use crate::graph::extent::Extent;

/// The row partitions, the flat values' outermost dimension (none for a scalar) and their other dimensions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout<'a> {
    pub(crate) partitions: &'a [RowPartition],
    pub(crate) outer: Option<&'a Extent>,
    pub(crate) inner: &'a [u32],
}

impl Layout<'_> {
    /// How many dimensions.
    pub(crate) fn rank(&self) -> usize {
        if self.outer.is_none() { 0 } else { 1 + self.partitions.len() + self.inner.len() }
    }

    /// The number of rows of the outermost dimension.
    pub(crate) fn nrows(&self) -> Extent {
        let first = self.partitions.first().map(RowPartition::nrows_extent);
        first.or(self.outer).cloned().unwrap_or_else(|| Extent::known(1))
    }

    /// The size of each uniform dimension, none for a ragged one or one whose size is known on the device only.
    pub(crate) fn shape(&self) -> Vec<Option<u64>> {
        if self.outer.is_none() {
            return Vec::new();
        }
        let mut out = vec![self.nrows().as_known().map(u64::from)];
        out.extend(self.partitions.iter().map(|p| p.uniform_row_length().map(u64::from)));
        out.extend(self.inner.iter().map(|&d| Some(u64::from(d))));
        out
    }

    /// The shape as text: `[3, None, 2]`.
    pub(crate) fn text(&self) -> String {
        let dims: Vec<String> =
            self.shape().iter().map(|d| d.map_or_else(|| "None".into(), |d| d.to_string())).collect();
        format!("[{}]", dims.join(", "))
    }
}
