//! Equality of shapes and of row partitions.

use super::{Agreement, RaggedShape, RowPartition, same_layout};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::graph::backend::Part;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;

/// A comparison of layouts that is decided on the host, unless only the device knows a size or a length: by one read for
/// all of them.
pub(crate) struct LayoutComparison<'a> {
    rec: Recorder<'a>,
    /// Device-side checks of the operation, each of which fails if the layouts differ.
    equal: Vec<Node>,
    /// The conditions of the shapes, whose failure is an error.
    conditions: Vec<Node>,
}

impl<'a> LayoutComparison<'a> {
    pub(crate) fn new(rec: Recorder<'a>) -> Self {
        Self { rec, equal: Vec::new(), conditions: Vec::new() }
    }

    /// Compares two shapes. False if the host knows that they differ.
    ///
    /// # Errors
    /// Different devices.
    pub(crate) fn add(&mut self, a: &RaggedShape, b: &RaggedShape) -> Result<bool> {
        let rec = self.rec;
        for shape in [a, b] {
            rec.at(Device::check_same(rec.op, rec.backend, &shape.backend))?;
            // Fields share the conditions of their records.
            for condition in &shape.conditions {
                if !self.conditions.contains(condition) {
                    self.conditions.push(condition.clone());
                }
            }
        }
        if a.rank() != b.rank() {
            return Ok(false);
        }
        let deepest = a.rank().saturating_sub(1);
        let (a, b) = (rec.at(a.with_ragged_rank(deepest))?, rec.at(b.with_ragged_rank(deepest))?);
        match same_layout(rec, &a, &b) {
            Err(Error::Shape { .. }) => Ok(false),
            checks => {
                self.equal.extend(checks?);
                Ok(true)
            }
        }
    }

    /// Adds a comparison of two sizes, or of rows. False if the host knows that they differ.
    fn agree<D>(&mut self, agreement: Agreement<D>) -> bool {
        if let Agreement::If(count, ok) = agreement {
            self.equal.push(self.rec.assert(count, ok, self.rec.check("rows must be equal")));
            return true;
        }
        matches!(agreement, Agreement::Yes)
    }

    /// Whether all layouts are equal, where the host has found no difference. Waits once if the device decides.
    ///
    /// # Errors
    /// A failed check that the layouts depend on; a failed read.
    pub(crate) fn decide(self) -> Result<bool> {
        let Self { rec, equal, conditions } = self;
        let read = |checks: &[Node]| match checks {
            [] => Ok(()),
            checks => {
                let all = rec.map(Extent::known(1), Expr::u32(0), checks);
                rec.read_parts(vec![Part::whole(all)]).map(drop)
            }
        };
        read(&conditions)?;
        match read(&equal) {
            // A failed check of this comparison means unequal; a failed check that the splits depend on is the caller's
            // error.
            Err(Error::Check { op: failed, .. }) if failed == rec.op => Ok(false),
            outcome => outcome.map(|()| true),
        }
    }
}

impl RaggedShape {
    /// Whether both shapes describe the same layout: equal ranks, and rows of equal lengths in every dimension.
    /// Partitions and inner dimensions compare equal, and so do ragged and uniform dimensions with rows of the same
    /// length.
    ///
    /// Waits once where only the device can decide.
    ///
    /// # Errors
    /// Different devices; a failed read from the device.
    ///
    /// ```
    /// use ragged::{Device, RaggedShape};
    /// let device = Device::cpu();
    /// let ragged = RaggedShape::from_lengths(&[2.into(), [3, 3].into()], &device)?;
    /// assert!(ragged.equals(&RaggedShape::dense(&[2, 3], &device)?)?);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn equals(&self, other: &Self) -> Result<bool> {
        let mut layouts = LayoutComparison::new(Recorder::new(&self.backend, "RaggedShape::equals"));
        Ok(layouts.add(self, other)? && layouts.decide()?)
    }
}

impl RowPartition {
    /// Whether all rows have one length by type; [`uniform_row_length`](Self::uniform_row_length) is that length. Rows of
    /// a ragged partition may happen to have equal lengths. TensorFlow: `RowPartition.is_uniform`.
    ///
    /// ```
    /// use ragged::{Device, RowPartition};
    /// let device = Device::cpu();
    /// assert!(RowPartition::from_uniform_row_length(2, 6, &device)?.is_uniform());
    /// assert!(!RowPartition::from_row_lengths(&[2, 2, 2], &device)?.is_uniform());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn is_uniform(&self) -> bool {
        self.uniform_length().is_some()
    }

    /// Whether both partitions have equal rows: as many, of equal lengths. A uniform partition equals a ragged one with
    /// rows of its length.
    ///
    /// Waits once where only the device can decide.
    ///
    /// # Errors
    /// Different devices; the first failed device-side check that the rows depend on; a failed read from the device.
    ///
    /// ```
    /// use ragged::{Device, RowPartition};
    /// let device = Device::cpu();
    /// let lengths = RowPartition::from_row_lengths(&[2, 2, 2], &device)?;
    /// assert!(lengths.equals(&RowPartition::from_row_splits(&[0, 2, 4, 6], &device)?)?);
    /// assert!(lengths.equals(&RowPartition::from_uniform_row_length(2, 6, &device)?)?);
    /// assert!(!lengths.equals(&RowPartition::from_row_lengths(&[2, 4], &device)?)?);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn equals(&self, other: &Self) -> Result<bool> {
        const OP: &str = "RowPartition::equals";
        let nodes = [self, other].map(RowPartition::any_node);
        if let [Some(a), Some(b)] = &nodes {
            Device::check_same(OP, a.backend(), b.backend())?;
        }
        let Some(node) = nodes.iter().flatten().next() else {
            // Uniform rows, whose number the host knows.
            let (a, b) = (self.nrows(), other.nrows());
            return Ok(self.same(other)
                || a.is_some() && a == b && (a == Some(0) || self.uniform_length() == other.uniform_length()));
        };
        let mut rows = LayoutComparison::new(Recorder::new(node.backend(), OP));
        let may_agree = rows.agree(self.nrows_extent().agrees(other.nrows_extent())) && rows.agree(self.agrees(other));
        Ok(may_agree && rows.decide()?)
    }
}
