//! Values of arguments whose types are known at run time.

use std::fmt;

use crate::dtype::DType;
use crate::element::Element;
use crate::tensor::{RaggedTensor, Tensor};

/// An argument whose type is known at run time: what a query, a file or another language gives to
/// [`Operation::call`](super::super::Operation::call).
///
/// ```
/// use ragged::operation::Value;
/// let axis = Value::from(1).option("descending", true);
/// assert_eq!(axis.to_string(), "1 with descending = true");
/// assert_eq!(Value::from(["a", "b"]).to_string(), "[\"a\", \"b\"]");
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Value {
    /// The default of the argument.
    Default,
    /// All axes: `..`.
    All,
    /// A tensor.
    Tensor(Tensor),
    /// Several tensors.
    Tensors(Vec<Tensor>),
    /// A truth value.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// A float.
    Float(f64),
    /// Text, or bytes.
    Text(Vec<u8>),
    /// A dtype.
    DType(DType),
    /// A list.
    List(Vec<Self>),
    /// A value with named options, such as an axis and the order of a sort.
    With(Box<Self>, Vec<(String, Self)>),
}

/// Options.
impl Value {
    /// The value with an option: a field of the type in [`Argument::options`](super::super::Argument::options).
    ///
    /// ```
    /// use ragged::operation::Value;
    /// let axis = Value::from(-1).option("exclusive", true).option("reversed", true);
    /// assert!(matches!(axis, Value::With(_, options) if options.len() == 2));
    /// ```
    #[must_use]
    pub fn option(self, name: impl Into<String>, value: impl Into<Self>) -> Self {
        let option = (name.into(), value.into());
        match self {
            Self::With(of, mut options) => {
                options.push(option);
                Self::With(of, options)
            }
            of => Self::With(Box::new(of), vec![option]),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("the default"),
            Self::All => f.write_str(".."),
            Self::Tensor(x) => write!(f, "a tensor of {}", x.dtype()),
            Self::Tensors(all) => write!(f, "{} tensors", all.len()),
            Self::Bool(b) => b.fmt(f),
            Self::Integer(n) => n.fmt(f),
            Self::Float(x) => write!(f, "{x:?}"),
            Self::Text(text) => write!(f, "{:?}", String::from_utf8_lossy(text)),
            Self::DType(dtype) => dtype.fmt(f),
            Self::List(values) => {
                f.write_str("[")?;
                for (k, value) in values.iter().enumerate() {
                    let comma = if k > 0 { ", " } else { "" };
                    write!(f, "{comma}{value}")?;
                }
                f.write_str("]")
            }
            Self::With(of, options) => {
                write!(f, "{of}")?;
                for (k, (name, value)) in options.iter().enumerate() {
                    let word = if k == 0 { "with" } else { "and" };
                    write!(f, " {word} {name} = {value}")?;
                }
                Ok(())
            }
        }
    }
}

impl From<Tensor> for Value {
    fn from(x: Tensor) -> Self {
        Self::Tensor(x)
    }
}
impl From<&Tensor> for Value {
    fn from(x: &Tensor) -> Self {
        Self::Tensor(x.clone())
    }
}
impl<T: Element> From<&RaggedTensor<T>> for Value {
    fn from(x: &RaggedTensor<T>) -> Self {
        Self::Tensor(x.erased().clone())
    }
}
impl From<Vec<Tensor>> for Value {
    fn from(all: Vec<Tensor>) -> Self {
        Self::Tensors(all)
    }
}
impl From<bool> for Value {
    fn from(b: bool) -> Self {
        Self::Bool(b)
    }
}
impl From<i32> for Value {
    fn from(n: i32) -> Self {
        Self::Integer(n.into())
    }
}
impl From<i64> for Value {
    fn from(n: i64) -> Self {
        Self::Integer(n)
    }
}
impl From<f64> for Value {
    fn from(x: f64) -> Self {
        Self::Float(x)
    }
}
impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}
impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Self::Text(bytes.into())
    }
}
impl From<DType> for Value {
    fn from(dtype: DType) -> Self {
        Self::DType(dtype)
    }
}
impl From<std::ops::RangeFull> for Value {
    fn from(_: std::ops::RangeFull) -> Self {
        Self::All
    }
}
impl<V: Into<Self>, const N: usize> From<[V; N]> for Value {
    fn from(values: [V; N]) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}
