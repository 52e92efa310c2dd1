//! Arguments of calls in their order.

use datafusion::sql::sqlparser::ast::{Expr, Function as Call, FunctionArg, FunctionArgExpr, FunctionArguments, Value};

use super::constants;
use crate::functions::{Accepts, Function, not_an_option};

/// Puts named arguments in their places, and NULL into gaps.
///
/// # Errors
/// An option that the function does not have. Other faults are those of planning.
pub(super) fn in_order(call: &mut Call, function: &Function) -> Result<(), String> {
    let FunctionArguments::List(list) = &mut call.args else { return Ok(()) };
    let parameters = &function.parameters;
    let is_named = |argument: &FunctionArg| matches!(argument, FunctionArg::Named { .. });
    let Some(first) = list.args.iter().position(is_named) else { return Ok(()) };
    let mut ordered: Vec<Option<FunctionArgExpr>> = vec![None; parameters.len()];
    for (k, argument) in list.args.iter().enumerate() {
        let (at, value) = match argument {
            FunctionArg::Unnamed(value) if k < first => (Some(k), value),
            FunctionArg::Named { name, arg, .. } => {
                let at = parameters.iter().position(|parameter| parameter.name.eq_ignore_ascii_case(&name.value));
                if at.is_none() {
                    let name = name.value.to_ascii_lowercase();
                    let why = not_an_option(function.operation.name, &name).map(|why| format!(": {why}"));
                    return Err(format!("it has no `{name}`{}; usage: {}", why.unwrap_or_default(), function.usage()));
                }
                (at, arg)
            }
            _ => return Ok(()),
        };
        match at.and_then(|at| ordered.get_mut(at)) {
            Some(place @ None) => *place = Some(value.clone()),
            _ => return Ok(()),
        }
    }
    let last = ordered.iter().rposition(Option::is_some).unwrap_or(0);
    let null = || FunctionArgExpr::Expr(Expr::Value(Value::Null.into()));
    list.args = ordered[..=last].iter().map(|value| FunctionArg::Unnamed(value.clone().unwrap_or_else(null))).collect();
    Ok(())
}

/// Replaces constants by literals. DataFusion would plan them as columns.
pub(super) fn fold(call: &mut Call, function: &Function) {
    let FunctionArguments::List(list) = &mut call.args else { return };
    for (k, argument) in list.args.iter_mut().enumerate() {
        let FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) = argument else { continue };
        // Where the columns that follow each other end is not known: there, a number is an argument behind them.
        let accepts = match function.list() {
            Some(list) if k >= list => Accepts::Literal,
            _ => function.parameters.get(k).map_or(Accepts::Literal, |parameter| parameter.accepts),
        };
        let folded = match accepts {
            Accepts::Column | Accepts::Columns => None,
            Accepts::List | Accepts::Axes => constants::list(value).or_else(|| constants::number(value)),
            _ => constants::number(value),
        };
        if let Some(folded) = folded {
            *value = folded;
        }
    }
}
