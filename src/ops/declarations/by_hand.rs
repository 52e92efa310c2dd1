//! Declarations of operations whose methods are written by hand, with their documentation.

use crate::element::{Element, Str};
use crate::ops::operations;

operations! {
    /// Tensors of values.
    const MAKING: family "Construction" on RaggedTensor<T> where T: Element;

    /// The tensor of a nested value whose dtype is known at run time.
    fn constant(value: &Nested, options: &ConstantOptions = &ConstantOptions::default(), device: &Device) -> {value};
    tensorflow "tf.ragged.constant";
    awkward "ak.from_iter";
    polars "pl.Series";
    gradient none "it takes no tensor";
    tensor hand;
    typed none "the value determines the dtype";
    row none "it makes a tensor";

    /// The ragged tensor of nested vectors, slices and arrays.
    fn from_nested(rows: impl IntoNested<T>, device: &Device) -> T;
    tensorflow "tf.ragged.constant";
    awkward "ak.Array";
    polars "pl.Series";
    gradient none "it takes no tensor";
    tensor none "the element type is that of the rows";
    typed hand;
    row none "it makes a tensor";

    /// The dense tensor of a flat list of values and a shape.
    fn dense(values: impl IntoValues<T>, shape: &[impl Integer], device: &Device) -> T;
    tensorflow "tf.constant";
    awkward "ak.from_numpy";
    polars "pl.Series";
    gradient none "it takes no tensor";
    tensor none "the element type is that of the values";
    typed hand;
    row none "it makes a tensor";

    /// The dense tensor of an array of the crate ndarray.
    fn from_ndarray(array: &ArrayD<T>, device: &Device) -> T;
    tensorflow "tf.constant";
    awkward "ak.from_numpy";
    polars "pl.from_numpy";
    gradient none "it takes no tensor";
    feature "ndarray";
    tensor none "the element type is that of the array";
    typed hand;
    row none "it makes a tensor";

    /// The ragged tensor of `values` in rows between consecutive splits.
    fn from_row_splits<'a>(values: &impl AsRef<Tensor>, row_splits: impl Into<Integers<'a>>) -> T;
    tensorflow "tf.RaggedTensor.from_row_splits";
    gradient later;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The ragged tensor of `values` in rows of these lengths, one after the other.
    fn from_row_lengths<'a>(values: &impl AsRef<Tensor>, row_lengths: impl Into<Integers<'a>>) -> T;
    tensorflow "tf.RaggedTensor.from_row_lengths";
    awkward "ak.unflatten";
    gradient later;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The ragged tensor of `values` in rows that begin at these positions.
    fn from_row_starts<'a>(values: &impl AsRef<Tensor>, row_starts: impl Into<Integers<'a>>) -> T;
    tensorflow "tf.RaggedTensor.from_row_starts";
    gradient later;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The ragged tensor of `values` in rows that end before these positions.
    fn from_row_limits<'a>(values: &impl AsRef<Tensor>, row_limits: impl Into<Integers<'a>>) -> T;
    tensorflow "tf.RaggedTensor.from_row_limits";
    gradient later;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The ragged tensor of `values` in the rows that ascending row ids name.
    fn from_value_rowids<'a>(values: &impl AsRef<Tensor>, value_rowids: impl Into<RowIds<'a>>) -> T;
    tensorflow "tf.RaggedTensor.from_value_rowids";
    gradient later;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The tensor of `values` in rows of one length.
    fn from_uniform_row_length(values: &impl AsRef<Tensor>, rows: impl Into<UniformRows>) -> T;
    tensorflow "tf.RaggedTensor.from_uniform_row_length";
    gradient later;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The tensor of `flat_values` under several levels of rows, each given by its row splits, outermost first.
    fn from_nested_row_splits<'a>(flat_values: &impl AsRef<Tensor>, nested_row_splits: impl IntoIterator<Item = Integers<'a>>) -> T;
    tensorflow "tf.RaggedTensor.from_nested_row_splits";
    gradient later;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The tensor of `flat_values` under several levels of rows, each given by its row lengths, outermost first.
    fn from_nested_row_lengths<'a>(flat_values: &impl AsRef<Tensor>, nested_row_lengths: impl IntoIterator<Item = Integers<'a>>) -> T;
    tensorflow "tf.RaggedTensor.from_nested_row_lengths";
    gradient later;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The tensor of `flat_values` under several levels of rows, each given by its value rowids, outermost first.
    fn from_nested_value_rowids<'a>(flat_values: &impl AsRef<Tensor>, nested_value_rowids: impl IntoIterator<Item = RowIds<'a>>) -> T;
    tensorflow "tf.RaggedTensor.from_nested_value_rowids";
    gradient later;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The tensor of `flat_values` under row partitions.
    fn from_row_partitions(flat_values: &impl AsRef<Tensor>, partitions: &[RowPartition]) -> T;
    gradient later;
    tensor hand;
    typed none "`try_from` converts the result";
    row none "it makes a tensor";

    /// The ragged tensor of `values` in rows between consecutive splits, without checks of the splits.
    fn from_row_splits_unchecked<'a>(values: &impl AsRef<Tensor>, given: impl Into<Integers<'a>>) -> T;
    tensorflow "tf.RaggedTensor.from_row_splits(validate=False)";
    gradient later;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The ragged tensor of `values` in rows of these lengths, without checks of the lengths.
    fn from_row_lengths_unchecked<'a>(values: &impl AsRef<Tensor>, given: impl Into<Integers<'a>>) -> T;
    tensorflow "tf.RaggedTensor.from_row_lengths(validate=False)";
    gradient later;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The ragged tensor of `values` in rows that begin at these positions, without checks of the positions.
    fn from_row_starts_unchecked<'a>(values: &impl AsRef<Tensor>, given: impl Into<Integers<'a>>) -> T;
    tensorflow "tf.RaggedTensor.from_row_starts(validate=False)";
    gradient later;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The ragged tensor of `values` in rows that end before these positions, without checks of the positions.
    fn from_row_limits_unchecked<'a>(values: &impl AsRef<Tensor>, given: impl Into<Integers<'a>>) -> T;
    tensorflow "tf.RaggedTensor.from_row_limits(validate=False)";
    gradient later;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The ragged tensor of `values` in the rows that ascending row ids name, without checks of the ids.
    fn from_value_rowids_unchecked<'a>(values: &impl AsRef<Tensor>, given: impl Into<RowIds<'a>>) -> T;
    tensorflow "tf.RaggedTensor.from_value_rowids(validate=False)";
    gradient later;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The tensor of `values` in rows of one length, under the name of the unchecked factories.
    fn from_uniform_row_length_unchecked<'a>(values: &impl AsRef<Tensor>, given: impl Into<UniformRows>) -> T;
    tensorflow "tf.RaggedTensor.from_uniform_row_length(validate=False)";
    gradient later;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The tensor of `flat_values` under several levels of row splits, outermost first, without checks of the splits.
    fn from_nested_row_splits_unchecked<'a>(values: &impl AsRef<Tensor>, given: impl IntoIterator<Item = Integers<'a>>) -> T;
    tensorflow "tf.RaggedTensor.from_nested_row_splits(validate=False)";
    gradient later;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The tensor of `flat_values` under several levels of row lengths, outermost first, without checks of the lengths.
    fn from_nested_row_lengths_unchecked<'a>(values: &impl AsRef<Tensor>, given: impl IntoIterator<Item = Integers<'a>>) -> T;
    tensorflow "tf.RaggedTensor.from_nested_row_lengths(validate=False)";
    gradient later;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The tensor of `flat_values` under several levels of value rowids, outermost first, without checks of the ids.
    fn from_nested_value_rowids_unchecked<'a>(values: &impl AsRef<Tensor>, given: impl IntoIterator<Item = RowIds<'a>>) -> T;
    tensorflow "tf.RaggedTensor.from_nested_value_rowids(validate=False)";
    gradient later;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The ragged tensor of a sparse tensor whose rows are filled from the front.
    fn from_sparse(sparse: &SparseTensor) -> T;
    tensorflow "tf.RaggedTensor.from_sparse";
    gradient later;
    tensor hand;
    typed none "`try_from` converts the result";
    row none "it makes a tensor";

    /// The dense tensor of a buffer of the program's own wgpu device.
    fn from_wgpu_buffer(buffer: &wgpu::Buffer, dtype: DType, shape: &[usize], device: &Device) -> {dtype};
    gradient none "it takes no tensor";
    feature "gpu";
    tensor hand;
    typed hand;
    row none "it makes a tensor";
}

