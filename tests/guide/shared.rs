//! The sections of both versions of the guide, with the printed results of the current one.

use ragged::{DType, Device, Error, HostTensor, HostValues, Result, SparseTensor, Tensor, s};
use serde_json::json;

use super::{constant, constant_of_rank, dense, is_dense, is_hashed, prints};

pub fn operations(device: &Device) -> Result<()> {
    let digits = constant(json!([[3, 1, 4, 1], [], [5, 9, 2], [6], []]), device);
    prints(&digits.add(3)?, "<tf.RaggedTensor [[6, 4, 7, 4], [], [8, 12, 5], [9], []]>");
    let mean = digits.reduce_mean(1)?;
    assert_eq!(mean.to_string(), "tensor([2.25, nan, 5.333333333333333, 6.0, nan], shape=(5,), dtype=f64)");
    let more = constant(json!([[5, 3]]), device);
    prints(&Tensor::concat(&[&digits, &more], 0)?, "<tf.RaggedTensor [[3, 1, 4, 1], [], [5, 9, 2], [6], [], [5, 3]]>");
    prints(&digits.tile(&[1, 2])?, "<tf.RaggedTensor [[3, 1, 4, 1, 3, 1, 4, 1], [], [5, 9, 2, 5, 9, 2], [6, 6], []]>");
    let words = constant(json!([["So", "long"], ["thanks", "for", "all", "the", "fish"]]), device);
    prints(&words.substr(0, 2)?, "<tf.RaggedTensor [[b'So', b'lo'], [b'th', b'fo', b'al', b'th', b'fi']]>");
    Ok(())
}

pub fn slices_and_operators(device: &Device) -> Result<()> {
    let digits = constant(json!([[3, 1, 4, 1], [], [5, 9, 2], [6], []]), device);
    is_dense(&digits.slice(s![0])?, DType::I32, json!([3, 1, 4, 1]));
    prints(&digits.slice(s![.., ..2])?, "<tf.RaggedTensor [[3, 1], [], [5, 9], [6], []]>");
    prints(&digits.slice(s![.., -2..])?, "<tf.RaggedTensor [[4, 1], [], [9, 2], [6], []]>");

    prints(&(&digits + 3)?, "<tf.RaggedTensor [[6, 4, 7, 4], [], [8, 12, 5], [9], []]>");
    let other = constant(json!([[1, 2, 3, 4], [], [5, 6, 7], [8], []]), device);
    prints(&(&digits + &other)?, "<tf.RaggedTensor [[4, 3, 7, 5], [], [10, 15, 9], [14], []]>");

    let mapped = digits.map_flat_values(|x| (x * 2)? + 1)?;
    prints(&mapped, "<tf.RaggedTensor [[7, 3, 9, 3], [], [11, 19, 5], [13], []]>");
    Ok(())
}

pub fn constants(device: &Device) -> Result<()> {
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
    Ok(())
}

pub fn what_they_can_hold(device: &Device) -> Result<()> {
    let words = constant(json!([["Hi"], ["How", "are", "you"]]), device);
    prints(&words, "<tf.RaggedTensor [[b'Hi'], [b'How', b'are', b'you']]>");
    let numbers = constant(json!([[[1, 2], [3]], [[4, 5]]]), device);
    prints(&numbers, "<tf.RaggedTensor [[[1, 2], [3]], [[4, 5]]]>");

    let constant = |v| Tensor::constant(&super::nested(&v), &Default::default(), device);
    // "Can't convert Python sequence with mixed types to Tensor."
    assert!(matches!(constant(json!([["one", "two"], [3, 4]])), Err(Error::Nesting { .. } | Error::Argument { .. })));
    // "all scalar values must have the same nesting depth"
    let uneven = constant(json!(["A", ["B", "C"]])).expect_err("two depths");
    assert!(matches!(&uneven, Error::Nesting { what, .. } if what.contains("depth")), "{uneven}");
    Ok(())
}

/// A function that looks up the embeddings of ids.
type Lookup = fn(&Tensor, &Tensor) -> Result<Tensor>;

