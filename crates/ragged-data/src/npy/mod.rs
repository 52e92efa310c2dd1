//! NumPy's files: npy, one dense array, and npz, named arrays.
//!
//! ```
//! use ragged::{Device, RaggedTensor};
//! use ragged_data::npy;
//! let x = RaggedTensor::from_nested([[1.0f32, 2.0], [3.0, 4.0]], &Device::cpu())?;
//! let path = std::env::temp_dir().join("ragged-data-example.npy");
//! npy::write(&path, &x)?;
//! assert_eq!(npy::read(&path, &Device::cpu())?.to_string(), x.to_string());
//! # std::fs::remove_file(&path).ok();
//! # Ok::<(), ragged::Error>(())
//! ```
//!
//! | NumPy | here |
//! |---|---|
//! | bool, int8 to uint64, float16, float32, float64 | the dtype of that name; the other byte order is converted |
//! | datetime64, timedelta64 | i64 |
//! | bytes (`S`), str (`U`) | byte strings, without the zeros behind them |
//!
//! Records, complex numbers, 128-bit floats and Python objects are errors. bf16 has no type in NumPy. Arrays in Fortran's order
//! are transposed on the device. Ragged tensors and strings are written to npz files, as [several arrays](write_npz).

mod header;
mod npz;
mod types;

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use ragged::operation::named;
use ragged::{DType, Device, Result, RowPartition, Tensor};

use crate::fault::argument;
use crate::file::{self, Memory, in_file, part, unreadable};
use crate::memory::MAX_VALUES;
use crate::parts::Array;
use header::Header;
use types::Elements;

pub use npz::{npz_from_bytes, npz_to_bytes, read_npz, write_npz};

/// Reads the array of an npy file.
///
/// # Errors
/// A file that cannot be read, or that is damaged, with the byte; a type that is not in the [table](self); more than 2^32 - 2
/// elements; no memory.
///
/// # Cost
/// One copy: the file in memory, which the tensor adopts on the CPU. [`map`] has none.
///
/// ```
/// use ragged::Device;
/// let e = ragged_data::npy::read("no/such/file.npy", &Device::cpu()).unwrap_err();
/// assert!(e.to_string().starts_with("npy::read: no/such/file.npy: "));
/// ```
#[track_caller]
pub fn read(path: impl AsRef<Path>, device: &Device) -> Result<Tensor> {
    let path = path.as_ref();
    named("npy::read", || file::read(path).and_then(|memory| tensor(&memory, device)).map_err(in_file(path)))
}

/// The array of an npy file in mapped memory: pages are read when they are used. On the CPU the tensor keeps the mapping.
///
/// # Safety
/// Nothing changes or shortens the file while the tensor, or anything still to be computed from it, exists.
///
/// # Errors
/// As [`read`].
///
/// # Cost
/// No copy on the CPU of numbers in native order; on a GPU the upload.
///
/// ```
/// use ragged::{Device, RaggedTensor};
/// use ragged_data::npy;
/// let x = RaggedTensor::from_nested([1, 2, 3], &Device::cpu())?;
/// let path = std::env::temp_dir().join("ragged-data-mapped.npy");
/// npy::write(&path, &x)?;
/// // SAFETY: nothing else has this file.
/// let mapped = unsafe { npy::map(&path, &Device::cpu())? };
/// assert_eq!(mapped.to_string(), "tensor([1, 2, 3], shape=(3,), dtype=i32)");
/// # drop(mapped);
/// # std::fs::remove_file(&path).ok();
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub unsafe fn map(path: impl AsRef<Path>, device: &Device) -> Result<Tensor> {
    let path = path.as_ref();
    named("npy::map", || {
        // SAFETY: as the caller guarantees.
        let memory = unsafe { file::map(path) };
        memory.and_then(|memory| tensor(&memory, device)).map_err(in_file(path))
    })
}

/// The array of an npy file whose bytes are in memory, which the tensor adopts on the CPU.
///
/// # Errors
/// As [`read`].
///
/// # Cost
/// As [`map`].
///
/// ```
/// use ragged::{Device, RaggedTensor};
/// use ragged_data::npy;
/// let bytes = npy::to_bytes(&RaggedTensor::from_nested([1, 2, 3], &Device::cpu())?)?;
/// let x = npy::from_bytes(bytes, &Device::cpu())?;
/// assert_eq!(x.to_string(), "tensor([1, 2, 3], shape=(3,), dtype=i32)");
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn from_bytes(bytes: impl AsRef<[u8]> + Send + Sync + 'static, device: &Device) -> Result<Tensor> {
    let memory: Memory = Arc::new(bytes);
    named("npy::from_bytes", || tensor(&memory, device))
}

