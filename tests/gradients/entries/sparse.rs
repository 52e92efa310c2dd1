//! Operations of sparse tensors.

use ragged::opt::{expanding, keep};
use ragged::{DType, RaggedTensor, Result, SparseTensor, Tensor, s};

use super::operands::{indices, left_sparse, other_sparse, sparse as of};
use crate::table::table;

/// A sparse matrix of integers from 0 to 3, at the places of [`of`].
fn counts(x: &Tensor) -> Result<SparseTensor> {
    of(x)?.map_values(|values| values.local_index(0)?.floormod(4i64))
}

table! { sparse on [SparseTensor] {
    new DR |x, y| of(x);
    from_dense D |x, y| SparseTensor::from_dense(&x.less(1.0)?.select(&x.square()?, 0.0)?);
    to_dense DR |x, y| of(x)?.to_dense(0.5);
    to_ragged DR |x, y| left_sparse(x)?.to_ragged();
    values_by_row DR |x, y| of(x)?.values_by_row();
    map_values DR |x, y| of(x)?.map_values(|x| x.square());
    add DR |x, y| of(x)?.add(&other_sparse(&y.square()?)?);
    add_dense D |x, y| of(x)?.slice(&[0, 0], &[3, 4])?.add_dense(&y.square()?);
    maximum DR |x, y| of(x)?.maximum(&other_sparse(&y.square()?)?);
    minimum DR |x, y| of(x)?.minimum(&other_sparse(&y.square()?)?);
    reduce_sum DR |x, y| of(&x.square()?)?.reduce_sum(1);
    reduce_sum DR |x, y| of(&x.square()?)?.reduce_sum(keep(0));
    reduce_sum DR |x, y| of(&x.square()?)?.reduce_sum(..);
    reduce_max DR |x, y| of(&x.square()?)?.reduce_max(1);
    reduce_max DR |x, y| of(&x.square()?)?.reduce_max(0);
    reduce_sum_sparse DR |x, y| of(&x.square()?)?.reduce_sum_sparse(1);
    reduce_max_sparse DR |x, y| of(&x.square()?)?.reduce_max_sparse(1);
    softmax DR |x, y| of(&x.square()?)?.softmax();
    matmul D |x, y| of(x)?.slice(&[0, 0], &[4, 4])?.matmul(y.t());
    matmul D |x, y| of(x)?.slice(&[0, 0], &[4, 3])?.matmul(&y.square()?);
    concat DR |x, y| SparseTensor::concat(&[&of(x)?, &other_sparse(&y.square()?)?], 1);
    concat DR |x, y| SparseTensor::concat(&[&of(x)?, &left_sparse(&y.square()?)?], expanding(0));
    slice DR |x, y| of(&x.square()?)?.slice(&[0, 1], &[3, 3]);
    split DR |x, y| of(&x.square()?)?.split(2, 1);
    retain DR |x, y| of(&x.square()?)?.retain(&of(x)?.values().less(1.0)?);
    mask DR |x, y| of(&x.square()?)?.mask(&indices(x, [2, 1])?);
    fill_empty_rows DR |x, y| of(&x.square()?)?.fill_empty_rows(0.5);
    fill_empty_rows DR |x, y| of(&x.square()?)?.fill_empty_rows(&y.reduce_sum(..)?);
    reshape DR |x, y| of(&x.square()?)?.reshape(&[2, 10]);
    expand_dims DR |x, y| of(&x.square()?)?.expand_dims(1);
    reset_shape DR |x, y| of(&x.square()?)?.reset_shape(&[5, 6]);
    shrink_shape DR |x, y| of(&x.square()?)?.shrink_shape();
    transpose DR |x, y| of(&x.square()?)?.transpose([1, 0]);
    reorder DR |x, y| of(&x.square()?)?.transpose([1, 0])?.reorder();
    coalesce DR |x, y| repeated(&x.square()?)?.coalesce();
    bincount_weighted DR |x, y| counts(x)?.bincount_weighted(&of(&y.square()?)?, 1, 4);
    bincount_weighted DR |x, y| counts(x)?.bincount_weighted(&of(&y.square()?)?, .., 4);
    bincount_sparse_weighted DR |x, y| counts(x)?.bincount_sparse_weighted(&of(&y.square()?)?, 1, 4);
}}

/// A sparse matrix of which two entries have the same coordinates.
fn repeated(x: &Tensor) -> Result<SparseTensor> {
    let at = RaggedTensor::from_nested([[0i64, 1], [2, 0], [0, 1], [1, 1]], &x.device())?;
    SparseTensor::new(&at, &x.flat_values()?.reshape([-1])?.slice(s![..4])?, &[3, 3])
}

table! { erased on [Tensor] {
    bincount_sparse_weighted DR |x, y| {
        x.multiply(3.0)?.cast(DType::I64)?.bincount_sparse_weighted(&y.square()?, 1, 6)
    };
    sparse_to_dense DR |x, y| {
        let at = RaggedTensor::from_nested([[0i64, 1], [0, 3], [2, 0], [2, 2], [2, 4]], &x.device())?;
        at.erased().sparse_to_dense(&[3, 5], &x.flat_values()?.square()?.reshape([-1])?.slice(s![..5])?, 0.5)
    };
}}

table! { typed on [RaggedTensor] {
    bincount_sparse_weighted DR |x, y| x.multiply(3.0)?.cast::<i64>()?.bincount_sparse_weighted(&y.square()?, 1, 6);
}}

/// Entries of tensors whose methods are of this family.
pub fn of_tensors() -> Vec<crate::table::Entry> {
    erased().into_iter().chain(typed()).collect()
}
