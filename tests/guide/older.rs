//! An older version of the guide, without printed results: cells that differ from the current guide are compared with
//! the results of TensorFlow.

use ragged::opt::with_nrows;
use ragged::{DType, Device, Result, Tensor, s};
use serde_json::json;

use super::{constant, dense, in_order, is_dense, prints, shared};

#[test]
fn every_cell_in_order() {
    in_order(&[
        ("operations", shared::operations),
        ("slices and operators", shared::slices_and_operators),
        ("constants", shared::constants),
        ("factories", factories),
        ("what they can hold", shared::what_they_can_hold),
        ("use case", |device| shared::use_case(device, look_up_flat_values)),
        ("ragged and uniform dimensions", shared::ragged_and_uniform_dimensions),
        ("ragged is not sparse", shared::ragged_is_not_sparse),
        ("overloaded operators", shared::overloaded_operators),
        ("indexing", shared::indexing),
        ("to a padded tensor", to_padded),
        ("to a sparse tensor", shared::to_sparse),
        ("from a padded tensor", shared::from_padded),
        ("from a sparse tensor", shared::from_sparse),
        ("evaluating", evaluating),
        ("broadcasting", shared::broadcasting),
        ("levels of rows", shared::levels_of_rows),
        ("uniform inner dimension", shared::uniform_inner_dimension),
        ("every encoding of one tensor", every_encoding_of_one_tensor),
    ]);
}

fn factories(device: &Device) -> Result<()> {
    let values = dense(json!([3, 1, 4, 1, 5, 9, 2, 6]), device);
    let want = "<tf.RaggedTensor [[3, 1, 4, 1], [], [5, 9, 2], [6]]>";
    prints(&Tensor::from_value_rowids(&values, [0, 0, 0, 0, 2, 2, 2, 3])?, want);
    prints(&Tensor::from_row_lengths(&values, [4, 0, 3, 1])?, want);
    prints(&Tensor::from_row_splits(&values, [0, 4, 4, 7, 8])?, want);
    Ok(())
}

/// The use case looks its embeddings up with `map_flat_values`.
fn look_up_flat_values(table: &Tensor, ids: &Tensor) -> Result<Tensor> {
    let found = ids.map_flat_values(|ids| table.embedding_lookup(ids))?;
    assert_eq!(found.shape(), [ids.shape()[0], None, table.shape()[1]]);
    Ok(found)
}

fn to_padded(device: &Device) -> Result<()> {
    let sentences = constant(json!([["Hi"], ["Welcome", "to", "the", "fair"], ["Have", "fun"]]), device);
    is_dense(
        &sentences.to_tensor("")?,
        DType::Str,
        json!([["Hi", "", "", ""], ["Welcome", "to", "the", "fair"], ["Have", "fun", "", ""]]),
    );
    Ok(())
}

fn evaluating(device: &Device) -> Result<()> {
    let rt = constant(json!([[1, 2], [3, 4, 5], [6], [], [7]]), device);
    assert_eq!(rt.to_nested()?.to_string(), "[[1, 2], [3, 4, 5], [6], [], [7]]");
    is_dense(&rt.slice(s![1])?, DType::I32, json!([3, 4, 5]));
    is_dense(&rt.values()?, DType::I32, json!([1, 2, 3, 4, 5, 6, 7]));
    is_dense(&rt.row_splits()?, DType::I64, json!([0, 2, 5, 6, 6, 7]));
    Ok(())
}

fn every_encoding_of_one_tensor(device: &Device) -> Result<()> {
    let values = dense(json!([3, 1, 4, 1, 5, 9, 2, 6]), device);
    let want = "<tf.RaggedTensor [[3, 1, 4, 1], [], [5, 9, 2], [6], []]>";
    prints(&Tensor::from_row_splits(&values, [0, 4, 4, 7, 8, 8])?, want);
    prints(&Tensor::from_row_lengths(&values, [4, 0, 3, 1, 0])?, want);
    prints(&Tensor::from_row_starts(&values, [0, 4, 4, 7, 8])?, want);
    prints(&Tensor::from_row_limits(&values, [4, 4, 7, 8, 8])?, want);
    prints(&Tensor::from_value_rowids(&values, with_nrows([0, 0, 0, 0, 2, 2, 2, 3], 5))?, want);

    let rt = constant(json!([[3, 1, 4, 1], [], [5, 9, 2], [6], []]), device);
    let all = |t: Result<Tensor>, dtype, values| is_dense(&t.expect("recorded"), dtype, values);
    all(rt.values(), DType::I32, json!([3, 1, 4, 1, 5, 9, 2, 6]));
    all(rt.row_splits(), DType::I64, json!([0, 4, 4, 7, 8, 8]));
    all(rt.row_lengths(1), DType::I64, json!([4, 0, 3, 1, 0]));
    all(rt.row_starts(), DType::I64, json!([0, 4, 4, 7, 8]));
    all(rt.row_limits(), DType::I64, json!([4, 4, 7, 8, 8]));
    all(rt.value_rowids(), DType::I64, json!([0, 0, 0, 0, 2, 2, 2, 3]));
    Ok(())
}
