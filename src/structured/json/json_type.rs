//! The type of a JSON value as records hold it: the schema of JSON lines.

use std::fmt;
use std::sync::Arc;

use super::column::{Column, Data, ListColumn, RecordColumn, Refusal};
use crate::dtype::DType;

/// The type of a JSON value: a schema for [`JsonLines`](crate::JsonLines) and for
/// [`StructuredTensor::from_serialize_with_schema`](crate::StructuredTensor::from_serialize_with_schema).
///
/// ```
/// use ragged::{DType, JsonType};
/// let schema = JsonType::record([
///     ("id", JsonType::from(DType::U32)),
///     ("words", JsonType::list(DType::Str)),
/// ]);
/// assert_eq!(schema.to_string(), "{id: u32, words: [str]}");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonType {
    /// Inferred from the first value.
    Inferred,
    /// A number, a truth value or a string, of this dtype.
    Value(DType),
    /// Lists of any length of this type.
    List(Box<JsonType>),
    /// Records of these fields, by name.
    Record(Vec<(Arc<str>, JsonType)>),
}

/// Construction.
impl JsonType {
    /// Lists of a type, of any length: a dimension of the records or of a field.
    ///
    /// ```
    /// use ragged::{DType, JsonType};
    /// assert_eq!(JsonType::list(JsonType::list(DType::F32)).to_string(), "[[f32]]");
    /// ```
    pub fn list(of: impl Into<Self>) -> Self {
        Self::List(Box::new(of.into()))
    }

    /// Records of fields, by name.
    ///
    /// A name that is empty, a number, or given twice is an error of the call that gets the schema.
    ///
    /// ```
    /// use ragged::{DType, JsonType};
    /// assert_eq!(JsonType::record([("id", DType::U32)]).to_string(), "{id: u32}");
    /// ```
    pub fn record<N: Into<Arc<str>>, T: Into<Self>>(fields: impl IntoIterator<Item = (N, T)>) -> Self {
        Self::Record(fields.into_iter().map(|(name, of)| (name.into(), of.into())).collect())
    }

    /// An empty column of the type.
    ///
    /// # Errors
    /// A name of a field that is empty, a number, or given twice.
    pub(super) fn column(&self) -> Result<Column, Refusal> {
        let data = match self {
            Self::Inferred => return Ok(Column::default()),
            Self::Value(dtype) => return Ok(Column::of_dtype(*dtype)),
            Self::List(of) => Data::List(ListColumn { splits: vec![0], child: Box::new(of.column()?) }),
            Self::Record(fields) => {
                let columns = fields.iter().map(|(name, of)| Ok((name.clone(), of.column()?)));
                Data::Record(RecordColumn::of(columns.collect::<Result<Vec<_>, Refusal>>()?)?)
            }
        };
        Ok(Column { data, pinned: true })
    }

    /// The type of a column, with the dtypes of its assembled values.
    pub(super) fn of(column: &Column) -> Self {
        match &column.data {
            Data::Unknown => Self::Inferred,
            Data::Bool(_) => Self::Value(DType::Bool),
            Data::Str(_) => Self::Value(DType::Str),
            Data::Typed(values) => Self::Value(values.dtype()),
            Data::Numbers(numbers) if !numbers.floats.is_empty() => Self::Value(DType::F64),
            Data::Numbers(numbers) if numbers.is_unsigned => Self::Value(DType::U64),
            Data::Numbers(_) => Self::Value(DType::I64),
            Data::List(list) => Self::list(Self::of(&list.child)),
            Data::Record(record) => {
                Self::Record(record.names.iter().cloned().zip(record.columns.iter().map(Self::of)).collect())
            }
        }
    }
}

impl From<DType> for JsonType {
    fn from(dtype: DType) -> Self {
        Self::Value(dtype)
    }
}

impl fmt::Display for JsonType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inferred => f.write_str("?"),
            Self::Value(dtype) => f.write_str(dtype.name()),
            Self::List(of) => write!(f, "[{of}]"),
            Self::Record(fields) => {
                for (k, (name, of)) in fields.iter().enumerate() {
                    write!(f, "{}{name}: {of}", if k == 0 { "{" } else { ", " })?;
                }
                f.write_str(if fields.is_empty() { "{}" } else { "}" })
            }
        }
    }
}
