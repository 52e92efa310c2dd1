//! Arguments of a call matched with the parameters of its function.

use super::{Argument, Expression, Literal};
use crate::functions::{Accepts, Function, Parameter};

/// An argument as a query gives it.
pub(crate) enum Given {
    /// A column, or a call.
    Expression(Expression),
    /// A literal, and the column of that value if it has to be one.
    Literal(Option<Literal>, Option<usize>),
}

impl Given {
    fn is_literal(&self) -> bool {
        // A list of values is as well a column of it.
        matches!(self, Self::Literal(literal, column) if column.is_none() || !matches!(literal, Some(Literal::List(_)) | None))
    }
}

/// A call of the function with the arguments of a query.
///
/// # Errors
/// Too many or too few; a column where a literal is required.
pub(crate) fn bind(function: &'static Function, given: Vec<Given>) -> Result<Expression, String> {
    let count = given.len();
    let mut given = given.into_iter().peekable();
    let mut arguments = Vec::with_capacity(function.parameters.len());
    for parameter in &function.parameters {
        if parameter.accepts == Accepts::Columns {
            let mut columns = Vec::new();
            while let Some(one) = given.next_if(|one| !one.is_literal()) {
                columns.push(column(parameter, one)?);
            }
            if columns.is_empty() {
                return Err(format!("`{}` requires columns", parameter.name));
            }
            arguments.push(Argument::Several(columns));
        } else {
            arguments.push(Argument::One(match given.next() {
                Some(one) => of_one(parameter, one)?,
                None => Expression::Literal(Literal::Null),
            }));
        }
        let is_missing = matches!(arguments.last(), Some(Argument::One(Expression::Literal(Literal::Null))));
        if is_missing && !parameter.is_optional {
            return Err(format!("`{}` is missing", parameter.name));
        }
    }
    match given.next() {
        None => Ok(Expression::Call(function, arguments)),
        Some(_) => Err(format!("{count} arguments are given, which are too many")),
    }
}

fn of_one(parameter: &Parameter, given: Given) -> Result<Expression, String> {
    match (parameter.accepts, given) {
        (Accepts::Column | Accepts::Columns, given) => column(parameter, given),
        (Accepts::Operand, Given::Literal(Some(Literal::List(_)) | None, Some(k))) => Ok(Expression::Column(k)),
        (_, Given::Literal(Some(literal), _)) => Ok(Expression::Literal(literal)),
        (Accepts::Operand, Given::Expression(one)) => Ok(one),
        (Accepts::List | Accepts::Axes, _) => {
            Err(format!("`{}` must be a literal: a number, or a list as a text such as '[1, 2]'", parameter.name))
        }
        _ => Err(format!("`{}` must be a literal", parameter.name)),
    }
}

fn column(parameter: &Parameter, given: Given) -> Result<Expression, String> {
    match given {
        Given::Expression(one) => Ok(one),
        // NULL is the default of an option.
        Given::Literal(Some(Literal::Null), _) if parameter.is_optional => Ok(Expression::Literal(Literal::Null)),
        Given::Literal(Some(Literal::Text(place)), _) => {
            let place = String::from_utf8(place).map_err(|_| format!("`{}` is no path", parameter.name))?;
            Ok(Expression::Table(place.into()))
        }
        Given::Literal(_, Some(k)) => Ok(Expression::Column(k)),
        Given::Literal(..) => Err(format!("`{}` must be a column", parameter.name)),
    }
}
