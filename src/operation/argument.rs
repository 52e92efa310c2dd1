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

/// Options.
impl Argument {
    /// The options that a [`Value`](super::Value) of the argument can have, as
    /// [`Value::option`](super::Value::option) gives them: the fields of the type in [`Argument::options`].
    ///
    /// ```
    /// let by_name = |name| ragged::operations().find(|operation| operation.name == name).unwrap();
    /// assert_eq!(by_name("cumsum").arguments[0].option_names(), ["exclusive", "reversed"]);
    /// assert!(by_name("top_k").arguments[0].option_names().is_empty());
    /// ```
    pub fn option_names(&self) -> &'static [&'static str] {
        match self.options.unwrap_or_default() {
            "AttentionKeys" => &["causal", "scale"],
            "Bins" => &["least", "most", "binary"],
            "Context" => &["start"],
            "Depth" => &["axis"],
            "Factor" => &["transposed"],
            "GatherIndices" => &["axis", "batch_dims"],
            "HashBuckets" => &["key"],
            "HistogramRange" => &["closed", "clamped"],
            "LookupIds" => &["weights", "default", "max_norm"],
            "Ngrams" => &["left_pad", "right_pad", "pad_width", "keep_short"],
            "PaddedShape" => &["shape"],
            "ReduceAxes" => &["keep"],
            "RowIds" | "UniformRows" => &["nrows"],
            "RowPadding" => &["ragged_rank"],
            "ScanAxis" => &["exclusive", "reversed"],
            "SegmentIds" => &["num_segments"],
            "Separator" => &["any_of", "nonempty", "max_splits"],
            "Smoothing" => &["adjust"],
            "SortAxis" | "SortKeys" => &["descending"],
            "Sought" => &["right"],
            "TextEncoding" => &["replace_controls", "invalid"],
            _ => &[],
        }
    }
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
