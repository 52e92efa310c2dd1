//! Constants as literals.

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, UnaryOperator, Value,
};

/// A number as SQL computes with it.
#[derive(Debug, Clone, Copy)]
enum Number {
    Integer(i64),
    Float(f64),
}

/// The literal of an arithmetic expression of numbers; `None` for others, and for results that are no numbers.
pub(super) fn number(of: &Expr) -> Option<Expr> {
    let (is_negative, digits) = match value(of)? {
        Number::Integer(n) => (n < 0, n.unsigned_abs().to_string()),
        Number::Float(x) if x.is_finite() => (x.is_sign_negative(), format!("{:?}", x.abs())),
        Number::Float(_) => return None,
    };
    let digits = Expr::Value(Value::Number(digits, false).into());
    Some(match is_negative {
        true => Expr::UnaryOp { op: UnaryOperator::Minus, expr: Box::new(digits) },
        false => digits,
    })
}

fn value(of: &Expr) -> Option<Number> {
    Some(match of {
        Expr::Value(literal) => match &literal.value {
            Value::Number(digits, _) => match digits.parse() {
                Ok(n) => Number::Integer(n),
                // Integers of 64 bits without sign are no floats.
                Err(_) if digits.parse::<u64>().is_ok() => return None,
                Err(_) => Number::Float(digits.parse().ok()?),
            },
            _ => return None,
        },
        Expr::Nested(inner) | Expr::UnaryOp { op: UnaryOperator::Plus, expr: inner } => value(inner)?,
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match value(expr)? {
            Number::Integer(n) => Number::Integer(n.checked_neg()?),
            Number::Float(x) => Number::Float(-x),
        },
        Expr::BinaryOp { left, op, right } => match (value(left)?, value(right)?) {
            (Number::Integer(a), Number::Integer(b)) => Number::Integer(match op {
                BinaryOperator::Plus => a.checked_add(b)?,
                BinaryOperator::Minus => a.checked_sub(b)?,
                BinaryOperator::Multiply => a.checked_mul(b)?,
                BinaryOperator::Divide => a.checked_div(b)?,
                BinaryOperator::Modulo => a.checked_rem(b)?,
                _ => return None,
            }),
            (a, b) => {
                let (a, b) = (a.float(), b.float());
                Number::Float(match op {
                    BinaryOperator::Plus => a + b,
                    BinaryOperator::Minus => a - b,
                    BinaryOperator::Multiply => a * b,
                    BinaryOperator::Divide => a / b,
                    BinaryOperator::Modulo => a % b,
                    _ => return None,
                })
            }
        },
        _ => return None,
    })
}

impl Number {
    fn float(self) -> f64 {
        match self {
            Self::Integer(n) => n as f64,
            Self::Float(x) => x,
        }
    }
}

/// A list of constants, `[0.25, 0.75]` or `make_array(…)`, as the text of it; `None` for other expressions.
pub(super) fn list(of: &Expr) -> Option<Expr> {
    let text = text_of_list(of)?;
    Some(Expr::Value(Value::SingleQuotedString(text).into()))
}

fn text_of_list(of: &Expr) -> Option<String> {
    let items: Vec<String> = match of {
        Expr::Array(array) => array.elem.iter().map(item).collect::<Option<_>>()?,
        Expr::Function(call) if call.name.to_string().eq_ignore_ascii_case("make_array") => match &call.args {
            FunctionArguments::List(list) => {
                let of_argument = |argument: &FunctionArg| match argument {
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(one)) => item(one),
                    _ => None,
                };
                list.args.iter().map(of_argument).collect::<Option<_>>()?
            }
            _ => return None,
        },
        Expr::Nested(inner) => return text_of_list(inner),
        _ => return None,
    };
    Some(format!("[{}]", items.join(", ")))
}

fn item(of: &Expr) -> Option<String> {
    if let Some(number) = number(of) {
        return Some(number.to_string());
    }
    match of {
        Expr::Value(literal) if matches!(literal.value, Value::SingleQuotedString(_)) => Some(of.to_string()),
        Expr::Nested(inner) => item(inner),
        _ => text_of_list(of),
    }
}
