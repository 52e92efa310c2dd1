//! Conversion between shapes and the row lengths of their dimensions.

use super::{RaggedShape, RowPartition};
use crate::device::Device;
use crate::error::Result;
use crate::graph::backend::Part;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Rows;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;

/// The row lengths of one dimension.
///
/// ```
/// use ragged::Lengths;
/// assert_eq!(Lengths::from(3), Lengths::Uniform(3));
/// assert_eq!(Lengths::from([2, 0, 1]), Lengths::Ragged(vec![2, 0, 1]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lengths {
    /// All rows have this length: a uniform dimension.
    Uniform(i64),
    /// Each row has its own length: a ragged dimension.
    Ragged(Vec<i64>),
}

impl From<i64> for Lengths {
    fn from(len: i64) -> Self {
        Self::Uniform(len)
    }
}
impl From<Vec<i64>> for Lengths {
    fn from(lengths: Vec<i64>) -> Self {
        Self::Ragged(lengths)
    }
}
impl From<&[i64]> for Lengths {
    fn from(lengths: &[i64]) -> Self {
        Self::Ragged(lengths.to_vec())
    }
}
impl<const N: usize> From<[i64; N]> for Lengths {
    fn from(lengths: [i64; N]) -> Self {
        Self::Ragged(lengths.to_vec())
    }
}

impl RaggedShape {
    /// The shape whose dimension `d` has rows of `lengths[d]`, outermost first. TensorFlow:
    /// `DynamicRaggedShape.from_lengths`.
    ///
    /// Dimensions down to the last ragged one become row partitions, those below become inner dimensions;
    /// [`with_ragged_rank`](Self::with_ragged_rank) turns these into partitions too. Inverse of
    /// [`lengths`](Self::lengths). Uploads the splits of each ragged dimension; no wait.
    ///
    /// # Errors
    /// A negative length; a list of lengths for the outermost dimension; a list whose number of lengths is not the
    /// number of rows above it; 2^32 - 1 values or more.
    ///
    /// ```
    /// use ragged::{Device, RaggedShape};
    /// let device = Device::cpu();
    /// let shape = RaggedShape::from_lengths(&[4.into(), [2, 1, 0, 8].into(), 12.into()], &device)?;
    /// assert_eq!(shape.text(), "[4, None, 12]");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_lengths(lengths: &[Lengths], device: &Device) -> Result<Self> {
        let rec = Recorder::new(device.backend(), "RaggedShape::from_lengths");
        let size = |n: i64| rec.known(rec.non_negative("a length", n)?);
        let (first, below) = match lengths.split_first() {
            None => return Self::of_sizes(rec, &[] as &[u32]),
            Some((Lengths::Uniform(rows), below)) => (size(*rows)?, below),
            Some((Lengths::Ragged(all), _)) => {
                let what = format!("dimension 0 has one length, the number of rows, but {} are given", all.len());
                return Err(rec.argument(what));
            }
        };
        let ragged_rank = below.iter().rposition(|l| matches!(l, Lengths::Ragged(_))).map_or(0, |last| last + 1);
        let mut count = first;
        let (mut partitions, mut inner) = (Vec::with_capacity(ragged_rank), Vec::new());
        for (k, lengths) in below.iter().enumerate() {
            let p = match lengths {
                Lengths::Uniform(len) if k >= ragged_rank => {
                    inner.push(size(*len)?.capacity());
                    continue;
                }
                Lengths::Uniform(len) => rec.at(RowPartition::uniform(size(*len)?.capacity(), count.clone()))?,
                Lengths::Ragged(all) => {
                    if Some(all.len()) != count.as_known().map(|n| n as usize) {
                        let (d, rows) = (k + 1, count.capacity());
                        let what = format!(
                            "dimension {d} needs a length for each of the {rows} rows above it, but {} are given",
                            all.len()
                        );
                        return Err(rec.argument(what));
                    }
                    RowPartition::from_row_lengths_on(rec, all)?
                }
            };
            count = p.nvals_extent().clone();
            partitions.push(p);
        }
        Self::of_parts(rec, partitions, Some(count), inner, Vec::new())
    }

    /// The row lengths of each dimension, outermost first. TensorFlow: `static_lengths`.
    ///
    /// Waits once where the host does not know all lengths, else not at all. See [`sizes`](Self::sizes) for the
    /// host-known sizes of uniform dimensions.
    ///
    /// # Errors
    /// A failed read from the device; a failed device-side check that the shape depends on.
    ///
    /// ```
    /// use ragged::{Device, Lengths, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.ragged_shape().lengths()?, [Lengths::from(3), Lengths::from([2, 0, 1])]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn lengths(&self) -> Result<Vec<Lengths>> {
        let rec = Recorder::new(&self.backend, "RaggedShape::lengths");
        if self.outer.is_none() {
            return Ok(Vec::new());
        }
        let unknown = |p: &&RowPartition| p.uniform_length().is_none() && p.host_splits().is_none();
        let mut nodes = Vec::new();
        let nrows = self.nrows_extent();
        let waits = nrows.as_known().is_none() || self.partitions.iter().any(|p| unknown(&p));
        if waits || !self.conditions.is_empty() {
            nodes.push(rec.map(Extent::known(1), nrows.expr(), &self.conditions));
        }
        for p in self.partitions.iter().filter(unknown) {
            let length = p.length(Expr::index());
            nodes.push(rec.map(p.nrows_extent().clone(), length, &[]));
        }
        let mut read = if nodes.is_empty() {
            Vec::new()
        } else {
            rec.read_parts(nodes.iter().cloned().map(Part::whole).collect())?
        }
        .into_iter();
        let mut next = || bytemuck::pod_collect_to_vec::<u8, u32>(&read.next().unwrap_or_default());
        let rows = if nodes.is_empty() { Vec::new() } else { next() };
        let rows = rows.first().copied().unwrap_or(nrows.capacity());
        let mut out = vec![Lengths::Uniform(rows.into())];
        for p in &self.partitions {
            out.push(match (p.uniform_length(), p.host_splits()) {
                (Some(len), _) => Lengths::Uniform(len.into()),
                (None, Some(s)) => Lengths::Ragged(s.windows(2).map(|w| i64::from(w[1] - w[0])).collect()),
                (None, None) => Lengths::Ragged(next().into_iter().map(i64::from).collect()),
            });
        }
        out.extend(self.inner.iter().map(|&d| Lengths::Uniform(d.into())));
        Ok(out)
    }
}

impl RowPartition {
    /// Uploads the partition with these row lengths.
    fn from_row_lengths_on(rec: Recorder<'_>, lengths: &[i64]) -> Result<Self> {
        let (splits, _counted) = super::Encoding::Lengths.splits(rec, lengths, None)?;
        let p = Self::from_host_splits(rec, splits)?;
        debug_assert!(matches!(p.rows(), Rows::Splits(_)), "bug: a ragged dimension by type");
        Ok(p)
    }
}
