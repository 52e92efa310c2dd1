//! The crate's error type, and the meaning of each variant.

use crate::dtype::DType;

/// The result of every fallible call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a call, or the computation that it requested, failed.
///
/// Errors visible to the host are reported at the call. Errors visible only on the device (an index out of range, rows
/// whose lengths do not broadcast) are reported at the read that depends on them. Tensors stay valid after an error.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A row partition breaks a rule of its encoding.
    #[error("{op}: {what}")]
    Partition {
        /// The factory that was called.
        op: &'static str,
        /// The rule, with the first offending entry.
        what: String,
    },
    /// Nested input whose leaves lie at different depths, or whose inner values are not uniform.
    #[error("{op}: {what}")]
    Nesting {
        /// The factory that was called.
        op: &'static str,
        /// The uneven part.
        what: String,
    },
    /// Two shapes that do not fit each other.
    #[error("{op}: shapes {lhs} and {rhs} do not fit: {what}")]
    Shape {
        /// The operation.
        op: &'static str,
        /// The left shape, ragged dimensions as `None`.
        lhs: String,
        /// The right shape.
        rhs: String,
        /// The rule that they break.
        what: String,
    },
    /// An argument outside what the operation accepts.
    #[error("{op}: {what}")]
    Argument {
        /// The operation.
        op: &'static str,
        /// The argument, its value and the accepted values.
        what: String,
    },
    /// An axis that the tensor does not have.
    #[error("{op}: axis {axis} is out of range for rank {rank} ({})", allowed_axes(*rank))]
    Axis {
        /// The operation.
        op: &'static str,
        /// The axis as given.
        axis: i64,
        /// The tensor's rank.
        rank: usize,
    },
    /// An index outside its dimension.
    #[error(
        "{op}: index {index} is out of range for size {size}{}",
        at.map(|p| format!(" (at position {p})")).unwrap_or_default()
    )]
    Index {
        /// The operation.
        op: &'static str,
        /// The first offending index.
        index: i64,
        /// The dimension's size.
        size: u64,
        /// Position of that index among the indices, if there are several.
        at: Option<u64>,
    },
    /// Operands of different dtypes.
    #[error("{op}: dtypes {lhs} and {rhs} differ; cast one of them")]
    DTypes {
        /// The operation.
        op: &'static str,
        /// The left dtype.
        lhs: DType,
        /// The right dtype.
        rhs: DType,
    },
    /// A dtype that the operation is not defined for, or that the device cannot compute with.
    #[error("{op} is not defined for {dtype}{}{hint}", if hint.is_empty() { "" } else { ": " })]
    Unsupported {
        /// The operation.
        op: &'static str,
        /// The dtype.
        dtype: DType,
        /// The remedy, or empty.
        hint: String,
    },
    /// Operands on different devices.
    #[error("{op}: operands are on different devices, {lhs} and {rhs}; move one with to_device")]
    Devices {
        /// The operation.
        op: &'static str,
        /// The left device.
        lhs: String,
        /// The right device.
        rhs: String,
    },
    /// A check that failed on the device, with the first offender and where the operation was recorded.
    #[error("{op}: {what} (first at position {at}; recorded at {location})")]
    Check {
        /// The operation.
        op: &'static str,
        /// The condition that does not hold.
        what: String,
        /// The first position at which it fails.
        at: u64,
        /// Source file and line of the call.
        location: String,
    },
    /// A size beyond the limit of a device or of the index type.
    #[error("{what} needs {requested} {unit}, but {limit} is the limit of {whose}")]
    Limit {
        /// The object requested.
        what: String,
        /// The amount that it needs.
        requested: u64,
        /// The unit of both amounts.
        unit: &'static str,
        /// The most that is allowed.
        limit: u64,
        /// The owner of the limit.
        whose: String,
    },
    /// An operation recorded under [`record_async`](crate::record_async) needs a size that only the device knows. The
    /// closure should return this error; it is called again once the size is known.
    #[error("{op} needs a size that only the device knows, and must not block: it is awaited by record_async")]
    WouldBlock {
        /// The operation.
        op: &'static str,
    },
    /// No device has the given name.
    #[error("no device {name:?}; available: {available}")]
    NoDevice {
        /// The name as given.
        name: String,
        /// The available names.
        available: String,
    },
    /// The device refused a kernel or a command: a fault of this crate or of the driver.
    #[error("the GPU refused {label}: {message}")]
    Gpu {
        /// The kernel or command that was built or run.
        label: String,
        /// The message of the driver or of wgpu.
        message: String,
    },
    /// The device is lost; its tensors can no longer be read.
    ///
    /// wgpu reports some losses, those that the driver finds while the host waits, only by a panic, which this crate
    /// catches. In a program compiled with `panic = "abort"` such a loss ends the process.
    #[error("the GPU device was lost: {reason}")]
    DeviceLost {
        /// The driver's message.
        reason: String,
    },
}

/// The valid axes, in words.
fn allowed_axes(rank: usize) -> String {
    match rank as i64 {
        0 => "a scalar has no axes".into(),
        rank => format!("allowed: {} to {}", -rank, rank - 1),
    }
}

impl Error {
    pub(crate) fn argument(op: &'static str, what: impl Into<String>) -> Self {
        Self::Argument { op, what: what.into() }
    }
    pub(crate) fn partition(op: &'static str, what: impl Into<String>) -> Self {
        Self::Partition { op, what: what.into() }
    }
    pub(crate) fn unsupported(op: &'static str, dtype: DType, hint: impl Into<String>) -> Self {
        Self::Unsupported { op, dtype, hint: hint.into() }
    }
}
