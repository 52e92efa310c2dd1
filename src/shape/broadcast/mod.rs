//! Broadcasting: the common layout of several operands, and the position of each operand's elements in it.
//!
//! Ranks are made equal by leading dimensions of size 1. Dimensions are then matched from the outermost inwards:
//!
//! - A uniform dimension of size 1 repeats, also over rows of different lengths.
//! - Uniform dimensions must otherwise have equal sizes.
//! - Ragged dimensions must have rows of equal lengths.
//! - A uniform dimension of another size matches a ragged one only where every row has that length.
//!
//! The result keeps an operand's partitions wherever that operand does not repeat, so that later operations on both
//! find equal partitions.

mod agree;
mod levels;
mod number;
mod walk;

use super::{Dims, RaggedShape, RowPartition};
use crate::device::Device;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::size::{RecordedSize, Size};
use walk::Walk;

/// Position of an operand's element, as a function of the position in the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// The same position.
    Same,
    /// The first element, which may be the only one.
    First,
    /// The given position, an expression in the result's position.
    At(Expr),
}

impl Place {
    /// The operand's position as an expression in the result's position.
    pub(crate) fn expr(&self) -> Expr {
        match self {
            Self::Same => Expr::index(),
            Self::First => Expr::u32(0),
            Self::At(e) => e.clone(),
        }
    }
}

/// Whether a uniform dimension of a size other than 1 may match ragged rows that all have its length, once an outer
/// dimension repeats it. Arithmetic rejects this, as TensorFlow does; `broadcast_to` accepts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UniformRows {
    Once,
    Repeated,
}

/// The shared layout.
#[derive(Debug)]
pub(crate) struct Broadcast {
    pub(crate) partitions: Vec<RowPartition>,
    pub(crate) outer: Option<Extent>,
    pub(crate) inner: Dims,
    /// Position of each operand's number, as a function of the flat position in the result.
    pub(crate) places: Vec<Place>,
    /// Device-side checks of sizes that the host could not compare.
    pub(crate) asserts: Vec<Node>,
}

/// The layout that all operands broadcast to.
///
/// # Errors
/// Uniform sizes that differ and are not 1; ragged rows whose lengths the host knows to differ. Waits only where a
/// dense operand whose size only the device knows has a lower rank than another operand.
pub(crate) fn broadcast(rec: Recorder<'_>, layouts: &[&RaggedShape], repeat: UniformRows) -> Result<Broadcast> {
    let rank = layouts.iter().map(|l| l.rank()).max().unwrap_or(0);
    if rank == 0 {
        let places = vec![Place::Same; layouts.len()];
        return Ok(Broadcast {
            partitions: Vec::new(),
            outer: None,
            inner: Dims::default(),
            places,
            asserts: Vec::new(),
        });
    }
    let mut walk = Walk { rec, layouts, rank, rows: Vec::new(), asserts: Vec::new() };
    for layout in layouts {
        walk.rows.push(walk.known_if_inside(layout)?);
    }
    let with_rows = layouts.iter().filter(|l| !l.partitions.is_empty());
    let levels = with_rows.map(|l| rank - l.rank() + l.partitions.len()).max().unwrap_or(0);
    let (mut count, mut places) = walk.outermost()?;
    let mut partitions = Vec::with_capacity(levels);
    for d in 1..=levels {
        let (partition, below) = walk.level(d, &count, places, repeat)?;
        count = partition.nvals_extent().clone();
        partitions.push(partition);
        places = below;
        walk.settle(&count, &mut places);
    }
    let inner = (levels + 1..rank).map(|d| walk.uniform_size(d)).collect::<Result<Vec<Size>>>()?;
    let inner = Dims::from(inner);
    rec.known(inner.width().capacity().into())?;
    rec.times_size(&count, &inner.width())?;
    let places = places.iter().enumerate().map(|(k, place)| walk.number(k, place, levels, &inner)).collect();
    Ok(Broadcast { partitions, outer: Some(count), inner, places, asserts: walk.asserts })
}

/// Device-side checks that both layouts are equal, element for element, without broadcasting; none for sizes that the
/// host has compared.
///
/// # Errors
/// Ranks, ragged ranks, sizes or lengths of rows that the host knows to differ.
pub(crate) fn same_layout(rec: Recorder<'_>, a: &RaggedShape, b: &RaggedShape) -> Result<Vec<Node>> {
    let layouts = [a, b];
    let rank = a.rank();
    let mut walk = Walk { rec, layouts: &layouts, rank, rows: Vec::new(), asserts: Vec::new() };
    if rank != b.rank() || a.partitions.len() != b.partitions.len() || a.inner[..] != b.inner[..] {
        return Err(walk.mismatch(0, 1, "ranks, ragged ranks and inner sizes must be equal".into()));
    }
    for (d, (p, q)) in a.partitions.iter().zip(&b.partitions).enumerate() {
        walk.equal_rows((0, p), (1, q), &Place::Same, d + 1)?;
    }
    walk.equal_counts(0, 1, &a.nrows_extent(), &b.nrows_extent(), 0)?;
    Ok(walk.asserts)
}

impl RaggedShape {
    /// The shape that tensors of both shapes broadcast to. TensorFlow: `tf.broadcast_dynamic_shape`.
    ///
    /// Compatible shapes are those of [`Tensor::broadcast_to`](crate::Tensor::broadcast_to), with either shape
    /// repeating. Records at most a map and a scan over rows per repeated ragged dimension, computed when they are
    /// read. Waits only where a dense shape whose size only the device knows has a lower rank than the other.
    ///
    /// # Errors
    /// Uniform sizes that differ and are not 1; ragged rows of different lengths (where only the device knows the
    /// lengths, at the read of a tensor with this shape); different devices.
    ///
    /// ```
    /// use ragged::{Device, RaggedShape};
    /// let device = Device::cpu();
    /// let x = RaggedShape::from_lengths(&[2.into(), [1, 2].into()], &device)?;
    /// let y = RaggedShape::dense(&[3, 1, 1], &device)?;
    /// assert_eq!(x.broadcast(&y)?.text(), "[3, 2, None]");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn broadcast(&self, other: &Self) -> Result<Self> {
        let rec = Recorder::new(&self.backend, "RaggedShape::broadcast");
        Device::check_same(rec.op, &self.backend, &other.backend)?;
        let shared = broadcast(rec, &[self, other], UniformRows::Repeated)?;
        let mut conditions = self.conditions.clone();
        // Removes duplicates: a shape broadcast with one derived from it shares most conditions.
        for condition in other.conditions.iter().chain(&shared.asserts) {
            if !conditions.contains(condition) {
                conditions.push(condition.clone());
            }
        }
        Self::of_parts(rec, shared.partitions, shared.outer, shared.inner, conditions)
    }
}
