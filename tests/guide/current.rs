//! The guide as of TensorFlow 2.11.

use ragged::opt::shaped;
use ragged::{DType, Device, RaggedShape, RaggedTensor, Result, RowPartition, Tensor, s};
use serde_json::json;

use super::{apis, constant, dense, functions, in_order, is_dense, prints, shared};

#[test]
fn every_cell_in_order() {
    in_order(&[
        ("operations", shared::operations),
        ("functions of rows", functions_of_rows),
        ("slices and operators", shared::slices_and_operators),
        ("nested lists", nested_lists),
        ("constants", shared::constants),
        ("factories", factories),
        ("what they can hold", shared::what_they_can_hold),
        ("use case", |device| shared::use_case(device, |table, ids| table.embedding_lookup(ids))),
        ("ragged and uniform dimensions", shared::ragged_and_uniform_dimensions),
        ("ragged is not sparse", shared::ragged_is_not_sparse),
        ("words of a model", apis::words_of_a_model),
        ("parsed features", apis::parsed_features),
        ("elements and batches", apis::elements_and_batches),
        ("batches of dense rows", apis::batches_of_dense_rows),
        ("functions of elements", apis::functions_of_elements),
        ("functions", functions::traced_functions),
        ("an input signature", functions::input_signature),
        ("concrete functions", functions::concrete_functions),
        ("saved modules", functions::saved_modules),
        ("overloaded operators", shared::overloaded_operators),
        ("indexing", shared::indexing),
        ("to a padded tensor", to_padded),
        ("from a padded tensor", shared::from_padded),
        ("to a sparse tensor", shared::to_sparse),
        ("from a sparse tensor", shared::from_sparse),
        ("evaluating", evaluating),
        ("shapes", shapes),
        ("broadcasting", shared::broadcasting),
        ("levels of rows", shared::levels_of_rows),
        ("ragged rank and flat values", ragged_rank_and_flat_values),
        ("uniform inner dimension", shared::uniform_inner_dimension),
        ("uniform dimension above a ragged one", uniform_dimension_above_a_ragged_one),
    ]);
}

fn functions_of_rows(device: &Device) -> Result<()> {
    let digits = constant(json!([[3, 1, 4, 1], [], [5, 9, 2], [6], []]), device);
    prints(&digits.map_rows(|row| row.square())?, "<tf.RaggedTensor [[9, 1, 16, 1], [], [25, 81, 4], [36], []]>");
    Ok(())
}

fn nested_lists(device: &Device) -> Result<()> {
    let digits = constant(json!([[3, 1, 4, 1], [], [5, 9, 2], [6], []]), device);
    assert_eq!(digits.to_nested()?.to_string(), "[[3, 1, 4, 1], [], [5, 9, 2], [6], []]");
    // `digits.numpy()`: an array of arrays.
    let rows: Vec<Vec<i32>> = RaggedTensor::<i32>::try_from(digits)?.to_nested_vec()?;
    assert_eq!(rows, [vec![3, 1, 4, 1], vec![], vec![5, 9, 2], vec![6], vec![]]);
    Ok(())
}

fn factories(device: &Device) -> Result<()> {
    let values = dense(json!([3, 1, 4, 1, 5, 9, 2]), device);
    let want = "<tf.RaggedTensor [[3, 1, 4, 1], [], [5, 9], [2]]>";
    prints(&Tensor::from_value_rowids(&values, [0, 0, 0, 0, 2, 2, 3])?, want);
    prints(&Tensor::from_row_lengths(&values, [4, 0, 2, 1])?, want);
    prints(&Tensor::from_row_splits(&values, [0, 4, 4, 6, 7])?, want);
    Ok(())
}

fn to_padded(device: &Device) -> Result<()> {
    let sentences = constant(json!([["Hi"], ["Welcome", "to", "the", "fair"], ["Have", "fun"]]), device);
    is_dense(
        &sentences.to_tensor(shaped("", [-1, 10]))?,
        DType::Str,
        json!([
            ["Hi", "", "", "", "", "", "", "", "", ""],
            ["Welcome", "to", "the", "fair", "", "", "", "", "", ""],
            ["Have", "fun", "", "", "", "", "", "", "", ""]
        ]),
    );
    Ok(())
}

fn evaluating(device: &Device) -> Result<()> {
    let rt = constant(json!([[1, 2], [3, 4, 5], [6], [], [7]]), device);
    assert_eq!(rt.to_nested()?.to_string(), "[[1, 2], [3, 4, 5], [6], [], [7]]");
    let rows: Vec<Vec<i32>> = RaggedTensor::<i32>::try_from(rt.clone())?.to_nested_vec()?;
    assert_eq!(rows, [vec![1, 2], vec![3, 4, 5], vec![6], vec![], vec![7]]);
    is_dense(&rt.values()?, DType::I32, json!([1, 2, 3, 4, 5, 6, 7]));
    is_dense(&rt.row_splits()?, DType::I64, json!([0, 2, 5, 6, 6, 7]));
    is_dense(&rt.slice(s![1])?, DType::I32, json!([3, 4, 5]));
    Ok(())
}

fn shapes(device: &Device) -> Result<()> {
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
}

fn ragged_rank_and_flat_values(device: &Device) -> Result<()> {
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
    Ok(())
}

fn uniform_dimension_above_a_ragged_one(device: &Device) -> Result<()> {
    let ten = dense(json!([10, 11, 12, 13, 14, 15, 16, 17, 18, 19]), device);
    let rows = Tensor::from_row_splits(&ten, [0, 3, 5, 9, 10])?;
    let rt = Tensor::from_uniform_row_length(&rows, 2)?;
    prints(&rt, "<tf.RaggedTensor [[[10, 11, 12], [13, 14]], [[15, 16, 17, 18], [19]]]>");
    assert_eq!((rt.shape(), rt.ragged_rank()), (vec![Some(2), Some(2), None], 2));
    Ok(())
}
