//! Names of operations that come from files.
//!
//! Recordings and errors refer to names as static strings, since those of the engine's own operations are: no node has to
//! own its name. Names of files are therefore kept for ever, once a program with them is made. They are few, as only the
//! engine writes them; a file of unknown origin cannot use up memory, since all further ones share one name.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// The most bytes of a name.
const MAX_LEN: usize = 64;

/// The most names that are kept.
const MAX_NAMES: usize = 4096;

/// The name in place of further ones.
const FURTHER: &str = "operation of a file";

/// Checks a name; keeps nothing.
///
/// # Errors
/// A name that no operation has: too long, or with other characters.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    let is_name = |b: u8| b.is_ascii_alphanumeric() || b" _:.()-+*/%<>=!&|^~[]',".contains(&b);
    if name.is_empty() || name.len() > MAX_LEN || !name.bytes().all(is_name) {
        return Err(format!("{name:.80?} is no name of an operation"));
    }
    Ok(())
}

/// The name of a program that is made, kept for ever.
pub(crate) fn interned(name: &str) -> &'static str {
    static NAMES: Mutex<Names> = Mutex::new(Names(None));
    NAMES.lock().unwrap_or_else(PoisonError::into_inner).interned(name)
}

/// The names that are kept.
struct Names(Option<HashSet<&'static str>>);

impl Names {
    fn interned(&mut self, name: &str) -> &'static str {
        let names = self.0.get_or_insert_default();
        match names.get(name) {
            Some(known) => known,
            None if names.len() >= MAX_NAMES => FURTHER,
            None => {
                let kept: &'static str = name.to_owned().leak();
                names.insert(kept);
                kept
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_names_are_one() {
        let mut names = Names(None);
        let name = |k: usize| format!("name {k}");
        for k in 0..MAX_NAMES {
            assert_eq!(names.interned(&name(k)), name(k));
        }
        assert_eq!(names.interned("one more"), FURTHER);
        assert_eq!(names.interned(&name(7)), name(7));
    }
}
