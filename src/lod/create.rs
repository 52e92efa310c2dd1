//! Construction from data, with the levels as lengths or as offsets.

use super::{LodTensor, named};
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::tensor::{Integers, IntoNested, RaggedTensor, Source, Tensor};

/// Construction.
impl LodTensor {
    /// The tensor of the rows of `data` with these levels, outermost first: for each level the lengths of its
    /// sequences. Paddle: `create_lod_tensor(data, recursive_seq_lens)`.
    ///
    /// The lengths of a level add up to the number of sequences of the next level, those of the last level to the
    /// number of rows. Without levels the result is the data. A level is a list on the host or a vector on the device.
    /// Lists are checked here; what only the device sees is checked there, and fails at the read. Any dtype.
    ///
    /// # Errors
    /// A scalar as data; lengths that are negative or that do not add up; a list without lengths, as in Paddle (a
    /// [`Tensor`] of no rows converts to such a LoD tensor).
    ///
    /// # Cost
    /// No pass over the data, which are not copied. A host list of offsets or lengths is checked and uploaded; of a
    /// vector on the device, a prefix sum and the checks, which the first read reports. Never waits.
    ///
    /// ```
    /// use ragged::{Device, LodTensor, RaggedTensor};
    /// let rows = RaggedTensor::from_nested([[1i64], [2], [3], [4], [5], [6]], &Device::cpu())?;
    /// let x = LodTensor::from_lengths(&rows, [vec![2, 1], vec![3, 1, 2]])?;
    /// assert_eq!(x.lod()?, [vec![0, 2, 3], vec![0, 3, 4, 6]]);
    ///
    /// let error = LodTensor::from_lengths(&rows, [vec![2, 2], vec![3, 1, 2]]).unwrap_err();
    /// assert!(error.to_string().contains("level 0 add up to 4 sequences, but level 1 has 3"));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[doc(alias = "create_lod_tensor")]
    #[doc(alias = "set_recursive_sequence_lengths")]
    #[track_caller]
    pub fn from_lengths<'a, L: Into<Integers<'a>>>(
        data: &impl AsRef<Tensor>,
        recursive_sequence_lengths: impl IntoIterator<Item = L>,
    ) -> Result<Self> {
        const OP: &str = "LodTensor::from_lengths";
        let levels: Vec<Integers<'a>> = recursive_sequence_lengths.into_iter().map(Into::into).collect();
        check(OP, &levels, data.as_ref(), of_lengths, of_offsets, "LodTensor::from_lod takes offsets")?;
        Tensor::from_nested_row_lengths(data, levels).map(Self::from).map_err(named(OP))
    }

    /// The tensor of the rows of `data` with these levels, outermost first: for each level the offsets of its
    /// sequences.
    ///
    /// Offsets are the start of each sequence, and the end of the last. Those of a level end at the number of sequences
    /// of the next level, those of the last level at the number of rows. Without levels the result is the data. A level
    /// is a list on the host or a vector on the device. Lists are checked here; what only the device sees is checked
    /// there, and fails at the read. Any dtype. Paddle: `set_lod`.
    ///
    /// # Errors
    /// A scalar as data; offsets that do not start at 0, decrease, or do not end at the number of sequences or rows
    /// below; a list of fewer than two offsets.
    ///
    /// # Cost
    /// No pass over the data, which are not copied. A host list of offsets or lengths is checked and uploaded; of a
    /// vector on the device, a prefix sum and the checks, which the first read reports. Never waits.
    ///
    /// ```
    /// use ragged::{Device, LodTensor, RaggedTensor};
    /// let rows = RaggedTensor::from_nested([[1i64], [2], [3], [4]], &Device::cpu())?;
    /// let x = LodTensor::from_lod(&rows, [[0, 1, 4]])?;
    /// assert_eq!(x.recursive_sequence_lengths()?, [[1, 3]]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[doc(alias = "set_lod")]
    #[doc(alias = "from_offsets")]
    #[track_caller]
    pub fn from_lod<'a, L: Into<Integers<'a>>>(
        data: &impl AsRef<Tensor>,
        lod: impl IntoIterator<Item = L>,
    ) -> Result<Self> {
        Self::of_offsets("LodTensor::from_lod", data.as_ref(), lod)
    }

    /// As [`from_lod`](Self::from_lod).
    #[track_caller]
    fn of_offsets<'a, L: Into<Integers<'a>>>(
        op: &'static str,
        data: &Tensor,
        lod: impl IntoIterator<Item = L>,
    ) -> Result<Self> {
        let levels: Vec<Integers<'a>> = lod.into_iter().map(Into::into).collect();
        check(op, &levels, data, of_offsets, of_lengths, "LodTensor::from_lengths takes lengths")?;
        Tensor::from_nested_row_splits(data, levels).map(Self::from).map_err(named(op))
    }

