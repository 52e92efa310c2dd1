//! Construction from data, with the levels as lengths or as offsets.

use super::{LoDTensor, named};
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::tensor::{Integers, IntoNested, RaggedTensor, Source, Tensor};

impl LoDTensor {
    /// The tensor of the rows of `data` with these levels, outermost first: for each level the lengths of its
    /// sequences. Paddle: `create_lod_tensor(data, recursive_seq_lens)`.
    ///
    /// The lengths of a level add up to the number of sequences of the next level, those of the last level to the number
    /// of rows. Without levels the result is the data. A level is a list on the host or a vector on the device. Lists
    /// are checked here; what only the device sees is checked there, without a wait.
    ///
    /// # Errors
    /// A scalar as data; lengths that are negative or that do not add up; a list without lengths, as in Paddle (a
    /// [`Tensor`] of no rows converts to such a LoD tensor).
    ///
    /// ```
    /// use ragged::{Device, LoDTensor, RaggedTensor};
    /// let rows = RaggedTensor::from_nested([[1i64], [2], [3], [4], [5], [6]], &Device::cpu())?;
    /// let x = LoDTensor::from_lengths(&rows, [vec![2, 1], vec![3, 1, 2]])?;
    /// assert_eq!(x.lod()?, [vec![0, 2, 3], vec![0, 3, 4, 6]]);
    ///
    /// let error = LoDTensor::from_lengths(&rows, [vec![2, 2], vec![3, 1, 2]]).unwrap_err();
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
        const OP: &str = "LoDTensor::from_lengths";
        let levels: Vec<Integers<'a>> = recursive_sequence_lengths.into_iter().map(Into::into).collect();
        check(OP, &levels, data.as_ref(), |lengths| Level {
            sequences: lengths.len(),
            below: lengths.iter().fold(0, |sum: i64, &n| sum.saturating_add(n)),
            valid: lengths.iter().all(|&n| n >= 0),
        })?;
        Tensor::from_nested_row_lengths(data, levels).map(Self::from).map_err(named(OP))
    }

    /// The tensor of the rows of `data` with these levels, outermost first: for each level the offsets of its sequences
    /// (the start of each, and the end of the last). Paddle: `set_lod`.
    ///
    /// As [`LoDTensor::from_lengths`].
    ///
    /// # Errors
    /// A scalar as data; offsets that do not start at 0, decrease, or do not end at the number of sequences or rows
    /// below; a list of fewer than two offsets.
    ///
    /// ```
    /// use ragged::{Device, LoDTensor, RaggedTensor};
    /// let rows = RaggedTensor::from_nested([[1i64], [2], [3], [4]], &Device::cpu())?;
    /// let x = LoDTensor::from_lod(&rows, [[0, 1, 4]])?;
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
        const OP: &str = "LoDTensor::from_lod";
        let levels: Vec<Integers<'a>> = lod.into_iter().map(Into::into).collect();
        check(OP, &levels, data.as_ref(), |offsets| Level {
            sequences: offsets.len().saturating_sub(1),
            below: offsets.last().copied().unwrap_or(0),
            valid: offsets.first() == Some(&0) && offsets.is_sorted(),
        })?;
        Tensor::from_nested_row_splits(data, levels).map(Self::from).map_err(named(OP))
    }

    /// The same data with other levels, as offsets: [`LoDTensor::from_lod`] of [`LoDTensor::data`].
    ///
    /// # Errors
    /// As [`LoDTensor::from_lod`].
    #[track_caller]
    pub fn with_lod<'a, L: Into<Integers<'a>>>(&self, lod: impl IntoIterator<Item = L>) -> Result<Self> {
        Self::from_lod(&self.data()?, lod)
    }

    /// The tensor of nested lists: one level per list around the rows. [`RaggedTensor::from_nested`], converted.
    ///
    /// # Errors
    /// As [`RaggedTensor::from_nested`].
    ///
    /// ```
    /// use ragged::{Device, LoDTensor};
    /// let x = LoDTensor::from_nested([vec![1i64, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.recursive_sequence_lengths()?, [[2, 0, 1]]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_nested<T: Element, N: IntoNested<T>>(rows: N, device: &Device) -> Result<Self> {
        RaggedTensor::<T>::from_nested(rows, device).map(Self::from)
    }
}

/// One level, as the host knows it.
struct Level {
    /// Number of sequences.
    sequences: usize,
    /// Number of sequences or rows of the level below.
    below: i64,
    /// Whether the integers are valid in themselves; if not, the factory reports them.
    valid: bool,
}

/// Compares levels from the host with each other, and the last one with the number of rows.
#[track_caller]
fn check(op: &'static str, levels: &[Integers<'_>], data: &Tensor, read: impl Fn(&[i64]) -> Level) -> Result<()> {
    let known = |level: &Integers<'_>| match &level.0 {
        Source::Host(all) => Some(read(all)),
        Source::Device(_) => None,
    };
    let levels: Vec<Option<Level>> = levels.iter().map(known).collect();
    for (k, level) in levels.iter().enumerate() {
        if level.as_ref().is_some_and(|level| level.sequences == 0) {
            let what = format!("level {k} has no sequence; a level needs one at least, which may be empty");
            return Err(Error::partition(op, what));
        }
    }
    for (k, level) in levels.iter().enumerate() {
        let Some(level) = level.as_ref().filter(|level| level.valid) else { continue };
        let (count, what) = match levels.get(k + 1) {
            Some(Some(next)) => (next.sequences as i64, format!("sequences, but level {} has", k + 1)),
            Some(None) => continue,
            None if data.rank() == 0 => continue,
            None => match data.nrows_extent().as_known() {
                Some(rows) => (i64::from(rows), "rows, but the data have".to_owned()),
                None => continue,
            },
        };
        if level.below != count {
            return Err(Error::partition(
                op,
                format!("the lengths of level {k} add up to {} {what} {count}", level.below),
            ));
        }
    }
    Ok(())
}
