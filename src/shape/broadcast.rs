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

use std::panic::Location;
use std::sync::Arc;

use super::agreement::Agreement;
use super::{RaggedShape, Repeats, RowPartition, level_below};
use crate::error::{Error, Result};
use crate::graph::backend::BackendRef;
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::node::Node;

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
    pub(crate) inner: Vec<u32>,
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
#[track_caller]
pub(crate) fn broadcast(
    backend: &BackendRef,
    op: &'static str,
    layouts: &[&RaggedShape],
    repeat: UniformRows,
) -> Result<Broadcast> {
    let location = Location::caller();
    let rank = layouts.iter().map(|l| l.rank()).max().unwrap_or(0);
    if rank == 0 {
        let places = vec![Place::Same; layouts.len()];
        return Ok(Broadcast { partitions: Vec::new(), outer: None, inner: Vec::new(), places, asserts: Vec::new() });
    }
    let mut walk = Walk { backend, op, location, layouts, rank, rows: Vec::new(), asserts: Vec::new() };
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
    let inner: Vec<u32> = (levels + 1..rank).map(|d| walk.uniform_size(d)).collect::<Result<_>>()?;
    let width = inner.iter().fold(1u64, |n, &d| n.saturating_mul(d.into()));
    let width = if inner.contains(&0) { 0 } else { width };
    Extent::known_u64(op, width)?;
    count.times(op, width)?;
    let places = places.iter().enumerate().map(|(k, place)| walk.number(k, place, levels, &inner)).collect();
    Ok(Broadcast { partitions, outer: Some(count), inner, places, asserts: walk.asserts })
}

/// Device-side checks that both layouts are equal, element for element, without broadcasting; none for sizes that the
/// host has compared.
///
/// # Errors
/// Ranks, ragged ranks, sizes or lengths of rows that the host knows to differ.
#[track_caller]
pub(crate) fn same_layout(
    backend: &BackendRef,
    op: &'static str,
    a: &RaggedShape,
    b: &RaggedShape,
) -> Result<Vec<Node>> {
    let location = Location::caller();
    let layouts = [a, b];
    let rank = a.rank();
    let mut walk = Walk { backend, op, location, layouts: &layouts, rank, rows: Vec::new(), asserts: Vec::new() };
    if rank != b.rank() || a.partitions.len() != b.partitions.len() || a.inner != b.inner {
        return Err(walk.misfit(0, 1, "they must be the same".into()));
    }
    for (d, (p, q)) in a.partitions.iter().zip(&b.partitions).enumerate() {
        walk.equal_rows((0, p), (1, q), &Place::Same, d + 1)?;
    }
    walk.equal_counts(0, 1, &a.nrows_extent(), &b.nrows_extent(), 0)?;
    Ok(walk.asserts)
}

/// One dimension of an operand.
enum Dim<'a> {
    Ragged(&'a RowPartition),
    Uniform(Extent),
}

impl Dim<'_> {
    /// Whether the dimension repeats.
    fn is_one(&self) -> bool {
        matches!(self, Self::Uniform(n) if n.as_known() == Some(1))
    }
}

/// State of the walk over the dimensions of all operands.
struct Walk<'a> {
    backend: &'a BackendRef,
    op: &'static str,
    location: &'static Location<'static>,
    layouts: &'a [&'a RaggedShape],
    /// Rank of the result.
    rank: usize,
    /// Each operand's size along its outermost dimension.
    rows: Vec<Extent>,
    asserts: Vec<Node>,
}

