//! The guide as of TensorFlow 2.11.

use ragged::{DType, Error, HostTensor, HostValues, RaggedShape, Result, RowPartition, SparseTensor, Tensor, s};
use serde_json::json;

use super::{constant, constant_of_rank, dense, everywhere, is_dense, prints};

#[test]
fn what_can_be_done_with_them() {
    everywhere(|device| {
        let digits = constant(json!([[3, 1, 4, 1], [], [5, 9, 2], [6], []]), device);
        prints(&digits.add(3)?, "<tf.RaggedTensor [[6, 4, 7, 4], [], [8, 12, 5], [9], []]>");
        let mean = digits.reduce_mean(1, false)?;
        assert_eq!(mean.to_string(), "tensor([2.25, nan, 5.333333333333333, 6.0, nan], shape=(5,), dtype=f64)");
        let more = constant(json!([[5, 3]]), device);
        prints(
            &Tensor::concat(&[&digits, &more], 0)?,
            "<tf.RaggedTensor [[3, 1, 4, 1], [], [5, 9, 2], [6], [], [5, 3]]>",
        );
        prints(
            &digits.tile(&[1, 2])?,
            "<tf.RaggedTensor [[3, 1, 4, 1, 3, 1, 4, 1], [], [5, 9, 2, 5, 9, 2], [6, 6], []]>",
        );
        prints(&digits.map_rows(|row| row.square())?, "<tf.RaggedTensor [[9, 1, 16, 1], [], [25, 81, 4], [36], []]>");

        is_dense(&digits.slice(s![0])?, DType::I32, json!([3, 1, 4, 1]));
        prints(&digits.slice(s![.., ..2])?, "<tf.RaggedTensor [[3, 1], [], [5, 9], [6], []]>");
        prints(&digits.slice(s![.., -2..])?, "<tf.RaggedTensor [[4, 1], [], [9, 2], [6], []]>");

        prints(&(&digits + 3)?, "<tf.RaggedTensor [[6, 4, 7, 4], [], [8, 12, 5], [9], []]>");
        let other = constant(json!([[1, 2, 3, 4], [], [5, 6, 7], [8], []]), device);
        prints(&(&digits + &other)?, "<tf.RaggedTensor [[4, 3, 7, 5], [], [10, 15, 9], [14], []]>");

        let mapped = digits.map_flat_values(|x| (x * 2)? + 1)?;
        prints(&mapped, "<tf.RaggedTensor [[7, 3, 9, 3], [], [11, 19, 5], [13], []]>");

        assert_eq!(digits.to_nested()?.to_string(), "[[3, 1, 4, 1], [], [5, 9, 2], [6], []]");
        Ok(())
    });
}

#[test]
fn constructing_them() {
    everywhere(|device| {
        prints(
            &constant(
                json!([
                    ["Let's", "build", "some", "ragged", "tensors", "!"],
                    ["We", "can", "use", "tf.ragged.constant", "."]
                ]),
                device,
            ),
            "<tf.RaggedTensor [[b\"Let's\", b'build', b'some', b'ragged', b'tensors', b'!'], [b'We', b'can', b'use', \
             b'tf.ragged.constant', b'.']]>",
        );
        prints(
            &constant(
                json!([
                    [["I", "have", "a", "cat"], ["His", "name", "is", "Mat"]],
                    [["Do", "you", "want", "to", "come", "visit"], ["I'm", "free", "tomorrow"]],
                ]),
                device,
            ),
            "<tf.RaggedTensor [[[b'I', b'have', b'a', b'cat'], [b'His', b'name', b'is', b'Mat']], [[b'Do', b'you', \
             b'want', b'to', b'come', b'visit'], [b\"I'm\", b'free', b'tomorrow']]]>",
        );
        let values = dense(json!([3, 1, 4, 1, 5, 9, 2]), device);
        let want = "<tf.RaggedTensor [[3, 1, 4, 1], [], [5, 9], [2]]>";
        prints(&Tensor::from_value_rowids(&values, [0, 0, 0, 0, 2, 2, 3], None)?, want);
        prints(&Tensor::from_row_lengths(&values, [4, 0, 2, 1])?, want);
        prints(&Tensor::from_row_splits(&values, [0, 4, 4, 6, 7])?, want);
        Ok(())
    });
}

