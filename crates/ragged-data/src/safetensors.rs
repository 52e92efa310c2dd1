//! safetensors files: named tensors.
//!
//! ```
//! use ragged::{Device, RaggedTensor};
//! use ragged_data::safetensors;
//! let x = RaggedTensor::from_nested([vec![1.0f32, 2.0], vec![]], &Device::cpu())?.into_erased();
//! let path = std::env::temp_dir().join("ragged-data-example.safetensors");
//! safetensors::write(&path, [("x", &x)])?;
//! assert_eq!(safetensors::read(&path, &Device::cpu())?["x"].to_string(), x.to_string());
//! # std::fs::remove_file(&path).ok();
//! # Ok::<(), ragged::Error>(())
//! ```
//!
//! A dense tensor of numbers is one tensor of the file. A ragged one is its flat values under its name, and the splits of
//! partition `K`, from 0, outermost first, under `NAME.row_splits.K` (`NAME.row_length.K` of uniform rows: their length and
//! number). Strings are their bytes, with `NAME.string_splits` and `NAME.string_shape`. Numbers of 8 bits of float and of fewer
//! than 8 bits are errors.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use ::safetensors::{Dtype, SafeTensors, View};
use ragged::operation::named;
use ragged::{DType, Device, Result, Tensor};

use crate::fault::{argument, those_that_exist};
use crate::file::{self, Memory, in_file, part, unreadable};
use crate::parts::{self, Array};

/// Reads all tensors of a safetensors file, by name. Those that [`write()`] made of one tensor are that tensor again.
///
/// # Errors
/// A file that cannot be read, or that is damaged, with the tensor; a dtype that is none here; tensors of a ragged one that do
/// not fit each other; no memory.
///
/// # Cost
/// One copy: the file in memory, which the tensors adopt on the CPU. [`map`] has none.
///
/// ```
/// use ragged::Device;
/// let e = ragged_data::safetensors::read("no/such/file", &Device::cpu()).unwrap_err();
/// assert!(e.to_string().starts_with("safetensors::read: no/such/file: "));
/// ```
#[track_caller]
pub fn read(path: impl AsRef<Path>, device: &Device) -> Result<BTreeMap<String, Tensor>> {
    let path = path.as_ref();
    named("safetensors::read", || file::read(path).and_then(|memory| tensors(&memory, device)).map_err(in_file(path)))
}

/// All tensors of a safetensors file in mapped memory, by name: pages are read when they are used. On the CPU the tensors keep
/// the mapping.
///
/// # Safety
/// Nothing changes or shortens the file while the tensors, or anything still to be computed from them, exist.
///
/// # Errors
/// As [`read`].
///
/// # Cost
/// No copy on the CPU of tensors that are aligned in the file; on a GPU the upload.
///
/// ```
/// use ragged::{Device, RaggedTensor};
/// use ragged_data::safetensors;
/// let x = RaggedTensor::from_nested([1, 2, 3], &Device::cpu())?.into_erased();
/// let path = std::env::temp_dir().join("ragged-data-mapped.safetensors");
/// safetensors::write(&path, [("x", &x)])?;
/// // SAFETY: nothing else has this file.
/// let mapped = unsafe { safetensors::map(&path, &Device::cpu())? };
/// assert_eq!(mapped["x"].to_string(), "tensor([1, 2, 3], shape=(3,), dtype=i32)");
/// # drop(mapped);
/// # std::fs::remove_file(&path).ok();
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub unsafe fn map(path: impl AsRef<Path>, device: &Device) -> Result<BTreeMap<String, Tensor>> {
    let path = path.as_ref();
    named("safetensors::map", || {
        // SAFETY: as the caller guarantees.
        let memory = unsafe { file::map(path) };
        memory.and_then(|memory| tensors(&memory, device)).map_err(in_file(path))
    })
}

/// All tensors of a safetensors file whose bytes are in memory, which the tensors adopt on the CPU.
///
/// # Errors
/// As [`read`].
///
/// # Cost
/// As [`map`].
///
/// ```
/// use ragged::{Device, RaggedTensor};
/// use ragged_data::safetensors;
/// let x = RaggedTensor::from_nested(["a", "b"], &Device::cpu())?.into_erased();
/// let bytes = safetensors::to_bytes([("x", &x)])?;
/// assert_eq!(safetensors::from_bytes(bytes, &Device::cpu())?["x"].to_string(), x.to_string());
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn from_bytes(
    bytes: impl AsRef<[u8]> + Send + Sync + 'static,
    device: &Device,
) -> Result<BTreeMap<String, Tensor>> {
    let memory: Memory = Arc::new(bytes);
    named("safetensors::from_bytes", || tensors(&memory, device))
}

