//! Default values in place of nulls.

use std::sync::Arc;

use super::{Column, Data, RecordColumn, Refusal, typed};

impl Column {
    /// Appends the default value of the column's type: 0, false, the empty string, the empty list, the record of
    /// default values.
    pub(in super::super) fn push_default(&mut self) -> Result<(), Refusal> {
        match &mut self.data {
            Data::Unknown => {
                Err("null has no default value, since no value has shown the type of the field; give a schema".into())
            }
            Data::Bool(v) => {
                v.push(false);
                Ok(())
            }
            Data::Numbers(v) => v.push_i64(0),
            Data::Typed(v) => typed::push_integer(v, 0),
            Data::Str(v) => v.push(b""),
            Data::List(v) => v.end(),
            Data::Record(v) => {
                v.fill().map_err(|(name, refusal)| format!("field {name:?}: {refusal}"))?;
                v.rows += 1;
                Ok(())
            }
        }
    }
}

impl RecordColumn {
    /// Gives default values to the fields that the current record has not given. The error has the name of the field.
    pub(in super::super) fn fill(&mut self) -> Result<(), (Arc<str>, Refusal)> {
        for (name, column) in self.names.iter().zip(&mut self.columns) {
            if column.len() == self.rows {
                column.push_default().map_err(|refusal| (name.clone(), refusal))?;
            }
        }
        Ok(())
    }
}
