//! Keys of records: items of slices, with names of fields in between.

use std::sync::Arc;

use crate::ops::Index;

/// One key of [`StructuredTensor::get`](crate::StructuredTensor::get): an item of a slice, or the name of a field. Made
/// by [`keys!`](crate::keys).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Key<'a> {
    /// An item of a slice, for one dimension.
    Index(Index<'a>),
    /// The name of a field.
    Field(Arc<str>),
}

/// Steps and lists.
impl Key<'_> {
    /// The same key with a step, if it is a slice; other keys stay unchanged.
    ///
    /// [`keys!`](crate::keys) writes it after a semicolon.
    ///
    /// ```
    /// use ragged::{Key, keys};
    /// assert_eq!(Key::from(..4).step_by(2), keys![..4;2][0]);
    /// ```
    #[must_use]
    pub fn step_by(self, step: i64) -> Self {
        match self {
            Self::Index(item) => Self::Index(item.step_by(step)),
            name => name,
        }
    }

    /// The keys of [`keys!`](crate::keys), typed even for an empty list.
    #[doc(hidden)]
    pub const fn list<const N: usize>(keys: [Self; N]) -> [Self; N] {
        keys
    }
}

impl<'a, I: Into<Index<'a>>> From<I> for Key<'a> {
    fn from(item: I) -> Self {
        Self::Index(item.into())
    }
}
impl From<&str> for Key<'_> {
    fn from(name: &str) -> Self {
        Self::Field(name.into())
    }
}
impl From<&String> for Key<'_> {
    fn from(name: &String) -> Self {
        Self::Field(name.as_str().into())
    }
}

/// The keys of [`StructuredTensor::get`](crate::StructuredTensor::get): those of [`keys!`](crate::keys), or any list of
/// [`Key`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no list of keys",
    label = "expected the keys of records",
    note = "write `records.get(keys![.., \"name\"])`: the macro `ragged::keys` takes items of a slice and names of fields",
    note = "a field of all records is `records.field_value(\"name\")`"
)]
pub trait RecordKeys<'a>: AsRef<[Key<'a>]> {}
impl<'a, K: AsRef<[Key<'a>]> + ?Sized> RecordKeys<'a> for K {}

/// Builds the keys of [`StructuredTensor::get`](crate::StructuredTensor::get): items as in [`s!`](crate::s), and names
/// of fields.
///
/// ```
/// use ragged::arguments::Index;
/// use ragged::{Key, keys};
/// let keys = keys![-1, "doc", ..;2, 1..3];
/// assert_eq!(keys[0], Key::Index(Index::At(-1)));
/// assert_eq!(keys[1], Key::Field("doc".into()));
/// assert_eq!(keys[2], Key::Index(Index::Slice { start: None, stop: None, step: 2 }));
/// ```
#[macro_export]
macro_rules! keys {
    (@keys [$($done:expr,)*]) => {
        $crate::Key::list([$($done,)*])
    };
    (@keys [$($done:expr,)*] $key:expr; $step:expr) => {
        $crate::keys![@keys [$($done,)* $crate::Key::from($key).step_by($step),]]
    };
    (@keys [$($done:expr,)*] $key:expr; $step:expr, $($rest:tt)*) => {
        $crate::keys![@keys [$($done,)* $crate::Key::from($key).step_by($step),] $($rest)*]
    };
    (@keys [$($done:expr,)*] $key:expr) => {
        $crate::keys![@keys [$($done,)* $crate::Key::from($key),]]
    };
    (@keys [$($done:expr,)*] $key:expr, $($rest:tt)*) => {
        $crate::keys![@keys [$($done,)* $crate::Key::from($key),] $($rest)*]
    };
    ($($keys:tt)*) => {
        $crate::keys![@keys [] $($keys)*]
    };
}
