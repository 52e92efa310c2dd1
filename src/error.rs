//! The crate's error type, and the meaning of each variant.

mod attribution;
mod call;
mod place;
mod quoted;

use std::fmt;
use std::panic::Location;

pub use call::named;
pub(crate) use call::{called, caller, here, on_behalf};
use place::{At, LineOf, RecordAt};
pub(crate) use quoted::quoted;

use crate::dtype::DType;

/// The result of every fallible call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a call, or the computation that it requested, failed.
///
/// Errors visible to the host are reported at the call. Errors visible only on the device (an index out of range, rows
/// whose lengths do not broadcast) are reported at the read that depends on them. Tensors stay valid after an error.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A row partition breaks a rule of its encoding.
    #[error("{op}: {what}{}", At(location))]
    Partition {
        /// The factory that was called.
        op: &'static str,
        /// The rule, with the first offending entry.
        what: String,
        /// Source file and line of the call.
        location: &'static Location<'static>,
    },
    /// Nested input whose leaves lie at different depths, or whose inner values are not uniform.
    #[error("{op}: {what}{}", At(location))]
    Nesting {
        /// The factory that was called.
        op: &'static str,
        /// The first inconsistent list.
        what: String,
        /// Source file and line of the call.
        location: &'static Location<'static>,
    },
    /// Two shapes that do not fit each other.
    #[error("{op}: shapes {lhs} and {rhs} do not fit: {what}{}", At(location))]
    Shape {
        /// The operation.
        op: &'static str,
        /// The left shape, ragged dimensions as `None`.
        lhs: String,
        /// The right shape.
        rhs: String,
        /// The rule that they break.
        what: String,
        /// Source file and line of the call.
        location: &'static Location<'static>,
    },
    /// An argument outside what the operation accepts.
    #[error("{op}: {what}{}", At(location))]
    Argument {
        /// The operation.
        op: &'static str,
        /// The argument, its value and the accepted values.
        what: String,
        /// Source file and line of the call.
        location: &'static Location<'static>,
    },
    /// An axis that the tensor does not have.
    #[error("{op}: axis {axis} is out of range for rank {rank} ({}){}", allowed_axes(*rank), At(location))]
    Axis {
        /// The operation.
        op: &'static str,
        /// The axis as given.
        axis: i64,
        /// The tensor's rank.
        rank: usize,
        /// Source file and line of the call.
        location: &'static Location<'static>,
    },
    /// An index outside its dimension.
    #[error(
        "{op}: index {index} is out of range for size {size}{}{}",
        at.map(|p| format!(" (at position {p})")).unwrap_or_default(), At(location))]
    Index {
        /// The operation.
        op: &'static str,
        /// The first offending index.
        index: i64,
        /// The dimension's size.
        size: u64,
        /// Position of that index among the indices, if there are several.
        at: Option<u64>,
        /// Source file and line of the call.
        location: &'static Location<'static>,
    },
    /// Operands of different dtypes.
    #[error("{op}: dtypes {lhs} and {rhs} differ; cast one of them{}", At(location))]
    DTypes {
        /// The operation.
        op: &'static str,
        /// The left dtype.
        lhs: DType,
        /// The right dtype.
        rhs: DType,
        /// Source file and line of the call.
        location: &'static Location<'static>,
    },
    /// A dtype that the operation is not defined for, or that the device cannot compute with.
    #[error("{op} is not defined for {dtype}{}{hint}{}", if hint.is_empty() { "" } else { ": " }, At(location))]
    Unsupported {
        /// The operation.
        op: &'static str,
        /// The dtype.
        dtype: DType,
        /// The remedy, or empty.
        hint: String,
        /// Source file and line of the call.
        location: &'static Location<'static>,
    },
    /// Operands on different devices.
    #[error("{op}: operands are on different devices, {lhs} and {rhs}; move one with to_device{}", At(location))]
    Devices {
        /// The operation.
        op: &'static str,
        /// The left device.
        lhs: String,
        /// The right device.
        rhs: String,
        /// Source file and line of the call.
        location: &'static Location<'static>,
    },
    /// A check of values that failed on the device or in a host step, with the first offender and where the operation was
    /// recorded. The condition
    /// names the compared integers, such as an index and the size, if the read evaluated the check itself, rather than
    /// an earlier [`Tensor::eval`](crate::Tensor::eval).
    #[error("{op}: {what} (first at position {at}){}", At(location))]
    Check {
        /// The operation.
        op: &'static str,
        /// The condition that does not hold.
        what: String,
        /// The first position at which it fails.
        at: u64,
        /// Source file and line of the call.
        location: &'static Location<'static>,
    },
    /// A value that does not fit the records that it is read into, or that records cannot be read as.
    #[error("{op}: {}{what}{}", RecordAt(*line, path), At(location))]
    Record {
        /// The operation.
        op: &'static str,
        /// The line of text, counted from 1; none where the value is no text.
        line: Option<u64>,
        /// The path of the value, such as `doc.words[3].n`; empty for the whole.
        path: String,
        /// The reason.
        what: String,
        /// Source file and line of the call.
        location: &'static Location<'static>,
    },
    /// A file or a reader that cannot be read.
    #[error("{op}: {what}{}", At(location))]
    Io {
        /// The operation.
        op: &'static str,
        /// What failed, with the message of the system.
        what: String,
        /// Source file and line of the call.
        location: &'static Location<'static>,
    },
    /// A size beyond the limit of a device or of the index type.
    #[error("{what} needs {requested} {unit}, but {limit} is the limit of {whose}{}", At(location))]
    Limit {
        /// The operation or object that needs it.
        what: String,
        /// The amount that it needs.
        requested: u64,
        /// The unit of both amounts.
        unit: &'static str,
        /// The most that is allowed.
        limit: u64,
        /// The owner of the limit.
        whose: String,
        /// Source file and line of the call that needed it: an operation, an upload or a read.
        location: &'static Location<'static>,
    },
    /// The WGSL of an [`ElementFunction`](crate::ElementFunction) that is invalid or does not fit its Rust function.
    #[error("element function {function}: {}{what}{}", LineOf(*line), At(location))]
    Wgsl {
        /// The name of the function.
        function: String,
        /// The line of the text, counted from 1; none where the fault has no line.
        line: Option<u32>,
        /// The reason.
        what: String,
        /// Source file and line of the call.
        location: &'static Location<'static>,
    },
    /// The Rust function of an [`ElementFunction`](crate::ElementFunction) that panicked, or that a program from a file
    /// lacks.
    #[error("element function {function}: {what}{}", At(location))]
    Function {
        /// The name of the function.
        function: String,
        /// Where the function is defined, and the panic's message; or what is missing.
        what: String,
        /// Source file and line of the read.
        location: &'static Location<'static>,
    },
    /// Arguments for which the two sides of an [`ElementFunction`](crate::ElementFunction) give different results.
    #[error("element function {function} of ({arguments}): {wgsl} in WGSL on {device}, {rust} in Rust{}", At(location))]
    Mismatch {
        /// The name of the function.
        function: String,
        /// The first such arguments, floats with their bits.
        arguments: String,
        /// The WGSL function's result.
        wgsl: Box<str>,
        /// The Rust function's result.
        rust: Box<str>,
        /// The device that ran the WGSL function.
        device: String,
        /// Source file and line of the call.
        location: &'static Location<'static>,
    },
    /// An operation recorded under [`record_async`](crate::record_async) needs a size that only the device knows. The
    /// closure should return this error; it is called again once the size is known.
    #[error("{op} needs a size that only the device knows, and must not block: it is awaited by record_async")]
    WouldBlock {
        /// The operation.
        op: &'static str,
    },
    /// A read of a value that depends on an input of a program, while the program is traced: see
    /// [`Program::trace`](crate::Program::trace).
    #[error("{op} needs values of an input of a program that is traced, which has none{}", At(location))]
    Traced {
        /// The operation.
        op: &'static str,
        /// Source file and line of the call.
        location: &'static Location<'static>,
    },
    /// An input of a [`Program`](crate::Program) that is none of its [`TensorSpec`](crate::TensorSpec).
    #[error("input {input} of the program must be {expected}, but is {given}{}", At(location))]
    Input {
        /// Position of the input.
        input: usize,
        /// What the program was traced for.
        expected: String,
        /// What was given.
        given: String,
        /// Source file and line of the call.
        location: &'static Location<'static>,
    },
    /// No device has the given name. Without the feature `gpu` there is none but the CPU; the message says so.
    #[error("no device {name:?}; available: {available}{NO_GPU}")]
    NoDevice {
        /// The name as given.
        name: String,
        /// The available names.
        available: String,
    },
    /// The device refused a kernel or a command: a fault of this crate or of the driver.
    #[error("the GPU refused {label}: {message}{}", At(location))]
    Gpu {
        /// The kernel or command that was built or run.
        label: String,
        /// The message of the driver or of wgpu.
        message: String,
        /// Source file and line of the call.
        location: &'static Location<'static>,
    },
    /// The device is lost; its tensors can no longer be read.
    ///
    /// wgpu reports some losses, those that the driver finds while the host waits, only by a panic, which this crate
    /// catches. In a program compiled with `panic = "abort"` such a loss ends the process.
    #[error("the GPU device was lost: {reason}{}", At(location))]
    DeviceLost {
        /// The driver's message.
        reason: String,
        /// Source file and line of the call that found the loss.
        location: &'static Location<'static>,
    },
}

/// The remedy where a device is not found.
const NO_GPU: &str =
    if cfg!(feature = "gpu") { "" } else { "; for GPUs, enable the feature `gpu` of the crate `ragged`" };

/// The valid axes, in words.
fn allowed_axes(rank: usize) -> String {
    match rank as i64 {
        0 => "a scalar has no axes".into(),
        rank => format!("allowed: {} to {}", -rank, rank - 1),
    }
}

/// The message, since `main` prints the error that it returns in this format.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    #[track_caller]
    pub(crate) fn argument(op: &'static str, what: impl Into<String>) -> Self {
        Self::Argument { op, what: what.into(), location: caller() }
    }
    #[track_caller]
    pub(crate) fn partition(op: &'static str, what: impl Into<String>) -> Self {
        Self::Partition { op, what: what.into(), location: caller() }
    }
    #[track_caller]
    pub(crate) fn unsupported(op: &'static str, dtype: DType, hint: impl Into<String>) -> Self {
        Self::Unsupported { op, dtype, hint: hint.into(), location: caller() }
    }
}
