//! Sorts, largest elements, unique elements, sets, shuffles.

use ragged::Seed;
use ragged::opt::descending;

use super::{Program, one, two};

pub const PROGRAMS: &[Program] = &[
    ("sort", |i| one(i.x.sort(1))),
    ("sort of integers", |i| one(i.ids.sort(descending(1)))),
    ("sort of 64-bit integers", |i| one(i.long.sort(1))),
    ("sort of a vector", |i| one(i.column.sort(0))),
    ("sort of nested rows", |i| one(i.nested.sort(2))),
    ("sort of strings", |i| one(i.words.sort(1))),
    ("sort of strings whose sizes the device computes", |i| one(i.words.add("!")?.sort(1))),
    ("sort of wide elements", |i| one(i.wide.sort(1))),
    ("argsort", |i| one(i.x.argsort(1))),
    ("argsort of a vector", |i| one(i.order.argsort(descending(0)))),
    ("argsort of lengths", |i| one(i.x.row_lengths(1)?.argsort(0))),
    ("rows in the order of their lengths", |i| one(i.x.gather(&i.x.row_lengths(1)?.argsort(0)?))),
    ("sort of a product and a scan", |i| one(i.x.multiply(&i.y)?.sort(1)?.cumsum(1))),
    ("top_k", |i| two(i.x.top_k(4, 1))),
    ("top_k of many", |i| two(i.x.top_k(20, 1))),
    ("top_k of a vector", |i| two(i.order.top_k(5, 0))),
    ("the sum of the largest", |i| one(i.x.top_k(3, 1)?.0.reduce_sum(1))),
    ("unique", |i| one(i.ids.unique(1))),
    ("unique of a vector", |i| one(i.segments.unique(0))),
    ("unique_with_counts", |i| two(i.ids.unique_with_counts(1))),
    ("set_union", |i| one(i.ids.set_union(&i.ids.floordiv(2)?))),
    ("set_intersection", |i| one(i.ids.set_intersection(&i.ids.floordiv(2)?))),
    ("set_difference", |i| one(i.ids.set_difference(&i.ids.floordiv(2)?))),
    ("shuffle", |i| one(i.x.shuffle(Seed(3), 1))),
    ("shuffle of rows", |i| one(i.x.shuffle(Seed(3), 0))),
];
