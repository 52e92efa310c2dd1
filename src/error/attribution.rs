//! The operation and the line that an error names.

use std::panic::Location;

use super::Error;
use super::call::is_internal;
use super::place::At;

/// Place of an error.
impl Error {
    /// The same error, of a call at another line. The line of a condition on the device stays.
    pub(crate) fn at(mut self, call: &'static Location<'static>) -> Self {
        match &mut self {
            Self::Partition { location, .. }
            | Self::Nesting { location, .. }
            | Self::Shape { location, .. }
            | Self::Argument { location, .. }
            | Self::Axis { location, .. }
            | Self::Index { location, .. }
            | Self::DTypes { location, .. }
            | Self::Unsupported { location, .. }
            | Self::Devices { location, .. }
            | Self::Limit { location, .. }
            | Self::Gpu { location, .. }
            | Self::DeviceLost { location, .. }
            | Self::Record { location, .. }
            | Self::Io { location, .. }
            | Self::Wgsl { location, .. }
            | Self::Function { location, .. }
            | Self::Traced { location, .. }
            | Self::Input { location, .. }
            | Self::Mismatch { location, .. } => *location = call,
            _ => {}
        }
        self
    }

    /// The same error, reported by the operation `name`, which called the one that failed.
    pub(crate) fn of(mut self, name: &'static str) -> Self {
        match &mut self {
            Self::Partition { op, .. }
            | Self::Nesting { op, .. }
            | Self::Shape { op, .. }
            | Self::Argument { op, .. }
            | Self::Axis { op, .. }
            | Self::Index { op, .. }
            | Self::DTypes { op, .. }
            | Self::Unsupported { op, .. }
            | Self::Devices { op, .. }
            | Self::Traced { op, .. }
            | Self::Record { op, .. }
            | Self::Io { op, .. }
            | Self::WouldBlock { op } => *op = name,
            // Amounts in parentheses stay.
            Self::Limit { what, .. } => {
                let amounts = what.find(" (").map_or("", |at| &what[at..]);
                *what = format!("{name}{amounts}");
            }
            _ => {}
        }
        self
    }

    /// Source file and line of the call that failed or, for a condition that failed on the device, of the call that
    /// recorded it. None for [`Error::NoDevice`] and [`Error::WouldBlock`].
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([1, 2], &Device::cpu())?;
    /// let error = x.reduce_sum(3).unwrap_err();
    /// assert!(error.location().is_some_and(|at| error.to_string().contains(at.file())));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn location(&self) -> Option<&'static Location<'static>> {
        match self {
            Self::Partition { location, .. }
            | Self::Nesting { location, .. }
            | Self::Shape { location, .. }
            | Self::Argument { location, .. }
            | Self::Axis { location, .. }
            | Self::Index { location, .. }
            | Self::DTypes { location, .. }
            | Self::Unsupported { location, .. }
            | Self::Devices { location, .. }
            | Self::Limit { location, .. }
            | Self::Gpu { location, .. }
            | Self::DeviceLost { location, .. }
            | Self::Traced { location, .. }
            | Self::Input { location, .. }
            | Self::Record { location, .. }
            | Self::Io { location, .. }
            | Self::Check { location, .. }
            | Self::Wgsl { location, .. }
            | Self::Function { location, .. }
            | Self::Mismatch { location, .. } => Some(location),
            _ => None,
        }
    }

    /// The message for the implementations of `Display`, which cannot know the line of the user's call: without a line,
    /// unless it is the one that recorded a check.
    pub(crate) fn printed(&self) -> String {
        let mut message = self.to_string();
        if let Some(location) = self.location().filter(|location| is_internal(location)) {
            let place = At(location).to_string();
            message.truncate(message.strip_suffix(&place).unwrap_or(&message).len());
        }
        message
    }
}
