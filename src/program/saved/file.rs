//! The file: a safetensors file of named arrays, whose metadata has the manifest and a checksum.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use safetensors::{Dtype, SafeTensors, View};

use crate::backend::cpu::fingerprint::fingerprint64;
use crate::dtype::DType;

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
#[derive(Debug, Clone)]
pub(super) struct ArrayAt {
    pub(super) dtype: DType,
    pub(super) shape: Vec<usize>,
    bytes: Range<usize>,
}

/// A file that was read.
#[derive(Debug, Default)]
pub(super) struct File {
    bytes: Vec<u8>,
    arrays: BTreeMap<String, ArrayAt>,
}

impl View for &ArrayBytes<'_> {
    fn dtype(&self) -> Dtype {
        match self.dtype {
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

/// The dtype of numbers that the engine has; none for others.
fn dtype_of(dtype: Dtype) -> Option<DType> {
    Some(match dtype {
        Dtype::BOOL => DType::Bool,
        Dtype::U8 => DType::U8,
        Dtype::I8 => DType::I8,
        Dtype::U16 => DType::U16,
        Dtype::I16 => DType::I16,
        Dtype::I32 => DType::I32,
        Dtype::U32 => DType::U32,
        Dtype::I64 => DType::I64,
        Dtype::U64 => DType::U64,
        Dtype::F16 => DType::F16,
        Dtype::BF16 => DType::BF16,
        Dtype::F32 => DType::F32,
        Dtype::F64 => DType::F64,
        _ => return None,
    })
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
    /// No safetensors file; a manifest or arrays that were changed after they were written.
    pub(super) fn read(bytes: Vec<u8>) -> Result<(Self, Option<String>), String> {
        let damaged = |e: safetensors::SafeTensorError| format!("it is no safetensors file, or damaged: {e}");
        let (header, metadata) = SafeTensors::read_metadata(&bytes).map_err(damaged)?;
        let start = 8 + header;
        let mut arrays = BTreeMap::new();
        for (name, info) in metadata.tensors() {
            let (first, end) = info.data_offsets;
            // Arrays of other dtypes are left out, as no tensor has them.
            if let Some(dtype) = dtype_of(info.dtype) {
                let at = ArrayAt { dtype, shape: info.shape.clone(), bytes: start + first..start + end };
                arrays.insert(name, at);
            }
        }
        let mut values = metadata.metadata().iter().flatten();
        // Found by its form, so that a damaged key does not make it the file of another program.
        let value = values.find(|(key, value)| *key == KEY || value.starts_with(FORM)).map(|(_, value)| value);
        let manifest = match value {
            None => None,
            Some(value) => {
                let (sum, manifest) = unsigned(value).ok_or("it is damaged: its manifest has another form")?;
                let named =
                    arrays.iter().map(|(name, a)| (name.as_str(), a.dtype, &a.shape[..], &bytes[a.bytes.clone()]));
                if sum != checksum(manifest, named) {
                    return Err("it is damaged: its checksum is another one".into());
                }
                Some(manifest.to_owned())
            }
        };
        Ok((Self { bytes, arrays }, manifest))
    }

    /// An array.
    ///
    /// # Errors
    /// There is none of that name.
    pub(super) fn array(&self, name: &str) -> Result<&ArrayAt, String> {
        self.arrays.get(name).ok_or_else(|| format!("there is no array {name:?}"))
    }

    /// All arrays, by name.
    pub(super) fn arrays(&self) -> impl Iterator<Item = (&str, &ArrayAt)> {
        self.arrays.iter().map(|(name, at)| (name.as_str(), at))
    }

    /// The bytes of an array, little endian.
    pub(super) fn bytes(&self, array: &ArrayAt) -> &[u8] {
        &self.bytes[array.bytes.clone()]
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
