//! Arguments of a declared operation.

/// An argument of an [`Operation`](super::Operation).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Argument {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: ArgumentKind,
    /// Its Rust type.
    pub rust_type: &'static str,
    /// The value that is usual where a language has default arguments, as Rust text.
    pub default: Option<&'static str>,
}

impl Argument {
    pub(crate) const fn new(
        name: &'static str,
        rust_type: &'static str,
        class: Option<&'static str>,
        default: Option<&'static str>,
    ) -> Self {
        Self { name, kind: ArgumentKind::of(class, rust_type), rust_type, default }
    }
}

/// What an argument is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArgumentKind {
    /// An axis; negative ones count from the innermost.
    Axis,
    /// Several axes, or all.
    Axes,
    /// The axes of a reduction, with the option to keep them.
    ReduceAxes,
    /// The axis of a scan, with its options.
    ScanAxis,
    /// The axis of a sort, with its options.
    SortAxis,
    /// Another tensor.
    Tensor,
    /// Several tensors.
    Tensors,
    /// A tensor or one value.
    Operand,
    /// An integer.
    Integer,
    /// A float.
    Float,
    /// Text.
    Text,
    /// A dtype.
    DType,
    /// A value of the Rust type, with its options.
    Other,
}

impl ArgumentKind {
    /// The kind of an argument that is declared as being of the class, or by its type alone.
    const fn of(class: Option<&str>, rust_type: &str) -> Self {
        match class {
            Some(class) => match class.as_bytes() {
                b"axis" => Self::Axis,
                b"axes" => Self::Axes,
                b"reduce_axes" => Self::ReduceAxes,
                b"scan_axis" => Self::ScanAxis,
                b"sort_axis" => Self::SortAxis,
                b"operand" | b"broadcast" => Self::Operand,
                b"row" | b"same" => Self::Tensor,
                _ => panic!("an unknown class of arguments"),
            },
            None => match rust_type.as_bytes() {
                b"impl Integer" => Self::Integer,
                b"&impl AsRef<Tensor>" => Self::Tensor,
                b"&[impl AsRef<Tensor>]" => Self::Tensors,
                b"impl IntoOperand<'a>" => Self::Operand,
                b"f64" => Self::Float,
                b"&str" => Self::Text,
                b"DType" => Self::DType,
                _ => Self::Other,
            },
        }
    }
}
