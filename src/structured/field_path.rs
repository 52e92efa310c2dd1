//! Paths to nested fields, and the values at them.

use std::fmt;
use std::sync::Arc;

use super::{FieldValue, StructuredTensor};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::tensor::RaggedTensor;

/// The names that lead to a nested field, outermost first. Made from one name or from several.
///
/// ```
/// use ragged::FieldPath;
/// assert_eq!(FieldPath::from("id").names().len(), 1);
/// assert_eq!(FieldPath::from(["doc", "words"]).to_string(), "doc.words");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldPath(Vec<Arc<str>>);

/// Names.
impl FieldPath {
    /// The names on the way to the field, outermost first.
    ///
    /// ```
    /// use ragged::FieldPath;
    /// assert_eq!(FieldPath::from(["doc", "words"]).names().last().map(|name| &**name), Some("words"));
    /// ```
    pub fn names(&self) -> &[Arc<str>] {
        &self.0
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

impl From<&str> for FieldPath {
    fn from(name: &str) -> Self {
        Self(vec![name.into()])
    }
}
impl From<String> for FieldPath {
    fn from(name: String) -> Self {
        Self(vec![name.into()])
    }
}
impl<N: AsRef<str>> From<&[N]> for FieldPath {
    fn from(names: &[N]) -> Self {
        Self(names.iter().map(|name| name.as_ref().into()).collect())
    }
}
impl<N: AsRef<str>, const K: usize> From<[N; K]> for FieldPath {
    fn from(names: [N; K]) -> Self {
        names.as_slice().into()
    }
}
impl<N: AsRef<str>> From<Vec<N>> for FieldPath {
    fn from(names: Vec<N>) -> Self {
        names.as_slice().into()
    }
}
impl From<&Self> for FieldPath {
    fn from(path: &Self) -> Self {
        path.clone()
    }
}

/// Fields by name and path.
impl StructuredTensor {
    /// The value of a field, by its name or by the path to it.
    ///
    /// Records of shape `[d1, .., dn]` give a value of shape `[d1, .., dn, ..]`, nested fields one of all dimensions on
    /// the way. An empty path gives the records themselves.
    ///
    /// TensorFlow: `StructuredTensor.field_value`.
    ///
    /// # Errors
    /// A field that does not exist, with those that do.
    ///
    /// # Cost
    /// No pass, no wait.
    ///
    /// ```
    /// # #[cfg(feature = "json")] {
    /// use ragged::{Device, StructuredTensor};
    /// let json = serde_json::json!([{"doc": {"words": ["a", "b"]}}, {"doc": {"words": ["c"]}}]);
    /// let records = StructuredTensor::from_serialize(&json, &Device::cpu())?;
    /// let words = records.field_value(["doc", "words"])?.tensor()?;
    /// assert_eq!(words.to_string(), "<ragged.RaggedTensor [[b'a', b'b'], [b'c']]>");
    /// # }
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn field_value(&self, path: impl Into<FieldPath>) -> Result<FieldValue> {
        self.at("field_value", path.into().names())
    }

    /// The tensor of a field of a known element type, by its name or by the path to it.
    ///
    /// Any other value: [`field_value`](Self::field_value).
    ///
    /// # Errors
    /// A field that does not exist, with those that do; nested records; values of another dtype.
    ///
    /// # Cost
    /// No pass, no wait.
    ///
    /// ```
    /// # #[cfg(feature = "json")] {
    /// use ragged::{Device, StructuredTensor};
    /// let json = serde_json::json!([{"item": {"price": 1.5}}, {"item": {"price": 2.5}}]);
    /// let records = StructuredTensor::from_serialize(&json, &Device::cpu())?;
    /// let prices = records.field::<f32>(["item", "price"])?;
    /// assert_eq!(prices.reduce_sum(0)?.item()?, 4.0);
    /// # }
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn field<T: Element>(&self, path: impl Into<FieldPath>) -> Result<RaggedTensor<T>> {
        const OP: &str = "field";
        let tensor = self.at(OP, path.into().names())?.tensor().map_err(|e| e.of(OP))?;
        RaggedTensor::try_from(tensor).map_err(|e| e.of(OP))
    }

    /// The value at a path, for the operation `op`.
    #[track_caller]
    pub(super) fn at(&self, op: &'static str, path: &[Arc<str>]) -> Result<FieldValue> {
        let mut value = FieldValue::Records(self.clone());
        for (k, name) in path.iter().enumerate() {
            let FieldValue::Records(records) = &value else {
                let above = FieldPath::from(&path[..k]);
                return Err(Error::argument(op, format!("{above} is a tensor, which has no field {name:?}")));
            };
            value = records.direct_field(op, name)?.clone();
        }
        Ok(value)
    }

    /// The direct field of that name.
    #[track_caller]
    pub(super) fn direct_field(&self, op: &'static str, name: &str) -> Result<&FieldValue> {
        match self.fields.get(name) {
            Some(field) => Ok(field),
            None => Err(Error::argument(op, self.no_field(name))),
        }
    }

    /// Message that a field does not exist.
    pub(super) fn no_field(&self, name: &str) -> String {
        if self.fields.is_empty() {
            return format!("there is no field {name:?}: the records have no fields");
        }
        format!("there is no field {name:?}; the fields are {}", self.field_names().collect::<Vec<_>>().join(", "))
    }
}
