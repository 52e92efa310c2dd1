//! Printing in TensorFlow's format.

use std::fmt::{self, Write as _};

use super::{HostTensor, HostValues, Nested, RaggedTensor, Tensor};
use crate::element::Element;
use crate::math::narrow::{bf16_of_f32, f16_of_f32, f32_to_odd};

/// Tensors with more values or rows than this are abbreviated.
const THRESHOLD: usize = 1000;
/// Maximum number of values and lists printed of an abbreviated tensor; with many dimensions, even `EDGE` elements at
/// both ends are many.
const MOST: usize = 1 << 16;
/// Maximum number of values and lists that `Debug` prints.
const DEBUG_VALUES: usize = 64;
/// Number of elements that an abbreviated list shows at either end.
const EDGE: usize = 3;

/// Writes a float as Python does: the fewest digits that read back as the same float.
fn float(f: &mut impl fmt::Write, value: f64, shortest: &str) -> fmt::Result {
    if value.is_nan() {
        return f.write_str("nan");
    }
    if value.is_infinite() {
        return f.write_str(if value > 0.0 { "inf" } else { "-inf" });
    }
    // `shortest` is `-d.ddde-x`.
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |m| ("-", m));
    let digits: String = mantissa.chars().filter(|&c| c != '.').collect();
    f.write_str(sign)?;
    if (-4..16).contains(&exponent) {
        if exponent < 0 {
            return write!(f, "0.{}{digits}", "0".repeat((-exponent - 1) as usize));
        }
        let whole = exponent as usize + 1;
        if digits.len() <= whole {
            return write!(f, "{digits}{}.0", "0".repeat(whole - digits.len()));
        }
        return write!(f, "{}.{}", &digits[..whole], &digits[whole..]);
    }
    let point = if digits.len() > 1 { "." } else { "" };
    let direction = if exponent < 0 { '-' } else { '+' };
    write!(f, "{}{point}{}e{direction}{:02}", &digits[..1], &digits[1..], exponent.abs())
}

/// The fewest digits, as `-d.ddde-x`, that read back as the same 16-bit float.
fn shortest(value: f64, reads_back: impl Fn(f64) -> bool) -> String {
    let written = |places: usize| format!("{value:.places$e}");
    let fewest = (0..8).map(written).find(|text| text.parse().is_ok_and(&reads_back));
    fewest.unwrap_or_else(|| format!("{value:e}"))
}

/// Writes bytes as Python does: `b'..'`.
fn bytes(f: &mut impl fmt::Write, s: &[u8]) -> fmt::Result {
    let quote = if s.contains(&b'\'') && !s.contains(&b'"') { '"' } else { '\'' };
    write!(f, "b{quote}")?;
    for &b in s {
        match b {
            b'\\' => f.write_str("\\\\")?,
            b'\n' => f.write_str("\\n")?,
            b'\r' => f.write_str("\\r")?,
            b'\t' => f.write_str("\\t")?,
            b if char::from(b) == quote => write!(f, "\\{quote}")?,
            b' '..=b'~' => f.write_char(b.into())?,
            b => write!(f, "\\x{b:02x}")?,
        }
    }
    f.write_char(quote)
}

fn truth(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

/// Writes value `i`, or an empty list where it does not exist.
fn value(f: &mut impl fmt::Write, values: &HostValues, i: usize) -> fmt::Result {
    if i >= values.len() {
        return f.write_str("[]");
    }
    match values {
        HostValues::Bool(v) => f.write_str(truth(v[i])),
        HostValues::U8(v) => write!(f, "{}", v[i]),
        HostValues::I8(v) => write!(f, "{}", v[i]),
        HostValues::U16(v) => write!(f, "{}", v[i]),
        HostValues::I16(v) => write!(f, "{}", v[i]),
        HostValues::I32(v) => write!(f, "{}", v[i]),
        HostValues::U32(v) => write!(f, "{}", v[i]),
        HostValues::I64(v) => write!(f, "{}", v[i]),
        HostValues::U64(v) => write!(f, "{}", v[i]),
        HostValues::F16(v) => {
            let digits = shortest(v[i].into(), |read| f16_of_f32(f32_to_odd(read)) == v[i]);
            float(f, v[i].into(), &digits)
        }
        HostValues::BF16(v) => {
            let digits = shortest(v[i].into(), |read| bf16_of_f32(f32_to_odd(read)) == v[i]);
            float(f, v[i].into(), &digits)
        }
        HostValues::F32(v) => float(f, v[i].into(), &format!("{:e}", v[i])),
        HostValues::F64(v) => float(f, v[i], &format!("{:e}", v[i])),
        HostValues::Str(v) => bytes(f, &v[i]),
    }
}

/// Writer of a tensor, abbreviated or whole.
struct Lists<'a> {
    tensor: &'a HostTensor,
    shorten: bool,
    /// Values and lists that may still be printed.
    left: usize,
}

impl<'a> Lists<'a> {
    fn of(tensor: &'a HostTensor) -> Self {
        // Lists without values count too: their number is unbounded.
        let rows = tensor.nested_row_splits.iter().map(|splits| splits.len().saturating_sub(1));
        let inner = tensor.inner_shape.iter().scan(1usize, |n, &d| {
            *n = n.saturating_mul(d);
            Some(*n)
        });
        let shorten = rows.chain(inner).chain([tensor.values.len()]).any(|n| n > THRESHOLD);
        Self { tensor, shorten, left: if shorten { MOST } else { usize::MAX } }
    }