/// Writes tensors to a safetensors file, by name; see [the module](self). A file of the name is replaced once the new one is
/// whole.
///
/// # Errors
/// A name that is empty, given twice, or of another tensor's array; a file that cannot be written; the first failed device-side
/// check.
///
/// # Cost
/// One read of each tensor, without a copy on the CPU.
///
/// ```
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([1], &Device::cpu())?.into_erased();
/// let e = ragged_data::safetensors::write("x.safetensors", [("x", &x), ("x", &x)]).unwrap_err();
/// assert!(e.to_string().starts_with("safetensors::write: x.safetensors: the name \"x\" is given twice"));
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn write<'a>(path: impl AsRef<Path>, tensors: impl IntoIterator<Item = (&'a str, &'a Tensor)>) -> Result<()> {
    let path = path.as_ref();
    named("safetensors::write", || {
        let views = views(tensors).map_err(in_file(path))?;
        let mut name = path.as_os_str().to_owned();
        name.push(".part");
        let part = Path::new(&name);
        let written = ::safetensors::serialize_to_file(views, None, part).map_err(|e| unreadable(e.to_string()));
        let done = written.and_then(|()| std::fs::rename(part, path).map_err(|e| unreadable(e.to_string())));
        if done.is_err() {
            let _ = std::fs::remove_file(part);
        }
        done.map_err(in_file(path))
    })
}

/// The bytes of a safetensors file of tensors, by name; see [`write()`].
///
/// # Errors
/// As [`write()`], but for the file.
///
/// # Cost
/// One read of each tensor, and a copy.
///
/// ```
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([1u8, 2], &Device::cpu())?.into_erased();
/// assert!(ragged_data::safetensors::to_bytes([("x", &x)])?.ends_with(&[1, 2]));
/// assert!(ragged_data::safetensors::to_bytes([("", &x)]).is_err());
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn to_bytes<'a>(tensors: impl IntoIterator<Item = (&'a str, &'a Tensor)>) -> Result<Vec<u8>> {
    named("safetensors::to_bytes", || {
        ::safetensors::serialize(views(tensors)?, None).map_err(|e| unreadable(e.to_string()))
    })
}

/// The arrays of tensors, by name.
fn views<'a>(tensors: impl IntoIterator<Item = (&'a str, &'a Tensor)>) -> Result<Vec<(String, Array)>> {
    let mut names = BTreeSet::new();
    let mut out = Vec::new();
    for (name, tensor) in tensors {
        if !names.insert(name) {
            return Err(argument(format!("the name {name:?} is given twice")));
        }
        let arrays = parts::arrays(name, tensor)?;
        if let Some((name, array)) = arrays.iter().find(|(_, array)| stored(array.dtype).is_none()) {
            return Err(argument(format!("tensor {name:?}: the format has no type for {}", array.dtype)));
        }
        out.extend(arrays);
    }
    Ok(out)
}

impl View for Array {
    fn dtype(&self) -> Dtype {
        // `views` gives no others.
        stored(self.dtype).unwrap_or(Dtype::U8)
    }
    fn shape(&self) -> &[usize] {
        &self.shape
    }
    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed((*self.memory).as_ref())
    }
    fn data_len(&self) -> usize {
        (*self.memory).as_ref().len()
    }
}

/// The dtype in files.
fn stored(dtype: DType) -> Option<Dtype> {
    Some(match dtype {
        DType::Bool => Dtype::BOOL,
        DType::U8 => Dtype::U8,
        DType::I8 => Dtype::I8,
        DType::U16 => Dtype::U16,
        DType::I16 => Dtype::I16,
        DType::I32 => Dtype::I32,
        DType::U32 => Dtype::U32,
        DType::I64 => Dtype::I64,
        DType::U64 => Dtype::U64,
        DType::F16 => Dtype::F16,
        DType::BF16 => Dtype::BF16,
        DType::F32 => Dtype::F32,
        DType::F64 => Dtype::F64,
        _ => return None,
    })
}

/// The tensors of a file.
fn tensors(memory: &Memory, device: &Device) -> Result<BTreeMap<String, Tensor>> {
    let bytes = (**memory).as_ref();
    let file = SafeTensors::deserialize(bytes).map_err(|e| unreadable(format!("this is no safetensors file: {e}")))?;
    let mut arrays = BTreeMap::new();
    for (name, view) in file.iter() {
        let Some(dtype) = DType::ALL.into_iter().find(|&dtype| stored(dtype) == Some(view.dtype())) else {
            return Err(unreadable(format!("tensor {name:?}: no dtype here holds {}", view.dtype())));
        };
        let start = view.data().as_ptr().addr() - bytes.as_ptr().addr();
        let range = start..start + view.data().len();
        arrays.insert(name, (dtype, view.shape().to_vec(), range));
    }
    let owners: BTreeSet<&str> = arrays.keys().map(|name| parts::owner_of(name)).collect();
    let mut out = BTreeMap::new();
    for owner in owners {
        if !arrays.contains_key(owner) {
            let has = those_that_exist(owner, arrays.keys().copied());
            return Err(unreadable(format!("there is no tensor {owner:?} of values; {has}")));
        }
        let mut array = |name: &str| {
            let found = arrays.get(name).cloned();
            Ok(found.map(|(dtype, shape, range)| Array { dtype, shape, memory: part(memory, range) }))
        };
        out.insert(owner.to_owned(), parts::tensor(owner, &mut array, device)?);
    }
    Ok(out)
}