operations! {
    /// Copies.
    const MOVING: family "Parts, sizes and copies" on RaggedTensor<T> where T: Element;

    /// The sparse tensor of the elements, with their coordinates.
    fn to_sparse(&self) -> (Sparse<T>);
    tensorflow "tf.RaggedTensor.to_sparse";
    waits "for the longest rows, where only the device knows them";
    gradient later;
    tensor hand;
    typed hand;
    row none "a sparse tensor is one of all rows";

    /// The same tensor on another device.
    fn to_device(&self, device: &Device) -> T;
    tensorflow "tf.identity";
    awkward "ak.to_backend";
    waits "to read the tensor, unless it lives on that device";
    gradient later;
    tensor hand;
    typed hand;
    row none "all rows live on one device";

    /// The same tensor on another device, once it has been read.
    fn to_device_async(&self, device: &Device) -> T;
    tensorflow "tf.identity";
    awkward "ak.to_backend";
    waits "to read the tensor, unless it lives on that device";
    gradient later;
    tensor hand;
    typed hand;
    row none "all rows live on one device";
}

operations! {
    /// Functions of your own.
    const FUNCTIONS: family "Element-wise, several operands" on RaggedTensor<T> where T: Element;

    /// The elements times one number.
    fn scalar_mul(&self, factor: impl Number) -> T;
    tensorflow "tf.math.scalar_mul";
    polars "Expr.mul";
    gradient later;
    tensor none "`multiply` does the same";
    typed hand;
    row none "`multiply` does the same";

    /// A function of the flat values, under the same partitions.
    fn map_flat_values(&self, function: impl FnOnce(&Tensor) -> Result<Tensor>) -> {function};
    tensorflow "tf.ragged.map_flat_values";
    awkward "ak.transform";
    gradient later;
    tensor hand;
    typed hand;
    row none "flat values span rows";

    /// A function of the flat values of several tensors with the same partitions.
    fn map_flat_values_of(tensors: &[impl AsRef<Tensor>], function: impl FnOnce(&[Tensor]) -> Result<Tensor>) -> {function};
    tensorflow "tf.ragged.map_flat_values";
    gradient later;
    tensor hand;
    typed none "the tensors may have several element types";
    row none "flat values span rows";

    /// A function of elements that is written in WGSL and in Rust, of each element.
    fn map_elements(&self, function: &ElementFunction<fn(A) -> R>) -> {function};
    tensorflow "tf.vectorized_map";
    polars "Expr.map_elements";
    gradient none "the derivative of the function is unknown";
    tensor hand;
    typed hand;
    row hand;

    /// A function of one row, of all rows at once.
    fn map_rows(&self, function: impl FnOnce(&Row) -> Result<Row>) -> {function};
    tensorflow "tf.map_fn";
    polars "list.eval";
    gradient later;
    tensor hand;
    typed hand;
    row hand;

    /// A function of one row of several tensors, of all rows at once.
    fn map_rows_of(tensors: &[impl AsRef<Tensor>], function: impl FnOnce(&[Row]) -> Result<Row>) -> {function};
    tensorflow "tf.map_fn";
    gradient later;
    tensor hand;
    typed none "the tensors may have several element types";
    row none "rows of rows are not supported";
}

