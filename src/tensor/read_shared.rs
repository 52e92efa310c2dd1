//! Reads without a copy: the bytes of a tensor in the memory in which its device has them.

use std::ops::Deref;
use std::sync::Arc;

use super::Tensor;
use super::both::methods_of_both;
use super::read::{Arrays, known_bytes, next_array, read_parts, size_of};
use super::values::Values;
use crate::backend::host_memory::counted_vec;
use crate::dtype::DType;
use crate::element::{Element, Number};
use crate::error::{Error, Result, here};
use crate::graph::backend::{ReadBytes, Wait};
use crate::graph::node::Rows;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::shape::{HostSplits, RowPartition};

/// Bytes of a tensor on the host, in the memory of its device: on the CPU the array itself, on a GPU mapped memory of the
/// read. Cheap to clone. The memory is kept as long as a clone exists, and never changes.
#[derive(Debug, Clone)]
pub struct SharedBytes(ReadBytes);

/// Values.
impl SharedBytes {
    /// The bytes as numbers of a type. None if the type has another size than the bytes divide into, or another alignment, or
    /// values that not every byte pattern is one of (bools).
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([1.5f32, 2.0], &Device::cpu())?;
    /// let values = x.to_shared()?.values;
    /// assert_eq!(values.numbers::<f32>(), Some(&[1.5, 2.0][..]));
    /// assert_eq!(values.len(), 8);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn numbers<T: Element + Number + bytemuck::AnyBitPattern>(&self) -> Option<&[T]> {
        bytemuck::try_cast_slice(self).ok()
    }
}

impl Deref for SharedBytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

/// The rows of a partition in a [`SharedTensor`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum SharedRows {
    /// Row splits, as u32.
    Splits(SharedBytes),
    /// Rows of one length.
    Uniform {
        /// The number of rows.
        rows: usize,
        /// The length of each row.
        length: usize,
    },
}

/// A tensor on the host in the memory of its device: the result of [`Tensor::to_shared`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SharedTensor {
    /// The rows of each partition, outermost first.
    pub partitions: Vec<SharedRows>,
    /// The shape of the flat values.
    pub inner_shape: Vec<usize>,
    /// The element type.
    pub dtype: DType,
    /// Of byte strings, the splits of the bytes into strings, as u32: one entry more than there are strings.
    pub string_splits: Option<SharedBytes>,
    /// The flat values, row-major, in native byte order; of byte strings, the bytes of all strings. A bool is a byte of 0 or 1.
    pub values: SharedBytes,
}

impl SharedTensor {
    /// Checks that the levels fit each other and the values.
    ///
    /// # Errors
    /// The first level that does not.
    fn check_layout(&self) -> Result<(), String> {
        let mut above = None;
        for (at, rows) in self.partitions.iter().enumerate() {
            let (nrows, nvals) = match rows {
                SharedRows::Splits(splits) => counts(splits, &format!("dimension {}", at + 1))?,
                SharedRows::Uniform { rows, length } => (*rows, rows.saturating_mul(*length)),
            };
            if above.is_some_and(|above| above != nrows) {
                return Err(format!("dimension {} has {nrows} rows, but the one above {above:?} values", at + 1));
            }
            above = Some(nvals);
        }
        if above.is_some() && above != self.inner_shape.first().copied() {
            return Err(format!("the last partition has {above:?} values, the shape is {:?}", self.inner_shape));
        }
        let found = match &self.string_splits {
            Some(splits) => {
                let (strings, bytes) = counts(splits, "the strings")?;
                if bytes > self.values.len() {
                    return Err(format!("the strings end at byte {bytes} of {}", self.values.len()));
                }
                strings
            }
            None => self.values.len() / self.dtype.size(),
        };
        if self.inner_shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d)) != Some(found) {
            return Err(format!("{found} values for a shape of {:?}", self.inner_shape));
        }
        Ok(())
    }
}

