//! Tensors over host memory of the program: Arrow buffers, mapped files, arrays of other libraries.

use std::sync::Arc;

use super::{RaggedTensor, Tensor, upload};
use crate::backend::host_memory::counted_vec;
use crate::device::Device;
use crate::dtype::DType;
use crate::element::{Element, Number};
use crate::error::{Result, here};
use crate::graph::extent::Extent;
use crate::graph::recorder::Recorder;
use crate::graph::shared_slice::SharedSlice;
use crate::graph::size::RecordedSize;
use crate::shape::{HostSplits, RowPartition};

/// Host memory of the program.
impl Tensor {
    /// The dense tensor of the given shape over host memory of the program, row-major, without a copy on the CPU.
    ///
    /// The memory is that of Arrow buffers, mapped files or arrays of other libraries: any owner of bytes. The bytes are the
    /// elements in native byte order, exactly as many as the shape takes. A bool is a byte, 0 or not; f16 and bf16 are their
    /// bits. To make the tensor ragged, pass it to a factory such as [`Tensor::from_row_partitions`];
    /// [`RowPartition::from_shared_row_splits`] adopts the row splits. Byte strings are rows of u8
    /// ([`bytes_to_string`](Tensor::bytes_to_string)), also without a copy.
    ///
    /// # Requirements on the program
    /// The owner gives the same bytes at each call of `as_ref`, and nothing writes to them while the tensor, or anything
    /// still to be computed from it, exists. The engine never writes to them either: an operation that overwrites a donated
    /// input ([`Program::run_donating`](crate::Program::run_donating)) copies these first.
    ///
    /// On the CPU the owner is kept as long as the tensor, its clones and recorded operations on it, and is then dropped. It
    /// does not count towards the budget of the device. On a GPU it is dropped before this call returns.
    ///
    /// # Errors
    /// Strings (make them of a u8 tensor), or a dtype that the device lacks; another number of bytes than the shape takes;
    /// more than 2^32 - 2 elements; no memory for a copy.
    ///
    /// # Cost
    /// On the CPU nothing for memory that is aligned to the size of the dtype; a copy for other memory, and for bools with
    /// bytes besides 0 and 1. On a GPU one upload, straight from the memory.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use ragged::{DType, Device, Tensor};
    /// // Memory of a program's own: any type that has bytes.
    /// struct Samples(Vec<f32>);
    /// impl AsRef<[u8]> for Samples {
    ///     fn as_ref(&self) -> &[u8] {
    ///         bytemuck::cast_slice(&self.0)
    ///     }
    /// }
    /// let samples = Arc::new(Samples(vec![1.0, 2.0, 3.0]));
    /// let x = Tensor::from_shared(samples.clone(), DType::F32, &[3], &Device::cpu())?;
    /// assert_eq!(Arc::strong_count(&samples), 2);
    /// let rows = Tensor::from_row_splits(&x, &[0, 2, 2, 3])?;
    /// assert_eq!(rows.to_string(), "<ragged.RaggedTensor [[1.0, 2.0], [], [3.0]]>");
    /// drop((x, rows));
    /// assert_eq!(Arc::strong_count(&samples), 1);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_shared(
        owner: Arc<dyn AsRef<[u8]> + Send + Sync>,
        dtype: DType,
        shape: &[usize],
        device: &Device,
    ) -> Result<Self> {
        const OP: &str = "from_shared";
        let backend = device.backend();
        let rec = Recorder::new(backend, OP);
        if dtype == DType::Str {
            return Err(rec.unsupported(dtype, "its bytes are a tensor of u8: see bytes_to_string"));
        }
        let size = |&d: &usize| Ok(rec.known(d as u64)?.capacity());
        let dims: Vec<u32> = shape.iter().map(size).collect::<Result<_>>()?;
        let count = dims.iter().try_fold(Extent::known(1), |n, &d| rec.times(&n, d))?.capacity();
        let (memory, bytes) = (SharedSlice::new(owner), u64::from(count) * dtype.size() as u64);
        let given = memory.bytes().len();
        if given as u64 != bytes {
            let what = format!("a shape of {shape:?} of {dtype} takes {bytes} bytes, but the memory has {given}");
            return Err(rec.argument(what));
        }
        let values = if dtype == DType::Bool && memory.bytes().iter().any(|&byte| byte > 1) {
            let (mut flags, _counted) = rec.at(counted_vec(backend, OP, given))?;
            flags.extend(memory.bytes().iter().map(|&byte| u8::from(byte != 0)));
            upload::numbers(OP, device, dtype, &flags)?
        } else {
            upload::adopted(OP, device, dtype, &memory)?
        };
        let outer = dims.first().map(|&d| values.rows(0, d));
        Self::new(backend, Vec::new(), outer, dims.into_iter().skip(1).collect::<Vec<u32>>(), values)
    }
}

