//! Records: one column per field.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Column, Refusal};
use crate::structured::from_fields::problem_of_name;

/// The columns of the fields of records, which the first record names.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct RecordColumn {
    pub names: Vec<Arc<str>>,
    pub columns: Vec<Column>,
    /// Position of each name.
    index: HashMap<Arc<str>, usize>,
    pub rows: usize,
    /// Whether the names are complete: given, or those of the first record.
    pub is_closed: bool,
}

/// The field that a name of a record leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Slot {
    At(usize),
    /// A field that the records do not have.
    Unknown,
    /// A field that the record has already given.
    Twice,
}

impl RecordColumn {
    /// Records of given fields. A name that occurs twice is an error.
    pub(in super::super) fn of(fields: impl IntoIterator<Item = (Arc<str>, Column)>) -> Result<Self, Refusal> {
        let mut out = Self { is_closed: true, ..Self::default() };
        for (name, column) in fields {
            if out.index.contains_key(&name) {
                return Err(format!("field {name:?} is given twice"));
            }
            out.add(&name, column)?;
        }
        Ok(out)
    }

    fn add(&mut self, name: &str, column: Column) -> Result<usize, Refusal> {
        if let Some(problem) = problem_of_name(name) {
            return Err(problem);
        }
        let (name, at): (Arc<str>, usize) = (name.into(), self.names.len());
        self.index.insert(name.clone(), at);
        self.names.push(name);
        self.columns.push(column);
        Ok(at)
    }

    /// Records of the same fields, without a record.
    pub(super) fn emptied(&self) -> Self {
        Self { columns: self.columns.iter().map(Column::emptied).collect(), rows: 0, ..self.without_columns() }
    }

    fn without_columns(&self) -> Self {
        let (names, index) = (self.names.clone(), self.index.clone());
        Self { names, index, columns: Vec::new(), rows: 0, is_closed: self.is_closed }
    }

    /// The field of the next name of a record. `expected` is the field after the last one, which is the usual answer;
    /// it is advanced.
    #[inline]
    pub(in super::super) fn slot(&mut self, name: &str, expected: &mut usize) -> Result<Slot, Refusal> {
        let at = match self.names.get(*expected) {
            Some(next) if **next == *name => *expected,
            _ => match self.index.get(name) {
                Some(&at) => at,
                None if self.is_closed => return Ok(Slot::Unknown),
                None => self.add(name, Column::default())?,
            },
        };
        *expected = at + 1;
        Ok(if self.columns[at].len() > self.rows { Slot::Twice } else { Slot::At(at) })
    }

    /// Ends a record; the error is the name of a missing field.
    pub(in super::super) fn end(&mut self, given: usize) -> Result<(), Arc<str>> {
        if given < self.columns.len() {
            let missing = self.columns.iter().position(|column| column.len() == self.rows);
            return missing.map_or(Ok(()), |at| Err(self.names[at].clone()));
        }
        self.is_closed = true;
        self.rows += 1;
        Ok(())
    }
}
