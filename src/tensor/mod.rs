//! Tensors: flat values under row partitions.

mod buffers;
mod constant;
mod construct;
mod display;
mod from_nested;
mod host;
mod integers;
mod into_values;
mod nested;
mod partition;
#[cfg(feature = "wgpu-profiler")]
mod profile;
mod read;
mod read_rows;
mod together;
mod typed;
mod upload;
mod values;

pub use buffers::DeviceBuffer;
pub use constant::ConstantOptions;
pub use from_nested::{FromNested, IntoNested};
pub use host::{HostTensor, HostValues};
pub(crate) use integers::Source;
pub use integers::{Integer, Integers};
pub use into_values::IntoValues;
pub use nested::Nested;
pub(crate) use partition::{Making, Trust, counts_below, encoded, positions};
pub use together::{eval, explain, to_host, to_host_async};
pub use typed::RaggedTensor;
pub use values::Fill;
pub(crate) use values::{BytesBound, Pick, Values};

use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::explain::Explain;
use crate::graph::backend::BackendRef;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::shape::{RaggedShape, RowPartition};

/// Unevaluated nodes that may stand in a chain before the work so far is evaluated.
const MAX_DEPTH: u32 = 64;

/// A tensor whose dtype is known at run time; [`RaggedTensor`](crate::RaggedTensor) wraps one.
///
/// Dimension 0 is the rows of the outermost partition (or of the flat values where there is none), dimensions 1 to
/// `ragged_rank` lie under the partitions, the others are the inner dimensions of the flat values. Immutable, cheap to
/// clone. Operations record; what they compute is computed when it is read.
#[derive(Clone)]
pub struct Tensor {
    shape: RaggedShape,
    values: Values,
}

impl Tensor {
    /// A tensor of these parts: `partitions` outermost first, each with as many rows as the one before has values;
    /// the last with as many values as `outer`. Evaluates first if too much is pending.
    pub(crate) fn new(
        backend: &BackendRef,
        partitions: Vec<RowPartition>,
        outer: Option<Extent>,
        inner: Vec<u32>,
        values: Values,
    ) -> Result<Self> {
        if let Err(hint) = backend.supports(values.dtype()) {
            return Err(Error::unsupported("a tensor", values.dtype(), hint));
        }
        for p in &partitions {
            p.check_device(backend)?;
        }
        let shape = RaggedShape::of_parts("a tensor", backend, partitions, outer, inner, Vec::new())?;
        let out = Self { shape, values };
        let nodes = out.nodes()?;
        let counts = out.shape.counts();
        if nodes.iter().chain(&counts).any(|n| n.depth() > MAX_DEPTH) {
            out.backend().evaluate(&[nodes, counts].concat())?;
        }
        Ok(out)
    }

    /// The same layout, holding other values: as many numbers or strings.
    pub(crate) fn holding(&self, values: Values) -> Result<Self> {
        let RaggedShape { partitions, outer, inner, .. } = &self.shape;
        Self::new(self.backend(), partitions.clone(), outer.clone(), inner.clone(), values)
    }

    /// The same layout with other numbers.
    pub(crate) fn with_value_node(&self, node: Node) -> Result<Self> {
        self.holding(Values::Numbers(node))
    }

    /// The same tensor on these conditions: its values are those only where they hold.
    pub(crate) fn on_condition(&self, op: &'static str, asserts: &[Node]) -> Result<Self> {
        if asserts.is_empty() {
            return Ok(self.clone());
        }
        let pick = Pick::From(&self.values, Expr::index());
        let bound = BytesBound::AtMost(self.values.bytes_size());
        self.holding(Values::rearranged(self.backend(), op, &self.count()?, &pick, bound, asserts)?)
    }