impl<'a> Walk<'a> {
    /// Operand `k`'s dimension that corresponds to dimension `d` of the result.
    fn dim(&self, k: usize, d: usize) -> Dim<'a> {
        let layout = &self.layouts[k];
        match (d + layout.rank()).checked_sub(self.rank) {
            None => Dim::Uniform(Extent::known(1)),
            Some(0) => Dim::Uniform(self.rows[k].clone()),
            Some(own) => match layout.partitions.get(own - 1) {
                Some(p) => p.uniform_row_length().map_or(Dim::Ragged(p), |len| Dim::Uniform(Extent::known(len))),
                None => Dim::Uniform(Extent::known(layout.inner[own - 1 - layout.partitions.len()])),
            },
        }
    }

    /// The operand's number of rows. Read back to the host where the rows become an inner dimension of the result.
    fn known_if_inside(&self, layout: &RaggedShape) -> Result<Extent> {
        let rows = layout.nrows_extent();
        if layout.rank() == self.rank {
            return Ok(rows);
        }
        Ok(Extent::known(rows.on_host(self.backend, self.op)?))
    }

    fn misfit(&self, a: usize, b: usize, what: String) -> Error {
        let (a, b) = (a.min(b), a.max(b));
        Error::Shape { op: self.op, lhs: self.layouts[a].to_string(), rhs: self.layouts[b].to_string(), what }
    }

    /// Records a device-side check that `ok` holds at every position below `count`.
    fn assert(&mut self, a: usize, b: usize, count: Extent, ok: Expr, d: usize) {
        let (a, b) = (self.layouts[a.min(b)].to_string(), self.layouts[a.max(b)].to_string());
        let what = format!("shapes {a} and {b} do not fit along dimension {d}");
        let check = Arc::new(Check { op: self.op, what, location: self.location });
        self.asserts.push(Node::assert(self.backend, count, ok, check));
    }

    fn equal_counts(&mut self, a: usize, b: usize, x: &Extent, y: &Extent, d: usize) -> Result<()> {
        match x.agrees(y) {
            Agreement::Yes => {}
            Agreement::No((x, y)) => return Err(self.misfit(a, b, format!("dimension {d} is {x} and {y}"))),
            Agreement::If(count, ok) => self.assert(a, b, count, ok, d),
        }
        Ok(())
    }

    /// The extent of dimension 0, and the operands' positions in it.
    fn outermost(&mut self) -> Result<(Extent, Vec<Place>)> {
        let dims: Vec<Extent> = (0..self.layouts.len())
            .map(|k| match self.dim(k, 0) {
                Dim::Uniform(n) => n,
                Dim::Ragged(_) => unreachable!("bug: dimension 0 lies under no partition"),
            })
            .collect();
        let full: Vec<usize> = (0..dims.len()).filter(|&k| dims[k].as_known() != Some(1)).collect();
        let known = full.iter().find(|&&k| dims[k].as_known().is_some());
        let Some(&first) = known.or(full.first()) else {
            return Ok((Extent::known(1), vec![Place::Same; dims.len()]));
        };
        for &k in &full {
            self.equal_counts(first, k, &dims[first], &dims[k], 0)?;
        }
        let places = (0..dims.len()).map(|k| if full.contains(&k) { Place::Same } else { Place::First });
        Ok((dims[first].clone(), places.collect()))
    }

    /// The size of a dimension that is uniform in every operand.
    fn uniform_size(&self, d: usize) -> Result<u32> {
        let mut found: Option<(usize, u32)> = None;
        for k in 0..self.layouts.len() {
            let Dim::Uniform(n) = self.dim(k, d) else { continue };
            let n = n.capacity();
            match found {
                _ if n == 1 => {}
                None => found = Some((k, n)),
                Some((first, size)) if size != n => {
                    return Err(self.misfit(first, k, format!("dimension {d} is {size} and {n}")));
                }
                Some(_) => {}
            }
        }
        Ok(found.map_or(1, |(_, n)| n))
    }

    /// The partition of dimension `d`, and the operands' positions below it. The rows are `count` elements of the outer
    /// dimension, at positions `above`.
    fn level(
        &mut self,
        d: usize,
        count: &Extent,
        above: Vec<Place>,
        repeat: UniformRows,
    ) -> Result<(RowPartition, Vec<Place>)> {
        let dims: Vec<Dim<'a>> = (0..above.len()).map(|k| self.dim(k, d)).collect();
        let ragged = |k: &usize| matches!(dims[*k], Dim::Ragged(_));
        let whole = (0..dims.len()).filter(ragged).find(|&k| above[k] == Place::Same);
        let partition = match whole.or((0..dims.len()).find(ragged)) {
            None => RowPartition::uniform(self.uniform_size(d)?, count.clone())?,
            Some(first) => {
                let Dim::Ragged(p) = &dims[first] else { unreachable!("bug: found as a ragged dimension") };
                let partition = match &above[first] {
                    Place::Same => (*p).clone(),
                    place => {
                        let length = p.length(place.expr());
                        level_below(self.backend, self.op, p, count, length, Repeats::Maybe)?
                    }
                };
                for (k, dim) in dims.iter().enumerate() {
                    match dim {
                        _ if k == first || dim.is_one() => {}
                        Dim::Ragged(q) => self.equal_rows((first, &partition), (k, q), &above[k], d)?,
                        Dim::Uniform(n) if above[k] != Place::Same && repeat == UniformRows::Once => {
                            let what = format!(
                                "dimension {d} is ragged, and {} inside of one that repeats; one value a row needs a \
                                 dimension of size 1, as keepdims and expand_dims give",
                                n.capacity()
                            );
                            return Err(self.misfit(first, k, what));
                        }
                        Dim::Uniform(n) => self.all_of_length((first, &partition), (k, n.capacity()), d)?,
                    }
                }
                partition
            }
        };
        let (row, offset) = (partition.row_of(Expr::index()), partition.offset_of(Expr::index()));
        let only_one = partition.known_lengths() == Some((1, 1));
        let below = dims.iter().zip(above).map(|(dim, above)| match (dim, above) {
            (dim, Place::Same) if !dim.is_one() || only_one => Place::Same,
            (dim, Place::First) if dim.is_one() => Place::First,
            (Dim::Ragged(p), above) => self.kept(&partition, p.within(above.expr().at(&row), offset.clone())),
            (dim, Place::At(e)) if dim.is_one() => self.kept(&partition, e.at(&row)),
            (dim, _) if dim.is_one() => Place::At(row.clone()),
            (Dim::Uniform(_), Place::First) => Place::At(offset.clone()),
            (Dim::Uniform(n), above) => {
                let position = above.expr().at(&row).mul(n.expr()).add(offset.clone());
                self.kept(&partition, position)
            }
        });
        let below = below.collect();
        Ok((partition, below))
    }

    /// A position as a separate node, which may be stored if it has many readers.
    fn kept(&self, partition: &RowPartition, position: Expr) -> Place {
        let node = Node::map(self.backend, self.op, partition.nvals_extent().clone(), position, &[]);
        Place::At(Expr::load(&node, Expr::index()))
    }

    /// Replaces `Place::First` by `Place::Same` where there is only one element.
    fn settle(&self, count: &Extent, places: &mut [Place]) {
        if count.as_known() == Some(1) {
            places.iter_mut().filter(|p| **p == Place::First).for_each(|p| *p = Place::Same);
        }
    }

    /// Checks that the rows of `q`, at position `place`, are as long as those of `p`.
    fn equal_rows(
        &mut self,
        (a, p): (usize, &RowPartition),
        (b, q): (usize, &RowPartition),
        place: &Place,
        d: usize,
    ) -> Result<()> {
        let agreement = match place {
            Place::Same => p.agrees(q),
            Place::First | Place::At(_) => match (place, p.host_splits(), q.host_splits()) {
                (Place::First, Some(p), Some(q)) if q.len() > 1 => {
                    first_other_length(p, q[1] - q[0]).map_or(Agreement::Yes, Agreement::No)
                }
                _ => {
                    let ok = p.length(Expr::index()).eq(q.length(place.expr()));
                    Agreement::If(p.nrows_extent().clone(), ok)
                }
            },
        };
        match agreement {
            Agreement::Yes => {}
            Agreement::No(row) => {
                let what = format!("row {row} of ragged dimension {d} differs in length");
                return Err(self.misfit(a, b, what));
            }
            Agreement::If(count, ok) => {
                self.assert(a, b, count, ok, d);
                if *place == Place::Same {
                    self.equal_counts(a, b, p.nrows_extent(), q.nrows_extent(), d)?;
                }
            }
        }
        Ok(())
    }

    /// Checks that every row of `p` has `len` elements.
    fn all_of_length(&mut self, (a, p): (usize, &RowPartition), (b, len): (usize, u32), d: usize) -> Result<()> {
        if p.known_lengths() == Some((len, len)) || p.nrows() == Some(0) {
            return Ok(());
        }
        let Some(splits) = p.host_splits() else {
            self.assert(a, b, p.nrows_extent().clone(), p.length(Expr::index()).eq(Expr::u32(len)), d);
            return Ok(());
        };
        match first_other_length(splits, len) {
            None => Ok(()),
            Some(row) => {
                let found = splits[row + 1] - splits[row];
                let what = format!("row {row} of ragged dimension {d} has {found} elements, not {len}");
                Err(self.misfit(a, b, what))
            }
        }
    }

    /// Position of operand `k`'s number, as a function of the flat position in the result. A result element has `inner`
    /// numbers; the operand's element is at `place`.
    fn number(&self, k: usize, place: &Place, levels: usize, inner: &[u32]) -> Place {
        if inner.contains(&0) {
            return if *place == Place::Same { Place::Same } else { Place::First };
        }
        // Merges neighbouring dimensions that are all kept or all repeated.
        let mut runs: Vec<(u32, bool)> = Vec::new();
        for (i, &size) in inner.iter().enumerate().filter(|(_, size)| **size != 1) {
            let kept = !self.dim(k, levels + 1 + i).is_one();
            match runs.last_mut() {
                Some((n, same)) if *same == kept => *n *= size,
                _ => runs.push((size, kept)),
            }
        }
        let width: u32 = inner.iter().product();
        let own: u32 = runs.iter().filter(|(_, kept)| *kept).map(|(n, _)| n).product();
        if own == width && *place == Place::Same {
            return Place::Same;
        }
        if own == 1 && *place == Place::First {
            return Place::First;
        }
        let (mut stride, mut own_stride) = (1, 1);
        let mut offset = Expr::u32(0);
        for &(size, kept) in runs.iter().rev() {
            if kept {
                let coordinate = Expr::index().div(Expr::u32(stride)).rem(Expr::u32(size));
                offset = coordinate.mul(Expr::u32(own_stride)).add(offset);
                own_stride *= size;
            }
            stride *= size;
        }
        let element = place.expr().at(&Expr::index().div(Expr::u32(width)));
        Place::At(element.mul(Expr::u32(own)).add(offset))
    }
}

/// The first row whose length is not `len`.
fn first_other_length(splits: &[u32], len: u32) -> Option<usize> {
    splits.windows(2).position(|w| w[1] - w[0] != len)
}
