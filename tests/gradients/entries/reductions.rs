//! Reductions, scans, orders and segments.

use ragged::DType;
use ragged::opt::{descending, exclusive, keep, reversed, span, unadjusted};

use super::operands::{ids, indices, sorted_ids};
use crate::table::table;

table! { reductions on [Tensor RaggedTensor] {
    reduce_sum DRLI |x, y| x.square()?.reduce_sum(1);
    reduce_sum DRLI |x, y| x.square()?.reduce_sum(0);
    reduce_sum DRLI |x, y| x.square()?.reduce_sum(..);
    reduce_mean DRLI |x, y| x.square()?.reduce_mean(keep(1));
    reduce_mean DRLI |x, y| x.square()?.reduce_mean(0);
    reduce_mean DRLI |x, y| x.square()?.reduce_mean(..);
    reduce_max DRLI |x, y| x.square()?.reduce_max(-1);
    reduce_max DRLI |x, y| x.square()?.reduce_max(0);
    reduce_max DRLI |x, y| x.square()?.reduce_max(..);
    reduce_min DRLI |x, y| x.square()?.reduce_min(1);
    reduce_min DRLI |x, y| x.square()?.reduce_min(0);
    reduce_prod DRLI |x, y| x.reduce_prod(1);
    reduce_prod DRLI |x, y| x.reduce_prod(0);
    reduce_prod DR |x, y| x.reduce_prod(..);
    reduce_variance DRLI |x, y| x.square()?.reduce_variance(1);
    reduce_variance DRLI |x, y| x.square()?.reduce_variance(0);
    reduce_variance DRLI |x, y| x.square()?.reduce_variance(..);
    // The deviation of one value has no derivative: see `points`.
    reduce_std DI |x, y| x.square()?.reduce_std(1);
    reduce_std DRLI |x, y| x.square()?.reduce_std(..);
    reduce_euclidean_norm DRLI |x, y| x.exp()?.reduce_euclidean_norm(..);
    reduce_euclidean_norm DI |x, y| x.exp()?.reduce_euclidean_norm(1);
    reduce_logsumexp DRLI |x, y| x.square()?.reduce_logsumexp(-1);
    reduce_logsumexp DRLI |x, y| x.square()?.reduce_logsumexp(0);
    reduce_logsumexp DR |x, y| x.square()?.reduce_logsumexp(..);
    quantile DRL |x, y| x.square()?.quantile(0.3, 1);
    quantile DR |x, y| x.square()?.quantile([0.25, 0.8], 1);
    median DRLI |x, y| x.square()?.median(1);
    softmax DRLI |x, y| x.square()?.softmax(-1);
    log_softmax DRLI |x, y| x.square()?.log_softmax(-1);
    l2_normalize DRLI |x, y| x.exp()?.l2_normalize(-1, 1e-12);
    cumsum DRLI |x, y| x.square()?.cumsum(1);
    cumsum DRLI |x, y| x.square()?.cumsum(exclusive(reversed(0)));
    cumprod DRLI |x, y| x.cumprod(1);
    cumprod DRLI |x, y| x.cumprod(reversed(exclusive(1)));
    linear_recurrence DRLI |x, y| x.square()?.linear_recurrence(0.7, 0.5, 1);
    linear_recurrence DRLI |x, y| x.square()?.linear_recurrence(0.7, 0.5, exclusive(reversed(0)));
    linear_recurrence DRI |x, y| x.square()?.linear_recurrence(y, &x.reduce_sum(1)?, 1);
    linear_recurrence DRI |x, y| y.linear_recurrence(x, &y.reduce_sum(1)?, reversed(1));
    linear_recurrence DR |x, y| x.linear_recurrence(x, &x.reduce_max(1)?, exclusive(reversed(1)));
    ewm_mean DRI |x, y| x.square()?.ewm_mean(0.3, 1);
    ewm_mean DRI |x, y| x.square()?.ewm_mean(unadjusted(span(3.0)), 1);
    cummax DRLI |x, y| x.square()?.cummax(1);
    cummin DRLI |x, y| x.square()?.cummin(reversed(1));
    sort DRLI |x, y| x.square()?.sort(1);
    sort DR |x, y| x.square()?.sort(descending(1));
    sort D |x, y| x.square()?.sort(0);
    sort_by DR |x, y| x.square()?.sort_by(y);
    top_k DRL |x, y| x.square()?.top_k(2, -1);
    diff DRI |x, y| x.square()?.diff(1);
    shift DRI |x, y| x.square()?.shift(1, 0.5, 1);
    shift DRI |x, y| x.square()?.shift(-2, 0.5, 1);
    shift L |x, y| x.square()?.shift(1, 0.5, 2);
    roll DRLI |x, y| x.square()?.roll(2, 1);
    reverse DRLI |x, y| x.square()?.reverse(1);
    reverse DRLI |x, y| x.square()?.reverse(..);
    unique DRL |x, y| x.square()?.unique(-1);
    unique R |x, y| Of::concat(&[x, y, x], 1)?.square()?.unique(1);
    unique_with_counts DRL |x, y| x.square()?.unique_with_counts(-1);
}}