operations! {
    /// Repetition.
    const REPEATING: family "Joining, repeating and shapes" on RaggedTensor<T> where T: Element;

    /// The tensor repeated along each dimension.
    fn tile(&self, multiples: &[impl Integer]) -> T;
    tensorflow "tf.tile";
    gradient later;
    tensor hand;
    typed hand;
    row hand;
}

operations! {
    /// Counts.
    const COUNTING: family "Counts" on RaggedTensor<T> where T: Element;

    /// How often each number occurs, as a sparse tensor.
    fn bincount_sparse(&self, axis: impl IntoAxes as axes = .., bins: impl Into<Bins> = ..) -> (Sparse<i32>);
    tensorflow "tf.sparse.bincount";
    waits "for the number of bins, unless it is given";
    gradient none "integers";
    tensor hand;
    typed hand;
    row none "a sparse tensor is one of all rows";
}

operations! {
    /// Crosses.
    const CROSSING: family "Hashes and crosses" on RaggedTensor<T> where T: Element;

    /// The crosses of the features of each row, as strings.
    fn cross(inputs: impl IntoIterator<Item = CrossInput>) -> Str;
    tensorflow "tf.ragged.cross";
    gradient none "strings";
    tensor hand;
    typed none "the inputs have several element types";
    row none "crosses are made of whole rows already";

    /// The crosses of the features of each row, as hash buckets.
    fn cross_hashed(inputs: impl IntoIterator<Item = CrossInput>, buckets: impl Into<HashBuckets>) -> i64;
    tensorflow "tf.ragged.cross_hashed";
    gradient none "integers";
    tensor hand;
    typed none "the inputs have several element types";
    row none "crosses are made of whole rows already";
}

operations! {
    /// Elements of a row.
    const OF_ROWS: family "Indexing and gathering" on RaggedTensor<T> where T: Element;

    /// Element `index` of the row along its outermost dimension.
    fn at(&self, index: impl Integer) -> T;
    gradient later;
    tensor none "`slice` takes an index, and `row_at` one of the device";
    typed none "`slice` takes an index, and `row_at` one of the device";
    row hand;
}

operations! {
    /// Byte strings of a buffer.
    const STRINGS: family "Construction" on RaggedTensor<Str>;

    /// Builds a tensor of byte strings from nested lists of bytes, given or borrowed: the innermost lists are the
    /// strings.
    fn from_bytes(strings: impl IntoNested<u8>, device: &Device) -> Str;
    awkward "ak.from_iter";
    polars "pl.Series";
    gradient none "it takes no tensor";
    tensor none "the strings determine the dtype";
    typed hand;
    row none "it makes a tensor";
}
