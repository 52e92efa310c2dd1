//! Names of operations that come from files.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// The most bytes of a name.
const MAX_LEN: usize = 64;

/// The most names that are kept for ever.
const MAX_NAMES: usize = 4096;

/// The name, which is kept for ever: recordings refer to the names of the engine's own operations, which are few.
///
/// # Errors
/// A name that no operation has: too long, or with other characters.
pub(crate) fn interned(name: &str) -> Result<&'static str, String> {
    static NAMES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let is_name = |b: u8| b.is_ascii_alphanumeric() || b" _:.()-+*/%<>=!&|^~[]',".contains(&b);
    if name.is_empty() || name.len() > MAX_LEN || !name.bytes().all(is_name) {
        return Err(format!("{name:.80?} is no name of an operation"));
    }
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_default();
    match names.get(name) {
        Some(known) => Ok(known),
        None if names.len() >= MAX_NAMES => Err(format!("more than {MAX_NAMES} names of operations")),
        None => {
            let kept: &'static str = name.to_owned().leak();
            names.insert(kept);
            Ok(kept)
        }
    }
}