table! { segments on [Tensor RaggedTensor] {
    unsorted_segment_sum DRI |x, y| x.flat_values()?.square()?.unsorted_segment_sum(&ids(x, 3)?, 4);
    unsorted_segment_prod DRI |x, y| x.flat_values()?.square()?.unsorted_segment_prod(&ids(x, 3)?, 3);
    unsorted_segment_min DRI |x, y| x.flat_values()?.square()?.unsorted_segment_min(&ids(x, 3)?, 4);
    unsorted_segment_max DRI |x, y| x.flat_values()?.square()?.unsorted_segment_max(&ids(x, 2)?, 3);
    unsorted_segment_mean DRI |x, y| x.flat_values()?.square()?.unsorted_segment_mean(&ids(x, 3)?, 4);
    unsorted_segment_sqrt_n DRI |x, y| x.flat_values()?.square()?.unsorted_segment_sqrt_n(&ids(x, 3)?, 4);
    segment_sum DRI |x, y| x.flat_values()?.square()?.segment_sum(&sorted_ids(x)?);
    segment_prod DRI |x, y| x.flat_values()?.segment_prod(&sorted_ids(x)?);
    segment_min DRI |x, y| x.flat_values()?.square()?.segment_min(&sorted_ids(x)?);
    segment_max DRI |x, y| x.flat_values()?.square()?.segment_max(&sorted_ids(x)?);
    segment_mean DRI |x, y| x.flat_values()?.square()?.segment_mean(&sorted_ids(x)?);
    sparse_segment_sum DRI |x, y| {
        x.flat_values()?.square()?.sparse_segment_sum(&indices(x, [2, 0, 1, 0])?, &indices(x, [0, 0, 2, 2])?)
    };
    sparse_segment_mean DRI |x, y| {
        x.flat_values()?.square()?.sparse_segment_mean(&indices(x, [2, 0, 1, 0])?, &indices(x, [0, 0, 2, 2])?)
    };
    sparse_segment_sqrt_n DRI |x, y| {
        x.flat_values()?.square()?.sparse_segment_sqrt_n(&indices(x, [2, 0, 1, 0])?, &indices(x, [0, 0, 2, 2])?)
    };
}}

table! { erased on [Tensor] {
    reduce_variance_as DRLI |x, y| x.square()?.reduce_variance_as(DType::F64, 1);
    reduce_std_as DRLI |x, y| x.square()?.reduce_std_as(DType::F64, ..);
    reduce_mean_as DRLI |x, y| x.square()?.reduce_mean_as(DType::F64, 1);
    segment_mean_as DRI |x, y| x.flat_values()?.square()?.segment_mean_as(DType::F64, &sorted_ids(x)?);
    unsorted_segment_mean_as DRI |x, y| x.flat_values()?.square()?.unsorted_segment_mean_as(DType::F64, &ids(x, 3)?, 4);
    sparse_segment_mean_as DRI |x, y| {
        let (at, segments) = (indices(x, [2, 0, 1, 0])?, indices(x, [0, 0, 2, 2])?);
        x.flat_values()?.square()?.sparse_segment_mean_as(DType::F64, &at, &segments)
    };
}}

table! { typed on [RaggedTensor] {
    reduce_mean_as DRLI |x, y| x.square()?.reduce_mean_as::<f64>(1);
    reduce_variance_as DRLI |x, y| x.square()?.reduce_variance_as::<f64>(1);
    reduce_std_as DRLI |x, y| x.square()?.reduce_std_as::<f64>(..);
    sparse_segment_mean_as DRI |x, y| {
        let (at, segments) = (indices(x, [2, 0, 1, 0])?, indices(x, [0, 0, 2, 2])?);
        x.flat_values()?.square()?.sparse_segment_mean_as::<f64>(&at, &segments)
    };
    segment_mean_as DRI |x, y| x.flat_values()?.square()?.segment_mean_as::<f64>(&sorted_ids(x)?);
    unsorted_segment_mean_as DRI |x, y| x.flat_values()?.square()?.unsorted_segment_mean_as::<f64>(&ids(x, 3)?, 4);
}}
