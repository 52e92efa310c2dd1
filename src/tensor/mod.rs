//! Tensors: flat values under row partitions.

mod assembly;
mod both;
#[cfg(feature = "gpu")]
mod buffers;
mod constant;
mod construct;
mod display;
mod evaluation;
mod from_bytes;
mod from_nested;
mod host;
mod host_rows;
mod host_vec;
mod integers;
mod into_values;
mod len;
mod nested;
mod nrows;
mod partition;
#[cfg(feature = "wgpu-profiler")]
mod profile;
mod read;
mod read_rows;
mod read_shared;
mod read_strings;
mod read_typed;
mod shared;
mod tensor_set;
mod together;
mod typed;
mod upload;
mod values;

pub(crate) use assembly::Assembly;
pub(crate) use both::methods_of_both;
#[cfg(feature = "gpu")]
pub use buffers::DeviceBuffer;
pub use constant::ConstantOptions;
pub use from_nested::{FromNested, IntoNested};
pub use host::{HostTensor, HostValues};
pub use host_rows::{HostRow, HostRowIter, HostRows, HostRowsIntoIter, HostRowsIter};
pub use integers::Integers;
pub(crate) use integers::{Source, clamped_to, is_not_negative};
pub use into_values::IntoValues;
pub use nested::Nested;
pub use nrows::{RowIds, UniformRows, WithNrows, with_nrows};
pub(crate) use partition::{Making, Trust, counts_below, encoded, positions};
pub use read_shared::{SharedBytes, SharedRows, SharedTensor};
pub use tensor_set::{ReadTogether, TensorSet};
pub use together::{eval, explain, explain_timed, to_host, to_host_async, to_vecs};
pub use typed::RaggedTensor;
pub use values::Fill;
pub(crate) use values::{BytesBound, Pick, Values};

use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result, caller, here};
use crate::graph::backend::BackendRef;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::size::Size;
use crate::shape::{Dims, RaggedShape, RowPartition};
use crate::trace::span;

/// Maximum length of a chain of unevaluated nodes; a longer one is evaluated when it is recorded, which bounds the
/// memory that a recording takes.
const MAX_DEPTH: u32 = 1 << 17;

/// A tensor whose dtype is known at run time; [`RaggedTensor`] wraps one.
///
/// Dimension 0 is the rows of the outermost partition (or of the flat values where there is none). Dimensions 1 to
/// `ragged_rank` are those of the partitions; the others are the inner dimensions of the flat values. A tensor is
/// immutable and cheap to clone. Operations record; reads compute.
#[derive(Clone)]
pub struct Tensor {
    shape: RaggedShape,
    values: Values,
}

impl Tensor {
    /// Assembles a tensor. Each of the `partitions` (outermost first) has as many rows as the one before has values;
    /// the last has as many values as `outer`. Evaluates pending work first if the chain of nodes is too long.
    #[track_caller]
    pub(crate) fn new(
        backend: &BackendRef,
        partitions: Vec<RowPartition>,
        outer: Option<Extent>,
        inner: impl Into<Dims>,
        values: Values,
    ) -> Result<Self> {
        for p in &partitions {
            p.check_device(backend)?;
        }
        let shape = RaggedShape::of_parts(Recorder::new(backend, "a tensor"), partitions, outer, inner, Vec::new())?;
        let out = Self { shape, values };
        let nodes = out.nodes()?;
        let counts = out.shape.counts();
        let depth = nodes.iter().chain(&counts).map(Node::depth).max().unwrap_or(0);
        if depth > MAX_DEPTH {
            let _span = span!("evaluate a long chain", arrays = depth);
            out.backend().evaluate(&[nodes, counts].concat()).map_err(here())?;
        }
        Ok(out)
    }

    /// The same layout with other values: as many numbers or strings.
    #[track_caller]
    pub(crate) fn holding(&self, values: Values) -> Result<Self> {
        let RaggedShape { partitions, outer, inner, .. } = &self.shape;
        Self::new(self.backend(), partitions.clone(), outer.clone(), inner.clone(), values)
    }

    /// The same layout with other numbers.
    #[track_caller]
    pub(crate) fn with_value_node(&self, node: Node) -> Result<Self> {
        self.holding(Values::Numbers(node))
    }

    /// The same tensor with device-side checks attached: its values are valid only if these hold.
    #[track_caller]
    pub(crate) fn on_condition(&self, op: &'static str, asserts: &[Node]) -> Result<Self> {
        let rec = self.recorder(op);
        if asserts.is_empty() {
            return Ok(self.clone());
        }
        let pick = Pick::From(&self.values, Expr::index());
        let bound = BytesBound::AtMost(self.values.bytes_size());
        self.holding(Values::rearranged(rec, &self.count()?, &pick, bound, asserts)?)
    }

    pub(crate) fn backend(&self) -> &BackendRef {
        &self.shape.backend
    }

