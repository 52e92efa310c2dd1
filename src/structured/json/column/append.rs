//! Appending of columns that were read in parallel.

use super::{Column, Data, Refusal, count, typed};

impl Column {
    /// Appends the values of `other`.
    ///
    /// # Errors
    /// Columns of different types; this column then holds a part of the values.
    pub(in super::super) fn append(&mut self, other: Self) -> Result<(), Refusal> {
        match (&mut self.data, other.data) {
            (_, Data::Unknown) => {}
            (own @ Data::Unknown, data) => *own = data,
            (Data::Bool(a), Data::Bool(b)) => a.extend_from_slice(&b),
            (Data::Numbers(a), Data::Numbers(b)) => a.append(b)?,
            (Data::Str(a), Data::Str(b)) => a.append(&b)?,
            (Data::Typed(a), Data::Typed(b)) => typed::append(a, b)?,
            (Data::List(a), Data::List(b)) => {
                let base = a.child.len();
                count(base + b.child.len())?;
                a.splits.extend(b.splits[1..].iter().map(|&end| base as u32 + end));
                a.child.append(*b.child)?;
            }
            (Data::Record(a), Data::Record(mut b)) => {
                if a.names.len() != b.names.len() {
                    return Err("records of other fields".into());
                }
                for (name, column) in a.names.iter().zip(&mut a.columns) {
                    let at = b.names.iter().position(|other| other == name).ok_or("records of other fields")?;
                    column.append(std::mem::take(&mut b.columns[at]))?;
                }
                a.rows += b.rows;
                a.is_closed |= b.is_closed;
            }
            _ => return Err("values of other types".into()),
        }
        Ok(())
    }
}
