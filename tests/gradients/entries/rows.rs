//! Operations of rows, but for those of elements.

use ragged::opt::{descending, exclusive, keep, reversed, starting_at};
use ragged::{DType, RaggedTensor, Result, Row, Seed, Tensor, s};

use crate::table::{Entry, floats, table};

table! { of_rows on [Row] {
    map_rows L |x, y| x.map_rows(|row| row.square()?.reduce_sum(..));
    cast DRLI |x, y| x.square()?.cast(DType::F64);
    saturate_cast DRLI |x, y| x.square()?.saturate_cast(DType::F64);
    at D |x, y| x.square()?.at(-1);
    reduce_sum DRLI |x, y| x.square()?.reduce_sum(0);
    reduce_sum LI |x, y| x.square()?.reduce_sum(..);
    reduce_mean DRLI |x, y| x.square()?.reduce_mean(keep(0));
    reduce_variance_as DRLI |x, y| x.square()?.reduce_variance_as(DType::F64, 0);
    reduce_std_as D |x, y| x.square()?.reduce_std_as(DType::F64, 0);
    reduce_mean_as DRLI |x, y| x.square()?.reduce_mean_as(DType::F64, 0);
    reduce_max DRLI |x, y| x.square()?.reduce_max(-1);
    reduce_min DRLI |x, y| x.square()?.reduce_min(-1);
    reduce_prod DRLI |x, y| x.reduce_prod(0);
    reduce_variance DRLI |x, y| x.square()?.reduce_variance(0);
    reduce_std D |x, y| x.square()?.reduce_std(0);
    reduce_euclidean_norm D |x, y| x.exp()?.reduce_euclidean_norm(0);
    reduce_logsumexp DRLI |x, y| x.square()?.reduce_logsumexp(-1);
    quantile DR |x, y| x.square()?.quantile(0.3, 0);
    median DRL |x, y| x.square()?.median(-1);
    softmax DRLI |x, y| x.square()?.softmax(-1);
    log_softmax DRLI |x, y| x.square()?.log_softmax(-1);
    l2_normalize DRLI |x, y| x.exp()?.l2_normalize(-1, 1e-12);
    cumsum DRLI |x, y| x.square()?.cumsum(exclusive(0));
    linear_recurrence DRLI |x, y| x.square()?.linear_recurrence(0.7, 0.5, reversed(0));
    ewm_mean DRI |x, y| x.square()?.ewm_mean(0.3, 0);
    cumprod DRLI |x, y| x.cumprod(reversed(0));
    cummax DRLI |x, y| x.square()?.cummax(0);
    cummin DRLI |x, y| x.square()?.cummin(0);
    sort DRLI |x, y| x.square()?.sort(descending(-1));
    sort_by DR |x, y| x.square()?.sort_by(y);
    top_k DRL |x, y| x.square()?.top_k(2, -1);
    diff DRI |x, y| x.square()?.diff(0);
    shift DRI |x, y| x.square()?.shift(1, 0.5, 0);
    roll DRLI |x, y| x.square()?.roll(2, 0);
    reverse DRLI |x, y| x.square()?.reverse(0);
    unique DRL |x, y| x.square()?.unique(-1);
    unique_with_counts DRL |x, y| x.square()?.unique_with_counts(-1);
    concat DRLI |x, y| Of::concat(&[x, &y.square()?], 0);
    stack DRLI |x, y| Of::stack(&[x, &y.square()?], 0);
    tile DR |x, y| x.square()?.tile(&[2]);
    repeat DRLI |x, y| x.square()?.repeat(3, 0);
    expand_dims DRLI |x, y| x.square()?.expand_dims(0);
    squeeze DRLI |x, y| x.square()?.expand_dims(-1)?.squeeze(-1);
    merge_dims LI |x, y| x.square()?.merge_dims(0, 1);
    reshape DR |x, y| x.square()?.reshape([1, -1]);
    split D |x, y| x.square()?.split(2, 0);
    transpose DR |x, y| x.square()?.expand_dims(-1)?.expand_dims(-1)?.transpose([0, 2, 1]);
    transpose_rows L |x, y| x.square()?.transpose_rows();
    slice DRLI |x, y| x.square()?.slice(s![1..]);
    gather DR |x, y| x.square()?.gather(&x.argsort(0)?);
    gather_nd DRL |x, y| x.square()?.gather_nd(&x.where_indices()?);
    batch_gather_with_default DR |x, y| x.square()?.batch_gather_with_default(&x.local_index(0)?, 0.5);
    boolean_mask DRLI |x, y| x.square()?.boolean_mask(&y.less(1.0)?);
    nth L |x, y| x.square()?.boolean_mask(&x.count_nonzero(1)?.greater(0i64)?)?.nth(0);
    nth_or L |x, y| x.square()?.nth_or(1, 0.5);
    fill_empty_rows L |x, y| x.square()?.fill_empty_rows(0.5);
    combinations DR |x, y| x.square()?.combinations(2, 0);
    cartesian DR |x, y| Of::cartesian(&[x, &y.square()?], 0);
    cartesian_nested R |x, y| Of::cartesian_nested(&[x, &y.square()?], 0);
    context_windows R |x, y| x.square()?.context_windows(starting_at(3, -1), 0.5, 0);
    sliding_windows DRLI |x, y| x.square()?.sliding_windows(2, 0);
    pad_rows DRI |x, y| x.square()?.pad_rows(3, 0.5, 0);
    slice_rows L |x, y| {
        let half = x.count_nonzero(1)?.floordiv(2i64)?;
        x.square()?.slice_rows(&half, &half)
    };
    shuffle DRL |x, y| x.square()?.shuffle(Seed(3), 0);
    sample DR |x, y| x.square()?.sample(2, Seed(3), 0);
    split_where R |x, y| x.square()?.split_where(&y.greater(1.0)?);
    run_lengths DR |x, y| x.square()?.run_lengths();
    group_by_key R |x, y| x.square()?.group_by_key(&y.multiply(2.0)?.floor()?);
    set_union DR |x, y| x.square()?.set_union(y);
    set_intersection R |x, y| x.set_intersection(&Of::concat(&[x, y], 0)?);
    set_difference DR |x, y| x.square()?.set_difference(y);
    batch_scatter_add L |x, y| x.square()?.batch_scatter_add(&x.local_index(1)?, &y.square()?);
    bincount_weighted DR |x, y| x.multiply(3.0)?.cast(DType::I64)?.bincount_weighted(&y.square()?, 0, 6);
    zip DRL |x, y| Of::zip(&[x, &y.square()?]);
    unzip DRL |x, y| Of::zip(&[x, &y.square()?])?.unzip();
    matmul I |x, y| x.matmul(y.t());
}}

/// The look-up of a table that is the same for all rows.
fn embedding_lookup(x: &Tensor, y: &Tensor) -> Result<Vec<Tensor>> {
    let ids = RaggedTensor::from_nested([vec![0i64, 2], vec![], vec![1]], &x.device())?;
    floats(ids.erased().map_rows(|row: &Row| row.embedding_lookup(&x.multiply(y)?)))
}

/// All entries.
pub fn rows() -> Vec<Entry> {
    let name = "embedding_lookup";
    let text = "ids.embedding_lookup(&table)";
    let lookup = Entry { owner: ragged::operation::Owner::Row, name, layouts: "D", text, f: embedding_lookup };
    of_rows().into_iter().chain([lookup]).collect()
}
