//! Calls of operations whose names and arguments are known at run time.

mod given;
mod value;

use std::fmt;

pub(crate) use given::{FromValue, Given};
pub use value::Value;

use super::{Argument, Operation};
use crate::error::{Error, Result, on_behalf};
use crate::tensor::Tensor;

/// The function of an operation, with arguments converted from values.
type ByValues = fn(&mut Arguments<'_>) -> Result<Vec<Tensor>>;

/// How an operation is called by values.
#[derive(Clone, Copy)]
pub(crate) struct Call(Option<ByValues>);

impl Call {
    /// Not by values: a function, memory of the program, or a value of a type that no [`Value`] has.
    pub(crate) const NONE: Self = Self(None);

    pub(crate) const fn new(call: ByValues) -> Self {
        Self(Some(call))
    }
}

/// Operations differ in their names.
impl PartialEq for Call {
    fn eq(&self, other: &Self) -> bool {
        self.0.is_some() == other.0.is_some()
    }
}
impl Eq for Call {}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "by values" } else { "not by values" })
    }
}

/// The values of a call, in the order of the arguments.
pub(crate) struct Arguments<'v> {
    op: &'static str,
    values: std::slice::Iter<'v, Value>,
}

impl<'v> Arguments<'v> {
    /// The next value.
    ///
    /// # Errors
    /// No value, or one of another kind.
    pub(crate) fn next<T: FromValue<'v>>(&mut self, name: &'static str) -> Result<T> {
        match self.given(name)? {
            Some(value) => Ok(value),
            None => Err(Error::argument(self.op, format!("argument `{name}` is not given, and has no default"))),
        }
    }

    /// The next value, if it is not left to the default.
    ///
    /// # Errors
    /// A value of another kind.
    pub(crate) fn given<T: FromValue<'v>>(&mut self, name: &'static str) -> Result<Option<T>> {
        let Some(value) = self.values.next().filter(|value| !matches!(value, Value::Default)) else { return Ok(None) };
        let fault = |why| Error::argument(self.op, format!("argument `{name}`: {why}"));
        Given::convert(value).map(Some).map_err(fault)
    }
}

/// The results of an operation as a list.
pub(crate) trait IntoTensors {
    fn into_tensors(self) -> Vec<Tensor>;
}
impl IntoTensors for Tensor {
    fn into_tensors(self) -> Vec<Tensor> {
        vec![self]
    }
}
impl IntoTensors for (Tensor, Tensor) {
    fn into_tensors(self) -> Vec<Tensor> {
        vec![self.0, self.1]
    }
}
/// Distinct keys, and the groups.
impl IntoTensors for (Vec<Tensor>, Tensor) {
    fn into_tensors(mut self) -> Vec<Tensor> {
        self.0.push(self.1);
        self.0
    }
}
impl IntoTensors for Vec<Tensor> {
    fn into_tensors(self) -> Vec<Tensor> {
        self
    }
}

/// Calls by values.
impl Operation {
    /// Whether [`call`](Self::call) can call the operation: not if an argument is a function, a device or memory of the
    /// program, nor for operations of types other than [`Tensor`].
    ///
    /// ```
    /// let by_name = |name| ragged::operations().find(|operation| operation.name == name).unwrap();
    /// assert!(by_name("top_k").is_callable());
    /// assert!(!by_name("map_rows").is_callable());
    /// ```
    pub fn is_callable(&self) -> bool {
        self.call.0.is_some()
    }

    /// Calls the operation by values whose types are known at run time.
    ///
    /// The values are the tensor, if the operation [is a method](Self::is_method), then the [arguments](Self::arguments), in
    /// their order. Those at the end may be left out if they have defaults, others be [`Value::Default`]. Options of an
    /// argument are [`Value::With`]. A number takes the dtype of the tensor beside it; where it
    /// determines the dtype, an integer is i64 and a float f64. The results are as many as
    /// [`results`](Self::results) says; dtypes, shapes, rows and bits are those of the method.
    ///
    /// # Errors
    /// A value of another kind than the argument, one too many or too few, an option that the argument does not have; an
    /// operation that [is not callable](Self::is_callable); those of the method.
    ///
    /// # Cost
    /// That of the method. No wait of its own.
    ///
    /// ```
    /// use ragged::operation::Value;
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![3, 1, 2], vec![], vec![5, 4]], &Device::cpu())?;
    /// let sort = ragged::operations().find(|operation| operation.name == "sort").unwrap();
    /// let sorted = sort.call(&[Value::from(&x), Value::from(1).option("descending", true)])?;
    /// assert_eq!(sorted[0].to_string(), "<ragged.RaggedTensor [[3, 2, 1], [], [5, 4]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn call(&self, values: &[Value]) -> Result<Vec<Tensor>> {
        let Some(call) = self.call.0 else {
            return Err(Error::argument(self.name, "it cannot be called by values, only by its method"));
        };
        let most = self.arguments.len() + usize::from(self.is_method);
        if values.len() > most {
            let names: Vec<&str> = self.arguments.iter().map(|Argument { name, .. }| *name).collect();
            let tensor = if self.is_method { "the tensor and " } else { "" };
            let what = format!("{} values are given; required: {tensor}{names:?}", values.len());
            return Err(Error::argument(self.name, what));
        }
        on_behalf(|| call(&mut Arguments { op: self.name, values: values.iter() }))
    }
}
