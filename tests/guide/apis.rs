//! The tensors of the current guide's section on TensorFlow's interfaces: the input of its Keras model, and its datasets
//! as rows of ragged tensors.

use ragged::{DType, Device, Result, Tensor, s};
use serde_json::json;

use super::{constant, dense, is_dense, is_hashed, prints};

/// The preprocessing of the Keras model's input. The model itself is not covered.
pub fn words_of_a_model(device: &Device) -> Result<()> {
    let sentences = dense(
        json!(["What makes you think she is a witch?", "She turned me into a newt.", "A newt?", "Well, I got better."]),
        device,
    );
    let words = sentences.string_split(" ")?;
    prints(
        &words,
        "<tf.RaggedTensor [[b'What', b'makes', b'you', b'think', b'she', b'is', b'a', b'witch?'], [b'She', \
         b'turned', b'me', b'into', b'a', b'newt.'], [b'A', b'newt?'], [b'Well,', b'I', b'got', b'better.']]>",
    );
    let hashed = words.to_hash_bucket_fast(1000)?;
    assert_eq!((hashed.shape(), hashed.dtype()), (vec![Some(4), None], DType::I64));
    let words = [
        vec!["What", "makes", "you", "think", "she", "is", "a", "witch?"],
        vec!["She", "turned", "me", "into", "a", "newt."],
        vec!["A", "newt?"],
        vec!["Well,", "I", "got", "better."],
    ];
    is_hashed(&hashed, &words, 1000);
    is_dense(&dense(json!([true, false, true, false]), device), DType::Bool, json!([true, false, true, false]));
    Ok(())
}

/// The features `colors` and `lengths`, which the guide parses from `tf.Example` messages.
fn features(device: &Device) -> Result<[Tensor; 2]> {
    let colors = constant(json!([["red", "blue"], ["orange"], ["black", "yellow"], ["green"]]), device);
    let lengths = constant(json!([[7], [], [1, 3], [3, 5, 2]]), device).cast(DType::I64)?;
    Ok([colors, lengths])
}

pub fn parsed_features(device: &Device) -> Result<()> {
    let [colors, lengths] = features(device)?;
    prints(&colors, "<tf.RaggedTensor [[b'red', b'blue'], [b'orange'], [b'black', b'yellow'], [b'green']]>");
    prints(&lengths, "<tf.RaggedTensor [[7], [], [1, 3], [3, 5, 2]]>");
    assert_eq!((colors.dtype(), lengths.dtype()), (DType::Str, DType::I64));
    Ok(())
}

/// `Dataset.from_tensor_slices`, `batch` and `unbatch`: rows, ranges of rows, and the rows of their concatenation.
pub fn elements_and_batches(device: &Device) -> Result<()> {
    let of_dataset = |colors: &Tensor, lengths: &Tensor| -> Result<()> {
        let want = [
            (json!(["red", "blue"]), json!([7])),
            (json!(["orange"]), json!([])),
            (json!(["black", "yellow"]), json!([1, 3])),
            (json!(["green"]), json!([3, 5, 2])),
        ];
        for (k, (row_of_colors, row_of_lengths)) in want.into_iter().enumerate() {
            is_dense(&colors.slice(s![k])?, DType::Str, row_of_colors);
            is_dense(&lengths.slice(s![k])?, DType::I64, row_of_lengths);
        }
        Ok(())
    };
    let [colors, lengths] = features(device)?;
    of_dataset(&colors, &lengths)?;

    let batches = |t: &Tensor| -> Result<[Tensor; 2]> { Ok([t.slice(s![..2])?, t.slice(s![2..4])?]) };
    let (colors, lengths) = (batches(&colors)?, batches(&lengths)?);
    prints(&colors[0], "<tf.RaggedTensor [[b'red', b'blue'], [b'orange']]>");
    prints(&lengths[0], "<tf.RaggedTensor [[7], []]>");
    prints(&colors[1], "<tf.RaggedTensor [[b'black', b'yellow'], [b'green']]>");
    prints(&lengths[1], "<tf.RaggedTensor [[1, 3], [3, 5, 2]]>");

    of_dataset(&Tensor::concat(&colors, 0)?, &Tensor::concat(&lengths, 0)?)
}

/// `dense_to_ragged_batch` stacks dense rows of different lengths, here those of `map(tf.range)`.
pub fn batches_of_dense_rows(device: &Device) -> Result<()> {
    let limits = dense(json!([1, 5, 3, 2, 8]), device);
    let rows = (0..5).map(|k| limits.slice(s![k])?.range()?.slice(s![0])).collect::<Result<Vec<_>>>()?;
    assert!(rows.iter().all(|row| row.ragged_rank() == 0 && row.rank() == 1));
    let batches = rows.chunks(2).map(|rows| Tensor::stack(rows, 0)).collect::<Result<Vec<_>>>()?;
    let want = [
        "<tf.RaggedTensor [[0], [0, 1, 2, 3, 4]]>",
        "<tf.RaggedTensor [[0, 1, 2], [0, 1]]>",
        "<tf.RaggedTensor [[0, 1, 2, 3, 4, 5, 6, 7]]>",
    ];
    assert_eq!(batches.len(), want.len());
    batches.iter().zip(want).for_each(|(batch, want)| prints(batch, want));
    Ok(())
}

/// The function `transform_lengths` of the guide, applied to each element of the dataset.
///
/// TensorFlow's mean of a dense row of integers is an integer: the guide prints 7, 0, 2 and 3. Here it is the f64 that
/// TensorFlow computes for ragged integers, NaN for the empty row.
pub fn functions_of_elements(device: &Device) -> Result<()> {
    let [_, lengths] = features(device)?;
    let want = [
        ("tensor(7.0, shape=(), dtype=f64)", "<tf.RaggedTensor [[0, 1, 2, 3, 4, 5, 6]]>"),
        ("tensor(nan, shape=(), dtype=f64)", "<tf.RaggedTensor []>"),
        ("tensor(2.0, shape=(), dtype=f64)", "<tf.RaggedTensor [[0], [0, 1, 2]]>"),
        ("tensor(3.3333333333333335, shape=(), dtype=f64)", "<tf.RaggedTensor [[0, 1, 2], [0, 1, 2, 3, 4], [0, 1]]>"),
    ];
    for (k, (mean, ranges)) in want.into_iter().enumerate() {
        let row = lengths.slice(s![k])?;
        assert_eq!(row.reduce_mean(0)?.to_string(), mean, "on {device:?}");
        prints(&row.range()?, ranges);
    }
    Ok(())
}
