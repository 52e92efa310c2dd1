//! Scalar parameters: the numbers of the user in expressions.
//!
//! A learning rate, a fill value, a bound or the key of a random generator is a parameter of the program, whose value is
//! bound for each run: recordings that differ in such numbers alone are one program. A number that the engine writes
//! itself, such as a width or an identity element, is a constant of the program; folding uses constants only.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::digest::Digest;
use super::scalar::Scalar;
use crate::dtype::DType;

/// What a program requires of a scalar parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
    /// A slot of a plan, whose value is set before each run.
    Slot(Arc<Slot>),
}

#[derive(Debug)]
struct Slot {
    identity: Digest,
    bits: AtomicU64,
}

impl ScalarParam {
    /// A parameter to which the recording binds that value.
    pub(crate) fn recorded(value: Scalar) -> Self {
        let def = ScalarDef { dtype: value.dtype(), is_nonzero: false };
        Self { def, value: Value::Recorded(value) }
    }

    /// A slot of a plan.
    pub(crate) fn slot(identity: Digest, def: ScalarDef) -> Self {
        Self { def, value: Value::Slot(Arc::new(Slot { identity, bits: AtomicU64::new(0) })) }
    }

    /// The parameter as a divisor: with the promise that it is not 0, if the recording binds another value.
    pub(crate) fn as_divisor(&self) -> Self {
        match self.value {
            Value::Recorded(value) => {
                let def = ScalarDef { is_nonzero: value.bits() != 0, ..self.def };
                Self { def, value: self.value.clone() }
            }
            Value::Slot(_) => self.clone(),
        }
    }

    pub(crate) fn def(&self) -> ScalarDef {
        self.def
    }

    /// The value that the recording binds; `None` for a slot of a plan.
    pub(crate) fn recorded_value(&self) -> Option<Scalar> {
        match self.value {
            Value::Recorded(value) => Some(value),
            Value::Slot(_) => None,
        }
    }

    /// The value in this run.
    pub(crate) fn value(&self) -> Scalar {
        match &self.value {
            Value::Recorded(value) => *value,
            Value::Slot(slot) => Scalar::from_bits(self.def.dtype, slot.bits.load(Ordering::Relaxed)),
        }
    }

    /// Sets the value of a slot.
    pub(crate) fn set(&self, value: Scalar) {
        debug_assert!(self.def.accepts(value), "bug: {value:?} for a parameter of {:?}", self.def);
        if let Value::Slot(slot) = &self.value {
            slot.bits.store(value.bits(), Ordering::Relaxed);
        }
    }

    /// The identity in a graph: parameters of a recording are equal if their values are, so that equal recordings are
    /// one array; slots of a plan are not, whatever their values.
    pub(crate) fn digest(&self) -> Digest {
        match &self.value {
            Value::Recorded(value) => {
                Digest::of("scalar parameter", (value.dtype(), value.bits(), self.def.is_nonzero))
            }
            Value::Slot(slot) => slot.identity,
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
        let slots = [0, 1].map(|k| ScalarParam::slot(Digest::of("test", k), of(0.0).def()));
        slots.iter().for_each(|slot| slot.set(2.5f32.into()));
        assert_eq!(slots[0].value(), slots[1].value());
        assert_ne!(slots[0], slots[1]);
    }

    #[test]
    fn a_divisor_of_zero_is_another_parameter() {
        let [zero, two] = [0u32, 2].map(|v| ScalarParam::recorded(v.into()).as_divisor());
        assert!(zero.def().accepts(2u32.into()) && two.def().accepts(7u32.into()));
        assert!(!two.def().accepts(0u32.into()) && !two.def().accepts(2i32.into()));
    }
}
