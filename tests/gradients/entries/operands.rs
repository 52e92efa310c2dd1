//! Operands of the entries.

use ragged::{DType, RaggedTensor, Result, SparseTensor, Tensor, s};

/// The number of each row of the flat values, modulo `m`.
pub fn ids(x: impl AsRef<Tensor>, m: i64) -> Result<RaggedTensor<i64>> {
    numbers(x.as_ref())?.floormod(m)
}

/// Half the number of each row of the flat values: ids that do not decrease.
pub fn sorted_ids(x: impl AsRef<Tensor>) -> Result<RaggedTensor<i64>> {
    numbers(x.as_ref())?.floordiv(2)
}

fn numbers(x: &Tensor) -> Result<RaggedTensor<i64>> {
    let flat = x.flat_values()?;
    let outer = if flat.rank() > 1 { flat.reduce_sum(1)? } else { flat };
    outer.local_index(0)?.cast(DType::I64)?.try_into()
}

/// Rows of indices of the first three rows of a tensor.
pub fn bags(x: impl AsRef<Tensor>) -> Result<RaggedTensor<i64>> {
    RaggedTensor::from_nested([vec![0i64, 2], vec![], vec![1, 2, 0]], &x.as_ref().device())
}

/// A vector of indices.
pub fn indices<const N: usize>(x: impl AsRef<Tensor>, of: [i64; N]) -> Result<RaggedTensor<i64>> {
    RaggedTensor::from_nested(of, &x.as_ref().device())
}

/// A sparse tensor of shape `[4, 5]` with the first seven numbers of a tensor as values; row 1 is empty.
pub fn sparse(x: &Tensor) -> Result<SparseTensor> {
    let at = [[0i64, 1], [0, 3], [2, 0], [2, 2], [2, 4], [3, 0], [3, 3]];
    let at = RaggedTensor::from_nested(at, &x.device())?;
    SparseTensor::new(&at, &x.flat_values()?.reshape([-1])?.slice(s![..7])?, &[4, 5])
}

/// As [`sparse`], with other coordinates.
pub fn other_sparse(x: &Tensor) -> Result<SparseTensor> {
    let at = [[0i64, 0], [0, 3], [1, 1], [2, 2], [2, 3], [3, 0], [3, 4]];
    let at = RaggedTensor::from_nested(at, &x.device())?;
    SparseTensor::new(&at, &x.flat_values()?.reshape([-1])?.slice(s![..7])?, &[4, 5])
}

/// A sparse matrix whose rows are filled from the start.
pub fn left_sparse(x: &Tensor) -> Result<SparseTensor> {
    let at = [[0i64, 0], [0, 1], [2, 0], [2, 1], [2, 2]];
    let at = RaggedTensor::from_nested(at, &x.device())?;
    SparseTensor::new(&at, &x.flat_values()?.reshape([-1])?.slice(s![..5])?, &[3, 3])
}

/// Whether the number of each row of a tensor is odd.
pub fn odd_rows(x: impl AsRef<Tensor>) -> Result<RaggedTensor<bool>> {
    let x = x.as_ref();
    let one_per_row = if x.rank() > x.ragged_rank() + 1 { x.reduce_sum(-1)? } else { x.clone() };
    let one_per_row = if one_per_row.rank() > 1 { one_per_row.row_lengths(1)? } else { one_per_row };
    one_per_row.local_index(0)?.floormod(2)?.equal(1)?.try_into()
}