#[test]
fn what_they_can_hold() {
    everywhere(|device| {
        let words = constant(json!([["Hi"], ["How", "are", "you"]]), device);
        prints(&words, "<tf.RaggedTensor [[b'Hi'], [b'How', b'are', b'you']]>");
        let numbers = constant(json!([[[1, 2], [3]], [[4, 5]]]), device);
        prints(&numbers, "<tf.RaggedTensor [[[1, 2], [3]], [[4, 5]]]>");

        let constant = |v| Tensor::constant(&super::nested(&v), &Default::default(), device);
        // "Can't convert Python sequence with mixed types to Tensor."
        assert!(matches!(
            constant(json!([["one", "two"], [3, 4]])),
            Err(Error::Nesting { .. } | Error::Argument { .. })
        ));
        // "all scalar values must have the same nesting depth"
        let uneven = constant(json!(["A", ["B", "C"]])).expect_err("two depths");
        assert!(matches!(&uneven, Error::Nesting { what, .. } if what.contains("depth")), "{uneven}");
        Ok(())
    });
}

/// The embedding table is random in the guide; the conformance case `seed_bigram_pipeline` compares with TensorFlow's
/// result for a fixed one, this with the mean worked out by hand.
#[test]
fn use_case() {
    everywhere(|device| {
        let (buckets, size) = (1024usize, 4usize);
        let table: Vec<f32> = (0..buckets * size).map(|k| ((k * 2_654_435_761) % 1999) as f32 / 999.5 - 1.0).collect();
        let queries = [vec!["Who", "is", "Dan", "Smith"], vec!["Pause"], vec!["Will", "it", "rain", "later", "today"]];
        let embedding_table = HostTensor::dense(&[buckets, size], HostValues::F32(table.clone())).to_device(device)?;
        let words = constant(json!(queries), device);

        let word_buckets = words.to_hash_bucket_fast(buckets as i64)?;
        let word_embeddings = embedding_table.embedding_lookup(&word_buckets)?;
        let marker = words.fill_rows(1, "#")?;
        let padded = Tensor::concat(&[&marker, &words, &marker], 1)?;
        let bigrams = Tensor::string_join(&[&padded.slice(s![.., ..-1])?, &padded.slice(s![.., 1..])?], "+")?;
        let bigram_buckets = bigrams.to_hash_bucket_fast(buckets as i64)?;
        let bigram_embeddings = embedding_table.embedding_lookup(&bigram_buckets)?;
        let all_embeddings = Tensor::concat(&[&word_embeddings, &bigram_embeddings], 1)?;
        let average = all_embeddings.reduce_mean(1, false)?;
        assert_eq!(average.shape(), [Some(3), Some(4)]);

        let HostValues::F32(average) = average.to_host()?.values else { panic!("floats") };
        let hashed = |t: &Tensor| -> Result<Vec<Vec<i64>>> { Ok(super::common::naive::rows::<i64>(&t.to_host()?)) };
        let (word_buckets, bigram_buckets) = (hashed(&word_buckets)?, hashed(&bigram_buckets)?);
        for (row, query) in queries.iter().enumerate() {
            let ids: Vec<i64> = word_buckets[row].iter().chain(&bigram_buckets[row]).copied().collect();
            assert_eq!(ids.len(), 2 * query.len() + 1);
            for d in 0..size {
                let sum: f64 = ids.iter().map(|&id| f64::from(table[id as usize * size + d])).sum();
                let want = sum / ids.len() as f64;
                assert!((f64::from(average[row * size + d]) - want).abs() < 1e-6);
            }
        }
        Ok(())
    });
}

#[test]
fn ragged_and_uniform_dimensions() {
    everywhere(|device| {
        let x = constant(json!([["Hi"], ["How", "are", "you"]]), device);
        assert_eq!(x.shape(), [Some(2), None]);
        is_dense(&x.bounding_shape()?, DType::I64, json!([2, 3]));
        Ok(())
    });
}

