//! Integers that a parser of 64-bit numbers reads as floats: those beyond 64 bits, and `-0`.

/// The smallest magnitude of a float that such an integer is read as.
pub(super) const BEYOND_64_BITS: f64 = 9_223_372_036_854_775_808.0;

/// The integers of a JSON text that a parser reads as floats.
#[derive(Debug, Default, PartialEq)]
pub(super) struct FloatedIntegers {
    /// The floats of those that need more than 64 bits.
    pub big: Vec<f64>,
    /// Whether each negative zero of the text is the integer `-0`. False if one is a float.
    pub zeros: bool,
}

/// Finds the integers of a JSON text that a parser reads as floats.
pub(super) fn floated_integers(text: &[u8]) -> FloatedIntegers {
    let (mut big, mut at) = (Vec::new(), 0);
    let (mut integer_zero, mut float_zero) = (false, false);
    while at < text.len() {
        match text[at] {
            b'"' => at = end_of_string(text, at + 1),
            b'-' | b'0'..=b'9' => {
                let is_part = |b: &u8| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                let len = text[at..].iter().position(|b| !is_part(b)).unwrap_or(text.len() - at);
                let number = std::str::from_utf8(&text[at..at + len]).unwrap_or_default();
                let is_integer = !number.contains(['.', 'e', 'E']);
                let fits = number.parse::<u64>().is_ok() || number.parse::<i64>().is_ok();
                match (is_integer, number.parse::<f64>()) {
                    (true, Ok(_)) if number == "-0" => integer_zero = true,
                    (true, Ok(value)) if !fits => big.push(value),
                    (false, Ok(0.0)) if number.starts_with('-') => float_zero = true,
                    _ => {}
                }
                at += len;
            }
            _ => at += 1,
        }
    }
    FloatedIntegers { big, zeros: integer_zero && !float_zero }
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
    use super::floated_integers;

    #[test]
    fn only_integers_beyond_64_bits_are_found() {
        let big = |text: &[u8]| floated_integers(text).big;
        assert!(big(br#"{"a": 18446744073709551615, "b": -9223372036854775808, "c": 1e30}"#).is_empty());
        assert_eq!(big(br#"{"a": 1e30, "b": "99999999999999999999\"", "c": 99999999999999999999}"#), [1e20]);
        assert_eq!(big(b"[-9223372036854775809]"), [-9223372036854775808.0]);
        assert!(big(b"[99999999999999999999.0]").is_empty());
    }

    #[test]
    fn negative_zeros_are_told_apart() {
        for (text, zeros) in
            [("[-0]", true), ("[-0, 0.0, -1]", true), ("[-0.0]", false), ("[-0, -0e1]", false), ("[0]", false)]
        {
            assert_eq!(floated_integers(text.as_bytes()).zeros, zeros, "{text}");
        }
    }
}
