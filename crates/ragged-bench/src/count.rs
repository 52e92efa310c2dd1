//! Parser of numeric options.

/// Parses a number from 1 to `MOST`.
pub fn count<const MOST: u32>(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|n| (1..=MOST).contains(n));
    number.ok_or_else(|| format!("expected a whole number from 1 to {MOST}, in digits"))
}
