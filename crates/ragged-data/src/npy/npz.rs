//! npz files: zip archives of npy files.

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Seek, Write};
use std::path::Path;
use std::sync::Arc;

use ragged::operation::named;
use ragged::{Device, Result, Tensor};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{header, tensor as npy_tensor, types};
use crate::fault::{argument, those_that_exist};
use crate::file::{self, Memory, in_file, unreadable};
use crate::memory::room;
use crate::parts::{self, Array};

/// Most bytes that a byte of a compressed entry stands for: the limit of deflate.
const MAX_RATIO: u64 = 1032;

/// Reads all arrays of an npz file, by name. Arrays that [`write_npz`] made of one tensor are that tensor again.
///
/// # Errors
/// As [`read`](super::read); arrays of a tensor that do not fit each other, with their names; no memory.
///
/// # Cost
/// The file in memory, and a copy of each array.
///
/// ```
/// use ragged::Device;
/// let e = ragged_data::npy::read_npz("no/such/file.npz", &Device::cpu()).unwrap_err();
/// assert!(e.to_string().starts_with("npy::read_npz: no/such/file.npz: "));
/// ```
#[track_caller]
pub fn read_npz(path: impl AsRef<Path>, device: &Device) -> Result<BTreeMap<String, Tensor>> {
    let path = path.as_ref();
    named("npy::read_npz", || file::read(path).and_then(|memory| tensors(&memory, device)).map_err(in_file(path)))
}

/// All arrays of an npz file whose bytes are in memory, by name; see [`read_npz`].
///
/// # Errors
/// As [`read_npz`].
///
/// # Cost
/// A copy of each array.
///
/// ```
/// use ragged::{Device, RaggedTensor};
/// use ragged_data::npy;
/// let x = RaggedTensor::from_nested([vec!["a", "b"], vec![]], &Device::cpu())?.into_erased();
/// let bytes = npy::npz_to_bytes([("words", &x)])?;
/// let read = npy::npz_from_bytes(bytes, &Device::cpu())?;
/// assert_eq!(read["words"].to_string(), x.to_string());
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn npz_from_bytes(
    bytes: impl AsRef<[u8]> + Send + Sync + 'static,
    device: &Device,
) -> Result<BTreeMap<String, Tensor>> {
    let memory: Memory = Arc::new(bytes);
    named("npy::npz_from_bytes", || tensors(&memory, device))
}

/// Writes tensors to an npz file, by name. A file of the name is replaced once the new one is whole.
///
/// A dense tensor of numbers is one array. A ragged one is its flat values under its name, and the splits of partition `K`,
/// from 0, outermost first, under `NAME.row_splits.K` (`NAME.row_length.K` of uniform rows: their length and number). Strings
/// are their bytes, with `NAME.string_splits` and `NAME.string_shape`. Arrays are not compressed, as by `numpy.savez`.
///
/// # Errors
/// A name that is empty, given twice, or of another tensor's array; bf16; a file that cannot be written; the first failed
/// device-side check.
///
/// # Cost
/// One read of each tensor, without a copy on the CPU.
///
/// ```
/// use ragged::{Device, RaggedTensor};
/// use ragged_data::npy;
/// let x = RaggedTensor::from_nested([vec![1, 2], vec![]], &Device::cpu())?.into_erased();
/// let path = std::env::temp_dir().join("ragged-data-example.npz");
/// npy::write_npz(&path, [("x", &x)])?;
/// assert_eq!(npy::read_npz(&path, &Device::cpu())?["x"].to_string(), x.to_string());
/// # std::fs::remove_file(&path).ok();
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn write_npz<'a>(path: impl AsRef<Path>, tensors: impl IntoIterator<Item = (&'a str, &'a Tensor)>) -> Result<()> {
    let path = path.as_ref();
    named("npy::write_npz", || file::write(path, |out| put(out, tensors)).map_err(in_file(path)))
}

/// The bytes of an npz file of tensors, by name; see [`write_npz`].
///
/// # Errors
/// As [`write_npz`], but for the file.
///
/// # Cost
/// One read of each tensor, and a copy.
///
/// ```
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([1, 2], &Device::cpu())?.into_erased();
/// assert!(ragged_data::npy::npz_to_bytes([("x", &x)])?.starts_with(b"PK"));
/// assert!(ragged_data::npy::npz_to_bytes([("x.row_splits.0", &x)]).is_err());
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn npz_to_bytes<'a>(tensors: impl IntoIterator<Item = (&'a str, &'a Tensor)>) -> Result<Vec<u8>> {
    named("npy::npz_to_bytes", || {
        let mut out = Cursor::new(Vec::new());
        put(&mut out, tensors)?;
        Ok(out.into_inner())
    })
}

