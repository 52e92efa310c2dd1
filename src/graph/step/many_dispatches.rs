//! Limits that force a kernel into several dispatches.

use std::fmt;

/// The limit of the device or its driver that forces a kernel into several dispatches.
///
/// Sorts, scans and reductions of long rows take several dispatches on every device; these are not reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ManyDispatches {
    /// An array exceeds one binding, so it is bound window by window.
    BindingLimit,
    /// The driver ends loops after a fixed number of iterations (Mesa's llvmpipe: 65,535).
    LoopLimit,
    /// A loop that is serial in one invocation could exceed the driver's watchdog timeout.
    WatchdogTimeout,
}

impl fmt::Display for ManyDispatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BindingLimit => "an array exceeds one binding",
            Self::LoopLimit => "the driver ends loops after a fixed number of iterations",
            Self::WatchdogTimeout => "a serial loop could exceed the driver's watchdog timeout",
        })
    }
}

/// Remedies.
impl ManyDispatches {
    /// How to avoid the additional dispatches, or why they are unavoidable: a phrase.
    ///
    /// ```
    /// assert_eq!(ragged::ManyDispatches::BindingLimit.remedy(), "a device with larger bindings needs fewer");
    /// ```
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::BindingLimit => "a device with larger bindings needs fewer",
            Self::LoopLimit => "a driver without this limit needs fewer",
            Self::WatchdogTimeout => "inherent in the operation",
        }
    }
}
