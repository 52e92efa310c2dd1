//! Removal of the last values of a column: those of a record that turns out not to fit.

use super::{Column, Data};
use crate::tensor::HostValues;

impl Column {
    /// Keeps the first `n` values. A type that only the removed values have shown is unknown again.
    pub(in super::super) fn truncate(&mut self, n: usize) {
        match &mut self.data {
            Data::Unknown => {}
            Data::Bool(v) => v.truncate(n),
            Data::Numbers(v) => v.truncate(n),
            Data::Str(v) => v.truncate(n),
            Data::Typed(v) => truncate(v, n),
            Data::List(v) => {
                v.splits.truncate(n + 1);
                v.child.truncate(v.splits.last().map_or(0, |&end| end as usize));
            }
            Data::Record(v) => {
                v.rows = v.rows.min(n);
                v.columns.iter_mut().for_each(|column| column.truncate(n));
            }
        }
        if n == 0 && !self.pinned {
            self.data = Data::Unknown;
        }
    }

    /// Whether the types are final: no further value changes what other values fit.
    pub(in super::super) fn is_complete(&self) -> bool {
        match &self.data {
            Data::Unknown => false,
            // A float makes integers floats, and an integer beyond i64 refuses negative ones.
            Data::Numbers(_) => self.pinned,
            Data::List(v) => v.child.is_complete(),
            Data::Record(v) => v.is_closed && v.columns.iter().all(Self::is_complete),
            _ => true,
        }
    }

    /// An empty column of the same types.
    pub(in super::super) fn emptied(&self) -> Self {
        let data = match &self.data {
            Data::Unknown => Data::Unknown,
            Data::Bool(_) => Data::Bool(Vec::new()),
            Data::Numbers(_) => Data::Numbers(super::Numbers::default()),
            Data::Str(_) => Data::Str(super::Strings::default()),
            Data::Typed(v) => Data::Typed(HostValues::empty(v.dtype())),
            Data::List(v) => Data::List(super::ListColumn { splits: vec![0], child: Box::new(v.child.emptied()) }),
            Data::Record(v) => Data::Record(v.emptied()),
        };
        let pinned = !matches!(data, Data::Unknown);
        Self { data, pinned }
    }
}

fn truncate(values: &mut HostValues, n: usize) {
    match values {
        HostValues::Bool(v) => v.truncate(n),
        HostValues::U8(v) => v.truncate(n),
        HostValues::I8(v) => v.truncate(n),
        HostValues::U16(v) => v.truncate(n),
        HostValues::I16(v) => v.truncate(n),
        HostValues::I32(v) => v.truncate(n),
        HostValues::U32(v) => v.truncate(n),
        HostValues::I64(v) => v.truncate(n),
        HostValues::U64(v) => v.truncate(n),
        HostValues::F16(v) => v.truncate(n),
        HostValues::BF16(v) => v.truncate(n),
        HostValues::F32(v) => v.truncate(n),
        HostValues::F64(v) => v.truncate(n),
        HostValues::Str(v) => v.truncate(n),
    }
}
