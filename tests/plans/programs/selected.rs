//! Selections: masks, gathers, look-ups, choices.

use ragged::opt::{Combiner, LookupIds, along, keep};
use ragged::{DType, Result, Tensor, s};

use super::{Program, one, two};
use crate::sample::Sample;

fn positive(i: &Sample) -> Result<Tensor> {
    i.y.greater(0f32)
}

fn weighted<'a>(i: &'a Sample, default: Option<i64>) -> LookupIds<'a> {
    LookupIds::from(&i.ids).weights(Some(&i.x)).default(default)
}

pub const PROGRAMS: &[Program] = &[
    ("mask of values", |i| one(i.x.boolean_mask(&positive(i)?))),
    ("mask of wide elements", |i| one(i.wide.boolean_mask(&positive(i)?))),
    ("mask of rows", |i| one(i.x.boolean_mask(&i.column.slice(s![.., 0])?.greater(0f32)?))),
    ("mask of rows by their sums", |i| one(i.x.boolean_mask(&i.x.reduce_sum(1)?.greater(0f32)?))),
    ("mask of nested rows", |i| one(i.nested.boolean_mask(&i.nested.reduce_max(2)?.greater(1f32)?))),
    ("mask of strings", |i| one(i.words.boolean_mask(&positive(i)?))),
    ("mask of a product", |i| one(i.x.multiply(&i.y)?.boolean_mask(&i.x.greater(&i.x.reduce_mean(keep(1))?)?))),
    ("mask and a sum", |i| one(i.x.boolean_mask(&positive(i)?)?.reduce_sum(1))),
    ("mask of a mask", |i| {
        let kept = i.x.boolean_mask(&positive(i)?)?;
        one(kept.boolean_mask(&kept.less(6f32)?))
    }),
    ("where_indices", |i| Ok(vec![positive(i)?.where_indices()?])),
    ("select", |i| one(positive(i)?.select(&i.x, &i.y))),
    ("select of numbers", |i| one(positive(i)?.select(&i.x, 0f32))),
    ("select_rows", |i| one(i.x.reduce_sum(1)?.greater(0f32)?.select_rows(&i.x, &i.other))),
    ("select of strings", |i| one(positive(i)?.select(&i.words, &i.words.string_upper()?))),
    ("gather of rows", |i| one(i.x.gather(&i.order))),
    ("gather of rows of strings", |i| one(i.words.gather(&i.order))),
    ("gather of nested rows", |i| one(i.nested.gather(&i.segments.floormod(3)?))),
    ("gather of a vector", |i| one(i.column.slice(s![.., 0])?.gather(&i.ids.floormod(40)?))),
    ("gather of a table", |i| one(i.table.gather(&i.ids))),
    ("gather of a table and a sum", |i| one(i.table.gather(&i.ids)?.reduce_sum(1))),
    ("gather of a product", |i| one(i.x.multiply(2f32)?.gather(&i.order)?.reduce_sum(1))),
    ("gather in rows by their order", |i| one(i.x.batch_gather(&i.y.argsort(1)?))),
    ("gather of columns", |i| one(i.matrix.gather(along(&i.segments, 1)))),
    ("gather_nd", |i| {
        let rows = i.order.cast(DType::I64)?.floormod(12)?;
        one(i.matrix.gather_nd(&Tensor::stack(&[&rows, &i.segments.cast(DType::I64)?], 1)?))
    }),
    ("row_at", |i| one(i.x.row_at(&i.order.slice(s![3])?))),
    ("nth_or", |i| one(i.x.nth_or(1, 0f32))),
    ("nth_or_skip", |i| one(i.x.nth_or_skip(1))),
    ("embedding_lookup", |i| one(i.table.embedding_lookup(&i.ids))),
    ("embedding means", |i| one(i.table.embedding_lookup_sparse(&i.ids, Combiner::Mean))),
    ("weighted embeddings", |i| one(i.table.embedding_lookup_sparse(weighted(i, None), Combiner::SqrtN))),
    ("safe embeddings", |i| one(i.table.safe_embedding_lookup_sparse(weighted(i, Some(0)), Combiner::Sum))),
    ("embeddings of two levels", |i| {
        let pooled = i.table.gather(&i.ids)?.reduce_mean(1)?;
        one(pooled.subtract(&pooled.reduce_mean(keep(0))?))
    }),
    ("searchsorted", |i| one(i.x.sort(1)?.searchsorted(&i.y.slice(s![.., ..3])?))),
    ("batch_scatter_add", |i| {
        let first = i.long.multiply(0)?;
        one(i.x.batch_scatter_add(&first, &i.y))
    }),
    ("update_rows", |i| {
        let ids = i.segments.unique(0)?;
        one(i.table.update_rows(&ids, &i.table.gather(&ids)?.multiply(2)?))
    }),
    ("dynamic_partition", |i| i.x.dynamic_partition(&i.segments, 3)),
    ("sample", |i| one(i.x.sample(3, ragged::Seed(5), 1))),
    ("top and its values", |i| two(i.x.top_k(3, 1))),
];