    pub(crate) fn backend(&self) -> &BackendRef {
        &self.shape.backend
    }
    /// The device that it lives on.
    pub fn device(&self) -> Device {
        self.shape.device()
    }
    /// The element type.
    pub fn dtype(&self) -> DType {
        self.values.dtype()
    }
    /// The row partitions, outermost first.
    pub fn partitions(&self) -> &[RowPartition] {
        &self.shape.partitions
    }
    /// How many row partitions it has; 0 for a dense tensor.
    pub fn ragged_rank(&self) -> usize {
        self.shape.partitions.len()
    }
    /// How many dimensions it has.
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }
    /// The flat values' outermost dimension; none for a scalar.
    pub(crate) fn outer(&self) -> Option<&Extent> {
        self.shape.outer.as_ref()
    }
    /// The flat values' dimensions after the outermost.
    pub(crate) fn inner(&self) -> &[u32] {
        &self.shape.inner
    }
    /// Numbers (or strings) that one element of the flat values has.
    pub(crate) fn width(&self) -> u32 {
        self.shape.inner.iter().product()
    }
    pub(crate) fn values_ref(&self) -> &Values {
        &self.values
    }
    /// How many numbers (or strings) the flat values have.
    pub(crate) fn count(&self) -> Result<Extent> {
        match &self.shape.outer {
            None => Ok(Extent::known(1)),
            Some(outer) => outer.times("a tensor", u64::from(self.width())),
        }
    }
    /// The number of rows of the outermost dimension.
    pub(crate) fn nrows_extent(&self) -> Extent {
        self.shape.nrows_extent()
    }
    /// Where the elements are, apart from what they are: partitions and inner dimensions.
    pub fn ragged_shape(&self) -> &RaggedShape {
        &self.shape
    }

    /// The numbers, for an operation that needs some.
    ///
    /// # Errors
    /// The tensor holds strings.
    pub(crate) fn numbers(&self, op: &'static str) -> Result<&Node> {
        match &self.values {
            Values::Numbers(n) => Ok(n),
            Values::Strings { .. } => Err(Error::unsupported(op, DType::Str, "")),
        }
    }

    /// The strings and their bytes, for an operation that needs some.
    ///
    /// # Errors
    /// The tensor holds numbers.
    pub(crate) fn strings(&self, op: &'static str) -> Result<(&RowPartition, &Node)> {
        match &self.values {
            Values::Strings { strings, bytes } => Ok((strings, bytes)),
            Values::Numbers(n) => Err(Error::unsupported(op, n.dtype(), "it needs byte strings")),
        }
    }

    /// The shape as the host knows it: the size of each uniform dimension, none for a ragged one or one whose size is
    /// known on the device only.
    pub fn shape(&self) -> Vec<Option<u64>> {
        self.shape.sizes()
    }

    /// The shape as text: `[3, None, 2]`.
    pub fn shape_text(&self) -> String {
        self.shape.to_string()
    }

    /// The axis counted from the front.
    ///
    /// # Errors
    /// `axis < -rank` or `axis >= rank`.
    pub(crate) fn axis(&self, op: &'static str, axis: i64) -> Result<usize> {
        let rank = self.rank() as i64;
        if axis < -rank || axis >= rank {
            return Err(Error::Axis { op, axis, rank: rank as usize });
        }
        Ok(axis.rem_euclid(rank) as usize)
    }

    /// Every node that the tensor is made of.
    pub(crate) fn nodes(&self) -> Result<Vec<Node>> {
        let mut out = self.values.nodes(self.backend())?;
        for p in &self.shape.partitions {
            if p.uniform_row_length().is_none() {
                out.push(p.splits_node(self.backend())?);
            }
        }
        Ok(out)
    }

    /// Computes the tensor now, on its device, without waiting for it. It waits only for sizes whose upper bounds would
    /// take much memory: see [`Tuning::stage_bytes`](crate::Tuning::stage_bytes).
    ///
    /// # Errors
    /// What the device refuses. Conditions on values are looked at by reads only.
    pub fn eval(&self) -> Result<()> {
        self.backend().evaluate(&self.nodes()?)
    }

    /// Computes the tensor now, waits for it, and returns the milliseconds between the start of its first kernel and
    /// the end of its last by the device's own clock; none where it has no timestamps (the CPU backend, some adapters).
    /// A tensor that is computed already takes no time.
    ///
    /// # Errors
    /// As [`Tensor::eval`]; a lost device.
    ///
    /// # Example
    /// ```
    /// use ragged::{Device, RaggedTensor};
    ///
    /// let x = RaggedTensor::from_nested([vec![1.0f32, 2.0], vec![3.0]], &Device::best()?)?;
    /// if let Some(ms) = x.softmax(1)?.eval_timed()? {
    ///     println!("{ms:.3} ms on the device");
    /// }
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn eval_timed(&self) -> Result<Option<f64>> {
        self.backend().evaluate_timed(&self.nodes()?)
    }

    /// The kernels that reading the tensor would run, with the bytes they move and what keeps them apart; runs nothing.
    /// Printed, it is a tree.
    ///
    /// # Errors
    /// A step that the device cannot run at all.
    pub fn explain(&self) -> Result<Explain> {
        Explain::new(self.backend(), &self.nodes()?)
    }

    /// The flat position of the number that belongs to element `at`, number `d`.
    pub(crate) fn flat(&self, at: Expr, d: Expr) -> Expr {
        at.mul(Expr::u32(self.width())).add(d)
    }
}
