//! The text of numbers.

/// Padding of a number that is shorter than the width of its format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Pad {
    /// Spaces before the number.
    #[default]
    Spaces,
    /// Zeros between the sign and the number.
    Zeros,
    /// Spaces after the number.
    SpacesAfter,
    /// Spaces before the number, which has a plus sign if it is not negative.
    PlusSign,
    /// Spaces before the number, of which one replaces the sign if it is not negative.
    SpaceSign,
}

/// Notation of a float.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Notation {
    /// C's `%f`: no exponent.
    #[default]
    Fixed,
    /// C's `%e`: always an exponent.
    Scientific,
    /// C's `%g`: the shorter one, without trailing zeros.
    Shortest,
}

/// Format of numbers: that of C's `printf`.
///
/// ```
/// use ragged::{Device, NumberFormat, Pad, RaggedTensor};
/// let x = RaggedTensor::from_nested([1, -22, 333], &Device::cpu())?;
/// let text = x.as_string_with(&NumberFormat::default().width(4).pad(Pad::Zeros))?;
/// assert_eq!(text.to_string(), "tensor([b'0001', b'-022', b'0333'], shape=(3,), dtype=str)");
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct NumberFormat {
    /// Least number of bytes.
    pub width: u16,
    /// Padding of shorter numbers.
    pub pad: Pad,
    /// Digits after the point of a float, or all significant ones of [`Notation::Shortest`]; 6 by default.
    pub precision: Option<u16>,
    /// Notation of a float.
    pub notation: Notation,
}

impl NumberFormat {
    /// Sets [`Self::width`](#structfield.width).
    ///
    /// ```
    /// use ragged::{Device, NumberFormat, RaggedTensor};
    /// let x = RaggedTensor::from_nested([7], &Device::cpu())?;
    /// assert_eq!(x.as_string_with(&NumberFormat::default().width(3))?.to_vec()?, [b"  7"]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[must_use]
    pub fn width(self, width: u16) -> Self {
        Self { width, ..self }
    }
    /// Sets [`Self::pad`](#structfield.pad).
    ///
    /// ```
    /// use ragged::{Device, NumberFormat, Pad, RaggedTensor};
    /// let x = RaggedTensor::from_nested([7], &Device::cpu())?;
    /// let format = NumberFormat::default().width(3).pad(Pad::Zeros);
    /// assert_eq!(x.as_string_with(&format)?.to_vec()?, [b"007"]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[must_use]
    pub fn pad(self, pad: Pad) -> Self {
        Self { pad, ..self }
    }
    /// Sets [`Self::precision`](#structfield.precision).
    ///
    /// ```
    /// use ragged::{Device, NumberFormat, RaggedTensor};
    /// let x = RaggedTensor::from_nested([0.125f32], &Device::cpu())?;
    /// assert_eq!(x.as_string_with(&NumberFormat::default().precision(2))?.to_vec()?, [b"0.12"]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[must_use]
    pub fn precision(self, digits: u16) -> Self {
        Self { precision: Some(digits), ..self }
    }
    /// Sets [`Self::notation`](#structfield.notation).
    ///
    /// ```
    /// use ragged::{Device, Notation, NumberFormat, RaggedTensor};
    /// let x = RaggedTensor::from_nested([0.5f32], &Device::cpu())?;
    /// let format = NumberFormat::default().notation(Notation::Shortest);
    /// assert_eq!(x.as_string_with(&format)?.to_vec()?, [b"0.5"]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[must_use]
    pub fn notation(self, notation: Notation) -> Self {
        Self { notation, ..self }
    }

    /// Writes a float as C's `printf` does.
    pub(super) fn float(&self, value: f64) -> String {
        let magnitude = value.abs();
        let digits = usize::from(self.precision.unwrap_or(6));
        let body = match self.notation {
            _ if value.is_nan() => "nan".to_owned(),
            _ if value.is_infinite() => "inf".to_owned(),
            Notation::Fixed => format!("{magnitude:.digits$}"),
            Notation::Scientific => scientific(magnitude, digits),
            Notation::Shortest => shortest(magnitude, digits.max(1)),
        };
        let sign = match self.pad {
            _ if value.is_sign_negative() && !value.is_nan() => "-",
            Pad::PlusSign => "+",
            Pad::SpaceSign => " ",
            _ => "",
        };
        let missing = usize::from(self.width).saturating_sub(sign.len() + body.len());
        match self.pad {
            Pad::SpacesAfter => format!("{sign}{body}{}", " ".repeat(missing)),
            Pad::Zeros if value.is_finite() => format!("{sign}{}{body}", "0".repeat(missing)),
            _ => format!("{}{sign}{body}", " ".repeat(missing)),
        }
    }
}

/// C's `%e`: an exponent of at least two digits, with its sign.
fn scientific(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// C's `%g`.
fn shortest(value: f64, digits: usize) -> String {
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    let text = scientific(value, digits - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    match exponent.parse::<i64>().unwrap_or(0) {
        x if (-4..digits as i64).contains(&x) => {
            let after = (digits as i64 - 1 - x) as usize;
            trimmed(&format!("{value:.after$}"))
        }
        _ => format!("{}e{exponent}", trimmed(mantissa)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_as_printf_writes_them() {
        let plain = NumberFormat::default();
        assert_eq!(plain.float(1e10), "10000000000.000000");
        assert_eq!(plain.float(-0.0), "-0.000000");
        assert_eq!(plain.clone().notation(Notation::Scientific).float(1234.5), "1.234500e+03");
        let g = plain.clone().notation(Notation::Shortest);
        assert_eq!([g.float(0.0001), g.float(1e-5), g.float(123456.0)], ["0.0001", "1e-05", "123456"]);
        assert_eq!([g.float(1234567.0), g.float(0.0), g.float(100.0)], ["1.23457e+06", "0", "100"]);
        assert_eq!(plain.clone().width(9).pad(Pad::Zeros).float(-1.5), "-1.500000");
        assert_eq!(plain.clone().width(10).pad(Pad::Zeros).float(-1.5), "-01.500000");
        assert_eq!(plain.clone().width(5).pad(Pad::Zeros).float(f64::INFINITY), "  inf");
        assert_eq!(plain.clone().width(5).precision(1).pad(Pad::SpacesAfter).float(2.25), "2.2  ");
        assert_eq!(plain.width(5).precision(1).pad(Pad::PlusSign).float(2.5), " +2.5");
    }
}
