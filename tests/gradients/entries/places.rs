//! Indices, masks, and operations within rows.

use ragged::opt::{along, batched, starting_at};
use ragged::{DType, Seed, Tensor, s};

use super::operands::{indices, odd_rows};
use crate::table::table;

table! { places on [Tensor RaggedTensor] {
    slice DRLI |x, y| x.square()?.slice(s![.., 1..]);
    slice DRLI |x, y| x.square()?.slice(s![..;2, ..;-1]);
    slice DRLI |x, y| x.square()?.slice(s![1..3]);
    slice DRLI |x, y| x.square()?.slice(s![-2]);
    gather DRLI |x, y| x.square()?.gather(&indices(x, [2, 0, 0, 1])?);
    gather D |x, y| x.square()?.gather(along(&indices(x, [2, 0, 0])?, 1));
    // Rows of indices that overlap: each begins at the start of a row and reads beyond its end.
    gather R |x, y| {
        let starts = x.as_ref().row_starts()?.slice(s![..4])?.expand_dims(1)?;
        x.flat_values()?.square()?.gather(&starts.add(&indices(x, [0, 1, 2])?)?)
    };
    // Rows of indices that begin at multiples of 2, and are longer.
    gather R |x, y| {
        let begins = x.as_ref().value_rowids()?.multiply(2)?;
        x.flat_values()?.square()?.gather(&begins.add(&x.as_ref().local_index(1)?.flat_values()?)?.floormod(8)?)
    };
    batch_gather DR |x, y| x.square()?.batch_gather(&x.local_index(1)?);
    gather DR |x, y| x.square()?.gather(batched(&x.local_index(1)?, 1));
    gather_nd DRLI |x, y| x.square()?.gather_nd(&x.where_indices()?);
    batch_gather_with_default DR |x, y| x.square()?.batch_gather_with_default(&x.local_index(1)?, 0.5);
    batch_gather_with_default R |x, y| x.batch_gather_with_default(&x.local_index(1)?, &y.reduce_sum(..)?);
    boolean_mask DRLI |x, y| x.square()?.boolean_mask(&y.less(1.0)?);
    nth D |x, y| x.square()?.nth(1);
    nth_or DRI |x, y| x.square()?.nth_or(1, 0.5);
    nth_or DR |x, y| x.square()?.nth_or(-1, 0.5);
    nth_or_skip DRLI |x, y| x.square()?.nth_or_skip(1);
    row_at DRLI |x, y| x.square()?.row_at(&indices(x, [0])?.reduce_sum(..)?);
    fill_empty_rows RL |x, y| x.square()?.fill_empty_rows(0.5);
    fill_empty_rows R |x, y| x.fill_empty_rows(&y.reduce_sum(..)?);
    combinations DRL |x, y| x.square()?.combinations(2, 1);
    context_windows R |x, y| x.square()?.context_windows(starting_at(3, -1), 0.5, 1);
    context_windows DR |x, y| x.square()?.context_windows(2, 0.5, 1);
    sliding_windows DRLI |x, y| x.square()?.sliding_windows(2, 1);
    pad_rows DRI |x, y| x.square()?.pad_rows(3, 0.5, 1);
    pad_rows L |x, y| x.square()?.pad_rows(3, 0.5, 2);
    slice_rows R |x, y| x.square()?.slice_rows([1, 0, 0, 2, 0], [1, 0, 1, 2, 0]);
    slice_rows LI |x, y| x.square()?.slice_rows([1, 0, 0], [1, 0, 2]);
    shuffle DRL |x, y| x.square()?.shuffle(Seed(3), 1);
    sample DRL |x, y| x.square()?.sample(2, Seed(3), 1);
    split_where R |x, y| x.square()?.split_where(&y.greater(1.0)?);
    run_lengths DR |x, y| x.square()?.run_lengths();
    group_by_key R |x, y| x.square()?.group_by_key(&y.multiply(2.0)?.floor()?);
    set_union DR |x, y| x.square()?.set_union(y);
    set_intersection R |x, y| x.set_intersection(&Of::concat(&[x, y], 1)?);
    set_difference DR |x, y| x.square()?.set_difference(y);
    batch_scatter_add R |x, y| x.square()?.batch_scatter_add(&x.local_index(1)?, &y.square()?);
}}

table! { erased on [Tensor] {
    select_rows DRLI |x, y| odd_rows(x)?.erased().select_rows(x, &y.square()?);
    cartesian DRL |x, y| Tensor::cartesian(&[x, &y.square()?], 1);
    cartesian_nested R |x, y| Tensor::cartesian_nested(&[x, &y.square()?], 1);
    bincount_weighted DR |x, y| x.multiply(3.0)?.cast(DType::I64)?.bincount_weighted(&y.square()?, 1, 6);
    bincount_weighted DRLI |x, y| x.multiply(3.0)?.cast(DType::I64)?.bincount_weighted(&y.square()?, .., 6);
}}

table! { typed on [RaggedTensor] {
    select_rows DRLI |x, y| odd_rows(x)?.select_rows(x, &y.square()?);
    bincount_weighted DR |x, y| x.multiply(3.0)?.cast::<i64>()?.bincount_weighted(&y.square()?, 1, 6);
}}
