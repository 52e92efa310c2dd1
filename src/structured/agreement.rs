//! Agreement of fields with the shape of their records: shared row partitions, conditions where only the device knows.

use super::{FieldValue, StructuredTensor};
use crate::device::Device;
use crate::error::{Error, Result, caller};
use crate::graph::expr::Check;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::shape::{RaggedShape, RowPartition};
use crate::tensor::Tensor;

/// A shape that fields must have in their outermost dimensions.
pub(super) struct Wanted<'a> {
    pub op: &'static str,
    pub shape: &'a RaggedShape,
}

/// The outermost `rank` dimensions of a field, with a partition for each but the first.
///
/// # Errors
/// A field of fewer dimensions.
#[track_caller]
pub(super) fn outer_shape(op: &'static str, name: &str, field: &FieldValue, rank: usize) -> Result<RaggedShape> {
    let shape = match field {
        FieldValue::Tensor(tensor) => tensor.ragged_shape(),
        FieldValue::Records(records) => &records.shape,
    };
    if shape.rank() < rank {
        let own = shape.rank();
        let what = format!("field {name:?} has rank {own}, but a field of records of rank {rank} has at least that");
        return Err(Error::argument(op, what));
    }
    shape.slice(..rank as i64)?.with_ragged_rank(rank.saturating_sub(1))
}

impl Wanted<'_> {
    /// The field with the partitions of the shape itself, on the condition that its rows are the same, and on those of
    /// the shape.
    ///
    /// # Errors
    /// Other rows, with the first difference; another device.
    #[track_caller]
    pub(super) fn bind(&self, name: &str, field: &FieldValue) -> Result<FieldValue> {
        let own = outer_shape(self.op, name, field, self.shape.rank())?;
        Device::check_same(self.op, &self.shape.backend, &own.backend)?;
        let conditions = [self.conditions(name, &own)?, self.shape.conditions.clone()].concat();
        Ok(match field {
            FieldValue::Tensor(tensor) => FieldValue::Tensor(self.tensor(tensor, &conditions)?),
            FieldValue::Records(records) => FieldValue::Records(self.records(records, &conditions)?),
        })
    }

    /// The device-side checks that `own` equals the shape; none where the host knows.
    #[track_caller]
    fn conditions(&self, name: &str, own: &RaggedShape) -> Result<Vec<Node>> {
        let mut out = Vec::new();
        if self.shape.rank() == 0 {
            return Ok(out);
        }
        let location = caller();
        let error = |what: String| {
            let (lhs, rhs) = (self.shape.text(), own.text());
            Error::Shape { op: self.op, lhs, rhs, what, location }
        };
        let check = Check::new(self.op, format!("the rows of field {name:?} must be those of the records"));
        let rows = self.shape.nrows_extent().agrees(&own.nrows_extent());
        let differ = |(a, b)| error(format!("there are {a} records, but field {name:?} has {b} rows"));
        out.extend(rows.condition(Recorder::new(&self.shape.backend, self.op), check.clone(), differ)?);
        for (a, b) in self.shape.partitions.iter().zip(&own.partitions) {
            let differ = |rows| error(format!("field {name:?} has other rows than the records: {rows}"));
            out.extend(a.agrees(b).condition(Recorder::new(&self.shape.backend, self.op), check.clone(), differ)?);
        }
        Ok(out)
    }

    /// The tensor under the partitions of the shape. A tensor whose outer dimensions are uniform, of records that are,
    /// stays dense.
    #[track_caller]
    fn tensor(&self, tensor: &Tensor, conditions: &[Node]) -> Result<Tensor> {
        let shared = &self.shape.partitions;
        let is_uniform = shared.iter().all(|p| p.uniform_length().is_some());
        let is_same = |own: &[RowPartition]| shared.iter().zip(own).all(|(a, b)| a.same(b));
        let bound = match tensor.ragged_rank() {
            own if own >= shared.len() && is_same(tensor.partitions()) => tensor.clone(),
            0 if is_uniform => tensor.clone(),
            own => {
                let deep = tensor.inner_to_partitions(shared.len().saturating_sub(own))?;
                let below = deep.partitions().get(shared.len()..).unwrap_or_default();
                let (inner, values) = (deep.inner().to_vec(), deep.values_ref().clone());
                let partitions = [shared, below].concat();
                Tensor::new(tensor.backend(), partitions, deep.outer().cloned(), inner, values)?
            }
        };
        bound.on_condition(self.op, conditions)
    }

    /// The nested records under the partitions of the shape.
    #[track_caller]
    fn records(&self, records: &StructuredTensor, conditions: &[Node]) -> Result<StructuredTensor> {
        let mut shape = records.shape.clone();
        shape.partitions =
            self.shape.partitions.iter().chain(&shape.partitions[self.shape.partitions.len()..]).cloned().collect();
        shape.conditions.extend_from_slice(conditions);
        let mut fields = records.fields.clone();
        for (_, field) in fields.iter_mut() {
            *field = match field {
                FieldValue::Tensor(tensor) => FieldValue::Tensor(self.tensor(tensor, conditions)?),
                FieldValue::Records(records) => FieldValue::Records(self.records(records, conditions)?),
            };
        }
        Ok(StructuredTensor { shape, fields })
    }
}
