//! Why a kernel takes several dispatches where one would be enough.

use std::fmt;

/// Why a kernel takes several dispatches: a limit of the device or of its driver.
///
/// Sorts, scans and reductions of long rows take several dispatches on every device; those have no reason of this kind.
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

impl ManyDispatches {
    /// What avoids the further dispatches, or why nothing does: a phrase.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::BindingLimit => "a device with larger bindings needs fewer",
            Self::LoopLimit => "a driver without this limit needs fewer",
            Self::WatchdogTimeout => "inherent in the operation",
        }
    }
}
