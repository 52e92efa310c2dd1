//! Byte strings in messages.

/// A string as messages show it: its first bytes, in quotes.
pub(crate) fn quoted(s: &[u8]) -> String {
    const SHOWN: usize = 64;
    let shown = String::from_utf8_lossy(&s[..s.len().min(SHOWN)]);
    format!("{shown:?}{}", if s.len() > SHOWN { "…" } else { "" })
}