/// Host memory of the program.
impl<T: Element + Number> RaggedTensor<T> {
    /// The dense tensor of the given shape over host memory of the program, row-major, without a copy on the CPU.
    ///
    /// The dtype is the type's. The bytes are the elements in native byte order, exactly as many as the shape takes. The
    /// owner gives the same bytes at each call of `as_ref`, and nothing writes to them while the tensor, or anything still to
    /// be computed from it, exists. On the CPU the owner is dropped with the last of these; on a GPU before this call
    /// returns. [`Tensor::from_shared`] says more of these rules.
    ///
    /// # Errors
    /// A dtype that the device lacks; another number of bytes than the shape takes; more than 2^32 - 2 elements; no memory for
    /// a copy.
    ///
    /// # Cost
    /// On the CPU nothing for memory that is aligned to the size of the dtype; a copy for other memory, and for bools with
    /// bytes besides 0 and 1. On a GPU one upload, straight from the memory.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use ragged::{Device, RaggedTensor};
    /// let file: Arc<Vec<u8>> = Arc::new(b"to be".to_vec());
    /// let bytes = RaggedTensor::<u8>::from_shared(file, &[5], &Device::cpu())?;
    /// assert_eq!(bytes.bytes_to_string()?.string_split(" ")?.to_strings()?, ["to", "be"]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_shared(owner: Arc<dyn AsRef<[u8]> + Send + Sync>, shape: &[usize], device: &Device) -> Result<Self> {
        Tensor::from_shared(owner, T::DTYPE, shape, device)?.try_into()
    }
}

/// Construction.
impl RowPartition {
    /// The partition whose row `r` holds the values `row_splits[r]..row_splits[r + 1]`, over splits in host memory of the
    /// program, without a copy on the CPU.
    ///
    /// The bytes are u32, or i32 that are not negative, such as Arrow's offsets, in native byte order. The owner gives the same
    /// bytes at each call of `as_ref`, and nothing writes to them while the partition, or a tensor of it, exists.
    ///
    /// On every device the owner is kept as long as the partition and tensors of it, since the host looks splits up.
    ///
    /// # Errors
    /// Part of an entry; no entry; splits that do not start at 0 or that decrease, with the first such entry; more than
    /// 2^32 - 2 rows or values; no memory for a copy.
    ///
    /// # Cost
    /// Two passes over the splits on the host, which validate and measure them. On the CPU no copy of memory that is aligned to
    /// 4 bytes; one of other memory. On a GPU one upload, straight from the memory.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use ragged::{Device, RowPartition};
    /// let offsets: Arc<Vec<u8>> = Arc::new(bytemuck::pod_collect_to_vec(&[0i32, 4, 4, 6]));
    /// let rows = RowPartition::from_shared_row_splits(offsets, &Device::cpu())?;
    /// assert_eq!((rows.nrows(), rows.nvals()), (Some(3), Some(6)));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_shared_row_splits(owner: Arc<dyn AsRef<[u8]> + Send + Sync>, device: &Device) -> Result<Self> {
        const OP: &str = "RowPartition::from_shared_row_splits";
        let rec = Recorder::new(device.backend(), OP);
        let memory = SharedSlice::new(owner);
        let bytes = memory.bytes();
        if !bytes.len().is_multiple_of(size_of::<u32>()) {
            let what = format!("row_splits must be whole entries of 4 bytes, but have {} bytes", bytes.len());
            return Err(rec.partition(what));
        }
        let mut _counted = None;
        let splits = match HostSplits::shared(&memory) {
            Some(splits) => splits,
            None => {
                let (mut own, counted) = counted_vec(device.backend(), OP, bytes.len() / 4).map_err(here())?;
                own.extend(bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned::<u32>));
                _counted = Some(counted);
                HostSplits::from(own)
            }
        };
        Self::validate_splits(rec, &splits, None)?;
        Self::from_host_splits(rec, splits)
    }
}
