//! The partitions of the shared layout, and the operands' positions in them.

use super::walk::{Dim, Walk};
use super::{Place, UniformRows};
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::size::{RecordedSize, Size};
use crate::shape::{Repeats, RowPartition, level_below};

impl<'a> Walk<'a> {
    /// The extent of dimension 0, and the operands' positions in it.
    pub(super) fn outermost(&mut self) -> Result<(Extent, Vec<Place>)> {
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
    pub(super) fn uniform_size(&self, d: usize) -> Result<Size> {
        let mut found: Option<(usize, Size)> = None;
        for k in 0..self.layouts.len() {
            let Dim::Uniform(n) = self.dim(k, d) else { continue };
            let n = n.size().clone();
            match &found {
                _ if n.capacity() == 1 => {}
                None => found = Some((k, n)),
                Some((first, size)) if size.capacity() != n.capacity() => {
                    let (size, n) = (size.capacity(), n.capacity());
                    return Err(self.mismatch(
                        *first,
                        k,
                        format!("sizes {size} and {n} of dimension {d}; only a size of 1 repeats"),
                    ));
                }
                // A size that is a constant in one operand is a constant of the program.
                Some((first, _)) if n.as_const().is_some() => found = Some((*first, n)),
                Some(_) => {}
            }
        }
        Ok(found.map_or(Size::Const(1), |(_, n)| n))
    }

    /// The partition of dimension `d`, and the operands' positions below it. The rows are `count` elements of the outer
    /// dimension, at positions `above`.
    pub(super) fn level(
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
            None => self.rec.at(RowPartition::uniform(self.uniform_size(d)?, count.clone()))?,
            Some(first) => {
                let Dim::Ragged(p) = &dims[first] else { unreachable!("bug: found as a ragged dimension") };
                let partition = match &above[first] {
                    Place::Same => (*p).clone(),
                    place => {
                        let length = p.length(place.expr());
                        level_below(self.rec, p, count, length, Repeats::Maybe)?
                    }
                };
                for (k, dim) in dims.iter().enumerate() {
                    match dim {
                        _ if k == first || dim.is_one() => {}
                        Dim::Ragged(q) => self.equal_rows((first, &partition), (k, q), &above[k], d)?,
                        Dim::Uniform(n) if above[k] != Place::Same && repeat == UniformRows::Once => {
                            let what = format!(
                                "dimension {d} is ragged in one of them, and of size {} below a repeated dimension in \
                                 the other; for one value per row give it size 1 (keep, expand_dims)",
                                n.capacity()
                            );
                            return Err(self.mismatch(first, k, what));
                        }
                        Dim::Uniform(n) => self.all_of_length((first, &partition), (k, n.size()), d)?,
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
        let node = self.rec.map(partition.nvals_extent().clone(), position, &[]);
        Place::At(Expr::load(&node, Expr::index()))
    }

    /// Replaces `Place::First` by `Place::Same` where there is only one element.
    pub(super) fn settle(&self, count: &Extent, places: &mut [Place]) {
        if count.as_known() == Some(1) {
            places.iter_mut().filter(|p| **p == Place::First).for_each(|p| *p = Place::Same);
        }
    }
}
