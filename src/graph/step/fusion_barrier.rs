//! Fusion barriers: reasons why two kernels were not fused.

use std::fmt;

use crate::graph::digest::DigestMap;
use crate::graph::planned::{Node, Recipe};

/// The reason why an array is stored between two kernels instead of being fused into the kernel that reads it.
///
/// The planner gives the first reason that it finds. `Display` prints a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FusionBarrier {
    /// The array is the result of a kernel of this kind, whose results are complete only when it ends: a `row_reduce`,
    /// a `scan`, a `sort`, a `rank_bitmap`.
    EndsKernel(&'static str),
    /// The array was requested and must be stored.
    Requested,
    /// The array has several readers, and recomputing it for each takes longer than loading it.
    SeveralReaders,
    /// The reader loads the array at computed positions, possibly the same element many times, and recomputing an
    /// element per load is too expensive.
    ComputedPositions,
    /// The reader evaluates its input several times per element, as a scan, a sort, a product and a hash do.
    EvaluatedOften,
    /// The reader overwrites an array in place, so that what it writes is stored before.
    Overwrites,
    /// The reader would have to search for the row of each element.
    Search,
    /// The array has one number per row, and the reader would compute it once per element.
    OncePerRow,
    /// The array is a row reduction's result, which the reader needs at rows other than the one just reduced.
    OtherRows,
    /// The reader evaluates only some positions of a condition that must be checked at all of them.
    Condition,
    /// The array holds row splits, which a kernel searches or iterates over as an array.
    Splits,
    /// The array holds the number of elements, which kernels read before they start.
    Count,
    /// The reader would bind more storage buffers than the device allows per kernel.
    StorageBuffers,
    /// The reader's kernel would grow too large.
    KernelSize,
    /// No element of the array is read: the array carries conditions, which must hold for the results.
    ConditionsOnly,
    /// The device was opened with fusion disabled.
    Disabled,
}

impl fmt::Display for FusionBarrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::EndsKernel(family) => return write!(f, "the {family} kernel must end before its results are read"),
            Self::Requested => "the array was requested",
            Self::SeveralReaders => "several kernels read it, and it is too expensive to recompute for each",
            Self::ComputedPositions => "it is read at computed positions, and too expensive to recompute at each",
            Self::EvaluatedOften => "its reader would recompute it several times per element",
            Self::Overwrites => "its reader overwrites an array in place",
            Self::Search => "its reader would search for the row of each element",
            Self::OncePerRow => "it has one number per row, and its reader would recompute it per element",
            Self::OtherRows => "its reader needs the results of other rows",
            Self::Condition => "a check of its data applies to all positions, and its reader evaluates only some",
            Self::Splits => "its reader searches or iterates over row splits as an array",
            Self::Count => "its reader needs the number of elements before it starts",
            Self::StorageBuffers => "its reader would bind more storage buffers than the device allows",
            Self::KernelSize => "its reader's kernel would grow too large",
            Self::ConditionsOnly => "its checks must hold",
            Self::Disabled => "fusion is disabled",
        };
        f.write_str(text)
    }
}

/// Remedies.
impl FusionBarrier {
    /// How to avoid the barrier, or why not to: a phrase.
    ///
    /// ```
    /// assert_eq!(ragged::FusionBarrier::Splits.remedy(), "inherent in the operation");
    /// ```
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::EndsKernel(_) | Self::Splits | Self::Count | Self::ConditionsOnly | Self::Overwrites => {
                "inherent in the operation"
            }
            Self::Requested => "request fewer arrays together if only its reader's result is needed",
            Self::SeveralReaders | Self::EvaluatedOften | Self::Search | Self::OncePerRow | Self::KernelSize => {
                "storing it costs less"
            }
            Self::ComputedPositions => "apply the operation to the gathered values instead",
            Self::OtherRows => "rearrange the rows before the reduction instead of its results",
            Self::Condition => "select the positions before the checked operation",
            Self::StorageBuffers => "a device with more storage buffers per shader stage fuses it",
            Self::Disabled => "open the device with fusion enabled",
        }
    }

    /// The barrier of an array that the reader searches or iterates over; `None` if the array is stored already.
    pub(in crate::graph) fn as_array(node: &Node) -> Option<Self> {
        node.recipe().map(|recipe| match &*recipe {
            Recipe::Map(_) => Self::Splits,
            other => Self::EndsKernel(other.family()),
        })
    }
}

/// The fusion barriers of a step: for each array that another step computes, the reason why it is not fused.
#[derive(Debug, Clone, Default)]
pub(crate) struct Barriers(DigestMap<FusionBarrier>);

impl Barriers {
    /// Records the reason, unless one is recorded for the array. `None`, for arrays stored already, records nothing.
    pub(crate) fn note(&mut self, node: &Node, why: Option<FusionBarrier>) {
        if let Some(why) = why {
            self.0.entry(node.digest()).or_insert(why);
        }
    }

    /// Replaces the recorded reason by a more specific one. [`FusionBarrier::EndsKernel`] is the most general reason
    /// and replaces none.
    pub(in crate::graph) fn refine(&mut self, node: &Node, why: FusionBarrier) {
        let is_more = !matches!(why, FusionBarrier::EndsKernel(_));
        if let Some(known) = self.0.get_mut(&node.digest()).filter(|_| is_more) {
            *known = why;
        }
    }

    /// Adds the reasons of a step that was fused into this one, for arrays without one.
    pub(in crate::graph) fn extend(&mut self, more: Self) {
        for (array, why) in more.0 {
            self.0.entry(array).or_insert(why);
        }
    }

    /// The recorded reason, if any.
    pub(crate) fn why(&self, node: &Node) -> Option<FusionBarrier> {
        self.0.get(&node.digest()).copied()
    }
}
