//! Reductions of rows, of columns and of all; segments; scans.

use ragged::DType;
use ragged::opt::{ScanAxis, exclusive, keep, reversed};

use super::{Program, one};

pub const PROGRAMS: &[Program] = &[
    ("reduce_sum", |i| one(i.x.reduce_sum(1))),
    ("reduce_sum of integers", |i| one(i.ids.reduce_sum(1))),
    ("reduce_sum of 64-bit integers", |i| one(i.long.reduce_sum(1))),
    ("reduce_sum of wide elements", |i| one(i.wide.reduce_sum(1))),
    ("reduce_sum of the width", |i| one(i.wide.reduce_sum(2))),
    ("reduce_sum of nested rows", |i| one(i.nested.reduce_sum(2))),
    ("reduce_sum of two levels", |i| one(i.nested.reduce_sum([1, 2]))),
    ("reduce_sum of columns", |i| one(i.x.reduce_sum(0))),
    ("reduce_sum of all", |i| one(i.x.reduce_sum(..))),
    ("reduce_sum of a matrix", |i| one(i.matrix.reduce_sum(0))),
    ("reduce_prod", |i| one(i.x.reduce_prod(1))),
    ("reduce_min", |i| one(i.x.reduce_min(1))),
    ("reduce_max", |i| one(i.x.reduce_max(keep(1)))),
    ("reduce_max of columns", |i| one(i.x.reduce_max(0))),
    ("reduce_mean", |i| one(i.x.reduce_mean(1))),
    ("reduce_mean of columns", |i| one(i.wide.reduce_mean(0))),
    ("reduce_variance", |i| one(i.x.reduce_variance(1))),
    ("reduce_std", |i| one(i.x.reduce_std(1))),
    ("reduce_variance_as of integers", |i| one(i.ids.reduce_variance_as(DType::F32, 1))),
    ("reduce_logsumexp", |i| one(i.x.reduce_logsumexp(1))),
    ("reduce_euclidean_norm", |i| one(i.x.reduce_euclidean_norm(1))),
    ("reduce_all", |i| one(i.x.greater(0f32)?.reduce_all(1))),
    ("reduce_any", |i| one(i.x.greater(0f32)?.reduce_any(1))),
    ("count_nonzero", |i| one(i.x.count_nonzero(1))),
    ("argmax", |i| one(i.x.argmax(1))),
    ("argmin of columns", |i| one(i.x.argmin(0))),
    ("median", |i| one(i.x.median(1))),
    ("quantile", |i| one(i.x.quantile(0.3, keep(1)))),
    ("n_unique", |i| one(i.ids.n_unique(1))),
    ("contains", |i| one(i.ids.contains(7, 1))),
    ("several of one array", |i| {
        Ok(vec![i.x.reduce_sum(1)?, i.x.reduce_max(1)?, i.y.reduce_min(1)?, i.wide.reduce_sum(1)?])
    }),
    ("of two levels in turn", |i| one(i.nested.multiply(2f32)?.reduce_sum(2)?.reduce_max(1))),
    ("segment_sum", |i| one(i.column.segment_sum(&i.segments))),
    ("segment_mean of a matrix", |i| one(i.x.fill_rows(3, 2f32)?.segment_mean(&i.segments))),
    ("unsorted_segment_sum", |i| one(i.column.unsorted_segment_sum(&i.order.floormod(4)?, 4))),
    ("unsorted_segment_mean of values", |i| one(i.x.unsorted_segment_mean(&i.ids, 50))),
    ("unsorted_segment_max of rows", |i| one(i.x.unsorted_segment_max(&i.segments, 4))),
    ("sparse_segment_sum", |i| {
        let ids = i.order.floormod(12)?;
        one(i.matrix.sparse_segment_sum(&ids, &i.segments))
    }),
    ("cumsum", |i| one(i.x.cumsum(1))),
    ("cumsum of wide elements", |i| one(i.wide.cumsum(1))),
    ("cumsum of rows", |i| one(i.x.cumsum(0))),
    ("cumsum of a vector", |i| one(i.segments.cumsum(exclusive(0)))),
    ("cumsum backwards", |i| one(i.x.cumsum(ScanAxis::from(1).exclusive(true).reversed(true)))),
    ("linear_recurrence", |i| one(i.x.linear_recurrence(0.5f32, 0f32, 1))),
    ("linear_recurrence of decays backwards", |i| {
        one(i.x.linear_recurrence(&i.y, &i.x.reduce_max(1)?, reversed(1))?.reduce_sum(1))
    }),
    ("ewm_mean", |i| one(i.x.ewm_mean(0.5, 1))),
    ("cumprod", |i| one(i.x.cumprod(1))),
    ("cummax", |i| one(i.x.cummax(1))),
    ("cummin backwards", |i| one(i.x.cummin(reversed(1)))),
    ("cumsum of a product", |i| one(i.x.multiply(&i.y)?.cumsum(1)?.reduce_max(1))),
    ("softmax", |i| one(i.x.softmax(1))),
    ("log_softmax", |i| one(i.x.log_softmax(1))),
    ("softmax of wide elements", |i| one(i.wide.softmax(1))),
    ("softmax and a weighted sum", |i| one(i.x.softmax(1)?.multiply(&i.y)?.reduce_sum(1))),
    ("l2_normalize", |i| one(i.x.l2_normalize(1, 1e-6))),
];
