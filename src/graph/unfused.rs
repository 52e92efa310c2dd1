//! Why a kernel reads an array that another one stores, rather than computing it itself.

use std::fmt;

use super::digest::Digest;
use super::node::{Node, Recipe};

/// Why an array is stored between two kernels: what kept it from being computed by the kernel that reads it.
///
/// The planner gives the first reason that it meets. Printing it shows a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unfused {
    /// It is the result of a kernel of this kind, of which no value is there before the kernel ends: a `row_reduce`, a
    /// `scan`, a `sort`, the `marks` of a mask.
    EndsKernel(&'static str),
    /// It was asked for, so it is stored in any case.
    Requested,
    /// Several read it, and computing it once more for each takes longer than reading it.
    SeveralReaders,
    /// Its reader takes it at computed positions, perhaps the same one many times, and it is too dear to compute each
    /// time.
    ComputedPositions,
    /// Its reader evaluates what it is given several times an element, as a scan, a sort, a product and a hash do.
    EvaluatedOften,
    /// The row of an element would have to be searched for, element by element.
    Search,
    /// It is one number a row, and its reader would compute it once an element.
    OncePerRow,
    /// A row reduction's result that its reader needs at other rows than the one that was just reduced.
    OtherRows,
    /// A condition on data would be looked at in fewer places than it must hold in.
    Condition,
    /// Row splits, which a kernel searches or walks as an array.
    Splits,
    /// The number of elements, which kernels read before they start.
    Count,
    /// The reader would bind more storage buffers than the device allows in a kernel.
    StorageBuffers,
    /// The reader's kernel would grow too large.
    KernelSize,
    /// Nothing of it is read: it carries conditions, which must hold for the results.
    ConditionsOnly,
    /// The device was opened with fusing switched off.
    Disabled,
}

impl fmt::Display for Unfused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::EndsKernel(family) => return write!(f, "a {family} kernel ends here"),
            Self::Requested => "it was asked for",
            Self::SeveralReaders => "several read it, and it is dear to compute for each",
            Self::ComputedPositions => "it is read at computed positions, and dear to compute each time",
            Self::EvaluatedOften => "its reader would compute it several times an element",
            Self::Search => "its reader would search for rows, element by element",
            Self::OncePerRow => "it is one number a row, not one an element",
            Self::OtherRows => "its reader needs the results of other rows",
            Self::Condition => "a condition in it would not be looked at everywhere",
            Self::Splits => "row splits are searched as an array",
            Self::Count => "its readers need their number of elements",
            Self::StorageBuffers => "its reader would bind too many storage buffers",
            Self::KernelSize => "its reader would grow too large",
            Self::ConditionsOnly => "its conditions must hold",
            Self::Disabled => "fusing is off",
        };
        f.write_str(text)
    }
}

impl Unfused {
    /// Of an array that is read as such, not element by element; none of one that exists already.
    pub(super) fn as_array(node: &Node) -> Option<Self> {
        node.recipe().map(|recipe| match &*recipe {
            Recipe::Map { .. } => Self::Splits,
            other => Self::EndsKernel(other.family()),
        })
    }
}

/// The arrays that a step reads though they had to be computed, each with the reason.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept(Vec<(Digest, Unfused)>);

impl Kept {
    /// Notes the reason, unless the array has one; none is for arrays that exist already.
    pub(super) fn note(&mut self, node: &Node, why: Option<Unfused>) {
        if let Some(why) = why
            && self.why(node).is_none()
        {
            self.0.push((node.digest(), why));
        }
    }

    /// Notes why the end of the kernel that makes the array is not where its reader is computed. A reduction whose
    /// reader could not be meant has ended its kernel, and nothing more.
    pub(super) fn refine(&mut self, node: &Node, why: Unfused) {
        let is_more = !matches!(why, Unfused::EndsKernel(_));
        if let Some(known) = self.0.iter_mut().find(|(digest, _)| is_more && *digest == node.digest()) {
            known.1 = why;
        }
    }

    /// Adds the reasons of a step that has become part of this one.
    pub(super) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// Why the array is read.
    pub(crate) fn why(&self, node: &Node) -> Option<Unfused> {
        self.0.iter().find(|(digest, _)| *digest == node.digest()).map(|(_, why)| *why)
    }
}
