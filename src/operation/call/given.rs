//! Conversion of values to the types that operations take.

use super::value::Value;
use crate::dtype::DType;
use crate::graph::scalar::Scalar;
use crate::tensor::{Fill, Integers, Tensor};

/// A value of an argument, and the options that were read of it.
pub(crate) struct Given<'v> {
    pub(crate) value: &'v Value,
    options: &'v [(String, Value)],
    read: Vec<bool>,
}

/// What an argument is converted from.
pub(crate) trait FromValue<'v>: Sized {
    /// The value.
    ///
    /// # Errors
    /// A value of another kind, with what is required.
    fn from_value(given: &mut Given<'v>) -> Result<Self, String>;
}

impl<'v> Given<'v> {
    /// The value converted, of which every option must be read.
    ///
    /// # Errors
    /// Those of the conversion; an option that the type does not have.
    pub(crate) fn convert<T: FromValue<'v>>(value: &'v Value) -> Result<T, String> {
        let (value, options) = match value {
            Value::With(value, options) => (&**value, &options[..]),
            value => (value, &[][..]),
        };
        let mut given = Self { value, options, read: vec![false; options.len()] };
        let converted = T::from_value(&mut given)?;
        match given.read.iter().position(|is_read| !is_read) {
            Some(k) => Err(format!("it has no option `{}`", options[k].0)),
            None => Ok(converted),
        }
    }

    /// The option of that name, if it is given.
    pub(crate) fn option<T: FromValue<'v>>(&mut self, name: &str) -> Result<Option<T>, String> {
        let Some(k) = self.options.iter().position(|(known, _)| known == name) else { return Ok(None) };
        self.read[k] = true;
        Self::convert(&self.options[k].1).map(Some).map_err(|why| format!("option `{name}`: {why}"))
    }

    /// Whether the option of that name is set.
    pub(crate) fn flag(&mut self, name: &str) -> Result<bool, String> {
        Ok(self.option(name)?.unwrap_or(false))
    }

    /// The fault of a value of another kind.
    pub(crate) fn other(&self, required: &str) -> String {
        format!("{} is given; required: {required}", self.value)
    }

    /// The entries of a list, or the one value.
    fn entries<T: FromValue<'v>>(&self, required: &str) -> Result<Vec<T>, String> {
        match self.value {
            Value::List(values) => values.iter().map(Self::convert).collect(),
            value => Ok(vec![Self::convert(value).map_err(|_| self.other(required))?]),
        }
    }
}

impl<'v> FromValue<'v> for &'v Tensor {
    fn from_value(given: &mut Given<'v>) -> Result<Self, String> {
        match given.value {
            Value::Tensor(x) => Ok(x),
            _ => Err(given.other("a tensor")),
        }
    }
}

impl<'v> FromValue<'v> for &'v [Tensor] {
    fn from_value(given: &mut Given<'v>) -> Result<Self, String> {
        match given.value {
            Value::Tensor(x) => Ok(std::slice::from_ref(x)),
            Value::Tensors(all) => Ok(all),
            _ => Err(given.other("tensors")),
        }
    }
}

impl<'v> FromValue<'v> for Vec<&'v Tensor> {
    fn from_value(given: &mut Given<'v>) -> Result<Self, String> {
        let all: &[Tensor] = FromValue::from_value(given)?;
        Ok(all.iter().collect())
    }
}

impl FromValue<'_> for bool {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        if let Value::Bool(b) = given.value { Ok(*b) } else { Err(given.other("true or false")) }
    }
}

impl FromValue<'_> for i64 {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        if let Value::Integer(n) = given.value { Ok(*n) } else { Err(given.other("an integer")) }
    }
}

impl FromValue<'_> for f64 {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        match given.value {
            Value::Integer(n) => Ok(*n as Self),
            Value::Float(x) => Ok(*x),
            _ => Err(given.other("a number")),
        }
    }
}

impl<'v> FromValue<'v> for &'v [u8] {
    fn from_value(given: &mut Given<'v>) -> Result<Self, String> {
        if let Value::Text(text) = given.value { Ok(text) } else { Err(given.other("text")) }
    }
}

impl<'v> FromValue<'v> for &'v str {
    fn from_value(given: &mut Given<'v>) -> Result<Self, String> {
        let text: &[u8] = FromValue::from_value(given)?;
        std::str::from_utf8(text).map_err(|_| given.other("text in UTF-8"))
    }
}

impl FromValue<'_> for DType {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        let named = match given.value {
            Value::DType(dtype) => return Ok(*dtype),
            Value::Text(name) => Self::ALL.into_iter().find(|dtype| dtype.to_string().as_bytes() == &name[..]),
            _ => None,
        };
        named.ok_or_else(|| given.other("a dtype, or its name"))
    }
}

impl FromValue<'_> for Scalar {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        match given.value {
            Value::Bool(b) => Ok(Self::from(*b)),
            Value::Integer(n) => Ok(Self::from(*n)),
            Value::Float(x) => Ok(Self::from(*x)),
            _ => Err(given.other("a number")),
        }
    }
}

impl FromValue<'_> for Fill {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        match given.value {
            Value::Text(text) => Ok(Self::String(text[..].into())),
            _ => Ok(Self::from(Scalar::from_value(given).map_err(|_| given.other("a number or a string"))?)),
        }
    }
}

impl<'v> FromValue<'v> for Integers<'v> {
    fn from_value(given: &mut Given<'v>) -> Result<Self, String> {
        match given.value {
            Value::Tensor(x) => Ok(Self::from(x)),
            _ => Ok(Self::from(given.entries::<i64>("a tensor or a list of integers")?)),
        }
    }
}

impl FromValue<'_> for Vec<i64> {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        given.entries("an integer, or a list of integers")
    }
}

impl FromValue<'_> for Vec<f64> {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        given.entries("a number, or a list of numbers")
    }
}

impl FromValue<'_> for [u64; 2] {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        let entries: Vec<i64> = FromValue::from_value(given)?;
        let two: [i64; 2] = entries.try_into().map_err(|_| given.other("a list of two integers"))?;
        // Keys: all 64 bits count.
        Ok(two.map(i64::cast_unsigned))
    }
}
