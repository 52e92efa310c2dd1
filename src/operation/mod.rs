//! What is known of an operation: [`Operation`], which its declaration makes.

mod argument;
mod argument_kind;
mod argument_types;
pub(crate) mod call;
pub(crate) mod elements;
mod owner;
mod results;

pub use crate::error::named;
pub use argument::Argument;
pub use argument_kind::ArgumentKind;
pub use call::Value;
pub use owner::{Owner, Owners};
pub use results::{ResultDType, ResultKind, ResultTensor, Results};

use crate::dtype::DType;

/// An operation, as it is declared: what it is called here and elsewhere, what it takes, and where it is offered.
///
/// [`operations`](crate::operations()) lists all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Operation {
    /// The name of its methods.
    pub name: &'static str,
    /// The family, which is its topic in the documentation.
    pub family: &'static str,
    /// The documentation, in Markdown: the page of its methods. Its first paragraph alone where the methods of all types
    /// are written by hand, since their arguments differ: each of them has a page of its own.
    pub doc: &'static str,
    /// TensorFlow's name of the operation; `None` if TensorFlow does not have it for rows.
    pub tensorflow: Option<&'static str>,
    /// Awkward's name.
    pub awkward: Option<&'static str>,
    /// Polars' name.
    pub polars: Option<&'static str>,
    /// The arguments after the tensor, or all arguments of a function.
    pub arguments: &'static [Argument],
    /// Whether the operation is a method of the tensor: `x.reduce_sum(1)`. The others are functions of the type:
    /// `Tensor::concat(&[&x, &y], 0)`.
    pub is_method: bool,
    /// The dtypes of the element types that have the operation. A [`Tensor`](crate::Tensor) of another dtype is an
    /// error, except where the operation's documentation says what it gives.
    pub elements: &'static [DType],
    /// What the results are.
    pub results: Results,
    /// When recording waits for a size that only the device knows; `None` if it never waits.
    pub waits: Option<&'static str>,
    /// Which part is computed on the host because no kernel computes it; `None` if there is none.
    pub host_step: Option<&'static str>,
    /// Whether the operation has a gradient.
    pub gradient: HasGradient,
    /// The types that have the operation.
    pub owners: Owners,
    /// The feature that has the operation; `None` if all builds have it.
    pub feature: Option<&'static str>,
    pub(crate) call: call::Call,
}

/// Documentation.
impl Operation {
    /// What the operation computes, in a sentence or two: the first paragraph of [`doc`](Self::doc).
    ///
    /// ```
    /// let sum = ragged::operations().find(|operation| operation.name == "reduce_sum").unwrap();
    /// assert!(sum.summary().starts_with("The sum of the values"));
    /// ```
    pub fn summary(&self) -> String {
        let lines = self.doc.lines().map(str::trim).take_while(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join(" ")
    }
}

/// Whether an operation has a gradient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HasGradient {
    /// It has one where its values are floats: that of the primitives that it records.
    Yes,
    /// It has one where its values are floats, but no second derivative: this is missing.
    FirstOrder(&'static str),
    /// It would have one; this is missing.
    Missing(&'static str),
    /// It has none, for this reason.
    None(&'static str),
}
