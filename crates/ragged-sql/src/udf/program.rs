//! `ragged_program(TEXT, columns…)`: several operations, or a saved program.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{DataFusionError, Result, ScalarValue, internal_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Documentation, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, TypeSignature,
    Volatility,
};

use super::arguments::{compact, literals, scalars, types};
use crate::engine::Engine;
use crate::expression::Expression;
use crate::fault;
use crate::functions::{PROGRAM, SECTION};

/// The function, whose first argument says what it computes.
#[derive(Debug)]
pub(crate) struct ProgramFunction {
    engine: Arc<Engine>,
    signature: Signature,
}

impl ProgramFunction {
    pub(crate) fn new(engine: &Arc<Engine>) -> Self {
        let signature = Signature::new(TypeSignature::UserDefined, Volatility::Immutable);
        Self { engine: engine.clone(), signature }
    }

    /// What a call computes from the arguments after the text, if it is one of this function.
    pub(super) fn expression_of(call: &ScalarFunction) -> Option<Expression> {
        call.func.inner().downcast_ref::<Self>()?;
        let Some(Expr::Literal(text, _)) = call.args.first() else { return None };
        expression(Some(text), call.args.len() - 1).ok()
    }
}

/// The expression of a text over so many columns.
fn expression(text: Option<&ScalarValue>, columns: usize) -> Result<Expression> {
    let Some(Some(text)) = text.map(ScalarValue::try_as_str).map(Option::flatten) else {
        return Err(fault::of_plan(format!(
            "{PROGRAM}: the first argument must be a text, the file of a program; usage: {PROGRAM}(file, columns…)"
        )));
    };
    let saved = || Ok(Expression::Saved(text.into(), (0..columns).map(Expression::Column).collect()));
    let parsed = Expression::parse(text).unwrap_or_else(saved);
    let expression = parsed.map_err(|why| fault::of_plan(format!("{PROGRAM}: {why}")))?;
    let (_, read) = compact(expression.clone());
    match read.iter().find(|k| **k >= columns) {
        Some(k) => Err(fault::of_plan(format!("{PROGRAM}: ${} is none of the {columns} columns", k + 1))),
        None if columns == 0 => Err(fault::of_plan(format!("{PROGRAM}: a column is required"))),
        None => Ok(expression),
    }
}

/// An expression of the columns after the text, as one of all arguments.
fn after_the_text(expression: Expression) -> (Expression, Vec<usize>) {
    compact(expression.with_columns(&mut |k| k + 1))
}

impl PartialEq for ProgramFunction {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.engine, &other.engine)
    }
}
impl Eq for ProgramFunction {}
impl Hash for ProgramFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        PROGRAM.hash(state);
    }
}

impl ScalarUDFImpl for ProgramFunction {
    fn name(&self) -> &str {
        PROGRAM
    }

    fn documentation(&self) -> Option<&Documentation> {
        static PAGE: LazyLock<Documentation> = LazyLock::new(|| {
            let what = "The result of a saved program, FILE.json or FILE.json#NAME, of the columns.";
            Documentation::builder(SECTION, what, format!("{PROGRAM}(file, columns, …)")).build()
        });
        Some(&PAGE)
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(arg_types.to_vec())
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("the type follows from the text")
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let columns = args.arg_fields.len().saturating_sub(1);
        let (expression, read) = after_the_text(expression(literals(&args).next().flatten(), columns)?);
        output_field(PROGRAM, &self.engine, &expression, args.arg_fields, &read)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let columns = args.args.len().saturating_sub(1);
        let (expression, read) = after_the_text(expression(scalars(&args.args).next().flatten(), columns)?);
        run(&self.engine, &expression, &args, &read)
    }
}

/// The field of the result: it can be NULL if a column that is read can.
pub(super) fn output_field(
    name: &str,
    engine: &Engine,
    expression: &Expression,
    fields: &[FieldRef],
    read: &[usize],
) -> Result<FieldRef> {
    let compiled = engine.compiled(expression, &types(fields, read)).map_err(|error| match error {
        // Of a call within a program, the message has its name.
        DataFusionError::Plan(why) if !why.starts_with("ragged_") => fault::of_plan(format!("{name}: {why}")),
        error => error,
    })?;
    let is_nullable = read.iter().any(|k| fields[*k].is_nullable());
    Ok(Arc::new(Field::new(name, compiled.output.clone(), is_nullable)))
}

/// The result of a batch.
pub(super) fn run(
    engine: &Engine,
    expression: &Expression,
    args: &ScalarFunctionArgs,
    read: &[usize],
) -> Result<ColumnarValue> {
    let compiled = engine.compiled(expression, &types(&args.arg_fields, read))?;
    let is_array = |k: &usize| matches!(args.args[*k], ColumnarValue::Array(_));
    // Of literals only, one row says all.
    let rows = if read.iter().any(is_array) { args.number_rows } else { 1 };
    let columns = read.iter().map(|k| args.args[*k].to_array(rows)).collect::<Result<Vec<ArrayRef>>>()?;
    let names: Vec<&str> = read.iter().map(|k| args.arg_fields[*k].name().as_str()).collect();
    let result = engine.run(&compiled, &names, &columns, rows)?;
    if read.iter().any(is_array) {
        Ok(ColumnarValue::Array(result))
    } else {
        Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?))
    }
}
