//! Expressions from their text.

use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, UnaryOperator, Value,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;

use super::bind::{Given, bind};
use super::{Expression, Literal};
use crate::functions::{PROGRAM, by_name};

impl Expression {
    /// The expression of a text such as `ragged_reduce_sum(ragged_square($1), 1)`; `None` if the text is no call, but the
    /// name of a file.
    ///
    /// # Errors
    /// A call of another function; arguments that its function does not have.
    pub(crate) fn parse(text: &str) -> Option<Result<Self, String>> {
        let parsed = Parser::new(&GenericDialect {}).try_with_sql(text).and_then(|mut parser| {
            let expression = parser.parse_expr()?;
            parser.expect_token(&datafusion::sql::sqlparser::tokenizer::Token::EOF).map(|_| expression)
        });
        match parsed {
            Ok(Expr::Function(call)) => Some(of_call(&call)),
            // A call that is cut or too deep is no path.
            Err(error) if text.trim_start().starts_with("ragged_") && text.contains('(') => {
                Some(Err(error.to_string()))
            }
            _ => None,
        }
    }
}

fn of_call(call: &Function) -> Result<Expression, String> {
    let name = call.name.to_string();
    let FunctionArguments::List(list) = &call.args else { return Err(format!("{name} has no arguments")) };
    let mut given = list.args.iter().map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expression)) => of_argument(expression),
        other => Err(format!("{name}: {other} is no value")),
    });
    if !name.eq_ignore_ascii_case(PROGRAM) {
        let Some(function) = by_name(&name) else { return Err(format!("{name} is no function of rows")) };
        let given = given.collect::<Result<Vec<_>, _>>()?;
        return bind(function, given).map_err(|why| format!("{}: {why}", function.name));
    }
    let Some(Given::Literal(Some(Literal::Text(place)), _)) = given.next().transpose()? else {
        return Err(format!("{PROGRAM} requires the name of a file"));
    };
    let inputs = given.map(|one| match one? {
        Given::Expression(input) => Ok(input),
        Given::Literal(..) => Err(format!("{PROGRAM} takes columns")),
    });
    Ok(Expression::Saved(String::from_utf8_lossy(&place).into(), inputs.collect::<Result<_, _>>()?))
}

fn of_argument(expression: &Expr) -> Result<Given, String> {
    match expression {
        Expr::Function(call) => of_call(call).map(Given::Expression),
        Expr::Value(value) => match &value.value {
            Value::Placeholder(name) => column(name).map(|k| Given::Expression(Expression::Column(k))),
            _ => literal(expression).map(|literal| Given::Literal(Some(literal), None)),
        },
        _ => literal(expression).map(|literal| Given::Literal(Some(literal), None)),
    }
}

/// Most columns of one program.
const MOST_COLUMNS: usize = 1 << 16;

fn column(name: &str) -> Result<usize, String> {
    let number = name.strip_prefix('$').and_then(|digits| digits.parse::<usize>().ok());
    number
        .filter(|k| (1..=MOST_COLUMNS).contains(k))
        .map(|k| k - 1)
        .ok_or_else(|| format!("{name} is no column: the first is $1"))
}

fn literal(expression: &Expr) -> Result<Literal, String> {
    let other = || format!("{expression} is no literal");
    Ok(match expression {
        Expr::Value(value) => match &value.value {
            Value::Number(digits, _) => match digits.parse() {
                Ok(n) => Literal::Integer(n),
                Err(_) => Literal::Float(digits.parse().map_err(|_| other())?),
            },
            Value::SingleQuotedString(text) => Literal::Text(text.clone().into_bytes()),
            Value::HexStringLiteral(digits) => Literal::Text(bytes(digits).ok_or_else(other)?),
            Value::Boolean(b) => Literal::Bool(*b),
            Value::Null => Literal::Null,
            _ => return Err(other()),
        },
        // The least integer has no literal without its sign.
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match (literal(expr)?, expr.to_string()) {
            (Literal::Integer(n), _) => Literal::Integer(-n),
            (Literal::Float(_), digits) if digits == "9223372036854775808" => Literal::Integer(i64::MIN),
            (Literal::Float(x), _) => Literal::Float(-x),
            _ => return Err(other()),
        },
        // Infinities and NaN.
        Expr::Cast { expr, .. } => match literal(expr)? {
            Literal::Text(text) => Literal::Float(String::from_utf8_lossy(&text).parse().map_err(|_| other())?),
            _ => return Err(other()),
        },
        Expr::Array(array) => Literal::List(array.elem.iter().map(literal).collect::<Result<_, _>>()?),
        _ => return Err(other()),
    })
}

/// The list of a text: `[0.25, 0.5]`.
///
/// # Errors
/// Another text.
pub(super) fn list(text: &str) -> Result<Literal, String> {
    let parsed = Parser::new(&GenericDialect {}).try_with_sql(&format!("ARRAY{text}")).and_then(|mut parser| {
        let list = parser.parse_expr()?;
        parser.expect_token(&datafusion::sql::sqlparser::tokenizer::Token::EOF).map(|_| list)
    });
    match parsed.map_err(|_| ()).and_then(|list| literal(&list).map_err(|_| ())) {
        Ok(list @ Literal::List(_)) => Ok(list),
        _ => Err(format!("{text:?} is given; required: a list such as '[1, 2]'")),
    }
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pair = |at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    (0..digits.len()).step_by(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_their_expressions() {
        for text in [
            "ragged_reduce_sum($1)",
            "ragged_sort(ragged_add($1, $2), 1, true)",
            "ragged_embedding_lookup('a''b.npy', ragged_to_hash_bucket_fast($1, 10))",
            "ragged_concat($1, $2, $1, -1)",
            "ragged_quantile($1, [0.25, 0.5], 1)",
            "ragged_shift($1, -9223372036854775808, 1e-12, 1)",
            "ragged_multiply($1, CAST('inf' AS DOUBLE))",
            "ragged_add($1, X'FF00')",
            "ragged_abs(ragged_program('model.json#f', $2, $1))",
        ] {
            let expression = Expression::parse(text).expect(text).expect(text);
            assert_eq!(expression.to_string(), text);
        }
        assert_eq!(Expression::parse("RAGGED_SUM($1, NULL)").unwrap().unwrap().to_string(), "ragged_reduce_sum($1)");
    }

    #[test]
    fn other_texts_are_files_or_errors() {
        for file in ["model.json", "model.json#f", "/a/b c.json", "", "$1", "1 + 2"] {
            assert!(Expression::parse(file).is_none(), "{file}");
        }
        for (text, says) in [
            ("ragged_sum", None),
            ("f($1)", Some("f is no function of rows")),
            ("ragged_sum($0)", Some("$0 is no column")),
            ("ragged_sum($1, $2)", Some("`axis` must be a literal")),
            ("ragged_sum()", Some("`x` is missing")),
            ("ragged_sum($1, 1, true, 4)", Some("too many")),
            ("ragged_sum($1", Some("Expected")),
            ("ragged_sum($1) + 1", None),
        ] {
            let parsed = Expression::parse(text);
            match (says, parsed) {
                (None, parsed) => assert!(parsed.is_none(), "{text}"),
                (Some(says), Some(Err(error))) => assert!(error.contains(says), "{text}: {error}"),
                (Some(_), parsed) => panic!("{text}: {parsed:?}"),
            }
        }
        let deep = format!("{}$1{}", "ragged_abs(".repeat(10_000), ")".repeat(10_000));
        assert!(Expression::parse(&deep).is_some_and(|parsed| parsed.is_err()));
    }
}
