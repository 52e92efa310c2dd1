//! Concatenation of records.

use super::each::shape_of_records;
use super::{FieldValue, StructuredTensor};
use crate::error::{Error, Result, caller, here, on_behalf};
use crate::integer::Integer;
use crate::tensor::Tensor;

const OP: &str = "StructuredTensor::concat";

/// Gives an error of the concatenation of a field the name of that of the records.
fn named(error: Error) -> Error {
    error.of(OP)
}

/// Concatenation.
impl StructuredTensor {
    /// Concatenates records along `axis`, a dimension of the records. All have the same fields. Axis 0 appends the
    /// records; any other axis joins those of each row. Empty rows stay empty unless a row that is joined to them is
    /// not.
    ///
    /// TensorFlow: `tf.concat`.
    ///
    /// # Errors
    /// An empty list; single records; an axis out of range; different ranks; fields that some of the records lack, or
    /// that are records in some and tensors in others; as [`Tensor::concat`].
    ///
    /// # Cost
    /// A [`Tensor::concat`] of each field: a map over its values and a map over its rows for the splits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor};
    /// let id = RaggedTensor::from_nested([7, 8], &Device::cpu())?;
    /// let records = StructuredTensor::from_fields_and_rank([("id", &id)], 1)?;
    /// assert_eq!(StructuredTensor::concat(&[&records, &records], 0)?.shape(), [Some(4)]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn concat(all: &[impl AsRef<Self>], axis: impl Integer) -> Result<Self> {
        let all: Vec<&Self> = all.iter().map(AsRef::as_ref).collect();
        let Some(first) = all.first() else {
            return Err(Error::argument(OP, "there must be at least one list of records"));
        };
        let axis = first.shape.axis(OP, axis.saturating_i64())?;
        Self::joined(&all, axis).map_err(here())
    }

    /// [`StructuredTensor::concat`] of a resolved axis; the list is not empty.
    #[track_caller]
    fn joined(all: &[&Self], axis: usize) -> Result<Self> {
        let first = all[0];
        for other in all {
            if other.rank() != first.rank() {
                let (lhs, rhs) = (first.shape.text(), other.shape.text());
                let what = format!("ranks {} and {} differ", first.rank(), other.rank());
                return Err(Error::Shape { op: OP, lhs, rhs, what, location: caller() });
            }
            for (a, b) in [(first, other), (other, &first)] {
                if let Some(name) = a.fields.keys().find(|name| !b.fields.contains_key(name)) {
                    return Err(Error::argument(OP, format!("all must have the same fields: {}", b.no_field(name))));
                }
            }
        }
        let skeletons: Vec<Tensor> = all.iter().map(|one| one.skeleton()).collect::<Result<_>>().map_err(here())?;
        let mut shape = shape_of_records(&Tensor::concat(&skeletons, axis).map_err(named)?)?;
        shape.conditions = all.iter().flat_map(|one| one.shape.conditions.clone()).collect();
        let join = |name: &str| -> Result<FieldValue> {
            let (mut tensors, mut records) = (Vec::new(), Vec::new());
            for one in all {
                match &one.fields[name] {
                    FieldValue::Tensor(tensor) => tensors.push(tensor),
                    FieldValue::Records(nested) => records.push(nested),
                }
            }
            match (&tensors[..], &records[..]) {
                (tensors, []) => Tensor::concat(tensors, axis).map(Into::into).map_err(named),
                ([], records) => Self::joined(records, axis).map(Into::into),
                _ => Err(Error::argument(
                    OP,
                    format!("field {name:?} is a tensor in some records, and records in others"),
                )),
            }
        };
        let fields = first.fields.keys().map(|name| Ok((name.clone(), join(name)?)));
        Ok(Self { shape, fields: on_behalf(|| fields.collect::<Result<_>>())? })
    }
}

impl AsRef<Self> for StructuredTensor {
    fn as_ref(&self) -> &Self {
        self
    }
}