#[test]
fn ragged_is_not_sparse() {
    everywhere(|device| {
        let x = constant(json!([["John"], ["a", "big", "dog"], ["my", "cat"]]), device);
        let y = constant(json!([["fell", "asleep"], ["barked"], ["is", "fuzzy"]]), device);
        prints(
            &Tensor::concat(&[&x, &y], 1)?,
            "<tf.RaggedTensor [[b'John', b'fell', b'asleep'], [b'a', b'big', b'dog', b'barked'], [b'my', b'cat', b'is', \
             b'fuzzy']]>",
        );
        let joined = SparseTensor::concat(&[&x.to_sparse()?, &y.to_sparse()?], 1)?;
        is_dense(
            &joined.to_dense("")?,
            DType::Str,
            json!([
                ["John", "", "", "fell", "asleep"],
                ["a", "big", "dog", "barked", ""],
                ["my", "cat", "", "is", "fuzzy"]
            ]),
        );
        Ok(())
    });
}

/// Functions work on dense and ragged tensors alike; there is nothing to trace.
#[test]
fn functions() {
    let make_palindrome = |x: &Tensor, axis: i64| Tensor::concat(&[x, &x.reverse(axis)?], axis);
    let max_and_min = |x: &Tensor| -> Result<_> { Ok((x.reduce_max(-1, false)?, x.reduce_min(-1, false)?)) };
    everywhere(|device| {
        let rectangle = dense(json!([[1, 2], [3, 4], [5, 6]]), device);
        is_dense(&make_palindrome(&rectangle, 1)?, DType::I32, json!([[1, 2, 2, 1], [3, 4, 4, 3], [5, 6, 6, 5]]));
        let x = constant(json!([[1, 2], [3], [4, 5, 6]]), device);
        prints(&make_palindrome(&x, 1)?, "<tf.RaggedTensor [[1, 2, 2, 1], [3, 3], [4, 5, 6, 6, 5, 4]]>");
        let (max, min) = max_and_min(&x)?;
        is_dense(&max, DType::I32, json!([2, 3, 6]));
        is_dense(&min, DType::I32, json!([1, 3, 4]));
        prints(&(&x + 1)?, "<tf.RaggedTensor [[2, 3], [4], [5, 6, 7]]>");
        let grow = (&constant(json!([[1.0, 4.0, 3.0], [2.0]]), device) * 100.0f32)?;
        prints(&grow, "<tf.RaggedTensor [[100.0, 400.0, 300.0], [200.0]]>");
        Ok(())
    });
}

#[test]
fn overloaded_operators() {
    everywhere(|device| {
        let x = constant(json!([[1, 2], [3], [4, 5, 6]]), device);
        let y = constant(json!([[1, 1], [2], [3, 3, 3]]), device);
        prints(&(&x + &y)?, "<tf.RaggedTensor [[2, 3], [5], [7, 8, 9]]>");
        prints(&(&x + 3)?, "<tf.RaggedTensor [[4, 5], [6], [7, 8, 9]]>");
        Ok(())
    });
}

#[test]
fn indexing() {
    everywhere(|device| {
        let queries = constant(
            json!([["Who", "is", "George", "Washington"], ["What", "is", "the", "weather", "tomorrow"], ["Goodnight"]]),
            device,
        );
        is_dense(&queries.slice(s![1])?, DType::Str, json!(["What", "is", "the", "weather", "tomorrow"]));
        is_dense(&queries.slice(s![1, 2])?, DType::Str, json!("the"));
        prints(
            &queries.slice(s![1..])?,
            "<tf.RaggedTensor [[b'What', b'is', b'the', b'weather', b'tomorrow'], [b'Goodnight']]>",
        );
        prints(
            &queries.slice(s![.., ..3])?,
            "<tf.RaggedTensor [[b'Who', b'is', b'George'], [b'What', b'is', b'the'], [b'Goodnight']]>",
        );
        prints(
            &queries.slice(s![.., -2..])?,
            "<tf.RaggedTensor [[b'George', b'Washington'], [b'weather', b'tomorrow'], [b'Goodnight']]>",
        );

        let rt = constant(json!([[[1, 2, 3], [4]], [[5], [], [6]], [[7]], [[8, 9], [10]]]), device);
        prints(&rt.slice(s![1])?, "<tf.RaggedTensor [[5], [], [6]]>");
        is_dense(&rt.slice(s![3, 0])?, DType::I32, json!([8, 9]));
        prints(&rt.slice(s![.., 1..3])?, "<tf.RaggedTensor [[[4]], [[], [6]], [], [[10]]]>");
        prints(&rt.slice(s![.., -1..])?, "<tf.RaggedTensor [[[4]], [[6]], [[7]], [[10]]]>");
        // The guide: indexing into a ragged dimension is not allowed.
        assert!(matches!(rt.slice(s![.., 0]), Err(Error::Argument { .. } | Error::Index { .. })));
        Ok(())
    });
}

