//! The dispatches into which a launch is split.

use std::ops::Range;
use std::sync::Arc;

/// One binding of a dispatch: an array of the launch, or a window of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BindingWindow {
    /// Index of the array in the launch.
    pub(crate) array: usize,
    /// The bytes of the window; `None` for the whole array.
    pub(crate) bytes: Option<Range<u64>>,
}

/// One dispatch of a launch whose arrays are bound as windows.
#[derive(Debug)]
pub(crate) struct WindowedDispatch {
    /// The module, in WGSL.
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
