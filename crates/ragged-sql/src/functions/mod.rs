//! The functions of SQL, made from the declared operations.

mod argument;
mod names;

use std::sync::LazyLock;

use datafusion::logical_expr::{DocSection, Documentation};
use ragged::operation::{ArgumentKind, Operation, Owner};
use ragged::operations;

pub(crate) use argument::{Accepts, Parameter, not_an_option};

/// A function of SQL: an operation of one row, which a query calls for the rows of a table.
#[derive(Debug)]
pub(crate) struct Function {
    /// With the prefix: `ragged_reduce_sum`.
    pub(crate) name: &'static str,
    /// Shorter names.
    pub(crate) aliases: Vec<String>,
    pub(crate) operation: &'static Operation,
    /// Which of the operation's results it gives; `None` is the last.
    pub(crate) result: Option<usize>,
    pub(crate) parameters: Vec<Parameter>,
    /// Its page, for lists of functions.
    pub(crate) documentation: Documentation,
}

impl Function {
    /// Where the columns that follow each other are, if the operation takes a list of tensors.
    pub(crate) fn list(&self) -> Option<usize> {
        self.parameters.iter().position(|parameter| parameter.accepts == Accepts::Columns)
    }

    /// The call as the documentation of the function writes it.
    pub(crate) fn usage(&self) -> &str {
        &self.documentation.syntax_example
    }
}

/// All functions, in the order of the operations.
pub(crate) fn functions() -> &'static [Function] {
    static FUNCTIONS: LazyLock<Vec<Function>> =
        LazyLock::new(|| operations().filter(|operation| is_offered(operation)).flat_map(of_operation).collect());
    &FUNCTIONS
}

/// The function of that name or alias, in any case.
pub(crate) fn by_name(name: &str) -> Option<&'static Function> {
    let is_named = |known: &str| known.eq_ignore_ascii_case(name);
    functions().iter().find(|function| is_named(function.name) || function.aliases.iter().any(|alias| is_named(alias)))
}

/// Whether an operation is a function of SQL: it computes a row from rows, and literals and columns say all of a call.
pub(crate) fn is_offered(operation: &Operation) -> bool {
    let of_rows = operation.owners.contains(Owner::Row) || names::OF_ROWS.contains(&operation.name);
    operation.owners.contains(Owner::Tensor)
        && operation.is_callable()
        && of_rows
        && names::not_offered(operation.name).is_none()
        && !has_no_literal(operation)
}

/// Whether an argument is neither a column nor a literal of SQL.
fn has_no_literal(operation: &Operation) -> bool {
    let is_other =
        |kind: ArgumentKind| matches!(kind, ArgumentKind::Slice | ArgumentKind::Shape | ArgumentKind::RowPartition);
    operation.arguments.iter().any(|argument| is_other(argument.kind))
}

fn of_operation(operation: &'static Operation) -> impl Iterator<Item = Function> {
    names::names(operation.name).into_iter().map(move |named| {
        let parameters = argument::parameters(operation);
        let documentation =
            Documentation::builder(SECTION, summary(operation), usage(&named.name, &parameters)).build();
        Function {
            name: named.name.leak(),
            aliases: named.aliases,
            operation,
            result: named.result,
            parameters,
            documentation,
        }
    })
}

/// The name of the function of several operations, and of saved programs.
pub(crate) const PROGRAM: &str = "ragged_program";

/// The section of the functions.
pub(crate) const SECTION: DocSection =
    DocSection { include: true, label: "Functions of rows", description: Some("Operations of the crate `ragged`.") };

/// The first sentence of the operation's documentation, in one line.
fn summary(operation: &Operation) -> String {
    let paragraph = operation.doc.split("\n\n").next().unwrap_or_default();
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ").replace("[`", "`").replace("`]", "`")
}

fn usage(name: &str, parameters: &[Parameter]) -> String {
    let parameters: Vec<String> = parameters.iter().map(Parameter::usage).collect();
    format!("{name}({})", parameters.join(", "))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// No operation of rows is missing without a reason, and no name is two functions.
    #[test]
    fn every_operation_of_rows_is_a_function_or_has_a_reason() {
        let mut known = HashSet::new();
        for function in functions() {
            for name in std::iter::once(function.name).chain(function.aliases.iter().map(String::as_str)) {
                assert!(known.insert(name.to_owned()), "{name} is two functions");
            }
        }
        assert!(known.len() > 200, "{}", known.len());
        for name in names::NOT_OFFERED.iter().map(|(name, _)| name) {
            let operation = operations().find(|operation| operation.name == *name);
            assert!(operation.is_some_and(|operation| !is_offered(operation)), "{name}");
        }
        let of_rows = |operation: &Operation| {
            operation.owners.contains(Owner::Row) && operation.owners.contains(Owner::Tensor) && operation.is_callable()
        };
        for operation in operations().filter(|operation| of_rows(operation)) {
            let has_reason = names::not_offered(operation.name).is_some() || has_no_literal(operation);
            assert!(is_offered(operation) != has_reason, "{} is not offered, without a reason", operation.name);
        }
    }
}
