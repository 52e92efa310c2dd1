//! The two views of the levels: sequence lengths and offsets.

use std::future::Future;

use super::LodTensor;
use crate::backend::host_memory::counted_vec;
use crate::error::{Result, here};
use crate::graph::recorder::Recorder;
use crate::integer::Integer;
use crate::shape::RowPartition;
use crate::tensor::{HostTensor, HostValues, RaggedTensor, to_host, to_host_async};

/// The offsets of all levels, where the host knows them.
///
/// # Errors
/// No memory for them.
#[track_caller]
fn known(op: &'static str, x: &LodTensor) -> Result<Option<Vec<Vec<i64>>>> {
    let (mut all, mut counts) = (Vec::new(), Vec::new());
    for level in x.tensor().partitions() {
        let len = match (level.host_splits(), level.uniform_length().and(level.nrows())) {
            (Some(splits), _) => splits.len(),
            (None, Some(nrows)) => nrows + 1,
            (None, None) => return Ok(None),
        };
        let (mut offsets, counted) = counted_vec(x.tensor().backend(), op, len)?;
        match (level.host_splits(), level.uniform_length()) {
            (Some(splits), _) => offsets.extend(splits.iter().map(|&at| i64::from(at))),
            (None, length) => offsets.extend((0..len as i64).map(|row| row * i64::from(length.unwrap_or(0)))),
        }
        all.push(offsets);
        counts.push(counted);
    }
    Ok(Some(all))
}

/// The integers of the offsets that were read.
fn of_reads(levels: Vec<HostTensor>) -> Vec<Vec<i64>> {
    let read = |level: HostTensor| match level.values {
        HostValues::I64(offsets) => offsets,
        other => unreachable!("bug: offsets of dtype {}", other.dtype()),
    };
    levels.into_iter().map(read).collect()
}

/// The differences of successive offsets.
fn lengths(mut lod: Vec<Vec<i64>>) -> Vec<Vec<i64>> {
    for offsets in &mut lod {
        for row in 1..offsets.len() {
            offsets[row - 1] = offsets[row] - offsets[row - 1];
        }
        offsets.pop();
    }
    lod
}

/// Levels: offsets and lengths of sequences.
impl LodTensor {
    /// The offsets of each level, outermost first: the start of each sequence, and the end of the last.
    ///
    /// The lists are on the host. Paddle: `LoDTensor.lod`.
    ///
    /// # Errors
    /// What the operations that give the levels report at a read; no host memory for the offsets; a lost device.
    ///
    /// # Cost
    /// One wait, in which all levels are read; none where the host has them.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let x = LodTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.lod()?, [[0, 2, 2, 3]]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn lod(&self) -> Result<Vec<Vec<i64>>> {
        match known("lod", self)? {
            Some(known) => Ok(known),
            None => to_host(&self.tensor().nested_row_splits()?).map(of_reads),
        }
    }

    /// The offsets of each level, read without blocking: the start of each sequence, and the end of the last.
    ///
    /// [`LodTensor::lod`] for asynchronous code. The levels are recorded at the call, and read when the future is
    /// polled, with one wait unless the host has them; see [`Tensor::to_host_async`](crate::Tensor::to_host_async).
    ///
    /// # Errors
    /// What the operations that give the levels report at a read; no host memory for the offsets; a lost device.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let x = LodTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(pollster::block_on(x.sequence_reverse()?.lod_async())?, [[0, 2, 2, 3]]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn lod_async(&self) -> impl Future<Output = Result<Vec<Vec<i64>>>> + Send + use<> {
        let (x, known, here) = (self.clone(), known("lod", self), here());
        async move {
            match known? {
                Some(known) => Ok(known),
                None => {
                    let splits = x.tensor().nested_row_splits();
                    match splits {
                        Ok(splits) => to_host_async(&splits).await.map(of_reads).map_err(here),
                        Err(error) => Err(here(error)),
                    }
                }
            }
        }
    }

    /// The lengths of the sequences of each level, outermost first.
    ///
    /// The lists are on the host. [`LodTensor::lengths`] stay on the device. Paddle:
    /// `LoDTensor.recursive_sequence_lengths`.
    ///
    /// # Errors
    /// What the operations that give the levels report at a read; no host memory for the lengths; a lost device.
    ///
    /// # Cost
    /// One wait, in which all levels are read; none where the host has them.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let x = LodTensor::from_nested([vec![vec![1, 2], vec![]], vec![vec![3]]], &Device::cpu())?;
    /// assert_eq!(x.recursive_sequence_lengths()?, [vec![2, 1], vec![2, 0, 1]]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn recursive_sequence_lengths(&self) -> Result<Vec<Vec<i64>>> {
        self.lod().map(lengths)
    }

    /// The lengths of the sequences of each level, outermost first, read without blocking.
    ///
    /// [`LodTensor::recursive_sequence_lengths`] for asynchronous code; see
    /// [`Tensor::to_host_async`](crate::Tensor::to_host_async).
    ///
    /// # Errors
    /// What the operations that give the levels report at a read; no host memory for the lengths; a lost device.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let x = LodTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(pollster::block_on(x.recursive_sequence_lengths_async())?, [[2, 0, 1]]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn recursive_sequence_lengths_async(&self) -> impl Future<Output = Result<Vec<Vec<i64>>>> + Send + use<> {
        let lod = self.lod_async();
        async move { lod.await.map(lengths) }
    }

    /// The lengths of the sequences of a level, as a vector on the device; -1 is the last level. i64. An empty sequence
    /// has length 0.
    ///
    /// # Errors
    /// A level that the tensor does not have.
    ///
    /// # Cost
    /// One map over the level. Never waits.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let x = LodTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.lengths(0)?.to_vec()?, [2, 0, 1]);
    /// assert_eq!(x.offsets(-1)?.to_vec()?, [0, 2, 2, 3]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn lengths(&self, level: impl Integer) -> Result<RaggedTensor<i64>> {
        self.level(self.recorder("lengths"), level.saturating_i64())?.row_lengths(&self.device())?.try_into()
    }

    /// The offsets of the sequences of a level, as a vector on the device; -1 is the last level.
    ///
    /// The start of each sequence, and the end of the last; i64.
    ///
    /// # Errors
    /// A level that the tensor does not have.
    ///
    /// # Cost
    /// One map over the level. Never waits.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let x = LodTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.offsets(-1)?.to_vec()?, [0, 2, 2, 3]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn offsets(&self, level: impl Integer) -> Result<RaggedTensor<i64>> {
        self.level(self.recorder("offsets"), level.saturating_i64())?.row_splits(&self.device())?.try_into()
    }

    /// A level; negative ones count from the last.
    ///
    /// # Errors
    /// A level that the tensor does not have.
    #[track_caller]
    pub(super) fn level(&self, rec: Recorder<'_>, level: i64) -> Result<&RowPartition> {
        let levels = self.tensor().partitions();
        let at = if level < 0 { level + levels.len() as i64 } else { level };
        match usize::try_from(at).ok().and_then(|at| levels.get(at)) {
            Some(level) => Ok(level),
            None => {
                let what = match levels.len() {
                    0 => format!("level {level} does not exist: the tensor has no LoD level"),
                    n => {
                        format!("level {level} is out of range for {n} levels (allowed: {} to {})", -(n as i64), n - 1)
                    }
                };
                Err(rec.argument(what))
            }
        }
    }
}
