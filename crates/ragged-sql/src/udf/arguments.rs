//! Arguments of a call, before and while the query runs.

use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{ColumnarValue, ReturnFieldArgs};

use crate::expression::{Expression, Given, Literal, bind};
use crate::fault;
use crate::functions::Function;

/// The call of a function with an input for each argument that is not a literal.
///
/// # Errors
/// Arguments that the function does not have.
pub(super) fn call<'a>(
    function: &'static Function,
    literals: impl Iterator<Item = Option<&'a ScalarValue>>,
) -> Result<Expression> {
    let given = literals.enumerate().map(|(k, scalar)| match scalar {
        Some(scalar) => Given::Literal(Literal::of(scalar), Some(k)),
        None => Given::Expression(Expression::Column(k)),
    });
    bind(function, given.collect()).map_err(|why| fault_of(function, &why))
}

/// The fault of a call, with the call as it should be.
pub(super) fn fault_of(function: &Function, why: &str) -> datafusion::common::DataFusionError {
    fault::of_plan(format!("{}: {why}; usage: {}", function.name, function.usage()))
}

/// The literals among the arguments, while a query is planned.
pub(super) fn literals<'a>(args: &'a ReturnFieldArgs<'_>) -> impl Iterator<Item = Option<&'a ScalarValue>> {
    args.scalar_arguments.iter().copied()
}

/// The literals among the arguments, while a query runs.
pub(super) fn scalars(args: &[ColumnarValue]) -> impl Iterator<Item = Option<&ScalarValue>> {
    args.iter().map(|arg| match arg {
        ColumnarValue::Scalar(scalar) => Some(scalar),
        ColumnarValue::Array(_) => None,
    })
}

/// The columns that an expression reads, each once, and the expression of these.
pub(super) fn compact(expression: Expression) -> (Expression, Vec<usize>) {
    let mut read = Vec::new();
    let expression = expression.with_columns(&mut |k| {
        read.iter().position(|known| *known == k).unwrap_or_else(|| {
            read.push(k);
            read.len() - 1
        })
    });
    (expression, read)
}

pub(super) fn types(fields: &[FieldRef], read: &[usize]) -> Vec<DataType> {
    read.iter().map(|k| fields[*k].data_type().clone()).collect()
}
