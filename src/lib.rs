//! Ragged tensors.
#![forbid(unsafe_op_in_unsafe_fn)]
mod backend;
mod device;
mod dtype;
mod element;
mod error;
mod explain;
mod graph;
mod math;
mod numerics;
mod ops;
mod shape;
mod sparse;
mod stats;
mod tensor;
pub use backend::gpu::runtime::DeviceOptions;
pub use device::Device;
pub use dtype::DType;
pub use element::{Arithmetic, BitElement, Element, FloatElement, IntegerElement, Number, SignedElement, Str};
pub use error::{Error, Result};
pub use explain::{Explain, ExplainedKernel};
pub use graph::scalar::Scalar;
pub use numerics::{FloatNumerics, Numerics};
pub use ops::{Averaged, Axes, Combiner, Ellipsis, Index, NewAxis, Operand, OperandOf, Padding, Pieces};
pub use shape::{RaggedShape, RowPartition};
pub use sparse::SparseTensor;
pub use stats::Stats;
pub use tensor::{
    ConstantOptions, Fill, FromNested, HostTensor, HostValues, Integer, Integers, IntoNested, IntoValues, Nested,
    RaggedTensor, Tensor,
};
