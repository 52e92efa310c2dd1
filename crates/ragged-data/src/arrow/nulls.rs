//! What nulls become.

/// What nulls of an Arrow array become, in lists, in their items and in fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Nulls {
    /// A null is an error that names its column and row.
    #[default]
    Error,
    /// A null list is an empty list, a null number 0, a null bool false, a null string empty. The items of a null fixed-size
    /// list, and the fields of a null struct, are such values. Numbers and strings with nulls are copied.
    Empty,
}
