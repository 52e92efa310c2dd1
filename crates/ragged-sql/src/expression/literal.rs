//! Literals of SQL as values of arguments.

use std::fmt::{self, Write as _};

use arrow::array::{Array, ArrayRef};
use datafusion::common::ScalarValue;
use ragged::operation::Value;

/// A literal.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Literal {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(Vec<u8>),
    List(Vec<Self>),
}

impl Literal {
    /// The literal of a scalar; `None` for types that no argument has.
    pub(crate) fn of(scalar: &ScalarValue) -> Option<Self> {
        let integer = |n: Option<i64>| n.map_or(Self::Null, Self::Integer);
        let float = |x: Option<f64>| x.map_or(Self::Null, Self::Float);
        Some(match scalar {
            ScalarValue::Null => Self::Null,
            scalar if scalar.is_null() => Self::Null,
            ScalarValue::Boolean(b) => b.map_or(Self::Null, Self::Bool),
            ScalarValue::Int8(n) => integer(n.map(i64::from)),
            ScalarValue::Int16(n) => integer(n.map(i64::from)),
            ScalarValue::Int32(n) => integer(n.map(i64::from)),
            ScalarValue::Int64(n) => integer(*n),
            ScalarValue::UInt8(n) => integer(n.map(i64::from)),
            ScalarValue::UInt16(n) => integer(n.map(i64::from)),
            ScalarValue::UInt32(n) => integer(n.map(i64::from)),
            ScalarValue::UInt64(Some(n)) => Self::Integer(i64::try_from(*n).ok()?),
            ScalarValue::Float32(x) => float(x.map(f64::from)),
            ScalarValue::Float64(x) => float(*x),
            ScalarValue::Utf8(text) | ScalarValue::LargeUtf8(text) | ScalarValue::Utf8View(text) => {
                Self::Text(text.as_ref()?.as_bytes().to_vec())
            }
            ScalarValue::Binary(bytes) | ScalarValue::LargeBinary(bytes) | ScalarValue::BinaryView(bytes) => {
                Self::Text(bytes.clone()?)
            }
            ScalarValue::List(list) => Self::of_items(&list.value(0))?,
            ScalarValue::LargeList(list) => Self::of_items(&list.value(0))?,
            ScalarValue::FixedSizeList(list) => Self::of_items(&list.value(0))?,
            _ => return None,
        })
    }

    fn of_items(items: &ArrayRef) -> Option<Self> {
        let item = |k| Self::of(&ScalarValue::try_from_array(items, k).ok()?);
        (0..items.len()).map(item).collect::<Option<Vec<_>>>().map(Self::List)
    }

    /// As a value of an argument; NULL is its default.
    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Null => Value::Default,
            Self::Bool(b) => Value::Bool(*b),
            Self::Integer(n) => Value::Integer(*n),
            Self::Float(x) => Value::Float(*x),
            Self::Text(text) => Value::Text(text.clone()),
            Self::List(items) => Value::List(items.iter().map(Self::value).collect()),
        }
    }
}

/// As SQL.
impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Bool(b) => b.fmt(f),
            Self::Integer(n) => n.fmt(f),
            Self::Float(x) if x.is_finite() => write!(f, "{x:?}"),
            Self::Float(x) => write!(f, "CAST('{x}' AS DOUBLE)"),
            Self::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => write!(f, "'{}'", text.replace('\'', "''")),
                Err(_) => {
                    f.write_str("X'")?;
                    bytes.iter().try_for_each(|byte| write!(f, "{byte:02X}"))?;
                    f.write_char('\'')
                }
            },
            Self::List(items) => {
                f.write_char('[')?;
                for (k, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if k > 0 { ", " } else { "" })?;
                }
                f.write_char(']')
            }
        }
    }
}
