//! Shapes and partitions in text.

use std::fmt;

use super::{RaggedShape, RowPartition};

/// Most row splits that are printed.
const SPLITS: usize = 8;

impl fmt::Display for RaggedShape {
    /// The static shape in TensorFlow's notation: `[3, None, 2]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (k, size) in self.sizes().into_iter().enumerate() {
            let comma = if k == 0 { "" } else { ", " };
            match size {
                Some(size) => write!(f, "{comma}{size}")?,
                None => write!(f, "{comma}None")?,
            }
        }
        f.write_str("]")
    }
}

impl fmt::Debug for RaggedShape {
    /// The static shape, the partitions and the device's name. Reads nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RaggedShape({self}, {}", self.backend.name())?;
        for partition in &self.partitions {
            write!(f, ", {partition:?}")?;
        }
        f.write_str(")")
    }
}

impl fmt::Debug for RowPartition {
    /// The number of rows and their uniform length, or the first row splits, where the host knows them. Reads nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |n: Option<usize>| n.map_or("?".to_owned(), |n| n.to_string());
        if let Some(length) = self.uniform_row_length() {
            return write!(f, "RowPartition({} rows of {length})", count(self.nrows()));
        }
        match self.host_splits() {
            Some(splits) => {
                let shown: Vec<String> = splits.iter().take(SPLITS).map(u32::to_string).collect();
                let rest = if splits.len() > SPLITS { ", …" } else { "" };
                write!(f, "RowPartition({} rows, splits [{}{rest}])", count(self.nrows()), shown.join(", "))
            }
            None => write!(f, "RowPartition({} rows, {} values)", count(self.nrows()), count(self.nvals())),
        }
    }
}
