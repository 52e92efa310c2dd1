//! NumPy's types.

use std::sync::Arc;

use ragged::{DType, Result};

use crate::fault::argument;
use crate::file::{Memory, unreadable};
use crate::memory::{Numbers, room};

/// What elements of a type are here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Elements {
    Numbers {
        dtype: DType,
        is_swapped: bool,
    },
    /// Bytes, padded with zeros.
    Bytes {
        size: usize,
    },
    /// UTF-32, padded with zeros.
    Text {
        size: usize,
        is_big: bool,
    },
}

/// The type of a name.
pub(super) fn elements(descr: &str) -> Result<Elements> {
    let unknown = || {
        let what = match descr.trim_start_matches(['<', '>', '|', '=']) {
            "O" => "an array of Python objects is not read; save numbers or strings".to_owned(),
            _ => format!("no dtype holds NumPy's type {descr:?}; convert the array by astype"),
        };
        unreadable(what)
    };
    let (order, rest) = match descr.as_bytes() {
        [order @ (b'<' | b'>' | b'|' | b'='), rest @ ..] => (*order, rest),
        rest => (b'|', rest),
    };
    let (&kind, size) = rest.split_first().ok_or_else(unknown)?;
    // The unit of dates and durations follows in brackets.
    let size = size.split(|&b| b == b'[').next().unwrap_or_default();
    let size: usize = std::str::from_utf8(size).ok().and_then(|text| text.parse().ok()).ok_or_else(unknown)?;
    let is_big = order == b'>' || order != b'<' && cfg!(target_endian = "big");
    let dtype = match (kind, size) {
        (b'b', 1) => DType::Bool,
        (b'i', 1) => DType::I8,
        (b'i', 2) => DType::I16,
        (b'i', 4) => DType::I32,
        (b'i', 8) | (b'm' | b'M', 8) => DType::I64,
        (b'u', 1) => DType::U8,
        (b'u', 2) => DType::U16,
        (b'u', 4) => DType::U32,
        (b'u', 8) => DType::U64,
        (b'f', 2) => DType::F16,
        (b'f', 4) => DType::F32,
        (b'f', 8) => DType::F64,
        (b'S', size) => return Ok(Elements::Bytes { size }),
        (b'U', size) => return Ok(Elements::Text { size: size.checked_mul(4).ok_or_else(unknown)?, is_big }),
        _ => return Err(unknown()),
    };
    Ok(Elements::Numbers { dtype, is_swapped: dtype.size() > 1 && is_big != cfg!(target_endian = "big") })
}

impl Elements {
    /// Bytes per element.
    pub(super) fn size(self) -> usize {
        match self {
            Self::Numbers { dtype, .. } => dtype.size(),
            Self::Bytes { size } | Self::Text { size, .. } => size,
        }
    }
}

/// The name of a dtype.
pub(super) fn descr(dtype: DType) -> Result<&'static str> {
    let big = cfg!(target_endian = "big");
    Ok(match dtype {
        DType::Bool => "|b1",
        DType::U8 => "|u1",
        DType::I8 => "|i1",
        DType::U16 => {
            if big {
                ">u2"
            } else {
                "<u2"
            }
        }
        DType::I16 => {
            if big {
                ">i2"
            } else {
                "<i2"
            }
        }
        DType::U32 => {
            if big {
                ">u4"
            } else {
                "<u4"
            }
        }
        DType::I32 => {
            if big {
                ">i4"
            } else {
                "<i4"
            }
        }
        DType::U64 => {
            if big {
                ">u8"
            } else {
                "<u8"
            }
        }
        DType::I64 => {
            if big {
                ">i8"
            } else {
                "<i8"
            }
        }
        DType::F16 => {
            if big {
                ">f2"
            } else {
                "<f2"
            }
        }
        DType::F32 => {
            if big {
                ">f4"
            } else {
                "<f4"
            }
        }
        DType::F64 => {
            if big {
                ">f8"
            } else {
                "<f8"
            }
        }
        other => {
            let hint = if other == DType::Str { "npz files hold strings" } else { "cast it to f32" };
            return Err(argument(format!("NumPy has no type for {other}; {hint}")));
        }
    })
}

/// Numbers with their bytes in the other order.
pub(super) fn swapped(bytes: &[u8], size: usize) -> Result<Memory> {
    let mut out: Vec<u8> = room("numbers of a file in the other byte order", bytes.len())?;
    out.extend_from_slice(bytes);
    out.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    Ok(Arc::new(out))
}

/// Splits and bytes of strings that are padded to one size.
pub(super) fn strings(elements: Elements, bytes: &[u8], n: usize) -> Result<(Numbers<u32>, Vec<u8>)> {
    let size = elements.size();
    let mut splits: Vec<u32> = room("splits of strings of a file", n + 1)?;
    // UTF-8 takes no more bytes than UTF-32.
    let mut out: Vec<u8> = room("strings of a file", bytes.len())?;
    splits.push(0);
    for k in 0..n {
        let own = &bytes[k * size..(k + 1) * size];
        match elements {
            Elements::Text { is_big, .. } => {
                let code = |c: &[u8]| {
                    let bytes = [c[0], c[1], c[2], c[3]];
                    if is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
                };
                let codes = own.chunks_exact(4).map(code);
                let len = codes.clone().rposition(|code| code != 0).map_or(0, |last| last + 1);
                for code in codes.take(len) {
                    let Some(c) = char::from_u32(code) else {
                        return Err(unreadable(format!("string {k}: {code:#x} is no character of Unicode")));
                    };
                    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
            _ => {
                let len = own.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
                out.extend_from_slice(&own[..len]);
            }
        }
        splits.push(out.len() as u32);
    }
    Ok((Numbers(splits), out))
}