    /// The recorder of a call of the operation `op`, at the line of the caller.
    #[track_caller]
    pub(crate) fn recorder(&self, op: &'static str) -> Recorder<'_> {
        Recorder::new(self.backend(), op)
    }

    /// Outermost dimension of the flat values; none for a scalar.
    pub(crate) fn outer(&self) -> Option<&Extent> {
        self.shape.outer.as_ref()
    }
    /// Dimensions of the flat values after the outermost.
    pub(crate) fn inner(&self) -> &Dims {
        &self.shape.inner
    }
    /// Numbers (or strings) per element of the flat values.
    pub(crate) fn width(&self) -> u32 {
        self.shape.inner.iter().product()
    }
    /// Numbers (or strings) per element of the flat values, as a size.
    pub(crate) fn width_size(&self) -> Size {
        self.shape.inner.width()
    }
    pub(crate) fn values_ref(&self) -> &Values {
        &self.values
    }
    /// Number of numbers (or strings) of the flat values.
    #[track_caller]
    pub(crate) fn count(&self) -> Result<Extent> {
        match &self.shape.outer {
            None => Ok(Extent::known(1)),
            Some(outer) => outer.times_size("a tensor", &self.width_size()),
        }
    }
    /// Number of rows of the outermost dimension.
    pub(crate) fn nrows_extent(&self) -> Extent {
        self.shape.nrows_extent()
    }
    /// The numbers, for an operation that requires them.
    ///
    /// # Errors
    /// The tensor holds strings.
    #[track_caller]
    pub(crate) fn numbers(&self, op: &'static str) -> Result<&Node> {
        match &self.values {
            Values::Numbers(n) => Ok(n),
            Values::Strings { .. } => Err(Error::unsupported(op, DType::Str, "")),
        }
    }

    /// The strings and their bytes, for an operation that requires them.
    ///
    /// # Errors
    /// The tensor holds numbers.
    #[track_caller]
    pub(crate) fn strings(&self, op: &'static str) -> Result<(&RowPartition, &Node)> {
        match &self.values {
            Values::Strings { strings, bytes } => Ok((strings, bytes)),
            Values::Numbers(n) => Err(Error::unsupported(op, n.dtype(), "it needs byte strings")),
        }
    }

    /// Normalizes a negative axis.
    ///
    /// # Errors
    /// `axis < -rank` or `axis >= rank`.
    #[track_caller]
    pub(crate) fn axis(&self, op: &'static str, axis: i64) -> Result<usize> {
        let rank = self.rank() as i64;
        if axis < -rank || axis >= rank {
            return Err(Error::Axis { op, axis, rank: rank as usize, location: caller() });
        }
        Ok(axis.rem_euclid(rank) as usize)
    }

    /// All nodes of the tensor.
    #[track_caller]
    pub(crate) fn nodes(&self) -> Result<Vec<Node>> {
        let mut out = self.values.nodes(self.backend())?;
        for p in &self.shape.partitions {
            if p.uniform_length().is_none() {
                out.push(p.splits_node(self.backend())?);
            }
        }
        Ok(out)
    }

    /// Flat position of number `d` of element `at`.
    pub(crate) fn flat(&self, at: Expr, d: Expr) -> Expr {
        at.mul(Expr::size(&self.width_size())).add(d)
    }
}

methods_of_both! {
    /// Device, dtype, rank and shape.
    impl;

    /// The device that the tensor lives on.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?.into_erased();
    /// assert!(x.device().is_cpu());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn device(&self) -> Device {
        self.shape.device()
    }

    /// The element type.
    ///
    /// ```
    /// use ragged::{DType, Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?.into_erased();
    /// assert_eq!(x.dtype(), DType::I32);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn dtype(&self) -> DType {
        self.values.dtype()
    }

    /// The row partitions, outermost first.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?.into_erased();
    /// assert_eq!((x.partitions()[0].nrows(), x.partitions()[0].nvals()), (Some(3), Some(3)));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn partitions(&self) -> &[RowPartition] {
        &self.shape.partitions
    }

    /// Number of row partitions; 0 for a dense tensor.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?.into_erased();
    /// assert_eq!(x.ragged_rank(), 1);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn ragged_rank(&self) -> usize {
        self.shape.partitions.len()
    }

    /// Number of dimensions.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?.into_erased();
    /// assert_eq!(x.rank(), 2);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// The layout of the elements, independent of the values: partitions and inner dimensions.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?.into_erased();
    /// assert_eq!(x.ragged_shape().lengths()?, [3.into(), [2, 0, 1].into()]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn ragged_shape(&self) -> &RaggedShape {
        &self.shape
    }

    /// The host-known shape: the size of each uniform dimension; none for a ragged dimension, or where only the device
    /// knows the size.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![[1, 2]], vec![]], &Device::cpu())?.into_erased();
    /// assert_eq!(x.shape(), [Some(2), None, Some(2)]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn shape(&self) -> Vec<Option<usize>> {
        self.shape.sizes()
    }

    /// The shape as text: `[3, None, 2]`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?.into_erased();
    /// assert_eq!(x.shape_text(), "[3, None]");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn shape_text(&self) -> String {
        self.shape.text()
    }
}
