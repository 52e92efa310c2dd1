//! Spans of `tracing` around what takes time, behind the feature of that name.
//!
//! The target is `ragged`, the level debug. Without the feature a span is nothing at all: its fields are not evaluated.

/// Enters a span until the value that it returns is dropped: `let _span = span!("submit", dispatches = n);`
#[cfg(feature = "tracing")]
macro_rules! span {
    ($name:literal $(, $field:ident = $value:expr)* $(,)?) => {
        ::tracing::debug_span!(target: "ragged", $name, $($field = $value),*).entered()
    };
}

/// Checks that the fields can be evaluated, and does nothing.
#[cfg(not(feature = "tracing"))]
macro_rules! span {
    ($name:literal $(, $field:ident = $value:expr)* $(,)?) => {{
        $(let _ = || $value;)*
        $crate::trace::Untraced
    }};
}

/// What stands for a span without the feature.
#[cfg(not(feature = "tracing"))]
#[must_use]
pub(crate) struct Untraced;

pub(crate) use span;
