//! Operations of LoD tensors.

use ragged::opt::{Pool, starting_at};
use ragged::{LodTensor, RaggedTensor, Result, Tensor, s};

use crate::table::table;

/// Six rows of two numbers in sequences of 3, 0, 1 and 2 rows.
fn of(x: &Tensor) -> Result<LodTensor> {
    LodTensor::from_lengths(&data(x)?, [[3, 0, 1, 2]])
}

/// Six rows of two numbers.
fn data(x: &Tensor) -> Result<Tensor> {
    let flat = x.square()?.flat_values()?.reshape([-1])?.slice(s![..8])?;
    Tensor::concat(&[&flat, &flat.exp()?], 0)?.slice(s![..12])?.reshape([6, 2])
}

/// Indices of columns, in the sequences of [`of`].
fn index(x: &Tensor) -> Result<LodTensor> {
    LodTensor::from_lengths(&RaggedTensor::from_nested([[0i64], [1], [0], [1], [1], [0]], &x.device())?, [[3, 0, 1, 2]])
}

/// Four rows of two numbers, without levels.
fn four_rows(x: &Tensor) -> Result<LodTensor> {
    LodTensor::from_lengths(&data(x)?.slice(s![..4])?, [[0i64; 0]; 0])
}

/// One number per row.
fn column(x: &Tensor) -> Result<LodTensor> {
    LodTensor::from_lengths(&data(x)?.slice(s![.., ..1])?, [[3, 0, 1, 2]])
}

table! { sequences on [LodTensor] {
    from_lengths DR |x, y| of(x);
    from_lod DR |x, y| LodTensor::from_lod(&data(x)?, [[0, 3, 3, 4, 6]]);
    from_list DR |x, y| LodTensor::from_list(&[data(x)?, data(y)?.slice(s![..2])?]);
    with_lod DR |x, y| of(x)?.with_lod([[0, 1, 6]]);
    data DR |x, y| of(x)?.data();
    to_list DR |x, y| of(x)?.to_list();
    sequence_concat DR |x, y| LodTensor::sequence_concat(&[of(x)?, of(y)?]);
    sequence_conv DR |x, y| of(x)?.sequence_conv(&data(y)?, starting_at(3, -1));
    sequence_enumerate DR |x, y| column(x)?.sequence_enumerate(2, 0.5);
    sequence_expand DR |x, y| {
        LodTensor::from_lengths(&data(x)?.slice(s![..4])?, [[1, 1, 1, 1]])?.sequence_expand(&of(y)?, 0)
    };
    sequence_expand_as DR |x, y| four_rows(x)?.sequence_expand_as(&of(y)?);
    sequence_pad DR |x, y| of(x)?.sequence_pad(0.5, 4);
    sequence_unpad DR |x, y| of(x)?.sequence_pad(0.5, 4)?.0.sequence_unpad([2, 0, 4, 1]);
    sequence_pool DR |x, y| of(x)?.sequence_pool(Pool::Average, 0.5);
    sequence_pool DR |x, y| of(x)?.sequence_pool(Pool::Sum, 0.5);
    sequence_pool DR |x, y| of(x)?.sequence_pool(Pool::Sqrt, 0.5);
    sequence_pool DR |x, y| of(x)?.sequence_pool(Pool::Max, 0.5);
    sequence_pool DR |x, y| of(x)?.sequence_pool(Pool::Min, 0.5);
    sequence_pool DR |x, y| of(x)?.sequence_pool(Pool::First, 0.5);
    sequence_pool DR |x, y| of(x)?.sequence_pool(Pool::Last, 0.5);
    sequence_first_step DR |x, y| of(x)?.sequence_first_step();
    sequence_last_step DR |x, y| of(x)?.sequence_last_step();
    sequence_reshape DR |x, y| of(x)?.sequence_reshape(1);
    sequence_reverse DR |x, y| of(x)?.sequence_reverse();
    sequence_scatter DR |x, y| four_rows(x)?.sequence_scatter(&index(x)?, &column(y)?);
    sequence_slice DR |x, y| of(x)?.sequence_slice([1, 0, 0, 0], [2, 0, 1, 1]);
    sequence_softmax DR |x, y| column(x)?.sequence_softmax();
}}
