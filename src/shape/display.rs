//! Shapes and partitions in text.

use std::fmt;

use super::{Lengths, RaggedShape, RowPartition};
use crate::error::Error;

/// Most row splits that `Debug` prints.
const SPLITS: usize = 8;

/// Lists of more entries than this are abbreviated.
const THRESHOLD: usize = 1000;
/// Number of entries that an abbreviated list shows at either end.
const EDGE: usize = 3;

/// Writes integers with separators, the ones in the middle of a long list as an ellipsis.
fn list<I: fmt::Display>(f: &mut fmt::Formatter<'_>, all: &[I], separator: &str) -> fmt::Result {
    let hidden = if all.len() > THRESHOLD { EDGE..all.len() - EDGE } else { 0..0 };
    for (k, item) in all.iter().enumerate() {
        let before = if k == 0 { "" } else { separator };
        if !hidden.contains(&k) {
            write!(f, "{before}{item}")?;
        } else if k == hidden.start {
            write!(f, "{before}...")?;
        }
    }
    Ok(())
}

/// Text.
impl RaggedShape {
    /// The sizes as text, in TensorFlow's notation: `[3, None, 2]`, with `None` for ragged dimensions and for sizes that
    /// only the device knows. Reads nothing; printing the shape reads the lengths of rows.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![[1, 2]], vec![]], &Device::cpu())?;
    /// assert_eq!(x.ragged_shape().text(), "[2, None, 2]");
    /// assert_eq!(x.ragged_shape().to_string(), "<DynamicRaggedShape lengths=[2, (1, 0), 2] num_row_partitions=1>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn text(&self) -> String {
        let sizes = self.sizes().into_iter().map(|size| size.map_or("None".to_owned(), |size| size.to_string()));
        format!("[{}]", sizes.collect::<Vec<_>>().join(", "))
    }
}

impl fmt::Display for RaggedShape {
    /// The lengths of all rows, as TensorFlow prints them. Reads lengths that only the device knows: evaluates pending
    /// work and waits. A failed read prints its error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lengths = match self.lengths() {
            Ok(lengths) => lengths,
            Err(e) => {
                let text = self.text();
                return write!(
                    f,
                    "<DynamicRaggedShape {text} without lengths, since computing them failed: {}>",
                    e.printed()
                );
            }
        };
        f.write_str("<DynamicRaggedShape lengths=[")?;
        for (k, lengths) in lengths.iter().enumerate() {
            f.write_str(if k == 0 { "" } else { ", " })?;
            match lengths {
                Lengths::Uniform(size) => write!(f, "{size}")?,
                Lengths::Ragged(all) => {
                    f.write_str("(")?;
                    list(f, all, ", ")?;
                    f.write_str(if all.len() == 1 { ",)" } else { ")" })?;
                }
            }
        }
        write!(f, "] num_row_partitions={}>", self.partitions.len())
    }
}

impl fmt::Display for RowPartition {
    /// The row splits, or the number of rows and their length, as TensorFlow prints them. Reads splits that only the
    /// device knows: evaluates pending work and waits. A failed read prints its error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failed = |f: &mut fmt::Formatter<'_>, e: &Error| {
            write!(f, "RowPartition(without rows, since computing them failed: {})", e.printed())
        };
        if let Some(length) = self.uniform_row_length() {
            return match self.nrows_on_host() {
                Ok(nrows) => write!(f, "RowPartition(nrows={nrows}, uniform_row_length={length})"),
                Err(e) => failed(f, &e),
            };
        }
        match self.splits_on_host() {
            Ok(splits) => {
                f.write_str("RowPartition(row_splits=[")?;
                list(f, &splits, " ")?;
                f.write_str("])")
            }
            Err(e) => failed(f, &e),
        }
    }
}

impl fmt::Debug for RaggedShape {
    /// The static shape, the partitions and the device's name. Reads nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RaggedShape({}, {}", self.text(), self.backend.name())?;
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
