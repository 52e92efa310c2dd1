//! Expressions recorded as operations of the engine.

use ragged::operation::{Operation, Value, named};
use ragged::{DType, Result, Tensor};

use super::{Argument, Expression, Literal, Rows, parse};
use crate::fault;
use crate::functions::{Accepts, Function, Parameter};
use crate::tables::Tables;

/// What expressions are evaluated with.
pub(crate) struct Inputs<'i> {
    pub(crate) columns: &'i [Tensor],
    pub(crate) tables: &'i Tables,
    /// A check of the rows of each call, where the columns are samples.
    pub(crate) rows: Option<&'i Rows>,
}

impl Expression {
    /// The tensor that the expression computes.
    ///
    /// # Errors
    /// A file that cannot be read; those of the operations.
    pub(crate) fn evaluate(&self, inputs: &Inputs<'_>) -> Result<Tensor> {
        match self {
            Self::Column(k) => Ok(inputs.columns[*k].clone()),
            Self::Literal(literal) => Err(fault::argument(format!("{literal} is given where a column is required"))),
            Self::Table(place) => inputs.tables.table(place),
            Self::Call(function, arguments) => call(function, arguments, inputs),
            Self::Saved(place, of) => {
                let of = of.iter().map(|input| input.evaluate(inputs)).collect::<Result<Vec<_>>>()?;
                let outputs = inputs.tables.program(place)?.run(&of[..])?;
                let output = outputs.into_iter().next();
                let output = output.ok_or_else(|| fault::argument(format!("{place} has no output")))?;
                inputs.rows.map_or(Ok(()), |rows| rows.check_saved(place, &output))?;
                Ok(output)
            }
        }
    }
}

fn call(function: &'static Function, arguments: &[Argument], inputs: &Inputs<'_>) -> Result<Tensor> {
    let mut values = Vec::new();
    for (parameter, argument) in function.parameters.iter().zip(arguments) {
        let value = value(parameter, argument, inputs)?;
        match parameter.option_of {
            None => values.push(value),
            Some(_) if matches!(value, Value::Default) => {}
            Some(of) => {
                let at = of + usize::from(function.operation.is_method);
                let argument = std::mem::replace(&mut values[at], Value::Default);
                values[at] = argument.option(parameter.name, value);
            }
        }
    }
    for (parameter, k) in function.parameters.iter().zip(0..values.len()) {
        if let (Accepts::PerRow, Value::Integer(n)) = (parameter.accepts, &values[k]) {
            values[k] = Value::Tensor(for_each_row(*n, &values)?);
        }
    }
    if is_of_elements(function.operation) {
        align_rows(&mut values)?;
    }
    let rank = values.iter().find_map(rank_of).unwrap_or(0);
    for (parameter, value) in function.parameters.iter().zip(&mut values) {
        below_the_rows(parameter, value, rank).map_err(|why| fault::argument(format!("{}: {why}", function.name)))?;
    }
    let result = named(function.name, || {
        let mut results = function.operation.call(&values)?;
        Ok(match function.result {
            Some(k) => results.swap_remove(k),
            None => results.pop().expect("an operation has a result"),
        })
    })?;
    inputs.rows.map_or(Ok(()), |rows| rows.check(function, &values, &result))?;
    Ok(result)
}

/// The number once for each row of the columns.
fn for_each_row(number: i64, values: &[Value]) -> Result<Tensor> {
    let column = values.iter().find_map(|value| if let Value::Tensor(x) = value { Some(x) } else { None });
    let column = column.ok_or_else(|| fault::argument("a column is required"))?;
    let lengths = if column.rank() > 1 { column.row_lengths(1)? } else { column.zeros_like()?.cast(DType::I64)? };
    lengths.multiply(0)?.add(number)
}

/// Whether an operation broadcasts its operands.
fn is_of_elements(operation: &Operation) -> bool {
    operation.family.starts_with("Element-wise") || operation.name == "select"
}

/// Adds dimensions to operands of fewer of them, below the rows, so that broadcasting is that of each row by itself: a
/// number of each row is one for all values of its list.
fn align_rows(values: &mut [Value]) -> Result<()> {
    let most = values.iter().filter_map(rank_of).max().unwrap_or(0);
    for value in values {
        let lacking = rank_of(value).map_or(0, |rank| most - rank);
        if let Value::Tensor(operand) = value {
            for _ in 0..lacking {
                *operand = operand.expand_dims(1)?;
            }
        }
    }
    Ok(())
}

fn rank_of(value: &Value) -> Option<usize> {
    match value {
        Value::Tensor(x) => Some(x.rank()),
        Value::Tensors(all) => all.first().map(Tensor::rank),
        Value::With(of, _) => rank_of(of),
        _ => None,
    }
}

fn value(parameter: &Parameter, argument: &Argument, inputs: &Inputs<'_>) -> Result<Value> {
    match argument {
        Argument::Several(all) => {
            all.iter().map(|one| one.evaluate(inputs)).collect::<Result<Vec<_>>>().map(Value::Tensors)
        }
        Argument::One(Expression::Literal(literal)) => Ok(match (parameter.accepts, literal) {
            (Accepts::Type, Literal::Text(name)) => Value::DType(fault::dtype(name)?),
            (Accepts::List | Accepts::Axes, Literal::Text(list)) => {
                parse::list(&String::from_utf8_lossy(list)).map_err(fault::argument)?.value()
            }
            _ => literal.value(),
        }),
        Argument::One(one) => one.evaluate(inputs).map(Value::Tensor),
    }
}

/// Completes and checks axes: a query computes each row by itself, so that its rows are no axis.
fn below_the_rows(parameter: &Parameter, value: &mut Value, rank: usize) -> std::result::Result<(), String> {
    let all = || Value::List((1..rank).map(|axis| Value::Integer(axis as i64)).collect());
    match (parameter.accepts, &mut *value) {
        (Accepts::Axis, Value::With(axis, _)) if matches!(**axis, Value::Default) => **axis = Value::Integer(-1),
        (Accepts::Axis | Accepts::Axes, Value::With(axis, _)) => return below_the_rows(parameter, axis, rank),
        (Accepts::Axis, Value::Default) if parameter.is_innermost => *value = Value::Integer(-1),
        (Accepts::Axes, Value::Default) => *value = all(),
        _ => {}
    }
    let axes = match value {
        Value::List(axes) => &axes[..],
        one => std::slice::from_ref(&*one),
    };
    let is_of_rows =
        |axis: &Value| matches!(axis, Value::Integer(n) if *n == 0 || n.checked_add(rank as i64) == Some(0));
    if matches!(parameter.accepts, Accepts::Axis | Accepts::Axes) && axes.iter().any(is_of_rows) {
        let name = parameter.name;
        return Err(format!("`{name}` is the axis of the table's rows, which a function of one row cannot combine"));
    }
    if parameter.accepts == Accepts::Axes && axes.is_empty() {
        return Err("a column of single values has no axis to reduce; an aggregate function reduces rows".into());
    }
    Ok(())
}
