//! Scalar parameters: the numbers of the user in expressions.
//!
//! A learning rate, a fill value, a bound or the key of a random generator is a parameter of the program, whose value is
//! bound for each run: recordings that differ in such numbers alone are one program. A number that the engine writes
//! itself, such as a width or an identity element, is a constant of the program; folding uses constants only.

use super::digest::Digest;
use super::scalar::Scalar;
use crate::dtype::DType;

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

/// A scalar parameter of a recording, or of a plan.
#[derive(Debug, Clone)]
pub(crate) struct ScalarParam {
    def: ScalarDef,
    value: Value,
}

#[derive(Debug, Clone)]
enum Value {
    /// The value that the recording binds.
    Recorded(Scalar),
    /// A slot of a plan: the scalar of that number in the table of a run.
    Slot { identity: Digest, number: u32 },
}

impl ScalarParam {
    /// A parameter to which the recording binds that value.
    pub(crate) fn recorded(value: Scalar) -> Self {
        let def = ScalarDef { dtype: value.dtype(), is_nonzero: false };
        Self { def, value: Value::Recorded(value) }
    }

    /// A slot of a plan, for scalar `number` of the program.
    pub(crate) fn slot(identity: Digest, number: u32, def: ScalarDef) -> Self {
        Self { def, value: Value::Slot { identity, number } }
    }

    /// The parameter as a divisor: with the promise that it is not 0, if the recording binds another value.
    pub(crate) fn as_divisor(&self) -> Self {
        match self.value {
            Value::Recorded(value) => {
                let def = ScalarDef { is_nonzero: value.bits() != 0, ..self.def };
                Self { def, value: self.value.clone() }
            }
            Value::Slot { .. } => self.clone(),
        }
    }

    pub(crate) fn def(&self) -> ScalarDef {
        self.def
    }

    /// The value that the recording binds; `None` for a slot of a plan.
    pub(crate) fn recorded_value(&self) -> Option<Scalar> {
        match self.value {
            Value::Recorded(value) => Some(value),
            Value::Slot { .. } => None,
        }
    }

    /// The value in a run with those scalars.
    pub(crate) fn value_in(&self, scalars: &[Scalar]) -> Scalar {
        match self.value {
            Value::Recorded(value) => value,
            Value::Slot { number, .. } => {
                let value = scalars[number as usize];
                debug_assert!(self.def.accepts(value), "bug: {value:?} for a parameter of {:?}", self.def);
                value
            }
        }
    }

    /// The identity in a graph: parameters of a recording are equal if their values are, so that equal recordings are
    /// one array; slots of a plan are not, whatever their values.
    pub(crate) fn digest(&self) -> Digest {
        match &self.value {
            Value::Recorded(value) => {
                Digest::of("scalar parameter", (value.dtype(), value.bits(), self.def.is_nonzero))
            }
            Value::Slot { identity, .. } => *identity,
        }
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
    fn slots_are_equal_by_identity_and_recorded_parameters_by_bits() {
        let of = |v: f32| ScalarParam::recorded(v.into());
        assert_eq!(of(f32::NAN), of(f32::NAN));
        assert_ne!(of(0.0), of(-0.0));
        let slots = [0, 1].map(|k| ScalarParam::slot(Digest::of("test", k), k, of(0.0).def()));
        let [a, b] = slots.each_ref().map(|slot| slot.value_in(&[2.5f32.into(); 2]));
        assert_eq!(a, b);
        assert_ne!(slots[0], slots[1]);
    }

    #[test]
    fn a_divisor_of_zero_is_another_parameter() {
        let [zero, two] = [0u32, 2].map(|v| ScalarParam::recorded(v.into()).as_divisor());
        assert!(zero.def().accepts(2u32.into()) && two.def().accepts(7u32.into()));
        assert!(!two.def().accepts(0u32.into()) && !two.def().accepts(2i32.into()));
    }
}
