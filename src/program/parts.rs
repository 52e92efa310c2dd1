//! The arrays and sizes of an input, in one order for all tensors of a specification.

use super::Place;
use super::spec::TensorSpec;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::backend::BackendRef;
use crate::graph::digest::Digest;
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Rows};
use crate::graph::size::Size;
use crate::shape::RowPartition;
use crate::tensor::{Tensor, Values};

/// The arrays of a tensor, and its sizes that the specification leaves open.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) arrays: Vec<Node>,
    pub(super) sizes: Vec<Size>,
}

/// The dtypes of the arrays that an input of that specification has, and the number of its sizes.
#[cfg(feature = "saved")]
pub(super) fn forms(spec: &TensorSpec) -> (impl Iterator<Item = DType>, usize) {
    let open = |sizes: &[Option<u32>]| sizes.iter().filter(|size| size.is_none()).count();
    let outer = open(&spec.shape[..1.min(spec.shape.len())]);
    let splits = open(spec.shape.get(1..=spec.ragged_rank).unwrap_or_default());
    let is_str = spec.dtype == DType::Str;
    let arrays = splits + usize::from(is_str) + 1;
    let values = if is_str { DType::U8 } else { spec.dtype };
    let dtypes = (1..=arrays).map(move |k| if k == arrays { values } else { DType::U32 });
    (dtypes, outer + splits + usize::from(is_str))
}

impl Place {
    /// The array at the place.
    pub(super) fn array(self, of: &[Parts]) -> Option<&Node> {
        of.get(self.input as usize)?.arrays.get(self.part as usize)
    }

    /// The size at the place.
    pub(super) fn size(self, of: &[Parts]) -> Option<&Size> {
        of.get(self.input as usize)?.sizes.get(self.part as usize)
    }
}

impl Parts {
    /// The parts of a tensor that the specification accepts.
    pub(super) fn of(spec: &TensorSpec, x: &Tensor) -> Result<Self> {
        let mut out = Self::default();
        if spec.shape.first() == Some(&None) {
            out.sizes.push(x.nrows_extent().size().clone());
        }
        for (p, len) in x.partitions().iter().zip(&spec.shape[1.min(spec.shape.len())..]) {
            if len.is_none() {
                out.arrays.push(p.splits_node(x.backend())?);
                out.sizes.push(p.nvals_extent().size().clone());
            }
        }
        match x.values_ref() {
            Values::Numbers(numbers) => out.arrays.push(numbers.clone()),
            Values::Strings { strings, bytes } => {
                out.arrays.extend([strings.splits_node(x.backend())?, bytes.clone()]);
                out.sizes.push(strings.nvals_extent().size().clone());
            }
        }
        Ok(out)
    }

    /// A tensor without values for the trace of a program, and its parts. `identity` tells inputs apart.
    #[track_caller]
    pub(super) fn traced(spec: &TensorSpec, backend: &BackendRef, identity: Digest) -> Result<(Tensor, Self)> {
        let mut made = Making { backend, identity, parts: Self::default() };
        let mut sizes = spec.shape.iter();
        let outer = sizes.next().map(|n| match n {
            Some(n) => Extent::known(*n),
            None => made.size(),
        });
        let (mut partitions, mut count) = (Vec::new(), outer.clone());
        for len in sizes.by_ref().take(spec.ragged_rank) {
            let nrows = count.take().unwrap_or_else(|| Extent::known(1));
            let p = match len {
                Some(len) => RowPartition::uniform(*len, nrows)?,
                None => made.partition(nrows)?,
            };
            count = Some(p.nvals_extent().clone());
            partitions.push(p);
        }
        let inner: Vec<u32> = sizes.flatten().copied().collect();
        let flat = match &count {
            None => Extent::known(1),
            Some(count) => {
                count.times("an input of a program", inner.iter().fold(1, |n, &d| n.saturating_mul(d.into())))?
            }
        };
        let values = match spec.dtype {
            DType::Str => {
                let strings = made.partition(flat)?;
                let bytes = made.array(DType::U8, strings.nvals_extent().clone());
                Values::Strings { strings, bytes }
            }
            dtype => Values::Numbers(made.array(dtype, flat)),
        };
        let outer = if partitions.is_empty() { outer } else { count };
        Ok((Tensor::new(backend, partitions, outer, inner, values)?, made.parts))
    }
}

struct Making<'a> {
    backend: &'a BackendRef,
    identity: Digest,
    parts: Parts,
}

impl Making<'_> {
    fn size(&mut self) -> Extent {
        let size = Size::traced(self.backend, Digest::of("size of an input", (self.identity, self.parts.sizes.len())));
        self.parts.sizes.push(size.clone());
        Extent::of(size)
    }

    fn array(&mut self, dtype: DType, extent: Extent) -> Node {
        let identity = Digest::of("array of an input", (self.identity, self.parts.arrays.len()));
        let node = Node::traced(self.backend, identity, dtype, extent);
        self.parts.arrays.push(node.clone());
        node
    }

    #[track_caller]
    fn partition(&mut self, nrows: Extent) -> Result<RowPartition> {
        let entries = nrows.plus("an input of a program", &Extent::known(1))?;
        let splits = self.array(DType::U32, entries);
        let nvals = self.size();
        Ok(RowPartition::of_parts(Rows::Splits(splits), nrows, nvals, None))
    }
}
