//! A function of one operation.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{
    ColumnarValue, Documentation, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    TypeSignature, Volatility,
};

use super::arguments::{call, compact, fault_of, literals, scalars};
use super::program::{ProgramFunction, output_field, run};
use crate::engine::Engine;
use crate::expression::{Expression, Given, Literal, bind};
use crate::functions::Function;

/// `ragged_NAME(columns and literals)`.
#[derive(Debug)]
pub(crate) struct OfOperation {
    function: &'static Function,
    engine: Arc<Engine>,
    program: Arc<ScalarUDF>,
    signature: Signature,
}

impl OfOperation {
    /// `program` is the function that calls become.
    pub(crate) fn new(function: &'static Function, engine: &Arc<Engine>, program: &Arc<ScalarUDF>) -> Self {
        let signature = Signature::new(TypeSignature::UserDefined, Volatility::Immutable);
        let names = function.parameters.iter().map(|parameter| parameter.name).collect();
        // A list of columns has no end that names could follow.
        let named = if function.list().is_some() { None } else { signature.clone().with_parameter_names(names).ok() };
        let signature = named.unwrap_or(signature);
        Self { function, engine: engine.clone(), program: program.clone(), signature }
    }
}

impl PartialEq for OfOperation {
    fn eq(&self, other: &Self) -> bool {
        self.function.name == other.function.name && Arc::ptr_eq(&self.engine, &other.engine)
    }
}
impl Eq for OfOperation {}
impl Hash for OfOperation {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.function.name.hash(state);
    }
}

impl ScalarUDFImpl for OfOperation {
    fn name(&self) -> &str {
        self.function.name
    }

    fn aliases(&self) -> &[String] {
        &self.function.aliases
    }

    fn documentation(&self) -> Option<&Documentation> {
        Some(&self.function.documentation)
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(arg_types.to_vec())
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("the type follows from the literals, too")
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let (expression, read) = compact(call(self.function, literals(&args))?);
        output_field(self.name(), &self.engine, &expression, args.arg_fields, &read)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let (expression, read) = compact(call(self.function, scalars(&args.args))?);
        run(&self.engine, &expression, &args, &read)
    }

    /// The call as a program, into which those among its arguments are merged.
    fn simplify(&self, args: Vec<Expr>, _: &SimplifyContext) -> Result<ExprSimplifyResult> {
        let mut columns = Vec::new();
        let given = args.iter().map(|arg| given(arg, &mut columns)).collect();
        let expression = bind(self.function, given).map_err(|why| fault_of(self.function, &why))?;
        let (expression, read) = compact(expression);
        if read.is_empty() || expression.depth() > MOST_DEPTH {
            return Ok(ExprSimplifyResult::Original(args));
        }
        let text = Expr::Literal(ScalarValue::Utf8(Some(expression.to_string())), None);
        let inputs = read.iter().map(|k| columns[*k].clone());
        Ok(ExprSimplifyResult::Simplified(self.program.call(std::iter::once(text).chain(inputs).collect())))
    }
}

/// Most calls within each other that become one program; a text of more could not be parsed.
const MOST_DEPTH: usize = 24;

/// An argument as one of a program; `columns` collects the expressions that are not part of it.
fn given(arg: &Expr, columns: &mut Vec<Expr>) -> Given {
    let mut column = |of: &Expr| {
        columns.iter().position(|known| known == of).unwrap_or_else(|| {
            columns.push(of.clone());
            columns.len() - 1
        })
    };
    match arg {
        Expr::Literal(scalar, _) => Given::Literal(Literal::of(scalar), Some(column(arg))),
        Expr::ScalarFunction(call) => match ProgramFunction::expression_of(call) {
            Some(inner) => Given::Expression(inner.with_columns(&mut |k| column(&call.args[k + 1]))),
            None => Given::Expression(Expression::Column(column(arg))),
        },
        _ => Given::Expression(Expression::Column(column(arg))),
    }
}
