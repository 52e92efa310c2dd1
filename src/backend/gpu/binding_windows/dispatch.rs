//! The dispatches into which a launch is split.

use std::ops::Range;
use std::sync::Arc;

/// One of a launch's arrays, or a window of it, as one binding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BindingWindow {
    /// Index of the array in the launch.
    pub(crate) array: usize,
    /// The bytes of the window; `None` for the whole array.
    pub(crate) bytes: Option<Range<u64>>,
}

/// A launch with its arrays as windows, or one of the dispatches into which it is split.
#[derive(Debug)]
pub(crate) struct WindowedDispatch {
    /// WGSL.
    pub(crate) text: Arc<str>,
    /// The bindings, from binding 1 on.
    pub(crate) bindings: Vec<BindingWindow>,
    pub(crate) params: Vec<u32>,
    pub(crate) workgroups: u32,
}

/// A limit that a launch exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LimitExceeded {
    pub(crate) requested: u64,
    pub(crate) unit: &'static str,
    pub(crate) limit: u64,
}
