//! Spans of `tracing` around slow operations, behind the feature of that name.
//!
//! The target is `ragged`, the level debug. Without the feature a span compiles to nothing: its fields are not
//! evaluated.

/// Enters a span, and returns a guard that leaves it when dropped: `let _span = span!("submit", dispatches = n);`
#[cfg(feature = "tracing")]
macro_rules! span {
    ($name:literal $(, $field:ident = $value:expr)* $(,)?) => {
        ::tracing::debug_span!(target: "ragged", $name, $($field = $value),*).entered()
    };
}

/// Type-checks the fields without evaluating them.
#[cfg(not(feature = "tracing"))]
macro_rules! span {
    ($name:literal $(, $field:ident = $value:expr)* $(,)?) => {{
        $(let _ = || $value;)*
        $crate::trace::Untraced
    }};
}

/// The guard of a span without the feature.
#[cfg(not(feature = "tracing"))]
#[must_use]
pub(crate) struct Untraced;

pub(crate) use span;
