//! The layout of an output: how the arrays and sizes of a program make a tensor.

use crate::error::Result;
use crate::graph::backend::BackendRef;
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Rows};
use crate::graph::program::{ArrayId, ByNumber, ExtentDef, Frozen, Replayed, freeze};
use crate::graph::size::Size;
use crate::shape::RowPartition;
use crate::tensor::{Tensor, Values};

/// A partition, by the arrays and sizes of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub(super) struct Level {
    pub(super) rows: Rows<ByNumber>,
    pub(super) nrows: ExtentDef,
    pub(super) nvals: ExtentDef,
    /// Lengths of the shortest and of the longest row that hold in every run.
    pub(super) lengths: Option<(u32, u32)>,
}

/// The values, by the arrays and sizes of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub(super) enum FlatValues {
    Numbers(ArrayId),
    Strings { strings: Level, bytes: ArrayId },
}

/// An output of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub(super) struct Layout {
    #[cfg_attr(feature = "saved", serde(deserialize_with = "crate::graph::saved_list::deserialize"))]
    pub(super) levels: Vec<Level>,
    pub(super) outer: Option<ExtentDef>,
    #[cfg_attr(feature = "saved", serde(deserialize_with = "crate::graph::saved_list::deserialize"))]
    pub(super) inner: Vec<u32>,
    pub(super) values: FlatValues,
}

/// The arrays and extents of tensors in the order in which layouts refer to them.
#[derive(Default)]
struct References {
    arrays: Vec<Node>,
    extents: Vec<Extent>,
}

impl References {
    fn level(&mut self, p: &RowPartition) {
        match p.rows() {
            Rows::Splits(splits) => self.arrays.push(splits.clone()),
            Rows::Uniform(len) => self.extents.push(Extent::of(len.clone())),
        }
        self.extents.extend([p.nrows_extent().clone(), p.nvals_extent().clone()]);
    }
}

/// The numbers of arrays and extents, in that order.
struct Numbers<'a> {
    arrays: std::slice::Iter<'a, ArrayId>,
    extents: std::slice::Iter<'a, ExtentDef>,
}

impl Numbers<'_> {
    fn array(&mut self) -> ArrayId {
        *self.arrays.next().expect("bug: a layout with more arrays than were frozen")
    }
    fn extent(&mut self) -> ExtentDef {
        *self.extents.next().expect("bug: a layout with more extents than were frozen")
    }
    fn level(&mut self, p: &RowPartition) -> Level {
        let rows = match p.rows() {
            Rows::Splits(_) => Rows::Splits(self.array()),
            Rows::Uniform(_) => Rows::Uniform(self.extent().size()),
        };
        Level { rows, nrows: self.extent(), nvals: self.extent(), lengths: p.known_lengths() }
    }
}

/// The program of tensors, and the layout of each.
pub(super) fn frozen(tensors: &[&Tensor]) -> (Frozen, Vec<Layout>) {
    let mut references = References::default();
    for x in tensors {
        x.partitions().iter().for_each(|p| references.level(p));
        references.extents.extend(x.outer().cloned());
        match x.values_ref() {
            Values::Numbers(numbers) => references.arrays.push(numbers.clone()),
            Values::Strings { strings, bytes } => {
                references.level(strings);
                references.arrays.push(bytes.clone());
            }
        }
    }
    // The counts of the shapes, which the values may not need.
    for x in tensors {
        let of_strings = match x.values_ref() {
            Values::Strings { strings, .. } => strings.nvals_extent().size().counts(),
            Values::Numbers(_) => Vec::new(),
        };
        let counts = x.ragged_shape().counts().into_iter().chain(of_strings.into_iter().filter_map(Size::count_node));
        references.arrays.extend(counts.filter(|node| node.recipe().is_some()));
    }
    let frozen = freeze(&references.arrays, &references.extents);
    let mut numbers = Numbers { arrays: frozen.arrays.iter(), extents: frozen.extents.iter() };
    let layout = |x: &&Tensor| Layout {
        levels: x.partitions().iter().map(|p| numbers.level(p)).collect(),
        outer: x.outer().map(|_| numbers.extent()),
        inner: x.inner().to_vec(),
        values: match x.values_ref() {
            Values::Numbers(_) => FlatValues::Numbers(numbers.array()),
            Values::Strings { strings, .. } => {
                FlatValues::Strings { strings: numbers.level(strings), bytes: numbers.array() }
            }
        },
    };
    let layouts = tensors.iter().map(layout).collect();
    (frozen, layouts)
}

impl Layout {
    /// All extents.
    pub(super) fn extents(&self) -> impl Iterator<Item = ExtentDef> {
        let strings = match &self.values {
            FlatValues::Strings { strings, .. } => Some(strings),
            FlatValues::Numbers(_) => None,
        };
        let levels = self.levels.iter().chain(strings).flat_map(|level| {
            let len = match level.rows {
                Rows::Uniform(len) => Some(ExtentDef::of(len)),
                Rows::Splits(_) => None,
            };
            [level.nrows, level.nvals].into_iter().chain(len)
        });
        levels.chain(self.outer)
    }

    /// All arrays.
    pub(super) fn arrays(&self) -> impl Iterator<Item = ArrayId> {
        let values = match &self.values {
            FlatValues::Strings { bytes, .. } => *bytes,
            FlatValues::Numbers(numbers) => *numbers,
        };
        self.splits().chain([values])
    }

    /// The row splits, and those of strings.
    pub(super) fn splits(&self) -> impl Iterator<Item = ArrayId> {
        let strings = match &self.values {
            FlatValues::Strings { strings, .. } => Some(strings),
            FlatValues::Numbers(_) => None,
        };
        self.levels.iter().chain(strings).filter_map(|level| match level.rows {
            Rows::Splits(splits) => Some(splits),
            Rows::Uniform(_) => None,
        })
    }

    /// The tensor in a recording of the program.
    #[track_caller]
    pub(super) fn tensor(&self, backend: &BackendRef, of: &Replayed) -> Result<Tensor> {
        let partitions = self.levels.iter().map(|level| level.partition(of)).collect();
        let values = match &self.values {
            FlatValues::Numbers(numbers) => Values::Numbers(of.node(*numbers).clone()),
            FlatValues::Strings { strings, bytes } => {
                Values::Strings { strings: strings.partition(of), bytes: of.node(*bytes).clone() }
            }
        };
        Tensor::new(backend, partitions, self.outer.map(|x| of.extent(x)), self.inner.clone(), values)
    }
}

impl Level {
    fn partition(&self, of: &Replayed) -> RowPartition {
        let rows = match &self.rows {
            Rows::Splits(splits) => Rows::Splits(of.node(*splits).clone()),
            Rows::Uniform(len) => Rows::Uniform(of.size(*len).clone()),
        };
        RowPartition::of_parts(rows, of.extent(self.nrows), of.extent(self.nvals), self.lengths)
    }
}
