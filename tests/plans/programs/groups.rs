//! Groups, runs, counts, histograms, crosses.

use ragged::{Tensor, s};

use super::{Program, one, two};

pub const PROGRAMS: &[Program] = &[
    ("group_by_key", |i| two(i.x.group_by_key(&i.ids))),
    ("group_by_key and a mean", |i| {
        let (keys, groups) = i.x.group_by_key(&i.ids)?;
        Ok(vec![keys, groups.reduce_mean(-1)?])
    }),
    ("group_by_key of two keys", |i| {
        let ((first, second), groups) = i.x.group_by_key((&i.ids, &i.y))?;
        Ok(vec![first, second, groups])
    }),
    ("group_by_key of a vector", |i| two(i.column.slice(s![.., 0])?.group_by_key(&i.segments))),
    ("split_where", |i| one(i.x.split_where(&i.y.greater(0f32)?))),
    ("split_where and a sum", |i| one(i.x.split_where(&i.y.greater(0f32)?)?.reduce_sum(2))),
    ("run_lengths", |i| two(i.ids.floordiv(25)?.run_lengths())),
    ("stack_dynamic_partitions", |i| one(i.x.stack_dynamic_partitions(&i.segments, 4))),
    ("bincount", |i| one(i.ids.bincount(.., 50))),
    ("bincount of rows", |i| one(i.ids.bincount(1, 50))),
    ("bincount_weighted", |i| one(i.ids.bincount_weighted(&i.x, 1, 50))),
    ("histogram", |i| one(i.x.histogram(.., -8f32..8f32, 10))),
    ("histogram of rows", |i| one(i.x.histogram(1, -8f32..8f32, 10))),
    ("cross", |i| one(Tensor::cross([&i.words.slice(s![.., ..3])?, &i.words.slice(s![.., ..2])?]))),
    ("cross_hashed", |i| one(Tensor::cross_hashed([&i.words.slice(s![.., ..3])?, &i.ids.slice(s![.., ..2])?], 100))),
    ("one_hot", |i| one(i.ids.one_hot(4, 1f32, 0f32))),
    ("sequence_mask", |i| Ok(vec![i.segments.sequence_mask(6)?])),
];