    /// Writes the element at position `at` of dimension `dim - 1`.
    fn write(&mut self, f: &mut impl fmt::Write, dim: usize, at: usize) -> fmt::Result {
        let Some(left) = self.left.checked_sub(1) else { return f.write_str("...") };
        self.left = left;
        if dim == self.tensor.rank() {
            return value(f, &self.tensor.values, at);
        }
        let all = self.tensor.children(dim, at);
        let is_long = self.shorten && all.len() > 2 * EDGE;
        let hidden = if is_long { all.start + EDGE..all.end - EDGE } else { all.end..all.end };
        f.write_char('[')?;
        for child in all.start..hidden.start {
            f.write_str(if child > all.start { ", " } else { "" })?;
            self.write(f, dim + 1, child)?;
            if self.left == 0 {
                return f.write_str(", ...]");
            }
        }
        if !hidden.is_empty() {
            f.write_str(", ...")?;
        }
        for child in hidden.end..all.end {
            f.write_str(", ")?;
            self.write(f, dim + 1, child)?;
            if self.left == 0 {
                return f.write_str(", ...]");
            }
        }
        f.write_char(']')
    }
}

impl fmt::Display for HostTensor {
    /// Inconsistent fields, which [`HostTensor::to_device`] rejects, print as lists of the elements that exist.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Lists::of(self).write(f, 0, 0)
    }
}

impl fmt::Display for Tensor {
    /// Reads the tensor: evaluates pending work and waits. A failed read prints its error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = match self.to_host() {
            Ok(host) => host,
            Err(e) => {
                return write!(f, "<ragged.RaggedTensor without values, since computing them failed: {}>", e.printed());
            }
        };
        if self.ragged_rank() > 0 {
            return write!(f, "<ragged.RaggedTensor {host}>");
        }
        let comma = if host.inner_shape.len() == 1 { "," } else { "" };
        let dims: Vec<String> = host.inner_shape.iter().map(ToString::to_string).collect();
        write!(f, "tensor({host}, shape=({}{comma}), dtype={})", dims.join(", "), self.dtype())
    }
}

impl fmt::Debug for Tensor {
    /// The dtype, the shape and the device; the first values if they are in host memory. Computes nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({}, {}, {}", self.dtype(), self.shape_text(), self.device().name())?;
        let evaluated = self.nodes().is_ok_and(|nodes| nodes.iter().all(|node| node.stored().is_some()));
        if evaluated
            && self.device().is_cpu()
            && let Ok(host) = self.to_host()
        {
            let lists = &mut Lists { tensor: &host, shorten: true, left: DEBUG_VALUES };
            f.write_str(": ")?;
            lists.write(f, 0, 0)?;
        }
        f.write_char(')')
    }
}

impl<T: Element> fmt::Display for RaggedTensor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.erased(), f)
    }
}

impl<T: Element> fmt::Debug for RaggedTensor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.erased(), f)
    }
}

impl fmt::Display for Nested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(v) => f.write_str(truth(*v)),
            Self::Int(v) => write!(f, "{v}"),
            Self::Float32(v) => float(f, f64::from(*v), &format!("{v:e}")),
            Self::Float(v) => float(f, *v, &format!("{v:e}")),
            Self::Str(v) => bytes(f, v),
            Self::List(all) => {
                f.write_char('[')?;
                for (i, v) in all.iter().enumerate() {
                    f.write_str(if i > 0 { ", " } else { "" })?;
                    write!(f, "{v}")?;
                }
                f.write_char(']')
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn python(v: f64) -> String {
        let mut out = String::new();
        float(&mut out, v, &format!("{v:e}")).expect("a string takes everything");
        out
    }

    #[test]
    fn floats_as_python_writes_them() {
        let cases = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (0.1, "0.1"),
            (-12.75, "-12.75"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.25e100, "1.25e+100"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (5e-324, "5e-324"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ];
        for (v, want) in cases {
            assert_eq!(python(v), want);
        }
    }

    #[test]
    fn narrow_floats_have_no_more_digits_than_tell_them_apart() {
        let half = [0.1, 65504.0, -1.5, 6e-8, 2048.0, f32::INFINITY].map(half::f16::from_f32).to_vec();
        assert_eq!(
            HostTensor::dense(&[6], HostValues::F16(half)).to_string(),
            "[0.1, 65500.0, -1.5, 6e-08, 2048.0, inf]"
        );
        let brain = [0.1, 1e30, -2.7, f32::NAN].map(half::bf16::from_f32).to_vec();
        assert_eq!(HostTensor::dense(&[4], HostValues::BF16(brain)).to_string(), "[0.1, 1e+30, -2.7, nan]");
    }

    #[test]
    fn bytes_as_python_writes_them() {
        for (s, want) in [
            (b"it".as_slice(), "b'it'"),
            (b"it's", "b\"it's\""),
            (b"'\"", "b'\\'\"'"),
            (b"\\\n\x00\xff", "b'\\\\\\n\\x00\\xff'"),
        ] {
            let mut out = String::new();
            bytes(&mut out, s).expect("a string takes everything");
            assert_eq!(out, want);
        }
    }
}
