//! Partial reads: some rows of a tensor, without the rest.

use super::both::{futures_of_both, methods_of_both};
use crate::graph::recorder::Recorder;
use crate::integer::Integer;
use std::future::Future;
use std::ops::Range;

use super::assembly::Assembly;
use super::len::read_size;
use super::{HostTensor, HostValues, RaggedTensor, Tensor, Values};
use crate::element::Element;
use crate::error::{Error, Result, caller, here};
use crate::graph::backend::{Part, ReadBytes, Wait};
use crate::graph::node::Rows;
use crate::graph::run::diagnosis;
use crate::graph::size::RecordedSize;
use crate::shape::RowPartition;

/// Selection of the rows to read.
#[derive(Debug, Clone)]
enum Which {
    /// One row, negative from the end; the outermost dimension is dropped.
    One(i64),
    /// A contiguous range of rows.
    Many(Range<i64>),
}

impl Which {
    fn many(rows: &Range<impl Integer>) -> Self {
        Self::Many(rows.start.saturating_i64()..rows.end.saturating_i64())
    }

    fn op(&self) -> &'static str {
        match self {
            Self::One(_) => "row_to_host",
            Self::Many(_) => "rows_to_host",
        }
    }

    /// Resolves the selection among `nrows` rows.
    #[track_caller]
    fn among(&self, nrows: u32) -> Result<Range<u32>> {
        let location = caller();
        let outside = |index| Err(Error::Index { op: self.op(), index, size: nrows.into(), at: None, location });
        match self {
            Self::One(i) => {
                let row = if *i < 0 { i.saturating_add(nrows.into()) } else { *i };
                match u32::try_from(row) {
                    Ok(row) if row < nrows => Ok(row..row + 1),
                    _ => outside(*i),
                }
            }
            Self::Many(rows) if rows.start > rows.end => {
                Err(Error::argument(self.op(), format!("rows {} to {} run backwards", rows.start, rows.end)))
            }
            Self::Many(rows) => match (u32::try_from(rows.start), u32::try_from(rows.end)) {
                (Err(_), _) => outside(rows.start),
                (Ok(start), Ok(end)) if end <= nrows => Ok(start..end),
                _ => outside(rows.end - 1),
            },
        }
    }
}

/// The range between the first and the last of the splits, and the splits relative to the first.
fn from_zero(mut splits: Vec<u32>) -> (Range<u32>, Vec<u32>) {
    let range = splits.first().copied().unwrap_or(0)..splits.last().copied().unwrap_or(0);
    splits.iter_mut().for_each(|split| *split -= range.start);
    (range, splits)
}

impl Tensor {
    async fn read_part(&self, part: Part, wait: Wait) -> Result<ReadBytes> {
        let read = diagnosis::read_parts(self.backend(), vec![part], wait).await?;
        Ok(read.into_iter().next().unwrap_or_default())
    }

    /// Reads the splits of a range of rows: their starts and the end of the last.
    async fn row_ends(
        &self,
        p: &RowPartition,
        rows: Range<u32>,
        wait: Wait,
        assembly: &mut Assembly<'_>,
    ) -> Result<Vec<u32>> {
        let entries = rows.start as usize..rows.end as usize + 1;
        match (p.rows(), p.host_splits()) {
            // The product fits in u32, because the partition has as many values.
            (Rows::Uniform(len), _) => assembly.host_splits(entries.map(|row| row as u32 * len.capacity())),
            (Rows::Splits(_), Some(splits)) => assembly.host_splits(splits[entries].iter().copied()),
            (Rows::Splits(node), None) => assembly
                .splits(&self.read_part(Part::of(node.clone(), rows.start..rows.end.saturating_add(1)), wait).await?),
        }
    }

    async fn read_some(&self, which: Which, wait: Wait) -> Result<HostTensor> {
        if self.rank() == 0 {
            return Err(Error::argument(which.op(), "a scalar has no rows"));
        }
        // Evaluates everything in one submission, rather than level by level.
        self.eval()?;
        let nrows = read_size(&self.nrows_extent(), self.backend(), wait).await?;
        let mut rows = which.among(nrows)?;
        let mut nested_row_splits = Vec::new();
        let mut assembly = Assembly::new(Recorder::new(self.backend(), which.op()));
        for p in self.partitions() {
            let (of_rows, splits) = from_zero(self.row_ends(p, rows, wait, &mut assembly).await?);
            rows = of_rows;
            nested_row_splits.push(splits);
        }
        let mut inner_shape = vec![(rows.end - rows.start) as usize];
        inner_shape.extend(self.inner().iter().map(|&d| d as usize));
        let numbers = rows.start * self.width()..rows.end * self.width();
        let values = match self.values_ref() {
            Values::Numbers(n) => {
                assembly.reserve(u64::from(numbers.end - numbers.start) * n.dtype().size() as u64)?;
                HostValues::from_bytes(n.dtype(), &self.read_part(Part::of(n.clone(), numbers), wait).await?)?
            }
            Values::Strings { strings: partition, bytes } => {
                let (part, splits) = from_zero(self.row_ends(partition, numbers, wait, &mut assembly).await?);
                assembly.strings(&splits, &self.read_part(Part::of(bytes.clone(), part), wait).await?)?
            }
        };
        let mut uniform_row_lengths: Vec<_> = self.partitions().iter().map(RowPartition::uniform_length).collect();
        if let Which::One(_) = which {
            if nested_row_splits.is_empty() {
                inner_shape.remove(0);
            } else {
                nested_row_splits.remove(0);
                uniform_row_lengths.remove(0);
            }
        }
        Ok(HostTensor { nested_row_splits, uniform_row_lengths, inner_shape, values })
    }
}

