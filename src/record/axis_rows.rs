//! A tensor as rows of elements along one axis, for operations that resize or rearrange these rows.

use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::size::Size;
use crate::record::runs::single_row;
use crate::shape::{RaggedShape, RowPartition, same_layout};
use crate::tensor::Tensor;

/// The dimensions above an axis, the partition into rows along it, and the elements of these rows.
#[derive(Debug)]
pub(crate) struct AxisRows<'a> {
    rec: Recorder<'a>,
    /// The partitions above; inner dimensions among them are uniform partitions.
    above: Vec<RowPartition>,
    /// The partition into rows. Axis 0 has one row of all elements.
    pub(crate) rows: RowPartition,
    /// The elements: the tensor below the partition.
    pub(crate) elements: Tensor,
    /// Number of row partitions of the source tensor.
    ragged_rank: usize,
    /// The axis, counted from the front.
    pub(crate) axis: usize,
}

impl<'a> AxisRows<'a> {
    /// The rows of `x` along `axis`.
    ///
    /// # Errors
    /// `axis` out of range.
    pub(crate) fn new(rec: Recorder<'a>, x: &Tensor, axis: i64) -> Result<Self> {
        let axis = rec.axis(x, axis)?;
        let ragged_rank = x.ragged_rank();
        if axis == 0 {
            let count = x.nrows_extent();
            let rows = match count.as_known() {
                // The size of the result is then known on the host too.
                Some(_) => rec.uniform_rows(count.size(), Extent::known(1))?,
                None => single_row(rec, count)?,
            };
            return Ok(Self { rec, above: Vec::new(), rows, elements: x.clone(), ragged_rank, axis });
        }
        let deep = rec.at(x.inner_to_partitions(axis.saturating_sub(ragged_rank)))?;
        let (above, below) = deep.partitions().split_at(axis - 1);
        let (outer, inner) = (deep.outer().cloned(), deep.inner().clone());
        let elements = rec.tensor(below[1..].to_vec(), outer, inner, deep.values_ref().clone())?;
        Ok(Self { rec, above: above.to_vec(), rows: below[0].clone(), elements, ragged_rank, axis })
    }

    /// The rows of `x` along its innermost axis.
    ///
    /// # Errors
    /// A scalar.
    pub(crate) fn innermost(rec: Recorder<'a>, x: &Tensor) -> Result<Self> {
        Self::new(rec, x, -1)
    }

    /// Fails unless all dimensions below the axis are uniform.
    pub(crate) fn check_uniform_elements(&self) -> Result<()> {
        if self.elements.partitions().iter().all(|p| p.uniform_length().is_some()) {
            return Ok(());
        }
        let what = format!("axis {} has ragged dimensions below it; take an axis of numbers or strings", self.axis);
        Err(self.rec.argument(what))
    }

    /// The partition whose row `r` has `length` values, an expression in `r` that is 0 or more. Uniform where the rows
    /// are uniform and the host knows the new length. `capacity` bounds the number of values.
    pub(crate) fn resized(&self, length: Expr, capacity: Size) -> Result<RowPartition> {
        let nrows = self.rows.nrows_extent();
        match (self.rows.uniform_size(), length.as_size().filter(|len| len.as_known().is_some())) {
            (Some(_), Some(len)) => self.rec.uniform_rows(len, nrows.clone()),
            _ => self.rec.rows_of_lengths(nrows, length, capacity),
        }
    }

    /// The tensor with other rows and elements along the axis.
    pub(crate) fn with(&self, rows: RowPartition, elements: &Tensor) -> Result<Tensor> {
        let rec = self.rec;
        let named = self.above.len() + usize::from(self.axis > 0);
        let mut parts = self.above.clone();
        if self.axis > 0 {
            parts.push(rows);
        }
        parts.extend(elements.partitions().iter().cloned());
        let keep = self.ragged_rank.min(named);
        let are_inner = parts[keep..].iter().all(|p| p.uniform_length().is_some());
        let (outer, inner) = (elements.outer().cloned(), elements.inner().clone());
        let x = rec.tensor(parts, outer, inner, elements.values_ref().clone())?;
        // Dimensions that were inner dimensions of the source are inner dimensions again.
        if named > self.ragged_rank && are_inner {
            rec.at(x.partitions_to_inner(rec.op, self.ragged_rank))
        } else {
            Ok(x)
        }
    }

    /// The partitions down to the axis, of which the last one is `rows`; none for axis 0.
    pub(crate) fn partitions(&self, rows: RowPartition) -> Vec<RowPartition> {
        let mut parts = self.above.clone();
        if self.axis > 0 {
            parts.push(rows);
        }
        parts
    }

    /// The conditions under which the dimensions above the axis are those of `other`.
    pub(crate) fn agrees_above(&self, other: &Self) -> Result<Vec<Node>> {
        let rec = self.rec;
        let shape = |x: &Self| {
            let outer = x.above.last().map_or(x.rows.nrows_extent(), |p| p.nvals_extent()).clone();
            rec.at(RaggedShape::of_parts(rec, x.above.clone(), Some(outer), [], Vec::new()))
        };
        rec.at(same_layout(rec, &shape(self)?, &shape(other)?))
    }

    /// The conditions under which the dimensions down to the axis are those of `other`.
    pub(crate) fn agrees(&self, other: &Self) -> Result<Vec<Node>> {
        let rec = self.rec;
        let shape = |x: &Self| {
            let mut parts = x.above.clone();
            parts.push(x.rows.clone());
            let outer = x.rows.nvals_extent().clone();
            rec.at(RaggedShape::of_parts(rec, parts, Some(outer), [], Vec::new()))
        };
        rec.at(same_layout(rec, &shape(self)?, &shape(other)?))
    }
}
