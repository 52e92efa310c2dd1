//! Construction, parts, joins and shapes.

use ragged::opt::{Combiner, ShardStrategy, causal, masked, max_norm, or_default, scaled, shaped, weighted};
use ragged::{DType, Tensor, s};

use super::operands::{bags, ids, left_sparse};
use crate::table::table;

table! { joins on [Tensor RaggedTensor] {
    concat DRLI |x, y| Of::concat(&[x, &x.square()?, y], 0);
    concat DRLI |x, y| Of::concat(&[x, &x.square()?, y], 1);
    stack DRLI |x, y| Of::stack(&[x, &y.square()?], 0);
    stack DRL |x, y| Of::stack(&[x, &y.square()?], 1);
    tile DR |x, y| x.square()?.tile(&[2, 3]);
    tile LI |x, y| x.square()?.tile(&[1, 2, 3]);
    repeat DRLI |x, y| x.square()?.repeat(3, 1);
    repeat DRLI |x, y| x.square()?.repeat(2, 0);
    expand_dims DRLI |x, y| x.square()?.expand_dims(1);
    expand_dims DRLI |x, y| x.square()?.expand_dims(-1);
    squeeze DRLI |x, y| x.square()?.expand_dims(1)?.squeeze(1);
    merge_dims DRLI |x, y| x.square()?.merge_dims(0, 1);
    reshape D |x, y| x.square()?.reshape([2, 6]);
    reshape_like RL |x, y| x.flat_values()?.square()?.reshape_like(y);
    split D |x, y| x.square()?.split(2, 1);
    split D |x, y| x.square()?.split([1, 2], 0);
    transpose D |x, y| x.square()?.transpose([1, 0]);
    transpose_rows RL |x, y| x.square()?.transpose_rows();
    stack_dynamic_partitions DRI |x, y| x.flat_values()?.square()?.stack_dynamic_partitions(&ids(x, 3)?, 4);
    dynamic_partition DRI |x, y| x.flat_values()?.square()?.dynamic_partition(&ids(x, 3)?, 3);
    to_tensor RLI |x, y| x.square()?.to_tensor(0.5);
    to_tensor R |x, y| x.square()?.to_tensor(&y.reduce_sum(..)?);
    to_tensor R |x, y| x.square()?.to_tensor(shaped(0.5, [-1, 3]));
    values RLI |x, y| x.square()?.values();
    flat_values RLI |x, y| x.square()?.flat_values();
    with_values RLI |x, y| x.with_values(&y.values()?.square()?);
    with_flat_values DRLI |x, y| x.with_flat_values(&y.flat_values()?.square()?);
    to_sparse RL |x, y| x.square()?.to_sparse();
    from_tensor D |x, y| Of::from_tensor(&x.square()?, 1);
    from_tensor_with_lengths D |x, y| Of::from_tensor_with_lengths(&x.square()?, [2, 0, 3], 1);
    from_tensor_with_nested_lengths D |x, y| {
        Of::from_tensor_with_nested_lengths(&x.square()?.reshape([2, 2, 3])?, &[&[2, 1], &[3, 0, 1]])
    };
    from_tensor_with_padding D |x, y| Of::from_tensor_with_padding(&x.square()?, 0.0);
    fill R |x, y| Of::fill(x.ragged_shape(), &y.square()?.reduce_sum(..)?);
    ranges R |x, y| Of::ranges(&x.flat_values()?, &x.flat_values()?.add(3.3)?, 1.0);
    ranges R |x, y| Of::ranges(0.0, 4.4, &y.flat_values()?.add(0.7)?);
    zip RL |x, y| Of::zip(&[x, &y.square()?]);
    unzip DI |x, y| x.square()?.unzip();
    from_shards D |x, y| Of::from_shards(&[&x.square()?, y], ShardStrategy::Mod);
    from_shards D |x, y| Of::from_shards(&[&x.square()?, y], ShardStrategy::Div);
    embedding_lookup D |x, y| x.square()?.embedding_lookup(&bags(x)?);
    embedding_lookup D |x, y| x.embedding_lookup(max_norm(&bags(x)?, 1.5));
    embedding_lookup_sparse D |x, y| x.square()?.embedding_lookup_sparse(&bags(x)?, Combiner::Mean);
    embedding_lookup_sparse D |x, y| x.square()?.embedding_lookup_sparse(&bags(x)?, Combiner::SqrtN);
    embedding_lookup_sparse D |x, y| {
        let weights = bags(x)?.erased().cast(DType::F64)?.add(1.0)?.multiply(&y.reduce_sum(..)?)?;
        x.square()?.embedding_lookup_sparse(weighted(&bags(x)?, &weights), Combiner::Sum)
    };
    safe_embedding_lookup_sparse D |x, y| x.square()?.safe_embedding_lookup_sparse(&bags(x)?, Combiner::Mean);
    safe_embedding_lookup_sparse D |x, y| {
        x.square()?.safe_embedding_lookup_sparse(or_default(&bags(x)?, 1), Combiner::Sum)
    };
    matmul D |x, y| x.matmul(y.t());
    matmul D |x, y| x.t().matmul(&y.square()?);
    ragged_dot D |x, y| x.square()?.ragged_dot(&Of::stack(&[x.t().matmul(x)?, x.t().matmul(&y.square()?)?], 0)?, [1, 2]);
    ragged_dot D |x, y| {
        // The second matrix has no rows, and the gradient 0.
        let square = x.t().matmul(x)?;
        x.square()?.ragged_dot(&Of::stack(&[&square, &x.t().matmul(&y.square()?)?, &square.square()?], 0)?, [2, 0, 1])
    };
    matmul I |x, y| x.matmul(&y.flat_values()?.slice(s![..2])?);
    scaled_dot_product_attention I |x, y| x.scaled_dot_product_attention(y, &x.square()?);
    scaled_dot_product_attention I |x, y| x.scaled_dot_product_attention(causal(scaled(y, 0.7)), y);
    scaled_dot_product_attention I |x, y| {
        x.scaled_dot_product_attention(masked(x, |query, key| (query - key)?.abs()?.equal(1)), y)
    };
    scaled_dot_product_attention I |x, y| {
        // Two heads with vectors of one number.
        x.expand_dims(-1)?.scaled_dot_product_attention(causal(&y.expand_dims(-1)?), &x.expand_dims(-1)?)
    };
    scaled_dot_product_attention D |x, y| {
        let heads = |x: &Of| x.reshape([1, 3, 2, 2]);
        heads(x)?.scaled_dot_product_attention(causal(&heads(y)?), &heads(&x.square()?)?)
    };
}}

