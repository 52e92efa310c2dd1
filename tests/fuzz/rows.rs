//! Functions of one row, for `map_rows`.

use ragged::arguments::Index;
use ragged::opt::{descending, keep, reversed};
use ragged::{DType, Result, Row};

use crate::op::{Op, Subject, op};
use crate::random::Random;

type OfRow = (&'static str, fn(&Row) -> Result<Row>);

const OF_NUMBERS: &[OfRow] = &[
    ("less its sum", |r| r.subtract(&r.reduce_sum(..)?)),
    ("by its greatest", |r| r.maximum(&r.reduce_max(keep(..))?)),
    ("its size", Row::size),
    ("its sorted reverse", |r| r.sort(-1)?.reverse(-1)),
    ("its running sum", |r| r.cumsum(reversed(-1))),
    ("itself twice", |r| Row::concat(&[r, &r.reverse(0)?], 0)),
    ("the rest", |r| r.slice([Index::Slice { start: Some(1), stop: None, step: 1 }])),
    ("every other, backwards", |r| r.slice([Index::Slice { start: None, stop: None, step: -2 }])),
    ("its first", |r| r.at(0)),
    ("its two greatest", |r| Ok(r.top_k(2, -1)?.0)),
    ("what is not zero", |r| r.boolean_mask(&r.cast(DType::Bool)?)),
    ("its order", |r| r.argsort(descending(-1))),
    ("as its order has it", |r| r.gather(&r.argsort(-1)?)),
    ("a range", |r| r.size()?.floormod(5i64)?.range()),
    ("a range of the greatest", |r| r.cast(DType::I64)?.floormod(4i64)?.reduce_max(..)?.range()),
    ("how many differ", |r| r.n_unique(-1)),
    ("what differs", |r| r.unique(-1)),
    ("rows of rows", |r| r.map_rows(|r| r.add(&r.reduce_min(..)?))),
    ("its mean", |r| r.reduce_mean(..)),
    ("its middle", |r| r.median(keep(-1))),
    ("where it is greatest", |r| r.argmax(-1)),
];
const OF_FLOATS: &[OfRow] = &[
    ("its softmax", |r| r.softmax(-1)),
    ("its spread", |r| r.subtract(&r.reduce_mean(..)?)?.truediv(&r.reduce_std(..)?)),
    ("normalised", |r| r.l2_normalize(-1, 1e-6)),
];
const OF_BOOLS: &[OfRow] = &[
    ("any of it", |r| r.logical_xor(&r.reduce_any(..)?)),
    ("its reverse", |r| r.reverse(-1)),
    ("how many hold", |r| r.count_nonzero(..)),
    ("itself where it holds", |r| r.boolean_mask(r)),
];

pub fn pick(random: &mut Random, x: &Subject) -> Op {
    if random.once_in(8) {
        return match random.below(2) {
            0 => op("map_flat_values", |x, _| x.map_flat_values(|v| v.reverse(0))),
            _ => {
                op("map_rows of two", |x, y| ragged::Tensor::map_rows_of(&[x, y], |r| r[0].add(&r[1].reduce_sum(..)?)))
            }
        };
    }
    let table = match x.dtype {
        DType::Bool => OF_BOOLS,
        float if float.is_float() && random.once_in(4) => OF_FLOATS,
        _ => OF_NUMBERS,
    };
    let (name, f) = random.of(table);
    op(format!("of each row {name}"), move |x, _| x.map_rows(f))
}
