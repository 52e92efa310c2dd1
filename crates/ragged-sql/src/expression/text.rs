//! Expressions as SQL, with `$1` for the first column.

use std::fmt;

use super::{Argument, Expression, Literal};
use crate::functions::PROGRAM;

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(k) => write!(f, "${}", k + 1),
            Self::Literal(literal) => literal.fmt(f),
            Self::Table(place) => text(place).fmt(f),
            Self::Call(function, arguments) => {
                // Defaults at the end are left out.
                let is_default = |argument: &Argument| matches!(argument, Argument::One(Self::Literal(Literal::Null)));
                let given = arguments.iter().rposition(|argument| !is_default(argument)).map_or(0, |last| last + 1);
                write!(f, "{}(", function.name)?;
                separated(f, arguments[..given].iter().flat_map(Argument::expressions))?;
                f.write_str(")")
            }
            Self::Saved(place, inputs) => {
                write!(f, "{PROGRAM}({}", text(place))?;
                for input in inputs {
                    write!(f, ", {input}")?;
                }
                f.write_str(")")
            }
        }
    }
}

fn text(place: &str) -> Literal {
    Literal::Text(place.into())
}

fn separated<'e>(f: &mut fmt::Formatter<'_>, all: impl Iterator<Item = &'e Expression>) -> fmt::Result {
    for (k, one) in all.enumerate() {
        write!(f, "{}{one}", if k > 0 { ", " } else { "" })?;
    }
    Ok(())
}
