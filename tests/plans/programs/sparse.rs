//! Sparse tensors.

use ragged::opt::shaped;
use ragged::{Result, SparseTensor, Tensor};

use super::{Program, one};
use crate::sample::Sample;

/// The requested parts of a sparse tensor.
fn parts(sparse: Result<SparseTensor>) -> Result<Vec<Tensor>> {
    let sparse = sparse?;
    Ok(vec![sparse.indices().clone(), sparse.values().clone()])
}

/// The nonzero numbers of the first 16 positions of each row.
fn entries(x: &Tensor) -> Result<SparseTensor> {
    SparseTensor::from_dense(&x.to_tensor(shaped(0f32, [-1, 16]))?)
}

fn of_x(i: &Sample) -> Result<SparseTensor> {
    entries(&i.x)
}

pub const PROGRAMS: &[Program] = &[
    ("from_dense", |i| parts(of_x(i))),
    ("to_dense", |i| one(of_x(i)?.to_dense(0f32))),
    ("add_dense", |i| one(of_x(i)?.add_dense(&i.y.to_tensor(shaped(0f32, [-1, 16]))?))),
    ("map_values", |i| parts(of_x(i)?.map_values(|v| v.multiply(2f32)))),
    ("reduce_sum", |i| one(of_x(i)?.reduce_sum(1))),
    ("reduce_max of columns", |i| one(of_x(i)?.reduce_max(0))),
    ("reduce_sum_sparse", |i| parts(of_x(i)?.reduce_sum_sparse(1))),
    ("transpose", |i| parts(of_x(i)?.transpose([1, 0]))),
    ("slice", |i| parts(of_x(i)?.slice(&[2, 1], &[20, 8]))),
    ("concat", |i| parts(SparseTensor::concat(&[&of_x(i)?, &entries(&i.y)?], 0))),
    ("add", |i| parts(of_x(i)?.add(&entries(&i.y)?))),
    ("maximum", |i| parts(of_x(i)?.maximum(&entries(&i.y)?))),
    ("reorder", |i| parts(of_x(i)?.transpose([1, 0])?.reorder())),
    ("coalesce", |i| parts(of_x(i)?.coalesce())),
    ("softmax", |i| parts(of_x(i)?.softmax())),
    ("matmul", |i| one(of_x(i)?.matmul(&i.table.reshape([-1, 25])?.tile(&[1, 1])?.reshape([16, -1])?))),
    ("to_ragged", |i| one(of_x(i)?.to_ragged())),
    ("values_by_row", |i| one(of_x(i)?.values_by_row())),
    ("ragged to sparse", |i| parts(i.ids.to_sparse())),
    ("bincount_sparse", |i| parts(i.ids.bincount_sparse(1, 50))),
];
