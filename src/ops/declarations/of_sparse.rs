//! Declarations of the operations of sparse tensors, whose methods are written by hand.

use crate::element::{Arithmetic, FloatElement, Number};
use crate::ops::operations;

operations! {
    /// Operations of sparse tensors.
    const SPARSE: family "Sparse tensors" on SparseTensor;

    /// Assembles a sparse tensor from `indices`, integers of shape `[n, rank]`, and `values` of shape `[n]`.
    fn new(indices: &impl AsRef<Tensor>, values: &impl AsRef<Tensor>, dense_shape: &[impl Integer]) -> (Sparse<T>);
    tensorflow "tf.sparse.SparseTensor";
    gradient yes;

    /// Uploads a sparse tensor: coordinates and a value for each entry, in any order.
    fn from_entries(
        coordinates: &[[i64; RANK]],
        values: impl IntoValues<T>,
        dense_shape: [u64; RANK],
        device: &Device,
    ) -> (Sparse<T>);
    gradient none "it takes no tensor";

    /// The sparse tensor of the elements of a dense tensor that are not 0, false or empty strings.
    fn from_dense(dense: &impl AsRef<Tensor>) -> (Sparse<T>);
    tensorflow "tf.sparse.from_dense";
    waits "for the number of rows, where only the device knows it";
    gradient yes;

    /// The matrix of `rows` by `columns` with ones on the diagonal.
    fn eye(rows: impl Integer, columns: impl Integer, dtype: DType, device: &Device) -> (Sparse {dtype});
    tensorflow "tf.sparse.eye";
    gradient none "it takes no tensor";

    /// The dense tensor with the values at their coordinates and `default` elsewhere.
    fn to_dense(&self, default: impl Into<Fill>) -> T;
    tensorflow "tf.sparse.to_dense";
    gradient yes;

    /// The ragged tensor of the values, each row filled from its start.
    fn to_ragged(&self) -> T;
    tensorflow "tf.RaggedTensor.from_sparse";
    gradient yes;

    /// The values of each row of a sparse matrix as a ragged tensor `[rows, (values)]`, without the columns.
    fn values_by_row(&self) -> T;
    gradient yes;

    /// The dense bool tensor that is true at each value: `[.., k]` becomes `[.., vocabulary]`, where an entry with the
    /// value `v` makes element `v` of its row true.
    fn to_indicator(&self, vocabulary: impl Integer) -> bool where T: Arithmetic;
    tensorflow "tf.sparse.to_indicator";
    gradient none "the result holds bools";

    /// Copies the tensor to another device, through host memory; on its own device, the tensor itself.
    fn to_device(&self, device: &Device) -> (Sparse<T>);
    waits "to read the tensor, unless it lives on that device";
    gradient missing "copies to another device";

    /// Applies `function` to the values; the coordinates stay.
    fn map_values(&self, function: impl FnOnce(&Tensor) -> Result<Tensor>) -> (Sparse {function});
    tensorflow "tf.sparse.map_values";
    gradient yes;

    /// The sum of two sparse tensors of one dense shape and dtype.
    fn add(&self, other: &Self as same) -> (Sparse<T>) where T: Arithmetic;
    tensorflow "tf.sparse.add";
    gradient yes;

    /// The sum of this tensor and a dense one of the same shape and dtype; dense.
    fn add_dense(&self, dense: &impl AsRef<Tensor>) -> T where T: Arithmetic;
    tensorflow "tf.sparse.add";
    gradient yes;

    /// The larger value of two sparse tensors of one dense shape and dtype at each element that has an entry in either;
    /// an absent element counts as 0.
    fn maximum(&self, other: &Self as same) -> (Sparse<T>) where T: Arithmetic;
    tensorflow "tf.sparse.maximum";
    gradient yes;

    /// The smaller value of two sparse tensors of one dense shape and dtype at each element that has an entry in
    /// either; an absent element counts as 0.
    fn minimum(&self, other: &Self as same) -> (Sparse<T>) where T: Arithmetic;
    tensorflow "tf.sparse.minimum";
    gradient yes;

    /// The sums of the values over the axes, as a dense tensor; 0 where there are no entries.
    fn reduce_sum(&self, axes: impl IntoReduceAxes as reduce_axes) -> T where T: Arithmetic;
    tensorflow "tf.sparse.reduce_sum";
    gradient yes;

    /// The largest values over the axes, as a dense tensor; 0 where there are no entries.
    fn reduce_max(&self, axes: impl IntoReduceAxes as reduce_axes) -> T where T: Arithmetic;
    tensorflow "tf.sparse.reduce_max";
    gradient yes;

    /// The sums of the values over the axes, as a sparse tensor with an entry wherever there are values.
    fn reduce_sum_sparse(&self, axes: impl IntoReduceAxes as reduce_axes) -> (Sparse<T>) where T: Arithmetic;
    tensorflow "tf.sparse.reduce_sum";
    gradient yes;

    /// The largest values over the axes, as a sparse tensor with an entry wherever there are values.
    fn reduce_max_sparse(&self, axes: impl IntoReduceAxes as reduce_axes) -> (Sparse<T>) where T: Arithmetic;
    tensorflow "tf.sparse.reduce_max";
    gradient yes;

    /// Softmax along the innermost dimension over the entries of each row; absent elements stay absent.
    fn softmax(&self) -> (Sparse<T>) where T: FloatElement;
    tensorflow "tf.sparse.softmax";
    gradient yes;

    /// The product of this sparse matrix `[m, k]` and a dense matrix `[k, n]`, or the transposed view (`Tensor::t`) of
    /// `[n, k]`: a dense matrix `[m, n]`.
    fn matmul<'a>(&self, dense: impl Into<Factor<'a>>) -> T where T: Arithmetic;
    tensorflow "tf.sparse.sparse_dense_matmul";
    waits "for the number of rows of the dense matrix, where only the device knows it";
    gradient yes;

    /// Concatenates sparse tensors along `axis`.
    fn concat(all: &[impl AsRef<Self>], axis: impl Into<ConcatAxis>) -> (Sparse<T>);
    tensorflow "tf.sparse.concat";
    gradient yes;

    /// The part of the tensor that begins at `start` and has `size` elements along each dimension, or fewer where the
    /// dense shape ends.
    fn slice(&self, start: &[impl Integer], size: &[impl Integer]) -> (Sparse<T>);
    tensorflow "tf.sparse.slice";
    gradient yes;

    /// Splits the tensor into `parts` along `axis`.
    fn split(&self, parts: impl Integer, axis: impl Integer as axis) -> [(Sparse<T>)];
    tensorflow "tf.sparse.split";
    gradient yes;

    /// The entries at which `mask`, a bool vector with one element per entry, is true.
    fn retain(&self, mask: &impl AsRef<Tensor>) -> (Sparse<T>);
    tensorflow "tf.sparse.retain";
    gradient yes;

    /// The entries whose first coordinate is not among `rows`, a vector of integers in any order.
    fn mask(&self, rows: &impl AsRef<Tensor>) -> (Sparse<T>);
    tensorflow "tf.sparse.mask";
    gradient yes;

    /// Gives each empty row, an index of the first dimension without entries, an entry with the value `default` at its
    /// start.
    fn fill_empty_rows<'a>(&self, default: impl IntoOperand<'a>) -> ((Sparse<T>), bool);
    tensorflow "tf.sparse.fill_empty_rows";
    waits "for the size of a default string that only the device has";
    gradient yes;

    /// The same elements, in the same row-major order, under another dense shape.
    fn reshape(&self, dense_shape: &[impl Integer]) -> (Sparse<T>);
    tensorflow "tf.sparse.reshape";
    gradient yes;

    /// Adds a dimension of size 1 at `axis`: 0 to the rank, or negative to count from the back.
    fn expand_dims(&self, axis: impl Integer as axis) -> (Sparse<T>);
    tensorflow "tf.sparse.expand_dims";
    gradient yes;

    /// The same entries in a dense shape that is at least as large along each dimension.
    fn reset_shape(&self, dense_shape: &[impl Integer]) -> (Sparse<T>);
    tensorflow "tf.sparse.reset_shape";
    gradient yes;

    /// The same entries in the smallest dense shape that holds them: the largest coordinate plus 1 along each
    /// dimension, and 0 without entries.
    fn shrink_shape(&self) -> (Sparse<T>);
    tensorflow "tf.sparse.reset_shape";
    waits "for the largest coordinates";
    gradient yes;

    /// The tensor with its dimensions in another order: dimension `k` of the result is dimension `axes[k]` of this
    /// tensor.
    fn transpose(&self, axes: impl IntoAxes as axes) -> (Sparse<T>);
    tensorflow "tf.sparse.transpose";
    gradient yes;

    /// The same entries in row-major order.
    fn reorder(&self) -> (Sparse<T>);
    tensorflow "tf.sparse.reorder";
    gradient yes;

    /// The entries in row-major order, where those with equal coordinates are added up.
    fn coalesce(&self) -> (Sparse<T>) where T: Arithmetic;
    gradient yes;

    /// The number of entries with each of the values from 0 on, dense.
    fn bincount(&self, axis: impl IntoAxes as axes, bins: impl Into<Bins>) -> i32 where T: Number;
    tensorflow "tf.math.bincount";
    waits "for the largest value, unless the number of bins is given";
    gradient none "the result holds counts";

    /// The sum of the weights of the entries with each of the values from 0 on, dense.
    fn bincount_weighted(
        &self,
        weights: &Self as same,
        axis: impl IntoAxes as axes,
        bins: impl Into<Bins>,
    ) -> {weights} where T: Number;
    tensorflow "tf.math.bincount(…, weights=…)";
    waits "for the largest value, unless the number of bins is given";
    gradient yes;

    /// The number of entries with each value that occurs, as a sparse tensor in row-major order.
    fn bincount_sparse(&self, axis: impl IntoAxes as axes, bins: impl Into<Bins>) -> (Sparse<i32>) where T: Number;
    tensorflow "tf.sparse.bincount";
    waits "for the largest value, unless the number of bins is given";
    gradient none "the result holds counts";

    /// The sum of the weights of each value that occurs, as a sparse tensor in row-major order.
    fn bincount_sparse_weighted(
        &self,
        weights: &Self as same,
        axis: impl IntoAxes as axes,
        bins: impl Into<Bins>,
    ) -> (Sparse {weights}) where T: Number;
    tensorflow "tf.sparse.bincount(…, weights=…)";
    waits "for the largest value, unless the number of bins is given";
    gradient yes;

    /// The crosses of the inputs as strings, as a sparse matrix `[n, longest row]` with the crosses of each row from
    /// its start.
    fn cross(inputs: impl IntoIterator<Item = CrossInput>) -> (Sparse<Str>);
    tensorflow "tf.sparse.cross";
    waits "for the longest row";
    gradient none "the result holds strings";

    /// The hashes of the crosses of the inputs, as a sparse matrix `[n, longest row]` with those of each row from its
    /// start.
    fn cross_hashed(inputs: impl IntoIterator<Item = CrossInput>, buckets: impl Into<HashBuckets>) -> (Sparse<i64>);
    tensorflow "tf.sparse.cross_hashed";
    waits "for the longest row";
    gradient none "the result holds hashes";
}
