//! Reads of byte strings as text.

use std::future::Future;

use super::{HostValues, RaggedTensor};
use crate::element::Str;
use crate::error::{Error, Result, here, quoted};

/// Reads of text.
impl RaggedTensor<Str> {
    /// Reads the flat strings, row-major, as UTF-8 text. Waits once for pending work.
    ///
    /// [`to_vec`](Self::to_vec) gives the bytes, [`to_strings_lossy`](Self::to_strings_lossy) replaces invalid ones,
    /// and [`to_nested_vec`](Self::to_nested_vec) reads rows: `x.to_nested_vec::<Vec<Vec<String>>>()`.
    ///
    /// # Errors
    /// A string that is not valid UTF-8, with its position; the first failed device-side check; a lost device; more
    /// memory than is available, or than the device's budget.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Str};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec!["日本", "b"], vec![]], &device)?;
    /// assert_eq!(x.to_strings()?, ["日本", "b"]);
    /// let x = RaggedTensor::<Str>::from_bytes([&b"ab"[..], b"c\xFF"], &device)?;
    /// assert!(x.to_strings().unwrap_err().to_string().contains("position 1"));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[doc(alias = "to_str")]
    #[track_caller]
    pub fn to_strings(&self) -> Result<Vec<String>> {
        texts(self.to_vec()?)
    }

    /// Reads the flat strings, row-major, as UTF-8 text, without blocking; see [`to_strings`](Self::to_strings).
    ///
    /// The future may be awaited in any executor, moved between threads, or dropped, which cancels only the read; see
    /// [`Tensor::to_host_async`](crate::Tensor::to_host_async).
    ///
    /// # Errors
    /// A string that is not valid UTF-8, with its position; the first failed device-side check; a lost device; more
    /// memory than is available, or than the device's budget.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(["a b"], &Device::cpu())?.string_split(" ")?;
    /// assert_eq!(pollster::block_on(x.to_strings_async())?, ["a", "b"]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_strings_async(&self) -> impl Future<Output = Result<Vec<String>>> + Send + use<> {
        let (read, here) = (self.to_vec_async(), here());
        async move { texts(read.await?).map_err(here) }
    }

    /// Reads the flat strings, row-major, as text: invalid UTF-8 becomes U+FFFD. Waits once for pending work.
    ///
    /// # Errors
    /// The first failed device-side check; a lost device; more memory than is available, or than the device's budget.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Str};
    /// let x = RaggedTensor::<Str>::from_bytes([&b"ab"[..], b"c\xFF"], &Device::cpu())?;
    /// assert_eq!(x.to_strings_lossy()?, ["ab", "c\u{FFFD}"]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_strings_lossy(&self) -> Result<Vec<String>> {
        let text = |bytes| match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(invalid) => String::from_utf8_lossy(invalid.as_bytes()).into_owned(),
        };
        Ok(self.to_vec()?.into_iter().map(text).collect())
    }
}

/// The strings as text, without a copy.
#[track_caller]
fn texts(strings: Vec<Vec<u8>>) -> Result<Vec<String>> {
    let here = here();
    let text = |(at, bytes)| {
        String::from_utf8(bytes).map_err(|e| invalid("to_strings", at, e.as_bytes(), e.utf8_error().valid_up_to()))
    };
    strings.into_iter().enumerate().map(text).collect::<Result<_>>().map_err(here)
}

/// Fails unless all strings are valid UTF-8.
#[track_caller]
pub(super) fn check_utf8(op: &'static str, values: &HostValues) -> Result<()> {
    let HostValues::Str(strings) = values else { return Ok(()) };
    for (at, string) in strings.iter().enumerate() {
        if let Err(e) = std::str::from_utf8(string) {
            return Err(invalid(op, at, string, e.valid_up_to()));
        }
    }
    Ok(())
}

#[track_caller]
fn invalid(op: &'static str, at: usize, string: &[u8], byte: usize) -> Error {
    let what = format!(
        "the string at position {at} is not valid UTF-8 at byte {byte}: {}; to_vec reads bytes, to_strings_lossy \
         replaces invalid ones",
        quoted(string)
    );
    Error::argument(op, what)
}
