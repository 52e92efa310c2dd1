//! Declarations of operations whose methods are written by hand, with their documentation.

use crate::element::{Element, Str};
use crate::ops::{Bins, HashBuckets, IntoAxes, operations};
use crate::tensor::{ConstantOptions, Integers, RowIds, UniformRows};

operations! {
    /// Tensors of values.
    const MAKING: family "Construction" on RaggedTensor<T> where T: Element;

    /// Builds a tensor from a nested list.
    fn constant(value: &Nested, options: &ConstantOptions = &ConstantOptions::default(), device: &Device) -> {value};
    tensorflow "tf.ragged.constant";
    awkward "ak.from_iter";
    polars "pl.Series";
    gradient none "it takes no tensor";
    tensor hand;
    typed none "the value determines the dtype";
    row none "it makes a tensor";

    /// Builds a tensor from nested lists, given or borrowed.
    fn from_nested(rows: impl IntoNested<T>, device: &Device) -> T;
    tensorflow "tf.ragged.constant";
    awkward "ak.Array";
    polars "pl.Series";
    gradient none "it takes no tensor";
    tensor none "the element type is that of the rows";
    typed hand;
    row none "it makes a tensor";

    /// A dense tensor of the given shape whose elements are `values`, row-major.
    fn dense(values: impl IntoValues<T>, shape: &[impl Integer], device: &Device) -> T;
    tensorflow "tf.constant";
    awkward "ak.from_numpy";
    polars "pl.Series";
    gradient none "it takes no tensor";
    tensor none "the element type is that of the values";
    typed hand;
    row none "it makes a tensor";

    /// The dense tensor of an array's values, in any memory order.
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
    fn from_row_splits<'a>(values: &impl AsRef<Tensor> as tensor, row_splits: impl Into<Integers<'a>> as Integers) -> T;
    tensorflow "tf.RaggedTensor.from_row_splits";
    gradient yes;
    call method;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The ragged tensor of `values` in rows of these lengths, one after the other.
    fn from_row_lengths<'a>(values: &impl AsRef<Tensor> as tensor, row_lengths: impl Into<Integers<'a>> as Integers) -> T;
    tensorflow "tf.RaggedTensor.from_row_lengths";
    awkward "ak.unflatten";
    gradient yes;
    call method;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The ragged tensor of `values` in rows that begin at these positions.
    fn from_row_starts<'a>(values: &impl AsRef<Tensor> as tensor, row_starts: impl Into<Integers<'a>> as Integers) -> T;
    tensorflow "tf.RaggedTensor.from_row_starts";
    gradient yes;
    call method;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The ragged tensor of `values` in rows that end before these positions.
    fn from_row_limits<'a>(values: &impl AsRef<Tensor> as tensor, row_limits: impl Into<Integers<'a>> as Integers) -> T;
    tensorflow "tf.RaggedTensor.from_row_limits";
    gradient yes;
    call method;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The ragged tensor of `values` whose value `i` is in row `value_rowids[i]`.
    fn from_value_rowids<'a>(values: &impl AsRef<Tensor> as tensor, value_rowids: impl Into<RowIds<'a>> as RowIds) -> T;
    tensorflow "tf.RaggedTensor.from_value_rowids";
    gradient yes;
    call method;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The ragged tensor of `values` whose rows all have one length.
    fn from_uniform_row_length(values: &impl AsRef<Tensor> as tensor, rows: impl Into<UniformRows> as UniformRows) -> T;
    tensorflow "tf.RaggedTensor.from_uniform_row_length";
    gradient yes;
    call method;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The tensor of `flat_values` under several levels of rows, each given by its row splits, outermost first.
    fn from_nested_row_splits<'a>(
        flat_values: &impl AsRef<Tensor>, nested_row_splits: impl IntoIterator<Item = Integers<'a>>,
    ) -> T;
    tensorflow "tf.RaggedTensor.from_nested_row_splits";
    gradient yes;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The tensor of `flat_values` under several levels of rows, each given by its row lengths, outermost first.
    fn from_nested_row_lengths<'a>(
        flat_values: &impl AsRef<Tensor>, nested_row_lengths: impl IntoIterator<Item = Integers<'a>>,
    ) -> T;
    tensorflow "tf.RaggedTensor.from_nested_row_lengths";
    gradient yes;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The ragged tensor of `flat_values` under several levels of row ids, outermost first, each with a number of rows
    /// where given ([`with_nrows`](crate::opt::with_nrows)).
    fn from_nested_value_rowids<'a>(
        flat_values: &impl AsRef<Tensor>, nested_value_rowids: impl IntoIterator<Item = RowIds<'a>>,
    ) -> T;
    tensorflow "tf.RaggedTensor.from_nested_value_rowids";
    gradient yes;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The tensor of `flat_values` under these partitions, outermost first.
    fn from_row_partitions(flat_values: &impl AsRef<Tensor>, partitions: &[RowPartition]) -> T;
    gradient yes;
    tensor hand;
    typed none "`try_from` converts the result";
    row none "it makes a tensor";

    /// The ragged tensor of `values` in rows between consecutive splits, without checks of the splits.
    fn from_row_splits_unchecked<'a>(values: &impl AsRef<Tensor>, row_splits: impl Into<Integers<'a>>) -> T;
    tensorflow "tf.RaggedTensor.from_row_splits(validate=False)";
    gradient yes;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The ragged tensor of `values` in rows of these lengths, without checks of the lengths.
    fn from_row_lengths_unchecked<'a>(values: &impl AsRef<Tensor>, row_lengths: impl Into<Integers<'a>>) -> T;
    tensorflow "tf.RaggedTensor.from_row_lengths(validate=False)";
    gradient yes;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The ragged tensor of `values` in rows that begin at these positions, without checks of the positions.
    fn from_row_starts_unchecked<'a>(values: &impl AsRef<Tensor>, row_starts: impl Into<Integers<'a>>) -> T;
    tensorflow "tf.RaggedTensor.from_row_starts(validate=False)";
    gradient yes;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The ragged tensor of `values` in rows that end before these positions, without checks of the positions.
    fn from_row_limits_unchecked<'a>(values: &impl AsRef<Tensor>, row_limits: impl Into<Integers<'a>>) -> T;
    tensorflow "tf.RaggedTensor.from_row_limits(validate=False)";
    gradient yes;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// [`Tensor::from_value_rowids`] without its checks, for a caller who guarantees valid ids.
    fn from_value_rowids_unchecked<'a>(values: &impl AsRef<Tensor>, value_rowids: impl Into<RowIds<'a>>) -> T;
    tensorflow "tf.RaggedTensor.from_value_rowids(validate=False)";
    gradient yes;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// [`Tensor::from_uniform_row_length`] under the name of the unchecked factories.
    fn from_uniform_row_length_unchecked<'a>(values: &impl AsRef<Tensor>, rows: impl Into<UniformRows>) -> T;
    tensorflow "tf.RaggedTensor.from_uniform_row_length(validate=False)";
    gradient yes;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The tensor of `flat_values` under several levels of row splits, outermost first, without checks of the splits.
    fn from_nested_row_splits_unchecked<'a>(
        flat_values: &impl AsRef<Tensor>, nested_row_splits: impl IntoIterator<Item = Integers<'a>>,
    ) -> T;
    tensorflow "tf.RaggedTensor.from_nested_row_splits(validate=False)";
    gradient yes;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The tensor of `flat_values` under several levels of row lengths, outermost first, without checks of the lengths.
    fn from_nested_row_lengths_unchecked<'a>(
        flat_values: &impl AsRef<Tensor>, nested_row_lengths: impl IntoIterator<Item = Integers<'a>>,
    ) -> T;
    tensorflow "tf.RaggedTensor.from_nested_row_lengths(validate=False)";
    gradient yes;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// [`Tensor::from_nested_value_rowids`] without its checks, for a caller who guarantees valid ids.
    fn from_nested_value_rowids_unchecked<'a>(
        flat_values: &impl AsRef<Tensor>, nested_value_rowids: impl IntoIterator<Item = RowIds<'a>>,
    ) -> T;
    tensorflow "tf.RaggedTensor.from_nested_value_rowids(validate=False)";
    gradient yes;
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// The ragged tensor of the values of a sparse tensor, each row filled from its start.
    fn from_sparse(sparse: &SparseTensor) -> T;
    tensorflow "tf.RaggedTensor.from_sparse";
    gradient yes;
    tensor hand;
    typed none "`try_from` converts the result";
    row none "it makes a tensor";

    /// The dense tensor of the given shape over host memory of the program, row-major, without a copy on the CPU.
    fn from_shared(owner: Arc<dyn AsRef<[u8]> + Send + Sync>, dtype: DType, shape: &[usize], device: &Device) -> {dtype};
    awkward "ak.from_buffers";
    polars "pl.from_arrow";
    gradient none "it takes no tensor";
    tensor hand;
    typed hand;
    row none "it makes a tensor";

    /// Wraps the first values of a wgpu buffer as a dense tensor of the given shape, row-major, without a copy.
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

    /// The sparse tensor of all values, including zeros, at their coordinates.
    fn to_sparse(&self) -> (Sparse<T>);
    tensorflow "tf.RaggedTensor.to_sparse";
    waits "for the longest rows, where only the device knows them";
    gradient yes;
    tensor hand;
    typed hand;
    row none "a sparse tensor is one of all rows";

    /// Copies the tensor to another device, through host memory.
    fn to_device(&self, device: &Device) -> T;
    tensorflow "tf.identity";
    awkward "ak.to_backend";
    waits "to read the tensor, unless it lives on that device";
    gradient missing "copies to another device";
    tensor hand;
    typed hand;
    row none "all rows live on one device";

    /// Copies the tensor to another device, through host memory, without blocking on the source device.
    fn to_device_async(&self, device: &Device) -> T;
    tensorflow "tf.identity";
    awkward "ak.to_backend";
    waits "to read the tensor, unless it lives on that device";
    gradient missing "copies to another device";
    tensor hand;
    typed hand;
    row none "all rows live on one device";
}