fn put<'a>(out: impl Write + Seek, tensors: impl IntoIterator<Item = (&'a str, &'a Tensor)>) -> Result<()> {
    let failed = |e: &dyn std::fmt::Display| unreadable(e.to_string());
    let mut zip = ZipWriter::new(out);
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    let mut names = std::collections::BTreeSet::new();
    for (name, tensor) in tensors {
        if !names.insert(name) {
            return Err(argument(format!("the name {name:?} is given twice")));
        }
        for (name, array) in parts::arrays(name, tensor)? {
            zip.start_file(format!("{name}.npy"), options).map_err(|e| failed(&e))?;
            let header = header::written(types::descr(array.dtype)?, &array.shape);
            let write =
                |zip: &mut ZipWriter<_>| zip.write_all(&header).and_then(|()| zip.write_all((*array.memory).as_ref()));
            write(&mut zip).map_err(|e| failed(&e))?;
        }
    }
    zip.finish().map_err(|e| failed(&e))?;
    Ok(())
}

/// The tensors of an archive.
fn tensors(memory: &Memory, device: &Device) -> Result<BTreeMap<String, Tensor>> {
    let bytes = (**memory).as_ref();
    let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(|e| unreadable(format!("this is no npz file: {e}")))?;
    let mut arrays: BTreeMap<String, Tensor> = BTreeMap::new();
    for at in 0..zip.len() {
        let mut entry = zip.by_index(at).map_err(|e| unreadable(format!("entry {at}: {e}")))?;
        let name = entry.name().to_owned();
        let Some(own) = name.strip_suffix(".npy") else {
            return Err(unreadable(format!("entry {name:?} is no npy file")));
        };
        let within = |e: ragged::Error| unreadable(format!("entry {name:?}: {}", file::reason(&e)));
        let content = content(&mut entry, bytes.len()).map_err(within)?;
        arrays.insert(own.to_owned(), npy_tensor(&content, &Device::cpu()).map_err(within)?);
    }
    joined(&arrays, device)
}

/// The content of an entry of a file of `file` bytes. The sizes of the entry are not trusted.
fn content<R: Read>(entry: &mut zip::read::ZipFile<'_, R>, file: usize) -> Result<Memory> {
    let (size, packed) = (entry.size(), entry.compressed_size().min(file as u64));
    if size > packed.saturating_mul(MAX_RATIO) {
        return Err(unreadable(format!("{packed} compressed bytes cannot be {size} bytes")));
    }
    let mut out: Vec<u8> = room("an entry of a file", usize::try_from(size).unwrap_or(usize::MAX))?;
    let failed = |e: std::io::Error| unreadable(e.to_string());
    let read = entry.take(size).read_to_end(&mut out).map_err(failed)?;
    // The checksum is compared at the end.
    let more = entry.read(&mut [0]).map_err(failed)?;
    if read as u64 != size || more > 0 {
        let has = if more > 0 { "more" } else { "fewer" };
        return Err(unreadable(format!("the entry has {has} bytes than its size of {size}")));
    }
    Ok(Arc::new(out))
}

/// The tensors that arrays belong to.
fn joined(arrays: &BTreeMap<String, Tensor>, device: &Device) -> Result<BTreeMap<String, Tensor>> {
    let mut out = BTreeMap::new();
    let names: std::collections::BTreeSet<&str> = arrays.keys().map(|name| parts::owner_of(name)).collect();
    for name in names {
        if !arrays.contains_key(name) {
            let has = those_that_exist(name, arrays.keys().map(String::as_str));
            return Err(unreadable(format!("there is no array {name:?} of values; {has}")));
        }
        let mut array = |part: &str| {
            let Some(tensor) = arrays.get(part) else { return Ok(None) };
            if tensor.dtype() == ragged::DType::Str {
                return Ok(None);
            }
            let shared = tensor.to_shared()?;
            let memory: Memory = Arc::new(shared.values);
            Ok(Some(Array { dtype: shared.dtype, shape: shared.inner_shape, memory }))
        };
        let tensor = match arrays.get(name) {
            Some(strings) if strings.dtype() == ragged::DType::Str => strings.to_device(device)?,
            _ => parts::tensor(name, &mut array, device)?,
        };
        out.insert(name.to_owned(), tensor);
    }
    Ok(out)
}
