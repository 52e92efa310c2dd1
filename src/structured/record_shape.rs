//! Shapes of records as arguments: static sizes, or a ragged shape.

use crate::integer::Integer;
use crate::shape::RaggedShape;

/// The shape of records, as argument of [`StructuredTensor::from_fields`](crate::StructuredTensor::from_fields): a list
/// of sizes, where -1 is any size or a ragged dimension, or a [`RaggedShape`] with its row partitions.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RecordShape {
    /// One size per dimension; negative ones match any size and ragged rows.
    Sizes(Vec<i64>),
    /// A shape with its row partitions, which the fields must have.
    Ragged(RaggedShape),
}

impl<I: Integer> From<&[I]> for RecordShape {
    fn from(sizes: &[I]) -> Self {
        Self::Sizes(sizes.iter().map(|size| size.saturating_i64()).collect())
    }
}
impl<I: Integer, const N: usize> From<[I; N]> for RecordShape {
    fn from(sizes: [I; N]) -> Self {
        sizes.as_slice().into()
    }
}
impl<I: Integer> From<Vec<I>> for RecordShape {
    fn from(sizes: Vec<I>) -> Self {
        sizes.as_slice().into()
    }
}
impl From<&RaggedShape> for RecordShape {
    fn from(shape: &RaggedShape) -> Self {
        Self::Ragged(shape.clone())
    }
}
impl From<RaggedShape> for RecordShape {
    fn from(shape: RaggedShape) -> Self {
        Self::Ragged(shape)
    }
}
