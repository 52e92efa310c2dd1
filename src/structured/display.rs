//! Printing of records in TensorFlow's format.

use std::fmt;

use super::{FieldValue, StructuredTensor};

impl fmt::Display for StructuredTensor {
    /// The fields in the order of their names. Reads them: evaluates pending work and waits. A failed read prints its error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<StructuredTensor(\n  fields={{")?;
        for (k, (name, field)) in self.fields.by_name().enumerate() {
            f.write_str(if k == 0 { "" } else { "," })?;
            write!(f, "\n    {name:?}: {}", field.to_string().replace('\n', "\n    "))?;
        }
        let sizes = self.shape();
        let size = |size: &Option<usize>| size.map_or("None".to_owned(), |n| n.to_string());
        let comma = if sizes.len() == 1 { "," } else { "" };
        write!(f, "}},\n  shape=({}{comma}))>", sizes.iter().map(size).collect::<Vec<_>>().join(", "))
    }
}

impl fmt::Display for FieldValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tensor(tensor) => fmt::Display::fmt(tensor, f),
            Self::Records(records) => fmt::Display::fmt(records, f),
        }
    }
}

impl fmt::Debug for StructuredTensor {
    /// The shape and the fields. Computes nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StructuredTensor({}, ", self.shape.text())?;
        f.debug_map().entries(self.fields.iter()).finish()?;
        f.write_str(")")
    }
}
