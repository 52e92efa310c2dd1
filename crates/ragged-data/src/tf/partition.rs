//! Row partitions of parsed values, as `tf.io.RaggedFeature` adds them.

use ragged::Result;

use super::columns::{Flat, Parsed};
use super::features::Partition;
use crate::item::{Call, Column};

/// A partition and the feature that encodes it.
type Given<'a> = (&'a Partition, &'a Option<Parsed>);

/// The values, and what is said of errors.
struct Adding<'a> {
    call: Call,
    name: &'a str,
}

/// The integers of a feature, and where those of each example end.
fn ints(parsed: Option<&Parsed>) -> (&[i64], &[u32]) {
    match parsed {
        Some(Parsed { flat: Flat::Ints(v), ends }) => (v, ends),
        _ => (&[], &[0]),
    }
}

/// Adds partitions, the innermost first, below the dimension of examples.
///
/// # Errors
/// Encodings that do not fit the values.
pub(super) fn batched<'a>(
    call: Call,
    name: &'a str,
    mut column: Column,
    partitions: impl Iterator<Item = Given<'a>>,
) -> Result<Column> {
    let adding = Adding { call, name };
    for (partition, parsed) in partitions {
        let nvals = column.splits[0].last().copied().unwrap_or(0);
        if let Partition::UniformRowLength(len) = partition {
            adding.uniform(&mut column, *len, nvals, 1)?;
            column.splits[0].iter_mut().for_each(|end| *end /= len);
            continue;
        }
        let (values, ends) = ints(parsed.as_ref());
        let (mut own, mut outer) = (Vec::with_capacity(values.len() + 1), Vec::with_capacity(ends.len()));
        own.push(0);
        outer.push(0);
        let rows = ends.windows(2).zip(&column.splits[0]);
        match partition {
            Partition::RowSplits(_) | Partition::RowLimits(_) => {
                let leading = usize::from(matches!(partition, Partition::RowSplits(_)));
                for (w, &start) in rows {
                    let limits = values[w[0] as usize..w[1] as usize].iter().skip(leading);
                    for &limit in limits {
                        own.push(adding.position(limit, start)?);
                    }
                    outer.push(own.len() as u32 - 1);
                }
            }
            Partition::RowStarts(_) => {
                own.clear();
                for (w, &start) in rows {
                    for &at in &values[w[0] as usize..w[1] as usize] {
                        own.push(adding.position(at, start)?);
                    }
                    outer.push(own.len() as u32);
                }
                own.push(nvals);
            }
            Partition::ValueRowIds(_) => {
                let mut ids = Vec::with_capacity(values.len());
                let mut nrows = 0;
                for (w, _) in rows {
                    let all = &values[w[0] as usize..w[1] as usize];
                    ids.extend(all.iter().map(|&id| (id, nrows)));
                    nrows = adding.count(nrows, all, values.len())?;
                    outer.push(nrows as u32);
                }
                own = adding.of_ids(&ids, nrows)?;
            }
            _ => {
                for (w, _) in rows {
                    adding.add_lengths(&mut own, &values[w[0] as usize..w[1] as usize])?;
                    outer.push(own.len() as u32 - 1);
                }
            }
        }
        adding.check(&own, nvals)?;
        column.splits[0] = outer;
        column.splits.insert(1, own);
        column.uniform.insert(1, None);
    }
    Ok(column)
}

/// Adds partitions, the innermost first, to the values of one example.
///
/// # Errors
/// As [`batched`].
pub(super) fn single<'a>(
    call: Call,
    name: &'a str,
    parsed: Parsed,
    partitions: impl Iterator<Item = Given<'a>>,
) -> Result<Column> {
    let adding = Adding { call, name };
    let n = parsed.flat.len();
    let values = parsed.flat.into_values();
    let mut column = Column { splits: Vec::new(), uniform: Vec::new(), inner: vec![n], values };
    for (partition, parsed) in partitions {
        let nvals = column.nrows().unwrap_or(0) as u32;
        let (given, _) = ints(parsed.as_ref());
        let mut own = vec![0];
        match partition {
            Partition::UniformRowLength(len) => {
                adding.uniform(&mut column, *len, nvals, 0)?;
                continue;
            }
            Partition::RowSplits(_) | Partition::RowStarts(_) => {
                own = given.iter().map(|&at| adding.position(at, 0)).collect::<Result<_>>()?;
                if matches!(partition, Partition::RowStarts(_)) || own.is_empty() {
                    own.push(nvals);
                }
            }
            Partition::RowLimits(_) => {
                for &limit in given {
                    own.push(adding.position(limit, 0)?);
                }
            }
            Partition::ValueRowIds(_) => {
                let nrows = adding.count(0, given, given.len())?;
                own = adding.of_ids(&given.iter().map(|&id| (id, 0)).collect::<Vec<_>>(), nrows)?;
            }
            Partition::RowLengths(_) => adding.add_lengths(&mut own, given)?,
        }
        adding.check(&own, nvals)?;
        column.splits.insert(0, own);
        column.uniform.insert(0, None);
    }
    Ok(column)
}

