//! Scalars in files: the dtype and the bits, so that every NaN and both zeros come back.

use half::{bf16, f16};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::dtype::DType;
use crate::graph::scalar::Scalar;

/// A scalar in a file.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct ScalarBits(DType, u64);

impl From<Scalar> for ScalarBits {
    fn from(s: Scalar) -> Self {
        Self(s.dtype(), s.bits())
    }
}

impl ScalarBits {
    /// The scalar; `None` for a string, and for bits that no value of the dtype has.
    pub(crate) fn scalar(self) -> Option<Scalar> {
        let Self(dtype, bits) = self;
        let value = match dtype {
            DType::F16 => Scalar::F16(f16::from_bits(bits as u16)),
            DType::BF16 => Scalar::BF16(bf16::from_bits(bits as u16)),
            DType::F32 => Scalar::F32(f32::from_bits(bits as u32)),
            DType::F64 => Scalar::F64(f64::from_bits(bits)),
            DType::Str => return None,
            integer => Scalar::from_i64(integer, bits as i64),
        };
        (value.bits() == bits).then_some(value)
    }
}

pub(crate) fn serialize<S: Serializer>(scalar: &Scalar, to: S) -> Result<S::Ok, S::Error> {
    ScalarBits::from(*scalar).serialize(to)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Scalar, D::Error> {
    let found = ScalarBits::deserialize(from)?;
    found.scalar().ok_or_else(|| D::Error::custom(format!("{} has no value of bits {}", found.0, found.1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_comes_back() {
        let floats = [f64::NAN, -0.0, 1.5, f64::INFINITY].map(Scalar::F64);
        let numbers = DType::ALL
            .into_iter()
            .filter(|&d| d != DType::Str)
            .flat_map(|d| [Scalar::lowest(d), Scalar::highest(d), Scalar::from_i64(d, -1), Scalar::from_i64(d, 0)]);
        for value in numbers.chain(floats) {
            let back = ScalarBits::from(value).scalar().expect("a value");
            assert_eq!((back.dtype(), back.bits()), (value.dtype(), value.bits()));
        }
        for (dtype, bits) in
            [(DType::Bool, 2), (DType::U8, 256), (DType::I8, 255), (DType::F32, 1 << 32), (DType::Str, 0)]
        {
            assert!(ScalarBits(dtype, bits).scalar().is_none(), "{dtype} {bits}");
        }
    }
}
