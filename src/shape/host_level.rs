//! Partitions of tensors that the host holds.

use super::RowPartition;
use crate::error::Result;
use crate::graph::extent::Extent;
use crate::graph::recorder::Recorder;
use crate::graph::size::Size;

/// A partition on the host.
pub(crate) enum HostLevel {
    Splits(Vec<u32>),
    Uniform { length: u32, rows: u32 },
}

impl HostLevel {
    /// The partition of `below` elements or rows of the next level. `nrows` is the extent of the rows of a uniform one.
    ///
    /// # Errors
    /// Splits that break a rule, or rows that do not hold that many; no memory.
    pub(crate) fn partition(
        self,
        rec: Recorder<'_>,
        nrows: impl FnOnce(u32) -> Extent,
        below: u64,
    ) -> Result<RowPartition> {
        match self {
            Self::Splits(splits) => {
                RowPartition::validate_splits(rec, &splits, Some(below))?;
                RowPartition::from_host_splits(rec, splits)
            }
            Self::Uniform { length, rows } => {
                if u64::from(length) * u64::from(rows) != below {
                    let what = format!("{rows} rows of {length} do not hold {below} elements");
                    return Err(rec.partition(what));
                }
                rec.at(RowPartition::uniform(Size::given(length), nrows(rows)))
            }
        }
    }
}