operations! {
    /// Repetition.
    const REPEATING: family "Joining, repeating and shapes" on RaggedTensor<T> where T: Element;

    /// Repeats the tensor `multiples` times along its dimensions, one copy after another.
    fn tile(&self, multiples: &[impl Integer] as integers) -> T;
    tensorflow "tf.tile";
    gradient yes;
    call method;
    tensor hand;
    typed hand;
    row hand;
}

operations! {
    /// Counts.
    const COUNTING: family "Counts" on RaggedTensor<T> where T: Element;

    /// The nonzero counts of [`Tensor::bincount`] along axis 0 or 1, as a sparse tensor sorted by row and value.
    fn bincount_sparse(&self, axis: impl IntoAxes as axes = .., bins: impl Into<Bins> = ..) -> (Sparse<i32>);
    tensorflow "tf.sparse.bincount";
    waits "for the number of bins, unless it is given";
    gradient none "the result holds counts";
    tensor hand;
    typed hand;
    row none "a sparse tensor is one of all rows";
}

operations! {
    /// Crosses.
    const CROSSING: family "Hashes and crosses" on RaggedTensor<T> where T: Element;

    /// The crosses of the inputs as strings: for each row, every combination of a value of each input, joined by `_X_`.
    fn cross(inputs: impl IntoIterator<Item = CrossInput> as tensors) -> Str;
    tensorflow "tf.ragged.cross";
    gradient none "the result holds strings";
    call method;
    tensor hand;
    typed none "the inputs have several element types";
    row none "crosses are made of whole rows already";

    /// The hashes of the crosses of the inputs, modulo the number of buckets.
    fn cross_hashed(inputs: impl IntoIterator<Item = CrossInput> as tensors, buckets: impl Into<HashBuckets> as HashBuckets) -> i64;
    tensorflow "tf.ragged.cross_hashed";
    gradient none "the result holds hashes";
    call method;
    tensor hand;
    typed none "the inputs have several element types";
    row none "crosses are made of whole rows already";
}

operations! {
    /// Elements of a row.
    const OF_ROWS: family "Indexing and gathering" on RaggedTensor<T> where T: Element;

    /// Element `index` of the row along its outermost dimension.
    fn at(&self, index: impl Integer) -> T;
    gradient yes;
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

operations! {
    /// Groups by key.
    const GROUPING: family "Rows: pairs, windows, groups, sets, samples" on RaggedTensor<T> where T: Element;

    /// Groups the elements of each row by one or several keys: the distinct keys in ascending order, and the elements of
    /// each.
    fn group_by_key<'a>(&self, keys: impl GroupKeys<'a> as keys) -> ({keys}, T);
    alias "groupby", "group_by", "unique of several columns";
    polars "DataFrame.group_by";
    gradient yes;
    call method;
    tensor hand;
    typed hand;
    row hand;
}
