//! Reductions, scans, orders, sets and counts of a row.

use ragged::DType;
use ragged::opt::{binary, clamped, descending, exclusive, keep, reversed, right_of};

use crate::table::laws;

laws! {
    size Integers |x, y, k, t| x.size();
    row_lengths Integers |x, y, k, t| x.row_lengths(0), alone x.nrows();
    row_lengths Integers |x, y, k, t| x.row_lengths(1), alone match (x.ragged_rank(), x.rank()) {
        (0, 2..) => Of::from_tensor(x, 1)?.row_lengths(1),
        _ => x.row_lengths(1),
    };
    argmin Floats |x, y, k, t| x.argmin(0);
    argmax Floats |x, y, k, t| x.argmax(-1);
    count_nonzero Integers |x, y, k, t| x.count_nonzero(-1);
    reduce_euclidean_norm Floats |x, y, k, t| x.reduce_euclidean_norm(..);
    quantile Floats |x, y, k, t| x.quantile(0.25, -1);
    quantile Floats |x, y, k, t| x.quantile([0.25, 1.0], -1);
    median Integers |x, y, k, t| x.median(-1);
    reduce_min Integers |x, y, k, t| x.reduce_min(-1);
    reduce_max Integers |x, y, k, t| x.reduce_max(..);
    reduce_max Integers |x, y, k, t| x.greater(1)?.reduce_max(-1);
    reduce_min Integers |x, y, k, t| x.greater(1)?.reduce_min(..);
    reduce_mean Floats |x, y, k, t| x.reduce_mean(-1);
    reduce_mean_as Integers |x, y, k, t| x.reduce_mean_as(DType::F32, -1);
    reduce_variance_as Integers |x, y, k, t| x.reduce_variance_as(DType::F32, -1);
    reduce_std_as Integers |x, y, k, t| x.reduce_std_as(DType::F32, -1);
    reduce_variance Floats |x, y, k, t| x.reduce_variance(-1);
    reduce_std Floats |x, y, k, t| x.reduce_std(..);
    reduce_sum Floats |x, y, k, t| x.reduce_sum(..);
    reduce_sum Integers |x, y, k, t| x.reduce_sum(0);
    reduce_sum Floats |x, y, k, t| x.reduce_sum(keep(-1));
    reduce_prod Integers |x, y, k, t| x.reduce_prod(-1);
    reduce_all Integers |x, y, k, t| x.greater(1)?.reduce_all(-1);
    reduce_any Integers |x, y, k, t| x.greater(1)?.reduce_any(..);
    reduce_logsumexp Floats |x, y, k, t| x.reduce_logsumexp(-1);
    softmax Floats |x, y, k, t| x.softmax(-1);
    log_softmax Floats |x, y, k, t| x.log_softmax(-1);
    l2_normalize Floats |x, y, k, t| x.l2_normalize(-1, 1e-12);
    cumsum Floats |x, y, k, t| x.cumsum(exclusive(-1));
    cumprod Floats |x, y, k, t| x.cumprod(reversed(-1));
    linear_recurrence Floats |x, y, k, t| x.linear_recurrence(0.5, 1.0, reversed(-1));
    linear_recurrence Integers |x, y, k, t| x.linear_recurrence(y, 2, exclusive(-1));
    ewm_mean Floats |x, y, k, t| x.ewm_mean(0.25, -1);
    cummax Integers |x, y, k, t| x.cummax(0);
    cummin Integers |x, y, k, t| x.cummin(-1);
    sort Floats |x, y, k, t| x.sort(descending(-1));
    sort_by Integers |x, y, k, t| x.sort_by(descending(y));
    sort_by Integers |x, y, k, t| x.sort_by((y, x));
    argsort Integers |x, y, k, t| x.argsort(0);
    top_k Floats |x, y, k, t| x.top_k(2, -1);
    unique Integers |x, y, k, t| x.unique(-1);
    unique_with_counts Integers |x, y, k, t| x.unique_with_counts(-1);
    n_unique Integers |x, y, k, t| x.n_unique(-1);
    diff Integers |x, y, k, t| x.diff(-1);
    shift Integers |x, y, k, t| x.shift(1, 9, -1);
    roll Integers |x, y, k, t| x.roll(2, 0);
    local_index Integers |x, y, k, t| x.local_index(0);
    local_index Integers |x, y, k, t| x.local_index(-1);
    searchsorted Integers |x, y, k, t| x.sort(-1)?.searchsorted(y);
    searchsorted Integers |x, y, k, t| x.sort(-1)?.searchsorted(right_of(y));
    set_union Integers |x, y, k, t| x.set_union(y);
    set_intersection Integers |x, y, k, t| x.set_intersection(y);
    set_difference Integers |x, y, k, t| x.set_difference(y);
    contains Integers |x, y, k, t| x.contains(2, -1);
    contains Integers |x, y, k, t| x.contains(&y.reduce_max(0)?, 0);
    contains Integers |x, y, k, t| x.contains(&y.reduce_max(..)?, -1);
    run_lengths Integers |x, y, k, t| x.run_lengths();
    group_by_key Integers |x, y, k, t| x.group_by_key(y);
    group_by_key Integers |x, y, k, t| {
        let ((first, second), groups) = x.group_by_key((y, x))?;
        Ok(vec![first, second, groups])
    };
    split_where Integers |x, y, k, t| x.split_where(&y.greater(3)?);
    bincount Integers |x, y, k, t| x.bincount(.., 5);
    bincount Integers |x, y, k, t| x.bincount(-1, binary(3));
    bincount_weighted Integers |x, y, k, t| x.bincount_weighted(y, .., 5);
    bincount_weighted Integers |x, y, k, t| x.bincount_weighted(y, -1, 5);
    histogram Floats |x, y, k, t| x.histogram(.., clamped(0.0f32..3.0f32), 4);
    histogram Floats |x, y, k, t| x.histogram(-1, 0.0f32..=3.0f32, 3);
    sequence_mask Integers |x, y, k, t| x.sequence_mask(4);
    range Integers |x, y, k, t| x.range(), alone x.range()?.slice(ragged::s![0]);
    add_n Integers |x, y, k, t| Of::add_n(&[x, y, x]);
    matmul Floats |x, y, k, t| x.matmul(y.t());
    matmul Floats |x, y, k, t| x.t().matmul(y);
    matmul Floats |x, y, k, t| x.matmul(t.t());
    matmul Floats |x, y, k, t| x.t().matmul(&x.matmul(t.t())?);
}