#[test]
fn conversions() {
    everywhere(|device| {
        let sentences = constant(json!([["Hi"], ["Welcome", "to", "the", "fair"], ["Have", "fun"]]), device);
        is_dense(
            &sentences.to_tensor("", Some(&[None, Some(10)]))?,
            DType::Str,
            json!([
                ["Hi", "", "", "", "", "", "", "", "", ""],
                ["Welcome", "to", "the", "fair", "", "", "", "", "", ""],
                ["Have", "fun", "", "", "", "", "", "", "", ""]
            ]),
        );
        let x = dense(json!([[1, 3, -1, -1], [2, -1, -1, -1], [4, 5, 8, 9]]), device);
        let padding = dense(json!(-1), device);
        prints(&Tensor::from_tensor_with_padding(&x, &padding, 1)?, "<tf.RaggedTensor [[1, 3], [2], [4, 5, 8, 9]]>");
        let sparse = sentences.to_sparse()?;
        is_dense(sparse.indices(), DType::I64, json!([[0, 0], [1, 0], [1, 1], [1, 2], [1, 3], [2, 0], [2, 1]]));
        is_dense(sparse.values(), DType::Str, json!(["Hi", "Welcome", "to", "the", "fair", "Have", "fun"]));
        assert_eq!(sparse.dense_shape(), [3, 4]);
        let indices = dense(json!([[0, 0], [2, 0], [2, 1]]), device).cast(DType::I64)?;
        let st = SparseTensor::new(indices, dense(json!(["a", "b", "c"]), device), &[3, 3])?;
        prints(&Tensor::from_sparse(&st)?, "<tf.RaggedTensor [[b'a'], [], [b'b', b'c']]>");
        Ok(())
    });
}

#[test]
fn evaluating_them() {
    everywhere(|device| {
        let rt = constant(json!([[1, 2], [3, 4, 5], [6], [], [7]]), device);
        assert_eq!(rt.to_nested()?.to_string(), "[[1, 2], [3, 4, 5], [6], [], [7]]");
        is_dense(&rt.values()?, DType::I32, json!([1, 2, 3, 4, 5, 6, 7]));
        is_dense(&rt.row_splits()?, DType::I64, json!([0, 2, 5, 6, 6, 7]));
        is_dense(&rt.slice(s![1])?, DType::I32, json!([3, 4, 5]));
        Ok(())
    });
}

