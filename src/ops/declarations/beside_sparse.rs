//! Declarations of the operations of tensors that are written by hand beside sparse tensors.

use crate::element::{IntegerElement, Number};
use crate::ops::operations;

operations! {
    /// Sparse tensors from indices.
    const BINCOUNT_SPARSE: family "Counts" on RaggedTensor<T> where T: Number;

    /// The sums of `bincount_weighted` along axis 0 or 1 of the integers that occur, as a sparse tensor sorted
    /// by row and value.
    fn bincount_sparse_weighted(
        &self,
        weights: &impl AsRef<Tensor>,
        axis: impl IntoAxes as axes,
        bins: impl Into<Bins>,
    ) -> (Sparse {weights});
    tensorflow "tf.sparse.bincount(…, weights=…)";
    waits "for the largest value, unless the number of bins is given";
    gradient yes;
    tensor hand;
    typed hand;
    row none "a sparse tensor is one of all rows";
}

operations! {
    /// Dense tensors from coordinates.
    const SPARSE_TO_DENSE: family "Indexing and gathering" on RaggedTensor<T> where T: IntegerElement;

    /// The dense tensor of shape `output_shape` with `values` at the coordinates in this tensor, and `default`
    /// elsewhere.
    fn sparse_to_dense<'a>(
        &self,
        output_shape: &[impl Integer],
        values: impl IntoOperand<'a>,
        default: impl Into<Fill>,
    ) -> {values};
    tensorflow "tf.compat.v1.sparse_to_dense";
    gradient yes;
    tensor hand;
    typed none "the dtype is that of the values";
    row none "a dense result has all rows";
}
