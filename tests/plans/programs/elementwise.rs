//! Element-wise operations, alone and in chains; broadcasting; conditions; functions of rows.

use ragged::opt::keep;
use ragged::{DType, Result, Seed, Tensor};

use super::{Program, one};
use crate::sample::Sample;

/// An expensive element-wise operation: twenty rounds of random bits.
fn dear(x: &Tensor) -> Result<Tensor> {
    x.dropout(0.5, Seed(7))
}

/// A sum of sixteen arrays, more than a kernel of core WebGPU reads.
fn sixteen(i: &Sample) -> Result<Tensor> {
    let rows = |k: usize| i.x.add(k as f32)?.cumsum(1);
    (1..16).try_fold(rows(0)?, |sum, k| sum.add(&rows(k)?))
}

pub const PROGRAMS: &[Program] = &[
    ("multiply", |i| one(i.x.multiply(2f32))),
    ("multiply and add", |i| one(i.x.multiply(&i.y)?.add(&i.x))),
    ("a long chain", |i| one((0..12).try_fold(i.x.clone(), |x, k| x.multiply(k as f32)?.exp()?.add(&i.y)))),
    ("rows plus a column", |i| one(i.x.add(&i.column))),
    ("rows less their maximum", |i| one(i.x.subtract(&i.x.reduce_max(keep(1))?))),
    ("wide elements less their mean", |i| one(i.wide.subtract(&i.wide.reduce_mean(keep(1))?))),
    ("wide elements by values", |i| one(i.wide.multiply(&i.x.expand_dims(-1)?))),
    ("rows of other lengths", |i| one(i.x.add(&i.other.reverse(0)?))),
    ("a matrix by its columns", |i| one(i.matrix.truediv(&i.matrix.reduce_sum(keep(0))?))),
    ("64-bit integers", |i| one(i.long.multiply(3)?.floormod(7))),
    ("16-bit floats", |i| one(i.x.cast(DType::F16)?.multiply(&i.y.cast(DType::F16)?))),
    ("8-bit integers", |i| one(i.ids.cast(DType::I8)?.add(3)?.cast(DType::I32))),
    ("a comparison", |i| one(i.x.greater(&i.y)?.logical_and(&i.x.less(4f32)?))),
    ("dropout", |i| one(dear(&i.x))),
    ("an expensive operand of two results", |i| {
        let x = dear(&i.x)?;
        Ok(vec![x.reduce_sum(1)?, x.cumsum(1)?])
    }),
    ("an expensive operand of a gather", |i| one(dear(&i.x.values()?)?.gather(&i.ids))),
    ("an expensive operand of a sort", |i| one(dear(&i.x)?.argsort(1))),
    ("a result and its reader", |i| {
        let twice = i.x.multiply(2f32)?;
        Ok(vec![twice.clone(), twice.reduce_sum(1)?])
    }),
    ("sixteen arrays", |i| one(sixteen(i))),
    ("check_numerics", |i| one(i.x.check_numerics("finite")?.reduce_sum(1))),
    ("broadcast_like", |i| one(i.column.broadcast_like(&i.x))),
    ("broadcast_to", |i| one(i.matrix.broadcast_to([2i64, 12, 5]))),
    ("broadcast of a scalar", |i| one(i.x.subtract(&i.x.reduce_max(..)?))),
    ("map_flat_values", |i| one(i.x.map_flat_values(|x| x.square()?.add(1f32)))),
    ("map_rows", |i| one(i.x.map_rows(|r| r.subtract(&r.reduce_sum(..)?)))),
    ("map_rows with a sort", |i| one(i.x.map_rows(|r| r.sort(-1)?.reverse(-1)))),
];