#[test]
fn shapes() {
    everywhere(|device| {
        assert_eq!(dense(json!([[1, 2], [3, 4], [5, 6]]), device).shape(), [Some(3), Some(2)]);
        assert_eq!(constant(json!([[1], [2, 3], [], [4]]), device).shape(), [Some(4), None]);
        let x = dense(json!([["a", "b"], ["c", "d"], ["e", "f"]]), device);
        assert_eq!(x.ragged_shape().lengths()?, [3.into(), 2.into()]);

        let rt = constant(json!([[1], [2, 3, 4], [], [5, 6]]), device);
        let rt_shape = rt.ragged_shape();
        // <DynamicRaggedShape lengths=[4, (1, 3, 0, 2)] num_row_partitions=1>
        assert_eq!(rt_shape.lengths()?, [4.into(), [1, 3, 0, 2].into()]);
        assert_eq!(rt_shape.ragged_rank(), 1);
        prints(&x.reshape(rt_shape)?, "<tf.RaggedTensor [[b'a'], [b'b', b'c', b'd'], [], [b'e', b'f']]>");
        let zeros = Tensor::zeros(rt_shape, DType::F32)?;
        prints(&zeros, "<tf.RaggedTensor [[0.0], [0.0, 0.0, 0.0], [], [0.0, 0.0]]>");
        let ones = Tensor::ones(rt_shape, DType::F32)?;
        prints(&ones, "<tf.RaggedTensor [[1.0], [1.0, 1.0, 1.0], [], [1.0, 1.0]]>");
        prints(&Tensor::fill(rt_shape, "x")?, "<tf.RaggedTensor [[b'x'], [b'x', b'x', b'x'], [], [b'x', b'x']]>");

        is_dense(&rt_shape.size(0)?.cast(DType::I32)?, DType::I32, json!(4));
        // "Index 1 is not uniform"
        let refused = rt_shape.size(1).expect_err("a ragged dimension has no size");
        assert!(refused.to_string().contains("not uniform") || refused.to_string().contains("ragged"), "{refused}");
        let first = rt_shape.slice(..1)?;
        assert_eq!((first.lengths()?, first.ragged_rank()), (vec![4.into()], 0));

        // <DynamicRaggedShape lengths=[3, (5, 3, 2), 8] num_row_partitions=1>
        let rows = RowPartition::from_row_lengths([5, 3, 2], device)?;
        let made = RaggedShape::from_row_partitions(&[rows], &[10, 8], device)?;
        assert_eq!((made.lengths()?, made.ragged_rank()), (vec![3.into(), [5, 3, 2].into(), 8.into()], 1));
        // <DynamicRaggedShape lengths=[4, (2, 1, 0, 8), 12] num_row_partitions=1>
        let made = RaggedShape::from_lengths(&[4.into(), [2, 1, 0, 8].into(), 12.into()], device)?;
        assert_eq!((made.lengths()?, made.ragged_rank()), (vec![4.into(), [2, 1, 0, 8].into(), 12.into()], 1));
        Ok(())
    });
}

#[test]
fn broadcasting() {
    everywhere(|device| {
        // x: 2 x (num_rows), y: scalar, result: 2 x (num_rows)
        let x = constant(json!([[1, 2], [3]]), device);
        prints(&(&x + &dense(json!(3), device))?, "<tf.RaggedTensor [[4, 5], [6]]>");
        // x: 3 x (num_rows), y: 3 x 1, result: 3 x (num_rows)
        let x = constant(json!([[10, 87, 12], [19, 53], [12, 32]]), device);
        let y = dense(json!([[1000], [2000], [3000]]), device);
        prints(&(&x + &y)?, "<tf.RaggedTensor [[1010, 1087, 1012], [2019, 2053], [3012, 3032]]>");
        // x: 2 x (r1) x 2, y: 1 x 1, result: 2 x (r1) x 2
        let x = constant_of_rank(json!([[[1, 2], [3, 4], [5, 6]], [[7, 8]]]), Some(1), device);
        let y = dense(json!([[10]]), device);
        prints(&(&x + &y)?, "<tf.RaggedTensor [[[11, 12], [13, 14], [15, 16]], [[17, 18]]]>");
        // x: 2 x (r1) x (r2) x 1, y: 3, result: 2 x (r1) x (r2) x 3
        let x = json!([[[[1], [2]], [], [[3]], [[4]]], [[[5], [6]], [[7]]]]);
        let x = constant_of_rank(x, Some(2), device);
        let y = dense(json!([10, 20, 30]), device);
        prints(
            &(&x + &y)?,
            "<tf.RaggedTensor [[[[11, 21, 31], [12, 22, 32]], [], [[13, 23, 33]], [[14, 24, 34]]], [[[15, 25, 35], \
             [16, 26, 36]], [[17, 27, 37]]]]>",
        );

        // The shapes that do not broadcast: x is 3 x (r1), y 3 x 4, then 3 x (r2); then 3 x (r1) x 2 and 3 x (r1) x 3.
        let fails = |x: &Tensor, y: &Tensor| {
            let failed = (x + y).and_then(|t| t.to_host()).expect_err("shapes that do not broadcast");
            assert!(matches!(failed, Error::Shape { .. } | Error::Check { .. }), "{failed}");
        };
        fails(
            &constant(json!([[1, 2], [3, 4, 5, 6], [7]]), device),
            &dense(json!([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]), device),
        );
        fails(&constant(json!([[1, 2, 3], [4], [5, 6]]), device), &constant(json!([[10, 20], [30, 40], [50]]), device));
        fails(
            &constant(json!([[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 10]]]), device),
            &constant(json!([[[1, 2, 0], [3, 4, 0], [5, 6, 0]], [[7, 8, 0], [9, 10, 0]]]), device),
        );
        Ok(())
    });
}

