//! The file: a safetensors file of named arrays, whose metadata has the manifest and a checksum.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use safetensors::{Dtype, View};

use super::header::{Entry, Header};
use crate::backend::cpu::fingerprint::fingerprint64;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, here};
use crate::graph::digest::DigestMap;
use crate::graph::node::Node;
use crate::graph::row_lengths::KnownLengths;

/// The key of the metadata.
const KEY: &str = "ragged";

/// How its value begins.
const FORM: &str = r#"{"checksum":""#;

/// The value of the key: the checksum, and the manifest, of which the text is summed as it stands.
fn signed(sum: &str, manifest: &str) -> String {
    format!(r#"{{"checksum":"{sum}","manifest":{manifest}}}"#)
}

/// The checksum and the manifest of a value.
fn unsigned(value: &str) -> Option<(&str, &str)> {
    let (sum, rest) = value.strip_prefix(FORM)?.split_at_checked(16)?;
    Some((sum, rest.strip_prefix(r#"","manifest":"#)?.strip_suffix('}')?))
}

/// An array to write.
pub(super) struct ArrayBytes<'a> {
    pub(super) dtype: DType,
    pub(super) shape: Vec<usize>,
    pub(super) bytes: Cow<'a, [u8]>,
}

/// An array of a file.
#[derive(Debug)]
pub(super) struct ArrayAt {
    pub(super) dtype: DType,
    pub(super) shape: Box<[usize]>,
    bytes: Range<usize>,
}

/// The manifest of a file.
pub(super) struct SignedManifest {
    /// The checksum and the manifest.
    value: String,
    json: Range<usize>,
    /// Whether the checksum is that of the manifest and the arrays.
    pub(super) is_intact: bool,
}

impl SignedManifest {
    pub(super) fn json(&self) -> &str {
        &self.value[self.json.clone()]
    }
}

/// A file that was read.
#[derive(Debug, Default)]
pub(super) struct File {
    bytes: Vec<u8>,
    /// By name.
    arrays: Vec<(Box<str>, ArrayAt)>,
    /// The arrays that programs captured, once they are uploaded to the CPU.
    captured: Mutex<HashMap<String, Node>>,
}

impl View for &ArrayBytes<'_> {
    fn dtype(&self) -> Dtype {
        stored(self.dtype)
    }
    fn shape(&self) -> &[usize] {
        &self.shape
    }
    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }
    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

impl ArrayAt {
    /// Whether the sizes of the array are those of a tensor.
    pub(super) fn is_tensor(&self) -> bool {
        self.shape.iter().all(|&size| u32::try_from(size).is_ok())
    }
}

/// The dtype in files: that of bytes for strings.
fn stored(dtype: DType) -> Dtype {
    match dtype {
        DType::Bool => Dtype::BOOL,
        DType::U8 | DType::Str => Dtype::U8,
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
    }
}

/// The dtype of numbers that the engine has; none for others.
fn dtype_of(dtype: Dtype) -> Option<DType> {
    DType::ALL.into_iter().find(|&ours| ours != DType::Str && stored(ours) == dtype)
}

/// The checksum of a manifest and the arrays: 16 hexadecimal digits.
fn checksum<'a>(manifest: &str, arrays: impl Iterator<Item = (&'a str, DType, &'a [usize], &'a [u8])>) -> String {
    let mut words = vec![fingerprint64(manifest.as_bytes())];
    for (name, dtype, shape, bytes) in arrays {
        words.push(fingerprint64(format!("{name}\0{dtype}{shape:?}").as_bytes()));
        words.push(fingerprint64(bytes));
    }
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    format!("{:016x}", fingerprint64(&bytes))
}

/// The bytes of a file. `arrays` are in the order of their names.
pub(super) fn written(manifest: &str, arrays: &BTreeMap<String, ArrayBytes<'_>>) -> Result<Vec<u8>, String> {
    let sum = checksum(manifest, arrays.iter().map(|(name, a)| (name.as_str(), a.dtype, &a.shape[..], &a.bytes[..])));
    let metadata = [(KEY.to_owned(), signed(&sum, manifest))];
    safetensors::serialize(arrays, Some(metadata.into())).map_err(|e| e.to_string())
}