/// Writes a dense tensor of numbers or bools to an npy file. A file of the name is replaced once the new one is whole.
///
/// # Errors
/// Ragged rows or strings, which [`write_npz`] takes; bf16; a file that cannot be written; the first failed device-side check.
///
/// # Cost
/// One read of the tensor, without a copy on the CPU.
///
/// ```
/// use ragged::{Device, RaggedTensor};
/// let ragged = RaggedTensor::from_nested([vec![1], vec![]], &Device::cpu())?;
/// let e = ragged_data::npy::write("x.npy", &ragged).unwrap_err();
/// assert!(e.to_string().starts_with("npy::write: x.npy: an npy file holds a dense array, but the shape is [2, None]"));
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn write(path: impl AsRef<Path>, tensor: &impl AsRef<Tensor>) -> Result<()> {
    let path = path.as_ref();
    named("npy::write", || {
        let (header, values) = parts(tensor.as_ref()).map_err(in_file(path))?;
        let write = |out: &mut std::io::BufWriter<std::fs::File>| {
            out.write_all(&header).and_then(|()| out.write_all(&values)).map_err(|e| unreadable(e.to_string()))
        };
        file::write(path, write).map_err(in_file(path))
    })
}

/// The bytes of an npy file of a dense tensor of numbers or bools.
///
/// # Errors
/// As [`write()`], but for the file.
///
/// # Cost
/// One read of the tensor, and a copy.
///
/// ```
/// use ragged::{Device, RaggedTensor};
/// let bytes = ragged_data::npy::to_bytes(&RaggedTensor::from_nested([1u8, 2, 3], &Device::cpu())?)?;
/// assert_eq!((&bytes[1..6], &bytes[128..]), (&b"NUMPY"[..], &[1, 2, 3][..]));
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn to_bytes(tensor: &impl AsRef<Tensor>) -> Result<Vec<u8>> {
    named("npy::to_bytes", || {
        let (mut header, values) = parts(tensor.as_ref())?;
        header.try_reserve_exact(values.len()).map_err(|_| crate::fault::no_memory("a file", values.len() as u64))?;
        header.extend_from_slice(&values);
        Ok(header)
    })
}

/// The header and the elements of a dense tensor.
fn parts(tensor: &Tensor) -> Result<(Vec<u8>, ragged::SharedBytes)> {
    if tensor.ragged_rank() > 0 {
        let what = format!("an npy file holds a dense array, but the shape is {}; use write_npz", tensor.shape_text());
        return Err(argument(what));
    }
    let descr = types::descr(tensor.dtype())?;
    let shared = tensor.to_shared()?;
    Ok((header::written(descr, &shared.inner_shape), shared.values))
}

/// The array of a file as a tensor.
fn tensor(memory: &Memory, device: &Device) -> Result<Tensor> {
    let file = (**memory).as_ref();
    let header = Header::parse(file)?;
    let elements = types::elements(&header.descr)?;
    let too_many = || unreadable(format!("a shape of {:?} exceeds a tensor", header.shape));
    let count = header.shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d)).ok_or_else(too_many)?;
    // Sizes beside one of 0 are limited too.
    let sizes = header.shape.iter().map(|&d| usize::try_from(d).ok().filter(|d| *d <= MAX_VALUES));
    let mut shape: Vec<usize> = sizes.collect::<Option<_>>().ok_or_else(too_many)?;
    let bytes = count.checked_mul(elements.size() as u64).ok_or_else(too_many)?;
    let end = usize::try_from(bytes).ok().and_then(|bytes| header.data.checked_add(bytes));
    let Some(end) = end.filter(|end| *end <= file.len()) else {
        let what = format!(
            "{count} elements of {} bytes from byte {} on need {bytes} bytes, but the file has {} there",
            elements.size(),
            header.data,
            file.len() - header.data
        );
        return Err(unreadable(what));
    };
    if count > MAX_VALUES as u64 {
        return Err(crate::fault::too_many("", count, "values"));
    }
    if header.is_fortran {
        shape.reverse();
    }
    let (range, own) = (header.data..end, &file[header.data..end]);
    let array = |dtype, memory| Array { dtype, shape: shape.clone(), memory }.tensor(device);
    let tensor = match elements {
        Elements::Numbers { dtype, is_swapped: false } => array(dtype, part(memory, range))?,
        Elements::Numbers { dtype, is_swapped: true } => array(dtype, types::swapped(own, dtype.size())?)?,
        strings => {
            let (splits, bytes) = types::strings(strings, own, count as usize)?;
            let rows = RowPartition::from_shared_row_splits(Arc::new(splits), device)?;
            let n = bytes.len();
            let bytes = Tensor::from_shared(Arc::new(bytes), DType::U8, &[n], device)?;
            let strings = Tensor::from_row_partitions(&bytes, &[rows])?.bytes_to_string()?;
            strings.reshape(shape.iter().map(|&d| d as i64).collect::<Vec<i64>>())?
        }
    };
    if header.is_fortran && shape.len() > 1 { tensor.transpose(..) } else { Ok(tensor) }
}
