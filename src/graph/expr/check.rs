//! Device-side conditions.

use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::sync::Arc;

use crate::error::{Error, Result, called, caller};
use crate::graph::{Size, WeakNode};

/// A device-side condition, with the error for the user if it does not hold.
///
/// A program contains the number of a check only, so that the checks of batches whose messages differ are one program;
/// the checks themselves are in its [`Locations`](crate::graph::program::Locations), which each recording makes.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Check {
    /// Tells equal conditions of a program apart that were recorded at several lines, where a file has no lines.
    pub(crate) duplicate: u32,
    /// The operation.
    pub(crate) op: &'static str,
    /// Message of the error: the violated condition.
    pub(crate) what: String,
    /// Where the user called the operation.
    pub(crate) location: &'static Location<'static>,
    /// Whether the condition compares an index of the user with a size. The error of a failed read then names both.
    pub(crate) is_of_index: bool,
    /// The strings of which the condition is about the one at its position. The error of a failed read then shows it.
    pub(crate) strings: Option<CheckedStrings>,
}

/// Strings that a condition is about. Keeps no array alive; not part of a check's identity, so that batches share plans.
#[derive(Debug)]
pub(crate) struct CheckedStrings {
    /// The splits, with the length of a string where all have one.
    pub(crate) splits: std::result::Result<WeakNode, Size>,
    pub(crate) bytes: WeakNode,
    /// Whether the condition holds for a string. A string for which it holds is not shown: the position then counts
    /// another domain, that of a kernel into which the condition was fused.
    pub(crate) accepts: fn(&[u8]) -> bool,
}

impl PartialEq for CheckedStrings {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl Eq for CheckedStrings {}
impl Hash for CheckedStrings {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl Check {
    /// A condition of the operation `op`, which the user called at `location`.
    pub(crate) fn at(op: &'static str, what: String, location: &'static Location<'static>) -> Self {
        Self { duplicate: 0, op, what, location, is_of_index: false, strings: None }
    }

    /// A condition of the caller without a message.
    #[track_caller]
    fn here() -> Self {
        Self::at("", String::new(), caller())
    }

    /// A condition of the operation `op`, with the source location of the operation's caller.
    #[track_caller]
    pub(crate) fn new(op: &'static str, what: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { op: called(op), what: what.into(), ..Self::here() })
    }

    /// As [`Check::new`], of a condition that compares an index of the user with a size.
    #[track_caller]
    pub(crate) fn of_index(op: &'static str, what: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { op: called(op), what: what.into(), is_of_index: true, ..Self::here() })
    }

    /// The condition that the total of a scan fits in u32.
    #[track_caller]
    pub(crate) fn overflow(op: &'static str) -> Arc<Self> {
        Self::new(op, "the sizes of the rows add up to 2^32 or more")
    }

    /// Fails unless `first` is u32::MAX. `first` is the first position at which the condition did not hold, or
    /// u32::MAX.
    pub(crate) fn outcome(&self, first: u32) -> Result<()> {
        if first == u32::MAX {
            return Ok(());
        }
        Err(Error::Check { op: self.op, what: self.what.clone(), at: u64::from(first), location: self.location })
    }
}
