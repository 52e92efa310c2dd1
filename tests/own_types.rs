//! Types of users that hold a tensor, `AsRef<Tensor>`, are arguments of every operation that takes one; scalar tensors
//! are items of slices.

mod common;

use std::collections::BTreeSet;

use ragged::arguments::{CrossInput, Integers};
use ragged::operation::Owner;
use ragged::opt::{Combiner, RowIds, ShardStrategy, along, causal, descending, right_of, weighted, with_nrows};
use ragged::{DType, Device, RaggedShape, RaggedTensor, Result, SparseTensor, Tensor, s};

/// A type of a user.
struct Scores(Tensor);

impl AsRef<Tensor> for Scores {
    fn as_ref(&self) -> &Tensor {
        &self.0
    }
}

/// Arguments: plain tensors, or types of a user.
struct Given<X> {
    /// Rows of 2, 0 and 1 integers.
    rows: X,
    floats: X,
    bools: X,
    words: X,
    /// Three integers, which ascend from 0.
    vector: X,
    /// The lengths, starts, limits and splits of the rows.
    lengths: X,
    starts: X,
    limits: X,
    splits: X,
    scalar: X,
    matrix: X,
    /// Two matrices.
    matrices: X,
    /// Rows of 2, 0 and 1 vectors of two floats.
    vectors: X,
    /// Three values.
    values: X,
    padding: X,
    /// As `rows`, each integer at most 1.
    ones: X,
}

impl<X> Given<X> {
    fn new(device: &Device, of: fn(Tensor) -> X) -> Result<Self> {
        let vector = |of: &[i32]| Ok::<_, ragged::Error>(RaggedTensor::from_nested(of, device)?.into_erased());
        let rows = RaggedTensor::from_nested([vec![1, 2], vec![], vec![1]], device)?.into_erased();
        Ok(Self {
            floats: of(rows.cast(DType::F32)?),
            bools: of(rows.less(2)?),
            words: of(rows.as_string()?),
            ones: of(rows.minimum(1)?),
            rows: of(rows),
            vector: of(vector(&[0, 1, 1])?),
            lengths: of(vector(&[2, 0, 1])?),
            starts: of(vector(&[0, 2, 2])?),
            limits: of(vector(&[2, 2, 3])?),
            splits: of(vector(&[0, 2, 2, 3])?),
            scalar: of(vector(&[1])?.reduce_sum(0)?),
            matrix: of(RaggedTensor::from_nested([[0, 1], [2, 0]], device)?.into_erased()),
            matrices: of(RaggedTensor::from_nested([[[0, 1], [2, 0]], [[1, 1], [0, 3]]], device)?.into_erased()),
            vectors: of(Tensor::from_row_lengths(
                RaggedTensor::from_nested([[0.0f32, 1.0], [2.0, 0.0], [1.0, 1.0]], device)?.erased(),
                [2, 0, 1],
            )?),
            values: of(vector(&[7, 8, 9])?),
            padding: of(vector(&[5])?.reduce_sum(0)?),
        })
    }
}

/// The text of results.
trait Text {
    fn text(self) -> Result<String>;
}
impl Text for Tensor {
    fn text(self) -> Result<String> {
        Ok(format!("{:?}", self.to_host()?))
    }
}
impl Text for SparseTensor {
    fn text(self) -> Result<String> {
        self.to_dense(0)?.text()
    }
}
impl Text for (Tensor, Tensor) {
    fn text(self) -> Result<String> {
        Ok(self.0.text()? + &self.1.text()?)
    }
}
impl Text for Vec<Tensor> {
    fn text(self) -> Result<String> {
        self.into_iter().map(Text::text).collect()
    }
}

