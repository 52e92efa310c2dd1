//! One operation on all fields of records and on their shape.

use super::{FieldValue, StructuredTensor};
use crate::dtype::DType;
use crate::error::{Result, on_behalf};
use crate::shape::RaggedShape;
use crate::tensor::Tensor;

/// The shape of a tensor that has one element per record, with a partition for every dimension but the outermost.
#[track_caller]
pub(super) fn shape_of_records(records: &Tensor) -> Result<RaggedShape> {
    let shape = records.ragged_shape();
    shape.with_ragged_rank(shape.rank().saturating_sub(1))
}

impl StructuredTensor {
    /// A tensor with one constant element per record. Operations on it compute the shapes of their results.
    #[track_caller]
    pub(super) fn skeleton(&self) -> Result<Tensor> {
        Tensor::zeros(&self.shape, DType::Bool)
    }

    /// Applies an operation on the dimensions of the records to the tensors of all fields, nested ones included, and to
    /// the shape of the records.
    #[track_caller]
    pub(super) fn each(&self, op: &dyn Fn(&Tensor) -> Result<Tensor>) -> Result<Self> {
        let mut shape = shape_of_records(&on_behalf(|| op(&self.skeleton()?))?)?;
        shape.conditions = self.shape.conditions.clone();
        let apply = |field: &FieldValue| {
            Ok(match field {
                FieldValue::Tensor(tensor) => FieldValue::Tensor(op(tensor)?),
                FieldValue::Records(records) => FieldValue::Records(records.each(op)?),
            })
        };
        let fields = self.fields.iter().map(|(name, field)| Ok((name.clone(), apply(field)?)));
        Ok(Self { shape, fields: on_behalf(|| fields.collect::<Result<_>>())? })
    }
}
