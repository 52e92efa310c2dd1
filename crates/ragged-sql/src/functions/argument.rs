//! The parameters of functions.

use ragged::operation::{Argument, ArgumentKind, Operation};

/// A parameter of a function.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) accepts: Accepts,
    /// Of which argument of the operation it is an option; `None` if it is the tensor or an argument.
    pub(crate) option_of: Option<usize>,
    /// Whether NULL, or nothing at the end, stands for the default.
    pub(crate) is_optional: bool,
    /// Whether the default is the innermost axis.
    pub(crate) is_innermost: bool,
}

/// What a parameter accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accepts {
    /// A column, or a text that names the file of a table.
    Column,
    /// Columns, one after the other.
    Columns,
    /// A column or a literal.
    Operand,
    /// An integer for each row: a column, or a literal for all.
    PerRow,
    /// An integer: a dimension below that of the rows.
    Axis,
    /// The same, or a list. All of them by default.
    Axes,
    /// A literal.
    Literal,
    /// A literal, or a list of literals in a text: `'[0.25, 0.5]'`.
    List,
    /// The name of a type.
    Type,
}

impl Parameter {
    /// The parameter as documentation writes it.
    pub(crate) fn usage(&self) -> String {
        let dots = if self.accepts == Accepts::Columns { ", …" } else { "" };
        let mark = if self.is_optional { "?" } else { "" };
        format!("{}{mark}{dots}", self.name)
    }
}

/// Options of the type of an argument that the operation does not take, and what does the same.
const NOT_OPTIONS: &[(&str, &str, &str)] = &[
    ("embedding_lookup", "weights", "ragged_multiply(vectors, ragged_expand_dims(weights, -1)) weighs the vectors"),
    ("embedding_lookup", "default", "ragged_fill_empty_rows(ids, id) gives rows without ids that id"),
];

/// What does the same as the option, which the operation does not take.
pub(crate) fn not_an_option(operation: &str, option: &str) -> Option<&'static str> {
    NOT_OPTIONS.iter().find(|(of, name, _)| (*of, *name) == (operation, option)).map(|(_, _, why)| *why)
}

/// The parameters of an operation: the tensor, the arguments, then the options of these.
pub(super) fn parameters(operation: &Operation) -> Vec<Parameter> {
    let tensor = operation.is_method.then_some(Parameter {
        // Another name if an argument has it.
        name: if operation.arguments.iter().any(|argument| argument.name == "x") { "input" } else { "x" },
        accepts: Accepts::Column,
        option_of: None,
        is_optional: false,
        is_innermost: false,
    });
    let options = operation.arguments.iter().enumerate().flat_map(|(k, argument)| {
        let taken = argument.option_names().iter().filter(|name| not_an_option(operation.name, name).is_none());
        taken.map(move |name| Parameter {
            name,
            accepts: Accepts::Literal,
            option_of: Some(k),
            is_optional: true,
            is_innermost: false,
        })
    });
    tensor.into_iter().chain(operation.arguments.iter().map(of_argument)).chain(options).collect()
}

fn of_argument(argument: &Argument) -> Parameter {
    let accepts = match argument.kind {
        ArgumentKind::Tensor => Accepts::Column,
        ArgumentKind::Tensors => Accepts::Columns,
        ArgumentKind::Operand => Accepts::Operand,
        ArgumentKind::IntegerVector => Accepts::PerRow,
        ArgumentKind::Axis | ArgumentKind::ScanAxis | ArgumentKind::SortAxis => Accepts::Axis,
        ArgumentKind::Axes | ArgumentKind::ReduceAxes => Accepts::Axes,
        ArgumentKind::DType => Accepts::Type,
        ArgumentKind::Integers | ArgumentKind::Floats | ArgumentKind::NumberRange => Accepts::List,
        _ => Accepts::Literal,
    };
    let has_default = match argument.kind {
        // The innermost one, or all below the rows.
        ArgumentKind::Axis => argument.name == "axis" || argument.default.is_some(),
        ArgumentKind::ScanAxis | ArgumentKind::SortAxis | ArgumentKind::ReduceAxes => true,
        _ => argument.default.is_some(),
    };
    // That of the operation may be the rows.
    let is_innermost = accepts == Accepts::Axis && argument.default.is_none_or(|default| default == "0");
    Parameter { name: argument.name, accepts, option_of: None, is_optional: has_default, is_innermost }
}