/// An operation, with arguments of both kinds.
type Call = (&'static str, fn(&Given<Tensor>) -> Result<String>, fn(&Given<Scores>) -> Result<String>);

macro_rules! calls {
    ($($name:ident |$g:ident| $call:expr;)+) => {
        vec![$((stringify!($name), |$g| $call?.text(), |$g| $call?.text())),+]
    };
}
macro_rules! of_pairs {
    ($on:ident: $($name:ident)+) => { calls! { $($name |g| g.$on.as_ref().$name(&g.$on);)+ } };
}

fn elementwise() -> Vec<Call> {
    let numbers: Vec<Call> = of_pairs! { rows:
        add subtract multiply truediv divide_no_nan truncatemod pow maximum minimum squared_difference equal not_equal
        less less_equal greater greater_equal bitwise_and bitwise_or bitwise_xor left_shift right_shift
    };
    let floats: Vec<Call> = of_pairs! { floats:
        floordiv floormod truncatediv multiply_no_nan atan2 nextafter xlogy xlog1py xdivy
        sigmoid_cross_entropy_with_logits
    };
    let bools: Vec<Call> = of_pairs! { bools: logical_and logical_or logical_xor };
    let others: Vec<Call> = calls! {
        strip_prefix |g| g.words.as_ref().strip_prefix(&g.words);
        strip_suffix |g| g.words.as_ref().strip_suffix(&g.words);
        select |g| g.bools.as_ref().select(&g.rows, &g.rows);
        linear_recurrence |g| g.rows.as_ref().linear_recurrence(&g.rows, &g.lengths, 1);
        select_rows |g| g.vector.as_ref().cast(DType::Bool)?.select_rows(&g.rows, &g.rows);
        add_n |g| Tensor::add_n(&[&g.rows, &g.rows]);
        contains |g| g.rows.as_ref().contains(&g.scalar, -1);
        substr |g| g.words.as_ref().substr(&g.scalar, &g.scalar);
        substr_chars |g| g.words.as_ref().substr_chars(&g.scalar, &g.scalar);
        nth_field_or |g| g.words.as_ref().nth_field_or(" ", 0, "-");
    };
    [numbers, floats, bools, others].concat()
}

fn construction() -> Vec<Call> {
    calls! {
        from_row_splits |g| Tensor::from_row_splits(&g.values, &g.splits);
        from_row_lengths |g| Tensor::from_row_lengths(&g.values, &g.lengths);
        from_row_starts |g| Tensor::from_row_starts(&g.values, &g.starts);
        from_row_limits |g| Tensor::from_row_limits(&g.values, &g.limits);
        from_value_rowids |g| Tensor::from_value_rowids(&g.values, with_nrows(&g.vector, 3));
        from_uniform_row_length |g| Tensor::from_uniform_row_length(&g.values, 3);
        from_nested_row_splits |g| Tensor::from_nested_row_splits(&g.values, [Integers::from(&g.splits)]);
        from_nested_row_lengths |g| Tensor::from_nested_row_lengths(&g.values, [Integers::from(&g.lengths)]);
        from_nested_value_rowids |g| Tensor::from_nested_value_rowids(&g.values, [RowIds::from(&g.vector)]);
        from_row_partitions |g| Tensor::from_row_partitions(&g.values, g.rows.as_ref().partitions());
        from_row_splits_unchecked |g| Tensor::from_row_splits_unchecked(&g.values, &g.splits);
        from_row_lengths_unchecked |g| Tensor::from_row_lengths_unchecked(&g.values, &g.lengths);
        from_row_starts_unchecked |g| Tensor::from_row_starts_unchecked(&g.values, &g.starts);
        from_row_limits_unchecked |g| Tensor::from_row_limits_unchecked(&g.values, &g.limits);
        from_value_rowids_unchecked |g| Tensor::from_value_rowids_unchecked(&g.values, with_nrows(&g.vector, 3));
        from_uniform_row_length_unchecked |g| Tensor::from_uniform_row_length_unchecked(&g.values, 3);
        from_nested_row_splits_unchecked
            |g| Tensor::from_nested_row_splits_unchecked(&g.values, [Integers::from(&g.splits)]);
        from_nested_row_lengths_unchecked
            |g| Tensor::from_nested_row_lengths_unchecked(&g.values, [Integers::from(&g.lengths)]);
        from_nested_value_rowids_unchecked
            |g| Tensor::from_nested_value_rowids_unchecked(&g.values, [RowIds::from(&g.vector)]);
        from_tensor |g| Tensor::from_tensor(&g.matrix, 1);
        from_tensor_with_lengths |g| Tensor::from_tensor_with_lengths(&g.matrix, &g.limits.as_ref().slice(s![..2])?, 1);
        from_tensor_with_nested_lengths |g| Tensor::from_tensor_with_nested_lengths(&g.matrix, &[&[1, 2]]);
        from_tensor_with_padding |g| Tensor::from_tensor_with_padding(&g.matrix, &g.padding);
        with_values |g| g.rows.as_ref().with_values(&g.values);
        with_flat_values |g| g.rows.as_ref().with_flat_values(&g.values);
        fill |g| Tensor::fill(&RaggedShape::dense(&[2], &g.rows.as_ref().device())?, 3);
        fill_rows |g| g.rows.as_ref().fill_rows(2, 3);
        ranges |g| Tensor::ranges(&g.scalar, &g.vector, 1);
        sequence_mask |g| g.lengths.as_ref().sequence_mask(3);
        one_hot |g| g.rows.as_ref().one_hot(3, 1, 0);
        map_flat_values_of |g| Tensor::map_flat_values_of(&[&g.rows, &g.rows], |all| all[0].add(&all[1]));
        map_rows_of |g| Tensor::map_rows_of(&[&g.rows, &g.rows], |all| &all[0] + &all[1]);
        scan_rows_of |g| {
            let sum = |states: &[ragged::Row], of: &[ragged::Row]| {
                let sum = (&(&states[0] + &of[0])? + &of[1])?;
                Ok((vec![sum.clone()], vec![sum]))
            };
            Tensor::scan_rows_of(&[&g.rows, &g.rows], [&g.vector], sum).map(|out| out.outputs)
        };
        cross |g| Tensor::cross([CrossInput::from(&g.words), (&g.rows).into()]);
        cross_hashed |g| Tensor::cross_hashed([CrossInput::from(&g.words), (&g.rows).into()], 100);
        cartesian |g| Tensor::cartesian(&[&g.rows, &g.rows], 1);
        cartesian_nested |g| Tensor::cartesian_nested(&[&g.rows, &g.rows], 1);
        from_shards |g| Tensor::from_shards(&[&g.matrix, &g.matrix], ShardStrategy::Div);
        string_join |g| Tensor::string_join(&[&g.words, &g.words], " ");
    }
}

fn of_layout() -> Vec<Call> {
    calls! {
        concat |g| Tensor::concat(&[&g.rows, &g.rows], 1);
        stack |g| Tensor::stack(&[&g.rows, &g.rows], 0);
        zip |g| Tensor::zip(&[&g.rows, &g.rows]);
        reshape_like |g| g.rows.as_ref().reshape_like(&g.rows);
        broadcast_like |g| g.scalar.as_ref().broadcast_like(&g.rows);
        to_tensor |g| g.rows.as_ref().to_tensor(&g.padding);
        fill_empty_rows |g| g.rows.as_ref().fill_empty_rows(7);
        shift |g| g.rows.as_ref().shift(1, 7, 1);
        nth_or |g| g.rows.as_ref().nth_or(0, 7);
        slice_rows |g| g.rows.as_ref().slice_rows(&g.lengths.as_ref().multiply(0)?, &g.lengths);
        row_at |g| g.rows.as_ref().row_at(&g.scalar);
        gather |g| g.rows.as_ref().gather(along(&g.vector, 0));
        batch_gather |g| g.matrix.as_ref().batch_gather(&g.matrix.as_ref().minimum(1)?);
        batch_gather_with_default |g| g.rows.as_ref().batch_gather_with_default(&g.rows, &g.padding);
        gather_nd |g| g.values.as_ref().gather_nd(&g.vector.as_ref().expand_dims(1)?);
        batch_scatter_add |g| g.rows.as_ref().batch_scatter_add(&g.rows.as_ref().multiply(0)?, &g.rows);
        update_rows |g| g.matrix.as_ref().update_rows(&g.vector.as_ref().slice(s![..2])?, &g.matrix.as_ref().slice(s![..2])?);
        boolean_mask |g| g.rows.as_ref().boolean_mask(&g.bools);
        dynamic_partition |g| g.values.as_ref().dynamic_partition(&g.vector, 2);
        stack_dynamic_partitions |g| g.values.as_ref().stack_dynamic_partitions(&g.vector, 2);
        matmul |g| g.matrix.as_ref().matmul(&g.matrix);
        ragged_dot |g| g.matrix.as_ref().ragged_dot(&g.matrices, [1, 1]);
        scaled_dot_product_attention
            |g| g.vectors.as_ref().scaled_dot_product_attention(causal(&g.vectors), &g.vectors);
        split_where |g| g.rows.as_ref().split_where(&g.bools);
        embedding_lookup |g| g.matrix.as_ref().embedding_lookup(&g.vector);
        embedding_lookup_sparse
            |g| g.matrix.as_ref().cast(DType::F32)?.embedding_lookup_sparse(weighted(&g.ones, &g.floats), Combiner::Sum);
        safe_embedding_lookup_sparse
            |g| g.matrix.as_ref().cast(DType::F32)?.safe_embedding_lookup_sparse(&g.ones, Combiner::Sum);
    }
}

fn of_groups() -> Vec<Call> {
    calls! {
        unsorted_segment_sum |g| g.values.as_ref().unsorted_segment_sum(&g.vector, 2);
        unsorted_segment_prod |g| g.values.as_ref().unsorted_segment_prod(&g.vector, 2);
        unsorted_segment_min |g| g.values.as_ref().unsorted_segment_min(&g.vector, 2);
        unsorted_segment_max |g| g.values.as_ref().unsorted_segment_max(&g.vector, 2);
        unsorted_segment_mean |g| g.values.as_ref().unsorted_segment_mean(&g.vector, 2);
        unsorted_segment_mean_as |g| g.values.as_ref().unsorted_segment_mean_as(DType::F32, &g.vector, 2);
        unsorted_segment_sqrt_n |g| g.values.as_ref().unsorted_segment_sqrt_n(&g.vector, 2);
        unsorted_segment_join |g| g.words.as_ref().unsorted_segment_join(&g.rows, 3, "");
        segment_sum |g| g.values.as_ref().segment_sum(&g.vector);
        segment_prod |g| g.values.as_ref().segment_prod(&g.vector);
        segment_min |g| g.values.as_ref().segment_min(&g.vector);
        segment_max |g| g.values.as_ref().segment_max(&g.vector);
        segment_mean |g| g.values.as_ref().segment_mean(&g.vector);
        segment_mean_as |g| g.values.as_ref().segment_mean_as(DType::F32, &g.vector);
        sparse_segment_sum |g| g.values.as_ref().sparse_segment_sum(&g.vector, &g.vector);
        sparse_segment_mean |g| g.values.as_ref().sparse_segment_mean(&g.vector, with_nrows(&g.vector, 2));
        sparse_segment_mean_as
            |g| g.values.as_ref().sparse_segment_mean_as(DType::F32, &g.vector, with_nrows(&g.vector, 2));
        sparse_segment_sqrt_n |g| g.values.as_ref().sparse_segment_sqrt_n(&g.vector, &g.vector);
        bincount_weighted |g| g.rows.as_ref().bincount_weighted(&g.floats, .., 3);
        context_windows |g| g.rows.as_ref().context_windows(2, 0, 1);
        pad_rows |g| g.rows.as_ref().pad_rows(3, 0, 1);
        group_by_key |g| g.rows.as_ref().group_by_key((&g.rows, &g.floats)).map(|(keys, groups)| (keys.1, groups));
        set_union |g| g.rows.as_ref().set_union(&g.rows);
        set_intersection |g| g.rows.as_ref().set_intersection(&g.rows);
        set_difference |g| g.rows.as_ref().set_difference(&g.rows);
        searchsorted |g| g.rows.as_ref().searchsorted(right_of(&g.rows));
        sort_by |g| g.rows.as_ref().sort_by((descending(&g.floats), &g.rows));
        bincount_sparse_weighted |g| g.vector.as_ref().bincount_sparse_weighted(&g.values, .., 4);
        sparse_to_dense |g| g.matrix.as_ref().sparse_to_dense(&[3, 2], &g.scalar, 0);
    }
}

#[test]
fn types_of_users_are_arguments_of_every_operation() -> Result<()> {
    let device = Device::cpu();
    let (plain, own) = (Given::new(&device, |t| t)?, Given::new(&device, Scores)?);
    let calls: Vec<Call> = [elementwise(), construction(), of_layout(), of_groups()].concat();
    let mut wrong = Vec::new();
    for (name, with_tensors, with_own) in &calls {
        match (with_tensors(&plain), with_own(&own)) {
            (Ok(want), Ok(got)) => assert_eq!(got, want, "{name}"),
            outcomes => wrong.push(format!("{name}: {outcomes:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let called: BTreeSet<&str> = calls.iter().map(|(name, ..)| *name).collect();
    // A shape is borrowed, too.
    let is_shape = |rust_type: &str| rust_type.contains("NewShape");
    let takes_tensors = |rust_type: &str| rust_type.contains("AsRef<Tensor>") || rust_type.contains("'a");
    let missing: Vec<&str> = ragged::operations()
        .filter(|operation| operation.owners.contains(Owner::Tensor))
        .filter(|operation| {
            operation
                .arguments
                .iter()
                .any(|argument| takes_tensors(argument.rust_type) && !is_shape(argument.rust_type))
        })
        .map(|operation| operation.name)
        .filter(|name| !called.contains(name))
        .collect();
    assert!(missing.is_empty(), "not called with a type of a user: {missing:?}");
    Ok(())
}

#[test]
fn scalar_tensors_are_items_of_slices() -> Result<()> {
    for (name, device) in common::devices() {
        let index = |i: i32| RaggedTensor::from_nested(i, &device);
        let rows = RaggedTensor::from_nested([vec![1, 2, 3], vec![], vec![4, 5]], &device)?;
        let cube = RaggedTensor::from_nested([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], &device)?;
        for i in -2..2 {
            let at = index(i)?;
            let text = |x: RaggedTensor<i32>| x.to_nested().map(|x| x.to_string());
            assert_eq!(text(rows.slice(s![&at, 1..])?)?, text(rows.slice(s![i, 1..])?)?, "{name}, {i}");
            assert_eq!(text(cube.slice(s![.., &at])?)?, text(cube.slice(s![.., i])?)?, "{name}, {i}");
            assert_eq!(text(cube.slice(s![&at, .., &at])?)?, text(cube.slice(s![i, .., i])?)?, "{name}, {i}");
            let own = Scores(at.into_erased());
            assert_eq!(
                text(cube.slice(s![ragged::Ellipsis, &own])?)?,
                text(cube.slice(s![.., .., i])?)?,
                "{name}, {i}"
            );
        }
        let outside = cube.slice(s![.., &index(2)?]).and_then(|x| x.to_vec());
        assert!(outside.is_err(), "{name}");
        assert!(cube.slice(s![&index(0)?.expand_dims(0)?]).is_err(), "{name}: a vector");
        assert!(rows.slice(s![.., &index(0)?]).is_err(), "{name}: a ragged dimension");
    }
    Ok(())
}
