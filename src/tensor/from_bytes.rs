//! Byte strings from nested lists of bytes.

use super::{IntoNested, RaggedTensor, Tensor, Values};
use crate::device::Device;
use crate::element::Str;
use crate::error::Result;

/// Byte strings of a buffer.
impl RaggedTensor<Str> {
    /// Builds a tensor of byte strings from nested lists of bytes, given or borrowed: the innermost lists are the
    /// strings.
    ///
    /// `&[u8]`, `Vec<u8>` or `b"…"` gives a scalar: one string, such as a whole text. A list of these gives a vector,
    /// and each further level of vectors is a ragged dimension, as in [`from_nested`](Self::from_nested), which makes
    /// rows of u8 of the same lists. The bytes need not be UTF-8. Rust's `str` and `String` need no conversion:
    /// `from_nested(["a", "b"])`.
    ///
    /// # Errors
    /// More than the device can hold; no host memory for the flat bytes; a single byte.
    ///
    /// # Cost
    /// One copy of a single string: the upload. Lists of strings are joined first.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Str};
    /// let device = Device::cpu();
    /// let file: Vec<u8> = b"to be\nor not".to_vec();
    /// let text = RaggedTensor::<Str>::from_bytes(&file, &device)?;
    /// assert_eq!(text.string_split("\n")?.to_strings()?, ["to be", "or not"]);
    /// let words = RaggedTensor::<Str>::from_bytes([vec![&b"a"[..], b"\xFF"], vec![]], &device)?;
    /// assert_eq!(words.to_string(), r"<ragged.RaggedTensor [[b'a', b'\xff'], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[doc(alias = "from_utf8")]
    #[track_caller]
    pub fn from_bytes<N: IntoNested<u8>>(strings: N, device: &Device) -> Result<Self> {
        const OP: &str = "from_bytes";
        if let Some(text) = strings.flat() {
            crate::graph::extent::Extent::known_u64(OP, text.len() as u64)?;
            let values = Values::upload_strings(OP, device, vec![0, text.len() as u32], text)?;
            return Tensor::new(device.backend(), Vec::new(), None, [], values)?.try_into();
        }
        let rows = RaggedTensor::<u8>::from_nested(strings, device).map_err(|e| e.of(OP))?;
        rows.bytes_to_string().map_err(|e| e.of(OP))
    }
}