    /// The same data with other levels, as offsets: `from_lod` of the data.
    ///
    /// Each level is a list on the host or a vector on the device: the start of each sequence, and the end of the last.
    /// The dtype and the rows stay; [`LodTensor::from_lod`] says what is checked.
    ///
    /// # Errors
    /// Offsets that do not start at 0, decrease, or do not end at the number of sequences or rows below; a list of
    /// fewer than two offsets.
    ///
    /// # Cost
    /// No pass over the data, which are not copied. A host list of offsets or lengths is checked and uploaded; of a
    /// vector on the device, a prefix sum and the checks, which the first read reports. Never waits.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let x = LodTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.with_lod([[0, 1, 3]])?.tensor().to_string(), "<ragged.RaggedTensor [[1], [2, 3]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn with_lod<'a, L: Into<Integers<'a>>>(&self, lod: impl IntoIterator<Item = L>) -> Result<Self> {
        Self::of_offsets("with_lod", &self.data()?, lod)
    }

    /// The tensor of nested lists: one level per list around the rows.
    ///
    /// Vectors are levels, arrays rows of a fixed size, as for [`RaggedTensor::from_nested`].
    ///
    /// # Errors
    /// More than the device can hold; a dtype that it does not have.
    ///
    /// # Cost
    /// One pass over the lists on the host, and one upload of the data and of each level.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let x = LodTensor::from_nested([vec![1i64, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.recursive_sequence_lengths()?, [[2, 0, 1]]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_nested<T: Element, N: IntoNested<T>>(rows: N, device: &Device) -> Result<Self> {
        RaggedTensor::<T>::from_nested(rows, device).map(Self::from).map_err(named("LodTensor::from_nested"))
    }
}

/// One level, as the host knows it.
struct Level {
    /// The encoding, and how its integers lead to the number of sequences or rows below.
    words: [&'static str; 2],
    /// Number of sequences.
    sequences: usize,
    /// Number of sequences or rows of the level below.
    below: i64,
    /// The first integer that breaks the encoding.
    fault: Option<String>,
}

/// The level of these lengths.
fn of_lengths(lengths: &[i64]) -> Level {
    let negative = lengths.iter().position(|&n| n < 0);
    Level {
        words: ["lengths", "add up to"],
        sequences: lengths.len(),
        below: lengths.iter().fold(0, |sum, &n| sum.saturating_add(n)),
        fault: negative.map(|at| format!("must not be negative, but number {at} is {}", lengths[at])),
    }
}

/// The level of these offsets.
fn of_offsets(offsets: &[i64]) -> Level {
    let first = offsets.first().filter(|&&at| at != 0);
    let descent = offsets.windows(2).position(|pair| pair[1] < pair[0]);
    let fault = match (first, descent) {
        (Some(first), _) => Some(format!("must start at 0, but start at {first}")),
        (None, Some(at)) => {
            let (a, b) = (offsets[at], offsets[at + 1]);
            Some(format!("must not decrease, but number {} is {b}, after {a}", at + 1))
        }
        (None, None) => None,
    };
    Level {
        words: ["offsets", "end at"],
        sequences: offsets.len().saturating_sub(1),
        below: offsets.last().copied().unwrap_or(0),
        fault,
    }
}

/// Compares levels from the host, as `read` decodes them, with each other, and the last one with the number of rows.
/// Where they do not fit, but would as `other` decodes them, the error gives the hint.
#[track_caller]
fn check(
    op: &'static str,
    levels: &[Integers<'_>],
    data: &Tensor,
    read: fn(&[i64]) -> Level,
    other: fn(&[i64]) -> Level,
    hint: &str,
) -> Result<()> {
    let rows = if data.rank() == 0 { None } else { data.nrows_extent().as_known() };
    let Some(what) = misfit(levels, rows, read) else { return Ok(()) };
    let hint = if misfit(levels, rows, other).is_none() { format!("; {hint}") } else { String::new() };
    Err(Error::partition(op, format!("{what}{hint}")))
}

/// The first contradiction between the levels, or between the last one and the number of rows.
fn misfit(levels: &[Integers<'_>], rows: Option<u32>, read: fn(&[i64]) -> Level) -> Option<String> {
    let known = |level: &Integers<'_>| match &level.0 {
        Source::Host(all) => Some(read(all)),
        Source::Device(_) => None,
    };
    let levels: Vec<Option<Level>> = levels.iter().map(known).collect();
    for (k, level) in levels.iter().enumerate() {
        if level.as_ref().is_some_and(|level| level.sequences == 0) {
            return Some(format!("level {k} has no sequence; a level needs one at least, which may be empty"));
        }
    }
    for (k, level) in levels.iter().enumerate() {
        let Some(Level { words: [name, total], below, fault, .. }) = level else { continue };
        if let Some(fault) = fault {
            return Some(format!("the {name} of level {k} {fault}"));
        }
        let (count, what) = match (levels.get(k + 1), rows) {
            (Some(Some(next)), _) => (next.sequences as i64, format!("sequences, but level {} has", k + 1)),
            (None, Some(rows)) => (i64::from(rows), "rows, but the data have".to_owned()),
            _ => continue,
        };
        if *below != count {
            return Some(format!("the {name} of level {k} {total} {below} {what} {count}"));
        }
    }
    None
}