/// The guide's embedding table is random. Here the mean is computed by hand; the conformance case
/// `seed_bigram_pipeline` compares with TensorFlow's result for a fixed table.
pub fn use_case(device: &Device, lookup: Lookup) -> Result<()> {
    let (buckets, size) = (1024usize, 4usize);
    let table: Vec<f32> = (0..buckets * size).map(|k| ((k * 2_654_435_761) % 1999) as f32 / 999.5 - 1.0).collect();
    let queries = [vec!["Who", "is", "Dan", "Smith"], vec!["Pause"], vec!["Will", "it", "rain", "later", "today"]];
    let embedding_table = HostTensor::dense(&[buckets, size], HostValues::F32(table.clone())).to_device(device)?;
    let words = constant(json!(queries), device);

    let word_buckets = words.to_hash_bucket_fast(buckets as i64)?;
    is_hashed(&word_buckets, &queries, buckets as u64);
    let word_embeddings = lookup(&embedding_table, &word_buckets)?;
    let marker = words.fill_rows(1, "#")?;
    is_dense(&marker, DType::Str, json!([["#"], ["#"], ["#"]]));
    let padded = Tensor::concat(&[&marker, &words, &marker], 1)?;
    prints(
        &padded,
        "<tf.RaggedTensor [[b'#', b'Who', b'is', b'Dan', b'Smith', b'#'], [b'#', b'Pause', b'#'], [b'#', b'Will', \
         b'it', b'rain', b'later', b'today', b'#']]>",
    );
    let bigrams = Tensor::string_join(&[&padded.slice(s![.., ..-1])?, &padded.slice(s![.., 1..])?], "+")?;
    prints(
        &bigrams,
        "<tf.RaggedTensor [[b'#+Who', b'Who+is', b'is+Dan', b'Dan+Smith', b'Smith+#'], [b'#+Pause', b'Pause+#'], \
         [b'#+Will', b'Will+it', b'it+rain', b'rain+later', b'later+today', b'today+#']]>",
    );
    let bigram_buckets = bigrams.to_hash_bucket_fast(buckets as i64)?;
    let bigram_embeddings = lookup(&embedding_table, &bigram_buckets)?;
    let all_embeddings = Tensor::concat(&[&word_embeddings, &bigram_embeddings], 1)?;
    assert_eq!((all_embeddings.shape(), all_embeddings.ragged_rank()), (vec![Some(3), None, Some(4)], 1));
    is_dense(&all_embeddings.row_lengths(1)?, DType::I64, json!([9, 3, 11]));
    let average = all_embeddings.reduce_mean(1)?;
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
}

pub fn ragged_and_uniform_dimensions(device: &Device) -> Result<()> {
    let x = constant(json!([["Hi"], ["How", "are", "you"]]), device);
    assert_eq!(x.shape(), [Some(2), None]);
    is_dense(&x.bounding_shape()?, DType::I64, json!([2, 3]));
    Ok(())
}

pub fn ragged_is_not_sparse(device: &Device) -> Result<()> {
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
}

pub fn overloaded_operators(device: &Device) -> Result<()> {
    let x = constant(json!([[1, 2], [3], [4, 5, 6]]), device);
    let y = constant(json!([[1, 1], [2], [3, 3, 3]]), device);
    prints(&(&x + &y)?, "<tf.RaggedTensor [[2, 3], [5], [7, 8, 9]]>");
    prints(&(&x + 3)?, "<tf.RaggedTensor [[4, 5], [6], [7, 8, 9]]>");
    Ok(())
}

pub fn indexing(device: &Device) -> Result<()> {
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
}

pub fn from_padded(device: &Device) -> Result<()> {
    let x = dense(json!([[1, 3, -1, -1], [2, -1, -1, -1], [4, 5, 8, 9]]), device);
    prints(&Tensor::from_tensor_with_padding(&x, -1)?, "<tf.RaggedTensor [[1, 3], [2], [4, 5, 8, 9]]>");
    Ok(())
}

pub fn to_sparse(device: &Device) -> Result<()> {
    let sentences = constant(json!([["Hi"], ["Welcome", "to", "the", "fair"], ["Have", "fun"]]), device);
    let sparse = sentences.to_sparse()?;
    is_dense(sparse.indices(), DType::I64, json!([[0, 0], [1, 0], [1, 1], [1, 2], [1, 3], [2, 0], [2, 1]]));
    is_dense(sparse.values(), DType::Str, json!(["Hi", "Welcome", "to", "the", "fair", "Have", "fun"]));
    assert_eq!(sparse.dense_shape(), [3, 4]);
    Ok(())
}

pub fn from_sparse(device: &Device) -> Result<()> {
    let indices = dense(json!([[0, 0], [2, 0], [2, 1]]), device).cast(DType::I64)?;
    let st = SparseTensor::new(&indices, &dense(json!(["a", "b", "c"]), device), &[3, 3])?;
    prints(&Tensor::from_sparse(&st)?, "<tf.RaggedTensor [[b'a'], [], [b'b', b'c']]>");
    Ok(())
}

pub fn broadcasting(device: &Device) -> Result<()> {
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
}

pub fn levels_of_rows(device: &Device) -> Result<()> {
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
    Ok(())
}

pub fn uniform_inner_dimension(device: &Device) -> Result<()> {
    let pairs = dense(json!([[1, 3], [0, 0], [1, 3], [5, 3], [3, 3], [1, 2]]), device);
    let rt = Tensor::from_row_splits(&pairs, [0, 3, 4, 6])?;
    prints(&rt, "<tf.RaggedTensor [[[1, 3], [0, 0], [1, 3]], [[5, 3]], [[3, 3], [1, 2]]]>");
    assert_eq!((rt.shape(), rt.ragged_rank()), (vec![Some(3), None, Some(2)], 1));
    assert_eq!(rt.flat_values()?.shape(), [Some(6), Some(2)]);
    is_dense(&rt.flat_values()?, DType::I32, json!([[1, 3], [0, 0], [1, 3], [5, 3], [3, 3], [1, 2]]));
    Ok(())
}
