//! Parts, shapes, construction.

use ragged::{DType, Tensor};

use super::{Program, one};

pub const PROGRAMS: &[Program] = &[
    ("row_lengths", |i| one(i.x.row_lengths(1))),
    ("row_splits", |i| one(i.x.row_splits())),
    ("value_rowids", |i| one(i.x.value_rowids())),
    ("nested_row_lengths", |i| i.nested.nested_row_lengths()),
    ("nrows and size", |i| Ok(vec![i.x.nrows()?, i.x.size()?])),
    ("bounding_shape", |i| one(i.nested.bounding_shape())),
    ("values", |i| one(i.nested.values()?.reduce_sum(1))),
    ("merge_dims", |i| one(i.nested.merge_dims(0, 1))),
    ("merge_dims and a sum", |i| one(i.nested.merge_dims(1, 2)?.reduce_sum(1))),
    ("expand_dims", |i| one(i.x.expand_dims(1))),
    ("squeeze", |i| one(i.column.squeeze(1))),
    ("reshape", |i| one(i.matrix.reshape([5i64, 12]))),
    ("reshape_like", |i| one(i.x.flat_values()?.reverse(0)?.reshape_like(&i.x))),
    ("with_flat_values", |i| one(i.x.with_flat_values(&i.x.flat_values()?.reverse(0)?))),
    ("range", |i| one(i.segments.range())),
    ("ranges", |i| one(Tensor::ranges(0, &i.segments, 1))),
    ("ranges of lengths", |i| one(i.x.row_lengths(1)?.range())),
    ("fill_rows", |i| one(i.x.fill_rows(2, 1f32))),
    ("zeros", |i| one(Tensor::zeros(i.x.ragged_shape(), DType::F32))),
    ("from_row_splits", |i| one(Tensor::from_row_splits(&i.order, &i.segments.unique(0)?.multiply(10)?))),
    ("from_row_lengths", |i| one(Tensor::from_row_lengths(&i.x.values()?, &i.x.row_lengths(1)?))),
    ("from_value_rowids", |i| one(Tensor::from_value_rowids(&i.x.values()?, &i.x.value_rowids()?))),
    ("to_sparse and back", |i| one(Tensor::from_sparse(&i.x.to_sparse()?))),
];