/// Numbers of rows and of values of splits.
///
/// # Errors
/// The bytes are no row splits.
fn counts(splits: &SharedBytes, what: &str) -> Result<(usize, usize), String> {
    match splits.numbers::<u32>() {
        Some(splits @ [0, .., last] | splits @ [last @ 0]) if splits.is_sorted() => {
            Ok((splits.len() - 1, *last as usize))
        }
        _ => Err(format!("the row splits of {what} are none")),
    }
}

/// The bytes of splits that the host has, or of the next array.
fn splits_of(p: &RowPartition, read: Arrays<'_>) -> SharedRows {
    match (p.shared_host_splits(), p.rows()) {
        (Some(splits), _) => {
            read.next();
            let bytes = 0..size_of_val::<[u32]>(splits);
            SharedRows::Splits(SharedBytes(ReadBytes::new(splits.clone(), bytes)))
        }
        (None, Rows::Splits(_)) => SharedRows::Splits(SharedBytes(next_array(read))),
        (None, Rows::Uniform(length)) => {
            let rows = size_of(p.nrows_extent(), read) as usize;
            SharedRows::Uniform { rows, length: length.capacity() as usize }
        }
    }
}

impl Tensor {
    async fn read_shared(&self, wait: Wait) -> Result<SharedTensor> {
        let backend = self.backend();
        let rec = Recorder::new(backend, "a read");
        let parts = self.parts_to_read();
        // On the CPU the arrays are the result.
        let known = if backend.is_cpu() { None } else { Some(known_bytes(rec, &parts)?) };
        let mut read = read_parts(backend, parts, wait).await?;
        drop(known);
        let partitions = self.partitions().iter().map(|p| splits_of(p, &mut read)).collect();
        let outer = self.outer().map(|outer| size_of(outer, &mut read) as usize);
        let inner_shape = outer.into_iter().chain(self.inner().iter().map(|&d| d as usize)).collect();
        let string_splits = match self.values_ref() {
            Values::Numbers(_) => None,
            Values::Strings { strings, .. } => Some(match splits_of(strings, &mut read) {
                SharedRows::Splits(splits) => splits,
                SharedRows::Uniform { rows, length } => {
                    let (mut splits, _counted) = rec.at(counted_vec(backend, rec.op, rows + 1))?;
                    splits.extend((0..=rows as u64).map(|row| (row * length as u64) as u32));
                    let bytes = 0..size_of_val::<[u32]>(&splits);
                    SharedBytes(ReadBytes::new(Arc::new(HostSplits::from(splits)), bytes))
                }
            }),
        };
        let values = SharedBytes(next_array(&mut read));
        let shared = SharedTensor { partitions, inner_shape, dtype: self.dtype(), string_splits, values };
        shared.check_layout().map_err(|what| Error::partition("a read", what)).map_err(here())?;
        Ok(shared)
    }
}

methods_of_both! {
    /// Reads.
    impl;

    /// Reads the whole tensor, without a copy on the CPU: the result is the arrays themselves. Evaluates pending work and waits
    /// once, as [`Tensor::to_host`].
    ///
    /// Every [`SharedBytes`](crate::SharedBytes) of the result owns its memory: it can be the memory of an array of another
    /// library. While one exists, the array is not reused.
    ///
    /// # Errors
    /// The first failed device-side check; a lost device; on a GPU, more memory than is available.
    ///
    /// # Cost
    /// On the CPU nothing besides the computation and a pass over the row splits. On a GPU one read into mapped memory, which
    /// is the result.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, SharedRows};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let shared = x.multiply(2)?.to_shared()?;
    /// assert_eq!(shared.values.numbers::<i32>(), Some(&[2, 4, 6][..]));
    /// let [SharedRows::Splits(splits)] = &shared.partitions[..] else { panic!("one level of rows") };
    /// assert_eq!(splits.numbers::<u32>(), Some(&[0, 2, 2, 3][..]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_shared(&self) -> Result<SharedTensor> {
        pollster::block_on(self.read_shared(Wait::Blocking)).map_err(here())
    }
}