/// Entries of the constructors of partitions, checked and not.
macro_rules! partitions {
    ($($name:ident $unchecked:ident $list:expr;)+ ; $($others:tt)+) => {
        table! { partitions on [Tensor] {
            $($name DR |x, y| Tensor::$name(&first_five(x)?, $list);)+
            $($unchecked DR |x, y| Tensor::$unchecked(&first_five(x)?, $list);)+
            $($others)+
        }}
    };
}

/// Five numbers.
fn first_five(x: &Tensor) -> ragged::Result<Tensor> {
    x.square()?.flat_values()?.reshape([-1])?.slice(s![..5])
}

partitions! {
    from_row_splits from_row_splits_unchecked [0, 2, 2, 5];
    from_row_lengths from_row_lengths_unchecked [2, 0, 3];
    from_row_starts from_row_starts_unchecked [0, 2, 2];
    from_row_limits from_row_limits_unchecked [2, 2, 5];
    from_value_rowids from_value_rowids_unchecked [0, 0, 2, 2, 3];
    from_uniform_row_length from_uniform_row_length_unchecked 5;
    from_nested_row_splits from_nested_row_splits_unchecked [vec![0, 2, 3], vec![0, 2, 2, 5]];
    from_nested_row_lengths from_nested_row_lengths_unchecked [vec![2, 1], vec![2, 0, 3]];
    from_nested_value_rowids from_nested_value_rowids_unchecked [vec![0, 0, 1], vec![0, 0, 2, 2, 2]];
    ;
    from_row_partitions RL |x, y| Tensor::from_row_partitions(&x.flat_values()?.square()?, x.partitions());
    from_sparse DR |x, y| Tensor::from_sparse(&left_sparse(x)?);
}
