//! The text of numbers.

use crate::dtype::DType;
use crate::math::narrow::{bf16_of_f32, f16_of_f32, f32_to_odd};

/// Padding of a number that is shorter than the width of its format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
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
#[non_exhaustive]
pub enum Notation {
    /// C's `%f`: no exponent.
    #[default]
    Fixed,
    /// C's `%e`: always an exponent.
    Scientific,
    /// The fewest significant digits that read back as the same float of its dtype, without trailing zeros; an exponent
    /// below 0.0001 and from 1e16 on. With a precision C's `%g`, of at most that many digits: TensorFlow's `shortest=True`
    /// is precision 6.
    Shortest,
}

/// Format of numbers: that of C's `printf`.
///
/// ```
/// use ragged::opt::{NumberFormat, Pad};
/// use ragged::{Device, RaggedTensor};
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
    /// Digits after the point of a float, 6 by default; of [`Notation::Shortest`] most of the significant digits, by default
    /// as many as read back.
    pub precision: Option<u16>,
    /// Notation of a float.
    pub notation: Notation,
}

/// Options.
impl NumberFormat {
    /// Sets [`Self::width`](#structfield.width).
    ///
    /// ```
    /// use ragged::opt::NumberFormat;
    /// use ragged::{Device, RaggedTensor};
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
    /// use ragged::opt::{NumberFormat, Pad};
    /// use ragged::{Device, RaggedTensor};
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
    /// use ragged::opt::NumberFormat;
    /// use ragged::{Device, RaggedTensor};
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
    /// use ragged::opt::{Notation, NumberFormat};
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([0.1f32, 1e-7], &Device::cpu())?;
    /// let text = x.as_string_with(&NumberFormat::default().notation(Notation::Shortest))?;
    /// assert_eq!(text.to_string(), "tensor([b'0.1', b'1e-07'], shape=(2,), dtype=str)");
    /// assert_eq!(text.string_to_number::<f32>()?.to_vec()?, x.to_vec()?);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[must_use]
    pub fn notation(self, notation: Notation) -> Self {
        Self { notation, ..self }
    }

    /// Writes a float of a dtype.
    pub(super) fn float(&self, value: f64, dtype: DType) -> String {
        let magnitude = value.abs();
        let digits = usize::from(self.precision.unwrap_or(6));
        let body = match self.notation {
            _ if value.is_nan() => "nan".to_owned(),
            _ if value.is_infinite() => "inf".to_owned(),
            Notation::Fixed => format!("{magnitude:.digits$}"),
            Notation::Scientific => scientific(magnitude, digits),
            Notation::Shortest if self.precision.is_none() => shortest(magnitude, dtype),
            Notation::Shortest => general(magnitude, digits.max(1)),
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
    with_c_exponent(&format!("{value:.digits$e}"))
}

/// The exponent of a number in Rust's notation as C writes it.
fn with_c_exponent(text: &str) -> String {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// The fewest digits that read back as `value`, a number of the dtype.
fn shortest(value: f64, dtype: DType) -> String {
    let text = match dtype {
        DType::F64 => format!("{value:e}"),
        DType::F32 => format!("{:e}", value as f32),
        // Directly, and by way of f32.
        _ => (0..17)
            .map(|digits| format!("{value:.digits$e}"))
            .find(|text| reads_back(text, value, dtype))
            .unwrap_or_default(),
    };
    let exponent = text.split_once('e').and_then(|(_, exponent)| exponent.parse::<i32>().ok()).unwrap_or(0);
    match text.parse::<f64>() {
        Ok(number) if (-4..16).contains(&exponent) => number.to_string(),
        _ => with_c_exponent(&text),
    }
}

/// Whether a text reads back as `value`, a narrow float.
fn reads_back(text: &str, value: f64, dtype: DType) -> bool {
    let narrowed = |near: f32| match dtype {
        DType::F16 => f16_of_f32(near).to_f64(),
        _ => bf16_of_f32(near).to_f64(),
    };
    let direct = text.parse::<f64>().is_ok_and(|near| narrowed(f32_to_odd(near)) == value);
    direct && text.parse::<f32>().is_ok_and(|near| narrowed(near) == value)
}

/// C's `%g`.
fn general(value: f64, digits: usize) -> String {
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
        let of = |format: &NumberFormat, value: f64| format.float(value, DType::F64);
        let plain = NumberFormat::default();
        assert_eq!(of(&plain, 1e10), "10000000000.000000");
        assert_eq!(of(&plain, -0.0), "-0.000000");
        assert_eq!(of(&plain.clone().notation(Notation::Scientific), 1234.5), "1.234500e+03");
        let g = plain.clone().notation(Notation::Shortest).precision(6);
        assert_eq!([of(&g, 0.0001), of(&g, 1e-5), of(&g, 123456.0)], ["0.0001", "1e-05", "123456"]);
        assert_eq!([of(&g, 1234567.0), of(&g, 0.0), of(&g, 100.0)], ["1.23457e+06", "0", "100"]);
        assert_eq!(of(&plain.clone().width(9).pad(Pad::Zeros), -1.5), "-1.500000");
        assert_eq!(of(&plain.clone().width(10).pad(Pad::Zeros), -1.5), "-01.500000");
        assert_eq!(of(&plain.clone().width(5).pad(Pad::Zeros), f64::INFINITY), "  inf");
        assert_eq!(of(&plain.clone().width(5).precision(1).pad(Pad::SpacesAfter), 2.25), "2.2  ");
        assert_eq!(of(&plain.width(5).precision(1).pad(Pad::PlusSign), 2.5), " +2.5");
    }

    #[test]
    fn the_shortest_text_has_the_digits_of_its_dtype() {
        let format = NumberFormat::default().notation(Notation::Shortest);
        let third = 1.0 / 3.0;
        assert_eq!(format.float(third, DType::F64), "0.3333333333333333");
        assert_eq!(format.float(f64::from(third as f32), DType::F32), "0.33333334");
        assert_eq!(format.float(f16_of_f32(third as f32).to_f64(), DType::F16), "0.3333");
        assert_eq!(format.float(bf16_of_f32(third as f32).to_f64(), DType::BF16), "0.334");
        let texts = [0.0001, 0.00001, 1e15, 1e16, 123456789.0, 0.0].map(|x| format.float(x, DType::F64));
        assert_eq!(texts, ["0.0001", "1e-05", "1000000000000000", "1e+16", "123456789", "0"]);
        assert_eq!(format.width(6).pad(Pad::Zeros).float(-0.5, DType::F32), "-000.5");
    }
}