#[test]
fn encodings() {
    everywhere(|device| {
        let values = dense(json!([3, 1, 4, 1, 5, 9, 2]), device);
        let rt = Tensor::from_row_splits(&values, [0, 4, 4, 6, 7])?;
        prints(&rt, "<tf.RaggedTensor [[3, 1, 4, 1], [], [5, 9], [2]]>");

        let ten = dense(json!([10, 11, 12, 13, 14, 15, 16, 17, 18, 19]), device);
        let inside = Tensor::from_row_splits(&ten, [0, 3, 3, 5, 9, 10])?;
        let rt = Tensor::from_row_splits(&inside, [0, 1, 1, 5])?;
        let printed = "<tf.RaggedTensor [[[10, 11, 12]], [], [[], [13, 14], [15, 16, 17, 18], [19]]]>";
        prints(&rt, printed);
        assert_eq!((rt.shape(), rt.ragged_rank()), (vec![Some(3), None, None], 2));
        let splits: [&[i64]; 2] = [&[0, 1, 1, 5], &[0, 3, 3, 5, 9, 10]];
        prints(&Tensor::from_nested_row_splits(&ten, splits)?, printed);

        let conversations = constant(
            json!([
                [
                    [["I", "like", "ragged", "tensors."]],
                    [["Oh", "yeah?"], ["What", "can", "you", "use", "them", "for?"]],
                    [["Processing", "variable", "length", "data!"]]
                ],
                [[["I", "like", "cheese."], ["Do", "you?"]], [["Yes."], ["I", "do."]]]
            ]),
            device,
        );
        assert_eq!(conversations.shape(), [Some(2), None, None, None]);
        assert_eq!(conversations.ragged_rank(), conversations.nested_row_splits()?.len());
        assert_eq!(conversations.ragged_rank(), 3);
        is_dense(
            &conversations.flat_values()?,
            DType::Str,
            json!([
                "I",
                "like",
                "ragged",
                "tensors.",
                "Oh",
                "yeah?",
                "What",
                "can",
                "you",
                "use",
                "them",
                "for?",
                "Processing",
                "variable",
                "length",
                "data!",
                "I",
                "like",
                "cheese.",
                "Do",
                "you?",
                "Yes.",
                "I",
                "do."
            ]),
        );

        let pairs = dense(json!([[1, 3], [0, 0], [1, 3], [5, 3], [3, 3], [1, 2]]), device);
        let rt = Tensor::from_row_splits(&pairs, [0, 3, 4, 6])?;
        prints(&rt, "<tf.RaggedTensor [[[1, 3], [0, 0], [1, 3]], [[5, 3]], [[3, 3], [1, 2]]]>");
        assert_eq!((rt.shape(), rt.ragged_rank()), (vec![Some(3), None, Some(2)], 1));
        assert_eq!(rt.flat_values()?.shape(), [Some(6), Some(2)]);
        is_dense(&rt.flat_values()?, DType::I32, json!([[1, 3], [0, 0], [1, 3], [5, 3], [3, 3], [1, 2]]));

        let rows = Tensor::from_row_splits(&ten, [0, 3, 5, 9, 10])?;
        let rt = Tensor::from_uniform_row_length(&rows, 2, None)?;
        prints(&rt, "<tf.RaggedTensor [[[10, 11, 12], [13, 14]], [[15, 16, 17, 18], [19]]]>");
        assert_eq!((rt.shape(), rt.ragged_rank()), (vec![Some(2), Some(2), None], 2));
        Ok(())
    });
}
