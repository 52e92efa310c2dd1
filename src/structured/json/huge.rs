//! Integers that a parser of 64-bit numbers has rounded to floats.

/// The smallest magnitude of a float that such an integer is read as.
pub(super) const BEYOND_64_BITS: f64 = 9_223_372_036_854_775_808.0;

/// The floats that a parser makes of the integers of a JSON text that need more than 64 bits.
pub(super) fn big_integers(text: &[u8]) -> Vec<f64> {
    let (mut out, mut at) = (Vec::new(), 0);
    while at < text.len() {
        match text[at] {
            b'"' => at = end_of_string(text, at + 1),
            b'-' | b'0'..=b'9' => {
                let is_part = |b: &u8| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                let len = text[at..].iter().position(|b| !is_part(b)).unwrap_or(text.len() - at);
                let number = std::str::from_utf8(&text[at..at + len]).unwrap_or_default();
                let is_integer = !number.contains(['.', 'e', 'E']);
                let fits = number.parse::<u64>().is_ok() || number.parse::<i64>().is_ok();
                if is_integer && !fits {
                    out.extend(number.parse::<f64>());
                }
                at += len;
            }
            _ => at += 1,
        }
    }
    out
}

/// The position after the string that begins at `at`.
fn end_of_string(text: &[u8], mut at: usize) -> usize {
    while at < text.len() {
        match text[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::big_integers;

    #[test]
    fn only_integers_beyond_64_bits_are_found() {
        assert!(big_integers(br#"{"a": 18446744073709551615, "b": -9223372036854775808, "c": 1e30}"#).is_empty());
        assert_eq!(big_integers(br#"{"a": 1e30, "b": "99999999999999999999\"", "c": 99999999999999999999}"#), [1e20]);
        assert_eq!(big_integers(b"[-9223372036854775809]"), [-9223372036854775808.0]);
        assert!(big_integers(b"[99999999999999999999.0]").is_empty());
    }
}
