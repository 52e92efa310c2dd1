//! Scalar parameters: the numbers of the user in expressions.
//!
//! A learning rate, a fill value, a bound or the key of a random generator is a parameter of the program, whose value is
//! bound for each run: recordings that differ in such numbers alone are one program. A number that the engine writes
//! itself, such as a width or an identity element, is a constant of the program; folding uses constants only.

use crate::dtype::DType;
use crate::graph::digest::Digest;
use crate::graph::scalar::Scalar;

/// What a program requires of a scalar parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub(crate) struct ScalarDef {
    pub(crate) dtype: DType,
    /// Whether the value is promised to differ from 0. Set for divisors of u32, whose kernels then need no test.
    pub(crate) is_nonzero: bool,
}

impl ScalarDef {
    /// Whether the parameter may have that value.
    pub(crate) fn accepts(self, value: Scalar) -> bool {
        value.dtype() == self.dtype && (!self.is_nonzero || value.bits() != 0)
    }
}

/// A scalar parameter of a recording, with the value that the recording binds.
#[derive(Debug, Clone)]
pub(crate) struct ScalarParam {
    def: ScalarDef,
    value: Scalar,
}

impl ScalarParam {
    /// A parameter to which the recording binds that value.
    pub(crate) fn recorded(value: Scalar) -> Self {
        let def = ScalarDef { dtype: value.dtype(), is_nonzero: false };
        Self { def, value }
    }

    /// The parameter as a divisor: with the promise that it is not 0, if the recording binds another value.
    pub(crate) fn as_divisor(&self) -> Self {
        let def = ScalarDef { is_nonzero: self.value.bits() != 0, ..self.def };
        Self { def, value: self.value }
    }

    pub(crate) fn def(&self) -> ScalarDef {
        self.def
    }

    /// The value that the recording binds.
    pub(crate) fn recorded_value(&self) -> Scalar {
        self.value
    }

    /// The identity in a graph: parameters of a recording are equal if their values are, so that equal recordings are
    /// one array.
    pub(crate) fn digest(&self) -> Digest {
        Digest::of("scalar parameter", (self.value.dtype(), self.value.bits(), self.def.is_nonzero))
    }
}

impl PartialEq for ScalarParam {
    fn eq(&self, other: &Self) -> bool {
        self.digest() == other.digest()
    }
}
impl Eq for ScalarParam {}

impl std::hash::Hash for ScalarParam {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.digest().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_equal_by_bits() {
        let of = |v: f32| ScalarParam::recorded(v.into());
        assert_eq!(of(f32::NAN), of(f32::NAN));
        assert_ne!(of(0.0), of(-0.0));
    }

    #[test]
    fn a_divisor_of_zero_is_another_parameter() {
        let [zero, two] = [0u32, 2].map(|v| ScalarParam::recorded(v.into()).as_divisor());
        assert!(zero.def().accepts(2u32.into()) && two.def().accepts(7u32.into()));
        assert!(!two.def().accepts(0u32.into()) && !two.def().accepts(2i32.into()));
    }
}
