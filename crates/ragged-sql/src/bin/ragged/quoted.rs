//! Line breaks within quotes of CSV.

use std::fs::File;
use std::io::{BufRead, BufReader, Result};
use std::path::Path;

/// Whether a line break of a file of CSV may be within quotes: such a file cannot be cut at line breaks.
///
/// # Errors
/// A file that cannot be read.
pub fn has_quoted_breaks(path: &Path) -> Result<bool> {
    let mut file = BufReader::with_capacity(1 << 16, File::open(path)?);
    // Quotes within quoted fields are doubled.
    let mut is_quoted = false;
    loop {
        let bytes = file.fill_buf()?;
        if bytes.is_empty() {
            return Ok(false);
        }
        let mut parts = bytes.split(|&byte| byte == b'"').peekable();
        while let Some(part) = parts.next() {
            if is_quoted && part.contains(&b'\n') {
                return Ok(true);
            }
            is_quoted ^= parts.peek().is_some();
        }
        let read = bytes.len();
        file.consume(read);
    }
}
