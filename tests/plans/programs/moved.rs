//! Rearranging operations: slices, reversal, padding, shifts, repetition, concatenation, transposition, windows.

use ragged::arguments::Fill;
use ragged::arguments::Operand;
use ragged::opt::{along, keep, shaped, starting_at};
use ragged::{Result, Tensor, s};

use super::{Program, one, two};

fn zero(x: &Tensor) -> Operand<'static> {
    Operand::Value(Fill::zero(x.dtype()))
}

fn dense(x: &Tensor) -> Result<Tensor> {
    x.to_tensor(shaped(0f32, [-1, 8]))
}

pub const PROGRAMS: &[Program] = &[
    ("slice of rows", |i| one(i.x.slice(s![3..20]))),
    ("slice of rows from the end", |i| one(i.x.slice(s![-9..-1]))),
    ("slice of every third row", |i| one(i.x.slice(s![1..;3]))),
    ("slice of rows backwards", |i| one(i.x.slice(s![..;-1]))),
    ("slice of nested rows", |i| one(i.nested.slice(s![1..]))),
    ("one row", |i| one(i.x.slice(s![3]))),
    ("slice in rows", |i| one(i.x.slice(s![.., 2..7]))),
    ("slice in rows from the end", |i| one(i.x.slice(s![.., -4..-1]))),
    ("slice of every second value", |i| one(i.x.slice(s![.., ..;2]))),
    ("slice in rows backwards", |i| one(i.x.slice(s![.., 5..;-1]))),
    ("slice in nested rows", |i| one(i.nested.slice(s![.., .., 1..]))),
    ("slice of rows and in rows", |i| one(i.wide.slice(s![2..30, 1.., ..2]))),
    ("slice of wide elements", |i| one(i.wide.slice(s![.., .., 1]))),
    ("slice of a slice", |i| one(i.x.slice(s![.., 1..])?.slice(s![.., ..-1]))),
    ("slices of one partition", |i| one(i.x.slice(s![.., 1..])?.subtract(&i.y.slice(s![.., ..-1])?))),
    ("split of rows", |i| i.x.split(4, 0)),
    ("reverse of rows", |i| one(i.x.reverse(0))),
    ("reverse in rows", |i| one(i.x.reverse(1))),
    ("reverse of nested rows", |i| one(i.nested.reverse(1))),
    ("reverse of wide elements", |i| one(i.wide.reverse(2))),
    ("reverse of all", |i| one(i.wide.reverse([0, 1, 2]))),
    ("pad_rows", |i| one(i.x.pad_rows(4, 0f32, 1))),
    ("to_tensor cropped", |i| one(i.x.to_tensor(shaped(0f32, [-1, 16])))),
    ("to_tensor of wide elements", |i| one(i.wide.to_tensor(shaped(0f32, [-1, 9, 3])))),
    ("to_tensor of nested rows", |i| one(i.nested.to_tensor(shaped(0f32, [3, 20, 10])))),
    ("to_tensor of the longest row", |i| one(i.x.to_tensor(0f32))),
    ("to_tensor and a sum", |i| one(dense(&i.x)?.reduce_sum(0))),
    ("from_tensor", |i| one(Tensor::from_tensor(&i.matrix, 1))),
    ("from_tensor with lengths", |i| one(Tensor::from_tensor_with_lengths(&dense(&i.x)?, &i.x.row_lengths(1)?, 1))),
    ("from_tensor with padding", |i| {
        let none = i.column.slice(s![0, 0])?;
        one(Tensor::from_tensor_with_padding(&dense(&i.x)?, &none))
    }),
    ("shift", |i| one(i.x.shift(1, zero(&i.x), 1))),
    ("shift back", |i| one(i.x.shift(-2, zero(&i.x), 1))),
    ("shift and a difference", |i| one(i.x.subtract(&i.x.shift(1, zero(&i.x), 1)?))),
    ("roll", |i| one(i.x.roll(3, 1))),
    ("roll of rows", |i| one(i.x.roll(1, 0))),
    ("diff", |i| one(i.x.diff(1))),
    ("local_index", |i| one(i.x.local_index(1))),
    ("tile of rows", |i| one(i.x.tile(&[2, 1]))),
    ("tile in rows", |i| one(i.x.tile(&[1, 3]))),
    ("tile of wide elements", |i| one(i.wide.tile(&[1, 1, 2]))),
    ("tile of a matrix", |i| one(i.matrix.tile(&[2, 3]))),
    ("repeat of rows", |i| one(i.x.repeat(2, 0))),
    ("repeat in rows", |i| one(i.x.repeat(3, 1))),
    ("repeat of wide elements", |i| one(i.wide.repeat(2, 2))),
    ("repeat of nested rows", |i| one(i.nested.repeat(2, 1))),
    ("concat of rows", |i| one(Tensor::concat(&[&i.x, &i.other], 0))),
    ("concat of three", |i| one(Tensor::concat(&[&i.x, &i.other, &i.y], 0))),
    ("concat in rows", |i| one(Tensor::concat(&[&i.x, &i.other], 1))),
    ("concat of three in rows", |i| one(Tensor::concat(&[&i.x, &i.other, &i.y], 1))),
    ("concat of wide elements in rows", |i| one(Tensor::concat(&[&i.wide, &i.wide.reverse(1)?], 1))),
    ("concat of wide elements", |i| one(Tensor::concat(&[&i.wide, &i.wide], 2))),
    ("concat of a slice and its sum", |i| {
        let sums = i.x.reduce_sum(keep(1))?;
        one(Tensor::concat(&[&i.x.slice(s![.., ..2])?, &sums.multiply(2f32)?], 1)?.reduce_max(1))
    }),
    ("stack", |i| one(Tensor::stack(&[&i.x, &i.y], 0))),
    ("stack of values", |i| one(Tensor::stack(&[&i.x, &i.y], 2))),
    ("stack in rows", |i| one(Tensor::stack(&[&i.x, &i.other], 1))),
    ("zip", |i| one(Tensor::zip(&[&i.x, &i.y]))),
    ("unzip", |i| i.wide.unzip()),
    ("transpose of a matrix", |i| one(i.matrix.transpose([1, 0]))),
    ("transpose of wide elements", |i| one(i.wide.to_tensor(shaped(0f32, [-1, 9, 3]))?.transpose([2, 0, 1]))),
    ("transpose_rows", |i| one(i.x.transpose_rows())),
    ("transpose_rows and a sum", |i| one(i.x.transpose_rows()?.reduce_sum(1))),
    ("sliding_windows", |i| one(i.x.sliding_windows(3, 1))),
    ("sliding_windows and a sum", |i| one(i.x.sliding_windows(3, 1)?.reduce_sum(2))),
    ("context_windows", |i| one(i.wide.context_windows(starting_at(3, -1), 0f32, 1))),
    ("combinations", |i| i.x.slice(s![.., ..9])?.combinations(2, 1)),
    ("cartesian", |i| Tensor::cartesian(&[&i.x.slice(s![.., ..5])?, &i.other.slice(s![.., ..4])?], 1)),
    ("slice_rows", |i| one(i.x.slice_rows(&i.segments.multiply(0)?, &i.x.row_lengths(1)?.minimum(2)?))),
    ("gather in rows", |i| one(i.table.gather(along(&i.segments.slice(s![..5])?, 1)))),
    ("fill_empty_rows", |i| two(i.x.fill_empty_rows(0f32))),
];
