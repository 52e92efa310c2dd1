//! Arguments of a declared operation.

use super::argument_kind::ArgumentKind;
use super::argument_types::{of_class, of_type};

/// An argument of an [`Operation`](super::Operation).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Argument {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: ArgumentKind,
    /// The type in [`opt`](crate::opt), [`arguments`](crate::arguments) or the crate root that the argument is or
    /// converts to, where that type has options or alternatives beyond the kind: `SortAxis` is an axis and an order.
    pub options: Option<&'static str>,
    /// Its Rust type.
    pub rust_type: &'static str,
    /// The value that is usual where a language has default arguments, as a Rust expression.
    pub default: Option<&'static str>,
}

impl Argument {
    pub(crate) const fn new(
        name: &'static str,
        rust_type: &'static str,
        class: Option<&'static str>,
        default: Option<&'static str>,
    ) -> Self {
        let (kind, options) = match class {
            Some(class) => of_class(class, rust_type),
            None => of_type(rust_type),
        };
        Self { name, kind, options, rust_type, default }
    }
}
