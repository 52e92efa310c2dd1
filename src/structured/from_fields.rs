//! Records from the tensors of their fields, and records without fields.

use std::sync::Arc;

use super::agreement::{Wanted, outer_shape};
use super::{FieldValue, Fields, RecordShape, StructuredTensor};
use crate::error::{Error, Result, caller, here};
use crate::graph::expr::Check;
use crate::graph::extent::Extent;
use crate::graph::recorder::Recorder;
use crate::integer::{Integer, non_negative};
use crate::shape::RaggedShape;

/// Records may be nested this deep.
const MAX_DEPTH: usize = 128;

/// Fails unless records may have a field of that name.
///
/// # Errors
/// An empty name; a decimal number, which would read as an index of a path.
#[track_caller]
pub(super) fn check_name(op: &'static str, name: &str) -> Result<()> {
    match problem_of_name(name) {
        Some(problem) => Err(Error::argument(op, problem)),
        None => Ok(()),
    }
}

/// The reason for which a field cannot have the name.
pub(super) fn problem_of_name(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some("a field needs a name, but it is empty".into());
    }
    let is_number = name.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| format!("a field cannot be named {name:?}: a number is an index"))
}

/// The fields by name.
#[track_caller]
fn collect<N: Into<Arc<str>>, V: Into<FieldValue>>(
    op: &'static str,
    given: impl IntoIterator<Item = (N, V)>,
) -> Result<Fields> {
    let mut fields = Fields::new();
    for (name, value) in given {
        let name = name.into();
        check_name(op, &name)?;
        if fields.contains_key(&name) {
            return Err(Error::argument(op, format!("field {name:?} is given twice")));
        }
        fields.insert(name, value.into());
    }
    Ok(fields)
}

/// Construction.
impl StructuredTensor {
    /// Records of the given shape with these fields, by name and in this order.
    ///
    /// The first dimensions of every field are those of the shape.
    ///
    /// The shape is a list of sizes, where -1 is any size or a ragged dimension, or a [`RaggedShape`], which also
    /// states the row partitions. Fields under ragged records share the partitions of the records.
    ///
    /// TensorFlow: `StructuredTensor.from_fields`; a `RaggedShape` takes the place of `nrows` and `row_partitions`.
    /// There is no `validate=False`: fields whose rows the host knows to be equal, or that share a partition, are
    /// compared without a pass, and a comparison on the device is part of the first read. Records of rows that disagree
    /// would read the values of other records.
    ///
    /// # Errors
    /// Sizes without fields (see [`from_shape`](Self::from_shape)); a name that is empty, a number, or given twice; a
    /// field of fewer dimensions; fields of other rows, at the read where only the device knows them; other devices.
    ///
    /// # Cost
    /// No pass. Where only the device knows sizes or rows, the fields depend on the condition that they agree, which
    /// the first read reports. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor};
    /// let device = Device::cpu();
    /// let foo = RaggedTensor::from_nested([1, 2], &device)?;
    /// let bar = RaggedTensor::from_nested([3, 4], &device)?;
    /// let records = StructuredTensor::from_fields([("foo", &foo), ("bar", &bar)], [2])?;
    /// assert_eq!(records.shape(), [Some(2)]);
    /// assert!(StructuredTensor::from_fields([("foo", &foo)], [3]).is_err());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_fields<N: Into<Arc<str>>, V: Into<FieldValue>>(
        fields: impl IntoIterator<Item = (N, V)>,
        shape: impl Into<RecordShape>,
    ) -> Result<Self> {
        const OP: &str = "StructuredTensor::from_fields";
        let fields = collect(OP, fields)?;
        match shape.into() {
            RecordShape::Ragged(shape) => {
                let shape = shape.with_ragged_rank(shape.rank().saturating_sub(1)).map_err(here())?;
                Self::bound(OP, fields, shape)
            }
            RecordShape::Sizes(sizes) => {
                let shape = common_shape(OP, &fields, sizes.len())?;
                Self::bound(OP, fields, with_sizes(OP, shape, &sizes)?)
            }
        }
    }

    /// Records of `rank` dimensions with these fields, by name and in this order.
    ///
    /// The first `rank` dimensions of every field are those of the records, ragged where a field's are. Fields under
    /// ragged records share the partitions of the records. [`from_fields`](Self::from_fields) states the sizes.
    ///
    /// TensorFlow: `StructuredTensor.from_fields_and_rank`.
    ///
    /// # Errors
    /// No fields; a negative rank; a name that is empty, a number, or given twice; a field of fewer dimensions; fields
    /// of other rows, at the read where only the device knows them; other devices.
    ///
    /// # Cost
    /// No pass. Where only the device knows sizes or rows, the fields depend on the condition that they agree, which
    /// the first read reports. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![3]], &device)?;
    /// let pairs = StructuredTensor::from_fields_and_rank([("x", &x)], 2)?;
    /// assert_eq!(pairs.shape(), [Some(2), None]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_fields_and_rank<N: Into<Arc<str>>, V: Into<FieldValue>>(
        fields: impl IntoIterator<Item = (N, V)>,
        rank: impl Integer,
    ) -> Result<Self> {
        const OP: &str = "StructuredTensor::from_fields_and_rank";
        let rank = non_negative(OP, "rank", rank)?;
        let fields = collect(OP, fields)?;
        let shape = common_shape(OP, &fields, usize::try_from(rank).unwrap_or(usize::MAX))?;
        Self::bound(OP, fields, shape)
    }

    /// Records of a shape, without fields.
    ///
    /// [`with_updates`](Self::with_updates) adds fields. TensorFlow: `StructuredTensor.from_shape`.
    ///
    /// # Errors
    /// More records than a tensor has values.
    ///
    /// # Cost
    /// No pass, no wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedShape, StructuredTensor};
    /// let shape = RaggedShape::from_lengths(&[2.into(), [1, 3].into()], &Device::cpu())?;
    /// let records = StructuredTensor::from_shape(&shape)?;
    /// assert_eq!((records.rank(), records.field_names().len()), (2, 0));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_shape(shape: &RaggedShape) -> Result<Self> {
        let shape = shape.with_ragged_rank(shape.rank().saturating_sub(1)).map_err(here())?;
        Ok(Self { shape, fields: Fields::new() })
    }

    /// Records of that shape, with the fields bound to its partitions.
    #[track_caller]
    pub(super) fn bound(op: &'static str, mut fields: Fields, shape: RaggedShape) -> Result<Self> {
        let wanted = Wanted { op, shape: &shape };
        for (name, field) in fields.iter_mut() {
            *field = wanted.bind(name, field)?;
        }
        Self { shape, fields }.of_limited_depth(op)
    }

    /// The records themselves.
    ///
    /// # Errors
    /// More nested levels than recursions over them can take.
    #[track_caller]
    pub(super) fn of_limited_depth(self, op: &'static str) -> Result<Self> {
        if self.depth() > MAX_DEPTH {
            return Err(Error::argument(op, format!("records are nested {MAX_DEPTH} deep at most")));
        }
        Ok(self)
    }

    /// Number of levels of nested records.
    fn depth(&self) -> usize {
        let below = self.fields.values().map(|field| match field {
            FieldValue::Tensor(_) => 0,
            FieldValue::Records(records) => records.depth(),
        });
        1 + below.max().unwrap_or(0)
    }
}

