//! An older version of the guide: only the cells that the current one does not have.

use ragged::{DType, Result, Tensor, s};
use serde_json::json;

use super::{constant, constant_of_rank, dense, everywhere, is_dense, prints};

#[test]
fn constructing_them() {
    everywhere(|device| {
        let values = dense(json!([3, 1, 4, 1, 5, 9, 2, 6]), device);
        let want = "<tf.RaggedTensor [[3, 1, 4, 1], [], [5, 9, 2], [6]]>";
        prints(&Tensor::from_value_rowids(&values, [0, 0, 0, 0, 2, 2, 2, 3], None)?, want);
        prints(&Tensor::from_row_lengths(&values, [4, 0, 3, 1])?, want);
        prints(&Tensor::from_row_splits(&values, [0, 4, 4, 7, 8])?, want);
        Ok(())
    });
}

/// The use case looks its embeddings up with `map_flat_values`.
#[test]
fn looking_up_flat_values() {
    everywhere(|device| {
        let queries = constant(json!([["Who", "is", "Dan", "Smith"], ["Pause"]]), device);
        let table = dense(json!([[0.5, 1.0], [1.5, 2.0], [2.5, 3.0], [3.5, 4.0], [4.5, 5.0]]), device);
        let buckets = queries.to_hash_bucket_fast(5)?;
        let looked_up = buckets.map_flat_values(|ids| table.embedding_lookup(ids))?;
        assert_eq!(looked_up.shape(), [Some(2), None, Some(2)]);
        assert_eq!(looked_up.to_string(), table.embedding_lookup(&buckets)?.to_string());
        Ok(())
    });
}

#[test]
fn conversions() {
    everywhere(|device| {
        let sentences = constant(json!([["Hi"], ["Welcome", "to", "the", "fair"], ["Have", "fun"]]), device);
        is_dense(
            &sentences.to_tensor("", None)?,
            DType::Str,
            json!([["Hi", "", "", ""], ["Welcome", "to", "the", "fair"], ["Have", "fun", "", ""]]),
        );
        let rt = constant(json!([[1, 2], [3, 4, 5], [6], [], [7]]), device);
        is_dense(&rt.slice(s![1])?, DType::I32, json!([3, 4, 5]));
        Ok(())
    });
}

/// Without `ragged_rank`, the inner dimensions are ragged too.
#[test]
fn broadcasting_with_an_inner_dimension() {
    everywhere(|device| {
        let x = constant_of_rank(json!([[[1, 2], [3, 4], [5, 6]], [[7, 8]]]), Some(1), device);
        assert_eq!(x.shape(), [Some(2), None, Some(2)]);
        prints(
            &(&x + &dense(json!([[10]]), device))?,
            "<tf.RaggedTensor [[[11, 12], [13, 14], [15, 16]], [[17, 18]]]>",
        );
        Ok(())
    });
}

#[test]
fn every_encoding_of_one_tensor() {
    everywhere(|device| {
        let values = dense(json!([3, 1, 4, 1, 5, 9, 2, 6]), device);
        let want = "<tf.RaggedTensor [[3, 1, 4, 1], [], [5, 9, 2], [6], []]>";
        prints(&Tensor::from_row_splits(&values, [0, 4, 4, 7, 8, 8])?, want);
        prints(&Tensor::from_row_lengths(&values, [4, 0, 3, 1, 0])?, want);
        prints(&Tensor::from_row_starts(&values, [0, 4, 4, 7, 8])?, want);
        prints(&Tensor::from_row_limits(&values, [4, 4, 7, 8, 8])?, want);
        prints(&Tensor::from_value_rowids(&values, [0, 0, 0, 0, 2, 2, 2, 3], Some(5))?, want);

        let rt = constant(json!([[3, 1, 4, 1], [], [5, 9, 2], [6], []]), device);
        let all = |t: Result<Tensor>, dtype, values| is_dense(&t.expect("recorded"), dtype, values);
        all(rt.values(), DType::I32, json!([3, 1, 4, 1, 5, 9, 2, 6]));
        all(rt.row_splits(), DType::I64, json!([0, 4, 4, 7, 8, 8]));
        all(rt.row_lengths(1), DType::I64, json!([4, 0, 3, 1, 0]));
        all(rt.row_starts(), DType::I64, json!([0, 4, 4, 7, 8]));
        all(rt.row_limits(), DType::I64, json!([4, 4, 7, 8, 8]));
        all(rt.value_rowids(), DType::I64, json!([0, 0, 0, 0, 2, 2, 2, 3]));
        Ok(())
    });
}
