//! Growing columns: the values of one field of all records read so far.

mod append;
mod default;
mod numbers;
mod record;
mod rollback;
mod typed;

use std::fmt;

use crate::dtype::DType;
use crate::tensor::HostValues;
pub(super) use numbers::{Numbers, Strings};
pub(super) use record::{RecordColumn, Slot};

/// The reason for which a value does not fit a column.
pub(super) type Refusal = String;

/// The values of one field, or of the elements of one list field, in order.
#[derive(Debug, Clone, Default)]
pub(super) struct Column {
    pub data: Data,
    /// Whether the type is given or known from earlier records: it stays even without values.
    pub pinned: bool,
}

/// The values of a column, by their type.
#[derive(Debug, Clone, Default)]
pub(super) enum Data {
    /// Of a type that no value has shown yet.
    #[default]
    Unknown,
    Bool(Vec<bool>),
    /// Numbers of an inferred type.
    Numbers(Numbers),
    Str(Strings),
    /// Numbers of a given dtype.
    Typed(HostValues),
    List(ListColumn),
    Record(RecordColumn),
}

/// Lists: their splits, and the column of their elements.
#[derive(Debug, Clone)]
pub(super) struct ListColumn {
    /// Where lists begin; one more entry than lists.
    pub splits: Vec<u32>,
    pub child: Box<Column>,
}

impl Default for ListColumn {
    fn default() -> Self {
        Self { splits: vec![0], child: Box::default() }
    }
}

impl ListColumn {
    /// Ends a list, whose elements the child has taken since the last one.
    pub(super) fn end(&mut self) -> Result<(), Refusal> {
        self.splits.push(count(self.child.len())?);
        Ok(())
    }
}

/// The refusal of a value beyond the size of a tensor: an error of the whole text, not of a line.
pub(super) const TOO_MANY: &str = "a field has more than 2^32 - 2 values or bytes; read the text in batches";

/// A number of elements.
fn count(n: usize) -> Result<u32, Refusal> {
    u32::try_from(n).ok().filter(|&n| n < u32::MAX - 1).ok_or_else(|| TOO_MANY.to_owned())
}

impl Column {
    /// An empty column of a given dtype.
    pub(super) fn of_dtype(dtype: DType) -> Self {
        let data = match dtype {
            DType::Str => Data::Str(Strings::default()),
            DType::Bool => Data::Bool(Vec::new()),
            dtype => Data::Typed(HostValues::empty(dtype)),
        };
        Self { data, pinned: true }
    }

    /// Number of values.
    pub(super) fn len(&self) -> usize {
        match &self.data {
            Data::Unknown => 0,
            Data::Bool(v) => v.len(),
            Data::Numbers(v) => v.len(),
            Data::Str(v) => v.len(),
            Data::Typed(v) => v.len(),
            Data::List(v) => v.splits.len() - 1,
            Data::Record(v) => v.rows,
        }
    }

    /// Whether an integer would stay one: the column holds no floats yet.
    pub(super) fn takes_integers(&self) -> bool {
        match &self.data {
            Data::Unknown => true,
            Data::Numbers(v) => v.floats.is_empty(),
            Data::Typed(v) => v.dtype().is_integer(),
            _ => false,
        }
    }

    /// Bytes of all values.
    pub(super) fn bytes(&self) -> u64 {
        match &self.data {
            Data::Unknown => 0,
            Data::Bool(v) => v.len() as u64,
            Data::Numbers(v) => 8 * v.len() as u64,
            Data::Str(v) => 4 * v.splits.len() as u64 + v.bytes.len() as u64,
            Data::Typed(v) => (v.len() * v.dtype().size()) as u64,
            Data::List(v) => 4 * v.splits.len() as u64 + v.child.bytes(),
            Data::Record(v) => v.columns.iter().map(Self::bytes).sum(),
        }
    }

    /// The refusal of a value that is described by `given`.
    #[cold]
    fn refused(&self, given: impl fmt::Display) -> Refusal {
        let own = match &self.data {
            Data::Unknown => "values".into(),
            Data::Bool(_) => "truth values".into(),
            Data::Numbers(_) => "numbers".into(),
            Data::Str(_) => "strings".into(),
            Data::Typed(v) => format!("values of {}", v.dtype()),
            Data::List(_) => "lists".into(),
            Data::Record(_) => "records".into(),
        };
        format!("{given} does not fit: the field holds {own}")
    }

    pub(super) fn push_bool(&mut self, value: bool) -> Result<(), Refusal> {
        match &mut self.data {
            Data::Bool(v) => v.push(value),
            Data::Unknown => self.data = Data::Bool(vec![value]),
            _ => return Err(self.refused(value)),
        }
        Ok(())
    }

    pub(super) fn push_i64(&mut self, value: i64) -> Result<(), Refusal> {
        match &mut self.data {
            Data::Numbers(v) => v.push_i64(value),
            Data::Typed(v) => typed::push_integer(v, value.into()),
            Data::Unknown => {
                self.data = Data::Numbers(Numbers::default());
                self.push_i64(value)
            }
            _ => Err(self.refused(value)),
        }
    }

    pub(super) fn push_u64(&mut self, value: u64) -> Result<(), Refusal> {
        match (i64::try_from(value), &mut self.data) {
            (Ok(value), _) => self.push_i64(value),
            (Err(_), Data::Numbers(v)) => v.push_large(value),
            (Err(_), Data::Typed(v)) => typed::push_integer(v, value.into()),
            (Err(_), Data::Unknown) => {
                self.data = Data::Numbers(Numbers::default());
                self.push_u64(value)
            }
            _ => Err(self.refused(value)),
        }
    }

    pub(super) fn push_f64(&mut self, value: f64) -> Result<(), Refusal> {
        match &mut self.data {
            Data::Numbers(v) => v.push_f64(value),
            Data::Typed(v) => return typed::push_float(v, value),
            Data::Unknown => {
                let mut numbers = Numbers::default();
                numbers.push_f64(value);
                self.data = Data::Numbers(numbers);
            }
            _ => return Err(self.refused(value)),
        }
        Ok(())
    }

    pub(super) fn push_bytes(&mut self, value: &[u8]) -> Result<(), Refusal> {
        match &mut self.data {
            Data::Str(v) => v.push(value),
            Data::Unknown => {
                let mut strings = Strings::default();
                strings.push(value)?;
                self.data = Data::Str(strings);
                Ok(())
            }
            _ => Err(self.refused(format_args!("the string {:?}", String::from_utf8_lossy(value)))),
        }
    }

    /// The lists of the column, for another one.
    pub(super) fn list(&mut self) -> Result<&mut ListColumn, Refusal> {
        if let Data::Unknown = self.data {
            self.data = Data::List(ListColumn::default());
        }
        if !matches!(self.data, Data::List(_)) {
            return Err(self.refused("a list"));
        }
        match &mut self.data {
            Data::List(list) => Ok(list),
            _ => unreachable!("bug: a column of lists"),
        }
    }

    /// The records of the column, for another one.
    pub(super) fn record(&mut self) -> Result<&mut RecordColumn, Refusal> {
        if let Data::Unknown = self.data {
            self.data = Data::Record(RecordColumn::default());
        }
        if !matches!(self.data, Data::Record(_)) {
            return Err(self.refused("a record"));
        }
        match &mut self.data {
            Data::Record(record) => Ok(record),
            _ => unreachable!("bug: a column of records"),
        }
    }

    /// The refusal of a null.
    pub(super) fn refuse_null(&self) -> Refusal {
        self.refused("null")
    }
}
