//! Matrix products.

use ragged::opt::{causal, shaped};

use super::{Program, one};

pub const PROGRAMS: &[Program] = &[
    ("of matrices", |i| one(i.table.t().matmul(&i.table))),
    ("of a transposed matrix", |i| one(i.matrix.matmul(i.matrix.t()))),
    ("of rows by a matrix", |i| one(i.table.gather(&i.ids)?.matmul(i.table.t()))),
    ("of rows by their transposes", |i| one(i.wide.matmul(i.wide.t()))),
    ("of transposed rows by rows", |i| one(i.wide.t().matmul(&i.wide))),
    ("of padded rows", |i| {
        let padded = i.wide.to_tensor(shaped(0f32, [-1, 9, 3]))?;
        one(padded.matmul(padded.t()))
    }),
    ("attention", |i| {
        let shares = i.wide.matmul(i.wide.t())?.softmax(-1)?;
        one(shares.matmul(&i.wide))
    }),
    ("attention of one head", |i| one(i.wide.scaled_dot_product_attention(&i.wide, &i.wide))),
    ("causal attention of three heads", |i| {
        let heads = i.wide.expand_dims(-1)?;
        one(heads.scaled_dot_product_attention(causal(&heads), &heads))
    }),
    ("of scaled rows, and a sum", |i| one(i.wide.multiply(0.5f32)?.matmul(i.wide.t())?.reduce_sum(-1))),
    ("of integers", |i| {
        let ids = i.ids.to_tensor(shaped(0, [-1, 16]))?;
        one(ids.matmul(ids.t()))
    }),
];
