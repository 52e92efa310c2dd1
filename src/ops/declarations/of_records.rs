//! Declarations of the operations of records, whose methods are written by hand.

use crate::ops::operations;

operations! {
    /// Operations of records.
    const RECORDS: family "Records" on StructuredTensor;

    /// Records of the given shape with these fields, by name and in this order.
    fn from_fields(
        fields: impl IntoIterator<Item = (impl Into<Arc<str>>, impl Into<FieldValue>)>,
        shape: impl Into<RecordShape>,
    ) -> Records;
    tensorflow "tf.experimental.StructuredTensor.from_fields";
    gradient yes;

    /// Records of `rank` dimensions with these fields, by name and in this order.
    fn from_fields_and_rank(
        fields: impl IntoIterator<Item = (impl Into<Arc<str>>, impl Into<FieldValue>)>,
        rank: impl Integer,
    ) -> Records;
    tensorflow "tf.experimental.StructuredTensor.from_fields_and_rank";
    gradient yes;

    /// Records of a shape, without fields.
    fn from_shape(shape: &RaggedShape) -> Records;
    tensorflow "tf.experimental.StructuredTensor.from_shape";
    gradient none "it takes no tensor";

    /// Records from a `serde_json::Value`, or from any value that implements `serde::Serialize`: a map or a struct, or
    /// lists of them to any depth.
    fn from_serialize(value: &(impl Serialize + ?Sized), device: &Device) -> Records;
    tensorflow "tf.experimental.StructuredTensor.from_pyval";
    gradient none "it takes no tensor";
    feature "json";

    /// Records of the types of a schema: from a `serde_json::Value`, or from any value that implements
    /// `serde::Serialize`.
    fn from_serialize_with_schema(value: &(impl Serialize + ?Sized), schema: &JsonType, device: &Device) -> Records;
    tensorflow "tf.experimental.StructuredTensor.from_pyval(pyval, typespec)";
    gradient none "it takes no tensor";
    feature "json";

    /// Records, with [`JsonOptions`](crate::JsonOptions): from a `serde_json::Value`, or from any value that implements
    /// `serde::Serialize`.
    fn from_serialize_with(value: &(impl Serialize + ?Sized), options: &JsonOptions, device: &Device) -> Records;
    tensorflow "tf.experimental.StructuredTensor.from_pyval(pyval, typespec)";
    gradient none "it takes no tensor";
    feature "json";

    /// The tensor of a field of a known element type, by its name or by the path to it.
    fn field(&self, path: impl Into<FieldPath>) -> Field;
    gradient yes;

    /// The value of a field, by its name or by the path to it.
    fn field_value(&self, path: impl Into<FieldPath>) -> FieldValue;
    tensorflow "tf.experimental.StructuredTensor.field_value";
    gradient yes;

    /// The part that the keys select: items of a slice, one per dimension, and names of fields in between.
    fn get<'a>(&self, keys: impl RecordKeys<'a>) -> FieldValue;
    tensorflow "tf.experimental.StructuredTensor.__getitem__";
    waits "for the size of a dense dimension behind a new axis";
    gradient yes;

    /// Record `index` of the outermost dimension, or row of records, where the index is itself a scalar tensor.
    fn row_at(&self, index: &impl AsRef<Tensor>) -> Records;
    tensorflow "tf.experimental.StructuredTensor.__getitem__";
    gradient yes;

    /// A part of each row of records: `lengths[r]` successive records of row `r`, from record `starts[r]` on.
    fn slice_rows<'a>(&self, starts: impl Into<Integers<'a>>, lengths: impl Into<Integers<'a>>) -> Records;
    tensorflow "tf.experimental.StructuredTensor.__getitem__";
    gradient yes;

    /// The records at `indices` along a dimension of the records, the outermost by default.
    fn gather<'a>(&self, indices: impl IntoGatherIndices<'a>) -> Records;
    tensorflow "tf.gather";
    waits "below the outermost axis, where only the device knows the number of indices";
    gradient yes;

    /// Concatenates records along `axis`, a dimension of the records.
    fn concat(all: &[impl AsRef<Self>], axis: impl Integer as axis) -> Records;
    tensorflow "tf.concat";
    gradient yes;

    /// The records with updated fields: set, computed from the old value, or removed.
    fn with_updates<'a>(&self, updates: impl IntoIterator<Item = Update<'a>>) -> Records;
    tensorflow "tf.experimental.StructuredTensor.with_updates";
    gradient yes;

    /// The records with a copy of the field at `path` one level higher, as field `name` of the records that hold those
    /// of the field.
    fn promote(&self, path: impl Into<FieldPath>, name: impl Into<Arc<str>>) -> Records;
    tensorflow "tf.experimental.StructuredTensor.promote";
    gradient yes;

    /// Merges dimensions `outer_axis` to `inner_axis` of the records into one.
    fn merge_dims(&self, outer_axis: impl Integer as axis, inner_axis: impl Integer as axis) -> Records;
    tensorflow "tf.experimental.StructuredTensor.merge_dims";
    gradient yes;

    /// Divides the outermost dimension of the records into rows: the result has one more dimension.
    fn partition_outer_dimension(&self, rows: &RowPartition) -> Records;
    tensorflow "tf.experimental.StructuredTensor.partition_outer_dimension";
    gradient yes;

    /// Inserts a dimension of size 1 as dimension `axis` of the records: 0 to the rank, or negative.
    fn expand_dims(&self, axis: impl Integer as axis) -> Records;
    tensorflow "tf.expand_dims";
    waits "along axis 0, for the number of records, where only the device knows it";
    gradient yes;

    /// Number of records of the outermost dimension, as an i64 scalar; none for a single record.
    fn nrows(&self) -> i64;
    tensorflow "tf.experimental.StructuredTensor.nrows";
    gradient none "the result holds counts";

    /// Number of records in all dimensions, as an i64 scalar.
    fn size(&self) -> i64;
    tensorflow "tf.size";
    gradient none "the result holds counts";

    /// A tensor of zeros (false, empty strings) with one element per record.
    fn zeros_like(&self, dtype: DType) -> {dtype};
    tensorflow "tf.zeros_like";
    gradient none "the result does not depend on the values";

    /// A tensor of ones (true) with one element per record.
    fn ones_like(&self, dtype: DType) -> {dtype};
    tensorflow "tf.ones_like";
    gradient none "the result does not depend on the values";
}