impl File {
    /// Reads a file: the arrays, and the manifest, which a file of another program has not. Allocates in proportion to
    /// the file only.
    ///
    /// # Errors
    /// No safetensors file.
    pub(super) fn read(bytes: Vec<u8>) -> Result<(Self, Option<SignedManifest>), String> {
        // Also found by its form, so that a damaged key does not make it the file of another program.
        let header = Header::read(&bytes, |key, value| key == KEY || value.starts_with(FORM));
        let Header { entries, value } =
            header.map_err(|fault| format!("it is no safetensors file, or damaged: {fault}"))?;
        // Arrays of other dtypes are left out, as no tensor has them.
        let array =
            |Entry { name, dtype, shape, bytes }| Some((name, ArrayAt { dtype: dtype_of(dtype)?, shape, bytes }));
        let arrays: Vec<(Box<str>, ArrayAt)> = entries.into_iter().filter_map(array).collect();
        let manifest = match value {
            None => None,
            Some(value) => {
                let (sum, json) = unsigned(&value).ok_or("it is damaged: its manifest has another form")?;
                let named = arrays.iter().map(|(name, a)| (&**name, a.dtype, &a.shape[..], &bytes[a.bytes.clone()]));
                let is_intact = sum == checksum(json, named);
                let json = value.len() - 1 - json.len()..value.len() - 1;
                Some(SignedManifest { value, json, is_intact })
            }
        };
        Ok((Self { bytes, arrays, captured: Mutex::default() }, manifest))
    }

    /// An array.
    ///
    /// # Errors
    /// There is none of that name.
    pub(super) fn array(&self, name: &str) -> Result<&ArrayAt, String> {
        let found = self.arrays.binary_search_by_key(&name, |(name, _)| name);
        found.map(|k| &self.arrays[k].1).map_err(|_| format!("there is no array {name:?}"))
    }

    /// All arrays, by name.
    pub(super) fn arrays(&self) -> impl Iterator<Item = (&str, &ArrayAt)> {
        self.arrays.iter().map(|(name, at)| (&**name, at))
    }

    /// The bytes of an array, little endian.
    pub(super) fn bytes(&self, array: &ArrayAt) -> &[u8] {
        &self.bytes[array.bytes.clone()]
    }

    /// A captured array on the CPU, uploaded once. Row splits keep what is known of their lengths.
    ///
    /// # Errors
    /// No memory for the array.
    #[track_caller]
    pub(super) fn captured(&self, name: &str, array: &ArrayAt, is_splits: bool) -> Result<Node, Error> {
        let mut captured = self.captured.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = captured.get(name) {
            return Ok(known.clone());
        }
        let (cpu, bytes) = (Device::cpu(), self.bytes(array));
        let data = cpu.backend().upload(array.dtype, bytes).map_err(here())?;
        let len = (bytes.len() / array.dtype.size()) as u32;
        let node = if is_splits {
            let lengths = KnownLengths::of(&bytemuck::pod_collect_to_vec::<u8, u32>(bytes));
            Node::source_splits(cpu.backend(), (len, lengths), data)
        } else {
            Node::source(cpu.backend(), array.dtype, len, data)
        };
        captured.insert(name.to_owned(), node.clone());
        Ok(node)
    }

    /// Checks that truth values are 0 or 1.
    ///
    /// # Errors
    /// Other ones.
    pub(super) fn check_flags(&self, name: &str, array: &ArrayAt) -> Result<(), String> {
        if array.dtype == DType::Bool && self.bytes(array).iter().any(|&byte| byte > 1) {
            return Err(format!("array {name:?} has truth values that are neither 0 nor 1"));
        }
        Ok(())
    }

    /// The names of the captured arrays that are uploaded.
    pub(super) fn captured_names(&self) -> DigestMap<String> {
        let captured = self.captured.lock().unwrap_or_else(PoisonError::into_inner);
        captured.iter().map(|(name, node)| (node.digest(), name.clone())).collect()
    }

    /// The words of an array of u32 of one dimension.
    ///
    /// # Errors
    /// No such array, or of another dtype or shape.
    pub(super) fn words(&self, name: &str) -> Result<Vec<u32>, String> {
        let array = self.array(name)?;
        if array.dtype != DType::U32 || array.shape.len() != 1 {
            return Err(format!("array {name:?} is of {} and shape {:?}, not a list of u32", array.dtype, array.shape));
        }
        Ok(bytemuck::pod_collect_to_vec(self.bytes(array)))
    }
}
