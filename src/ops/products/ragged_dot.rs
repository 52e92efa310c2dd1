//! Products of groups of rows, each by a matrix of its own.

use crate::element::Arithmetic;
use crate::error::Result;
use crate::operation::named;
use crate::ops::operations;
use crate::tensor::{Integers, Tensor};

operations! {
    /// Products of groups of rows.
    const OPERATIONS: family "Products and segments" on RaggedTensor<T> where T: Arithmetic;

    /// The products of groups of consecutive rows with the matrix of their group.
    ///
    /// Shapes: rows `[n, k]`, whose first `group_sizes[0]` belong to group 0, the next `group_sizes[1]` to group 1, and so
    /// on; matrices `[groups, k, j]`. The result is `[n, j]`, dense unless an operand is ragged: ragged rows and matrices
    /// are rectangular, but matrices may differ in their columns, and the rows of the result then differ in length.
    ///
    /// Experts of a mixture, types of graph edges or clusters have a matrix each; rows in another order are sorted by group
    /// first, as by [`group_by_key`](Self::group_by_key). With the groups as rows of a ragged tensor, this is
    /// [`matmul`](Self::matmul) of `[groups, (n), k]` by `[groups, k, j]`.
    ///
    /// A group may be empty. The dtype stays: integers wrap, and those of 8 and 16 bits accumulate in 32 bits. NaN and
    /// infinities follow IEEE 754 and stay in their rows. Each row has the bits of the product of this row alone by its
    /// matrix, on every device.
    ///
    /// # Errors
    /// Rows of another rank than 2, matrices of another rank than 3; ragged ones that are not rectangular; different
    /// dtypes or devices; bools or strings; rows of another width than the matrices have rows; another number of group sizes
    /// than of matrices; sizes that are negative or do not add up to `n`, at the read where only the device knows them.
    ///
    /// # Cost
    /// One product, whose tiles are spread evenly for groups of any sizes, with a prefix sum of tile counts. No wait for
    /// dense matrices; ragged ones wait as in [`matmul`](Self::matmul).
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let rows = RaggedTensor::from_nested([[1, 2], [3, 4], [5, 6]], &device)?;
    /// let matrices = RaggedTensor::from_nested([[[1], [0]], [[7], [7]], [[0], [10]]], &device)?;
    /// let product = rows.ragged_dot(&matrices, [1, 0, 2])?;
    /// assert_eq!(product.to_string(), "tensor([[1], [40], [60]], shape=(3, 1), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn ragged_dot<'a>(&self, matrices: &impl AsRef<Tensor> as same, group_sizes: impl Into<Integers<'a>> as Integers) -> T;
    alias "grouped matmul", "mixture of experts", "segment_mm";
    waits "for the size of a product whose columns only the device knows";
    gradient yes;
    row none "groups are rows";
}

#[track_caller]
fn ragged_dot<'a>(x: &Tensor, matrices: &impl AsRef<Tensor>, group_sizes: impl Into<Integers<'a>>) -> Result<Tensor> {
    const OP: &str = "ragged_dot";
    let (rec, matrices) = (x.recorder(OP), matrices.as_ref());
    if (x.rank(), matrices.rank()) != (2, 3) {
        let what = "rows of rank 2 and one matrix per group, of rank 3 together, are required";
        return Err(rec.shape(x.shape_text(), matrices.shape_text(), what.into()));
    }
    named(OP, || Tensor::from_row_lengths(x, group_sizes)?.matmul(matrices)?.merge_dims(0, 1))
}