/// The shape of the outermost `rank` dimensions of all fields: that of the field with the most ragged ones.
#[track_caller]
fn common_shape(op: &'static str, fields: &Fields, rank: usize) -> Result<RaggedShape> {
    let mut best: Option<(usize, RaggedShape)> = None;
    for (name, field) in fields.iter() {
        let shape = outer_shape(op, name, field, rank)?;
        let ragged = shape.row_partitions().iter().filter(|p| p.uniform_length().is_none()).count();
        if best.as_ref().is_none_or(|(most, _)| ragged > *most) {
            best = Some((ragged, shape));
        }
    }
    let none = || Error::argument(op, "there must be at least one field; from_shape makes records without fields");
    Ok(best.ok_or_else(none).map_err(here())?.1)
}

/// The shape, on the condition that it has the given sizes; negative ones match any.
#[track_caller]
fn with_sizes(op: &'static str, mut shape: RaggedShape, sizes: &[i64]) -> Result<RaggedShape> {
    let own = shape.known_sizes();
    let location = caller();
    let differ = |dim: usize, size: i64| Error::Shape {
        op,
        lhs: format!("{sizes:?}"),
        rhs: shape.text(),
        what: format!("dimension {dim} of the records is given as {size}"),
        location,
    };
    let mut conditions = Vec::new();
    for (dim, &size) in sizes.iter().enumerate().filter(|(_, size)| **size >= 0) {
        match own[dim] {
            Some(n) if n as u64 == size as u64 => {}
            None if dim == 0 => {
                let given = Extent::known_u64(op, size as u64)?;
                let check = Check::new(op, format!("there must be {size} records, the given size"));
                let agreement = given.agrees(&shape.nrows_extent());
                conditions
                    .extend(agreement.condition(Recorder::new(&shape.backend, op), check, |_| differ(dim, size))?);
            }
            _ => return Err(differ(dim, size)),
        }
    }
    shape.conditions.extend(conditions);
    Ok(shape)
}