impl Adding<'_> {
    fn fault<T>(&self, what: String) -> Result<T> {
        Err(self.call.partition(format!("feature {:?}: {what}", self.name)))
    }

    /// A position among the values of an example, among those of all.
    fn position(&self, at: i64, start: u32) -> Result<u32> {
        match u32::try_from(at).ok().and_then(|at| at.checked_add(start)) {
            Some(at) => Ok(at),
            None => self.fault(format!("{at} is no position of a value")),
        }
    }

    fn add_lengths(&self, own: &mut Vec<u32>, lengths: &[i64]) -> Result<()> {
        let mut end = own.last().copied().unwrap_or(0);
        for &len in lengths {
            end = match u32::try_from(len).ok().and_then(|len| end.checked_add(len)) {
                Some(end) => end,
                None => return self.fault(format!("{len} is no row length")),
            };
            own.push(end);
        }
        Ok(())
    }

    /// The number of rows up to an example with these row ids.
    ///
    /// # Errors
    /// A negative id; far more rows than values, which a broken message may ask for.
    fn count(&self, before: u64, ids: &[i64], values: usize) -> Result<u64> {
        let most = (1u64 << 24) + 16 * values as u64;
        let last = ids.iter().copied().max().unwrap_or(-1);
        match u64::try_from(last + i64::from(last < i64::MAX)).ok().and_then(|rows| rows.checked_add(before)) {
            Some(rows) if rows <= most => Ok(rows),
            _ if last < -1 => self.fault(format!("{last} is no row id")),
            _ => self.fault(format!("row id {last} asks for more than {most} rows")),
        }
    }

    /// The splits of the row of each value: a row id, and the rows before its example.
    fn of_ids(&self, ids: &[(i64, u64)], nrows: u64) -> Result<Vec<u32>> {
        let mut own = Vec::with_capacity(nrows as usize + 1);
        own.push(0);
        let mut last = 0;
        for (i, &(id, before)) in ids.iter().enumerate() {
            let row = match u64::try_from(id) {
                Ok(id) if id + before >= last => id + before,
                _ => return self.fault(format!("row id {id} of value {i} is negative or below the one before")),
            };
            last = row;
            own.resize(row as usize + 1, i as u32);
        }
        own.resize(nrows as usize + 1, ids.len() as u32);
        Ok(own)
    }

    /// Adds rows of one length at a position among the partitions.
    fn uniform(&self, column: &mut Column, len: u32, nvals: u32, at: usize) -> Result<()> {
        if !nvals.is_multiple_of(len) {
            return self.fault(format!("{nvals} values are no rows of {len}"));
        }
        let rows = nvals / len;
        if column.splits.len() > at {
            column.splits.insert(at, (0..=rows).map(|row| row * len).collect());
            column.uniform.insert(at, Some(len));
        } else {
            column.inner[0] = rows as usize;
            column.inner.insert(1, len as usize);
        }
        Ok(())
    }

    fn check(&self, own: &[u32], nvals: u32) -> Result<()> {
        if own.first() != Some(&0) {
            return self.fault(format!("the first row begins at {:?}, not at 0", own.first()));
        }
        if let Some(row) = own.windows(2).position(|w| w[0] > w[1]) {
            return self.fault(format!("row {row} ends at {}, before it begins", own[row + 1]));
        }
        match own.last() {
            Some(&end) if end == nvals => Ok(()),
            end => self.fault(format!("the rows end at {end:?}, but there are {nvals} values")),
        }
    }
}
