//! Integers that a parser of 64-bit numbers has rounded to floats.

/// The smallest magnitude of a float that such an integer is read as.
pub(super) const BEYOND_64_BITS: f64 = 9_223_372_036_854_775_808.0;

/// Among the numbers of a JSON text of which the parser makes floats of at least 2^63, counted from 0: the first one
/// that is an integer without fraction and exponent.
pub(super) fn first_big_integer(text: &[u8]) -> Option<usize> {
    let (mut seen, mut at) = (0, 0);
    while at < text.len() {
        match text[at] {
            b'"' => at = end_of_string(text, at + 1),
            b'-' | b'0'..=b'9' => {
                let is_part = |b: &u8| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                let len = text[at..].iter().position(|b| !is_part(b)).unwrap_or(text.len() - at);
                let number = std::str::from_utf8(&text[at..at + len]).unwrap_or_default();
                let is_integer = !number.contains(['.', 'e', 'E']);
                let is_float = number.parse::<f64>().is_ok_and(|v| v.abs() >= BEYOND_64_BITS);
                let fits = is_integer && (number.parse::<u64>().is_ok() || number.parse::<i64>().is_ok());
                if is_float && !fits {
                    if is_integer {
                        return Some(seen);
                    }
                    seen += 1;
                }
                at += len;
            }
            _ => at += 1,
        }
    }
    None
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
    use super::first_big_integer;

    #[test]
    fn only_integers_beyond_64_bits_are_found() {
        assert_eq!(first_big_integer(br#"{"a": 18446744073709551615, "b": -9223372036854775808, "c": 1e30}"#), None);
        assert_eq!(first_big_integer(br#"{"a": 1e30, "b": "99999999999999999999\"", "c": 99999999999999999999}"#), Some(1));
        assert_eq!(first_big_integer(br#"[-9223372036854775809]"#), Some(0));
        assert_eq!(first_big_integer(br#"[99999999999999999999.0]"#), None);
    }
}