methods_of_both! {
    /// Reads of some rows.
    impl;

    /// Reads one row of the outermost dimension (negative: from the end) and nothing else. The result equals that of
    /// [`Tensor::slice`] for one integer, on the host.
    ///
    /// Transfers the row's values, and two splits entries per ragged dimension whose splits were made on the device;
    /// splits from the host are already there. Waits once for the values and once per such dimension, plus once if only
    /// the device knows the number of rows. Evaluates all pending work of the tensor, so that further reads of rows
    /// cost only their bytes. To compute a single row of a tensor that is not needed as a whole, read `x.slice(s![i])`.
    ///
    /// # Errors
    /// A scalar; a row out of range; the first failed device-side check; a lost device.
    ///
    /// ```
    /// use ragged::{Device, HostValues, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.row_to_host(0)?.values, HostValues::I32(vec![1, 2]));
    /// assert_eq!(x.row_to_host(-1)?.values, HostValues::I32(vec![3]));
    /// assert!(x.row_to_host(3).is_err());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn row_to_host(&self, row: impl Integer) -> Result<HostTensor> {
        let row = row.saturating_i64();
        pollster::block_on(self.read_some(Which::One(row), Wait::Blocking)).map_err(here())
    }

    /// Reads a contiguous range of rows of the outermost dimension, and nothing else; see [`Tensor::row_to_host`]. The
    /// result has the tensor's rank.
    ///
    /// # Errors
    /// A scalar; rows out of range, or a range that runs backwards; the first failed device-side check; a lost device.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3], vec![4]], &Device::cpu())?;
    /// assert_eq!(x.rows_to_host(1..3)?.nested_row_splits, [[0, 0, 1]]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn rows_to_host(&self, rows: Range<impl Integer>) -> Result<HostTensor> {
        pollster::block_on(self.read_some(Which::many(&rows), Wait::Blocking)).map_err(here())
    }
}

futures_of_both! {
    /// Reads of some rows.
    impl;

    /// Reads one row of the outermost dimension (negative: from the end) and nothing else, without blocking.
    ///
    /// The future may be awaited in any executor, moved between threads, or dropped, which cancels only the read; see
    /// [`Tensor::to_host_async`].
    ///
    /// # Errors
    /// A scalar; a row out of range; the first failed device-side check; a lost device.
    ///
    /// ```
    /// use ragged::{Device, HostValues, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let row = pollster::block_on(x.row_to_host_async(-1))?;
    /// assert_eq!(row.values, HostValues::I32(vec![3]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn row_to_host_async<I: Integer>(&self, row: I) -> Result<HostTensor> {
        let row = row.saturating_i64();
        let tensor = self.clone();
        let call = here();
        async move { tensor.read_some(Which::One(row), Wait::Polled).await.map_err(call) }
    }

    /// Reads a contiguous range of rows of the outermost dimension, and nothing else, without blocking.
    ///
    /// The future may be awaited in any executor, moved between threads, or dropped, which cancels only the read; see
    /// [`Tensor::to_host_async`].
    ///
    /// # Errors
    /// A scalar; rows out of range, or a range that runs backwards; the first failed device-side check; a lost device.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let rows = pollster::block_on(x.rows_to_host_async(1..3))?;
    /// assert_eq!(rows.nested_row_splits, [[0, 0, 1]]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn rows_to_host_async<I: Integer>(
        &self,
        rows: Range<I>,
    ) -> Result<HostTensor> {
        let rows = Which::many(&rows);
        let tensor = self.clone();
        let call = here();
        async move { tensor.read_some(rows, Wait::Polled).await.map_err(call) }
    }
}

/// Reads of one row.
impl<T: Element> RaggedTensor<T> {
    /// Reads the flat values of one row of the outermost dimension, and nothing else; see [`Tensor::row_to_host`].
    ///
    /// # Errors
    /// A scalar; a row out of range; the first failed device-side check; a lost device.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.row_to_vec(0)?, [1, 2]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn row_to_vec(&self, row: impl Integer) -> Result<Vec<T::Host>> {
        let row = row.saturating_i64();
        let host = self.row_to_host(row).map_err(|e| e.of("row_to_vec"))?;
        Ok(Self::flat(host))
    }

    /// Reads the flat values of one row of the outermost dimension, and nothing else, without blocking.
    ///
    /// The future may be awaited in any executor, moved between threads, or dropped, which cancels only the read; see
    /// [`Tensor::to_host_async`].
    ///
    /// # Errors
    /// A scalar; a row out of range; the first failed device-side check; a lost device.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(pollster::block_on(x.row_to_vec_async(0))?, [1, 2]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn row_to_vec_async<I: Integer>(
        &self,
        row: I,
    ) -> impl Future<Output = Result<Vec<T::Host>>> + Send + use<T, I> {
        let row = row.saturating_i64();
        let read = self.row_to_host_async(row);
        async move { Ok(Self::flat(read.await.map_err(|e| e.of("row_to_vec"))?)) }
    }
}
