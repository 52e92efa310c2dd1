//! What an argument of a class or of a Rust type is.

use super::argument_kind::ArgumentKind::{self, *};

type Row = (&'static str, ArgumentKind, Option<&'static str>);

/// The type as a declaration writes it, its kind, and the name of the type that has the options.
const TYPES: &[Row] = &[
    ("&impl AsRef<Tensor>", Tensor, None),
    ("&[impl AsRef<Tensor>]", Tensors, None),
    ("&SparseTensor", SparseTensor, None),
    ("impl IntoOperand<'a>", Operand, None),
    ("impl Into<AttentionKeys<'a>>", Tensor, Some("AttentionKeys")),
    ("impl Into<Factor<'a>>", Tensor, Some("Factor")),
    ("impl Into<LookupIds<'a>>", Tensor, Some("LookupIds")),
    ("impl Into<SegmentIds<'a>>", Tensor, Some("SegmentIds")),
    ("impl Into<Sought<'a>>", Tensor, Some("Sought")),
    ("impl Into<InitialStates>", Tensors, Some("InitialStates")),
    ("impl Into<SortKeys<'a>>", Tensors, Some("SortKeys")),
    ("impl IntoGatherIndices<'a>", Tensor, Some("GatherIndices")),
    ("impl IntoIterator<Item = CrossInput>", Tensors, Some("CrossInput")),
    ("impl Into<PaddedShape<'a>>", Operand, Some("PaddedShape")),
    ("impl Into<RowPadding<'a>>", Operand, Some("RowPadding")),
    ("impl Into<Integers<'a>>", IntegerVector, Some("Integers")),
    ("impl Into<RowIds<'a>>", IntegerVector, Some("RowIds")),
    ("impl IntoIterator<Item = Integers<'a>>", IntegerVectors, Some("Integers")),
    ("impl IntoIterator<Item = RowIds<'a>>", IntegerVectors, Some("RowIds")),
    ("&[&[i64]]", IntegerVectors, None),
    ("impl Into<Fill>", Value, None),
    ("impl Into<Scalar>", Number, None),
    ("impl Number", Number, None),
    ("impl Integer", Integer, None),
    ("impl Into<Bins>", Integer, Some("Bins")),
    ("impl Into<Context>", Integer, Some("Context")),
    ("impl Into<Depth>", Integer, Some("Depth")),
    ("impl Into<HashBuckets>", Integer, Some("HashBuckets")),
    ("impl Into<MaxLength>", Integer, Some("MaxLength")),
    ("impl Into<UniformRows>", Integer, Some("UniformRows")),
    ("&[impl Integer]", Integers, None),
    ("&[usize]", Integers, None),
    ("[u64; 2]", Integers, None),
    ("impl Into<Ngrams>", Integers, Some("Ngrams")),
    ("impl Into<Parts>", Integers, Some("Parts")),
    ("f64", Float, None),
    ("impl Into<Smoothing>", Float, Some("Smoothing")),
    ("impl Into<Quantiles>", Floats, Some("Quantiles")),
    ("impl Into<HistogramRange>", NumberRange, Some("HistogramRange")),
    ("&str", Text, None),
    ("impl Into<Separator>", Text, Some("Separator")),
    ("DType", DType, None),
    ("&RaggedShape", Shape, Some("RaggedShape")),
    ("impl Into<NewShape<'a>>", Shape, Some("NewShape")),
    ("&RowPartition", RowPartition, None),
    ("&[RowPartition]", RowPartitions, None),
    ("impl SliceItems", Slice, Some("Index")),
    ("Base64", Choice, Some("Base64")),
    ("Combiner", Choice, Some("Combiner")),
    ("Encoding", Choice, Some("Encoding")),
    ("ShardStrategy", Choice, Some("ShardStrategy")),
    ("impl Into<TextEncoding>", Choice, Some("TextEncoding")),
    ("&NumberFormat", Options, Some("NumberFormat")),
    ("&ConstantOptions", Options, Some("ConstantOptions")),
    ("&JsonOptions", Options, Some("JsonOptions")),
    ("Seed", Seed, None),
    ("&Nested", HostValues, Some("Nested")),
    ("impl IntoNested<T>", HostValues, None),
    ("impl IntoNested<u8>", HostValues, None),
    ("impl IntoValues<T>", HostValues, None),
    ("&ArrayD<T>", HostValues, None),
    ("Arc<dyn AsRef<[u8]> + Send + Sync>", HostValues, None),
    ("&Device", Device, None),
    ("&wgpu::Buffer", Buffer, None),
    ("impl FnOnce(&Tensor) -> Result<Tensor>", Function, None),
    ("impl FnOnce(&[Tensor]) -> Result<Tensor>", Function, None),
    ("impl FnOnce(&Row) -> Result<Row>", Function, None),
    ("impl FnOnce(&[Row]) -> Result<Row>", Function, None),
    ("impl FnOnce(&[Row], &Row) -> Result<(Vec<Row>, Vec<Row>)>", Function, None),
    ("impl FnOnce(&[Row], &[Row]) -> Result<(Vec<Row>, Vec<Row>)>", Function, None),
    ("&ElementFunction<fn(A) -> R>", Function, Some("ElementFunction")),
    // Of sparse tensors.
    ("&[[i64; RANK]]", HostValues, None),
    ("[u64; RANK]", Integers, None),
    ("impl Into<ConcatAxis>", Axis, Some("ConcatAxis")),
    // Of records.
    ("&[impl AsRef<Self>]", Tensors, None),
    ("impl IntoIterator<Item = (impl Into<Arc<str>>, impl Into<FieldValue>)>", Fields, Some("FieldValue")),
    ("impl Into<RecordShape>", Shape, Some("RecordShape")),
    ("impl Into<FieldPath>", FieldPath, Some("FieldPath")),
    ("impl Into<Arc<str>>", Text, None),
    ("impl GroupKeys<'a>", Tensors, None),
    ("impl RecordKeys<'a>", Slice, Some("Key")),
    ("impl IntoIterator<Item = Update<'a>>", Updates, Some("Update")),
    ("&(impl Serialize + ?Sized)", HostValues, None),
    ("&JsonType", Schema, Some("JsonType")),
    // Of sequences.
    ("Pool", Choice, Some("Pool")),
    ("impl Into<Padding<'a>>", Operand, Some("Padding")),
];

/// Kind and options of an argument of a class and a Rust type. Most classes have a kind; those that only say how a value
/// converts leave it to the type.
pub(super) const fn of_class(class: &str, rust_type: &str) -> (ArgumentKind, Option<&'static str>) {
    match class.as_bytes() {
        b"axis" => (Axis, None),
        b"axes" => (Axes, Some("Axes")),
        b"reduce_axes" => (ReduceAxes, Some("ReduceAxes")),
        b"scan_axis" => (ScanAxis, Some("ScanAxis")),
        b"sort_axis" => (SortAxis, Some("SortAxis")),
        b"operand" | b"broadcast" => (Operand, None),
        b"row" | b"same" => (Tensor, None),
        _ => of_type(rust_type),
    }
}

/// Kind and options of an argument of a Rust type. A type that the table does not have fails at compile time.
pub(super) const fn of_type(rust_type: &str) -> (ArgumentKind, Option<&'static str>) {
    // An operand of one dtype: `impl IntoOperandOf<'a, Str>`.
    if rest_after(rust_type.as_bytes(), b"impl IntoOperandOf<").is_some() {
        return (Operand, None);
    }
    let mut k = 0;
    while k < TYPES.len() {
        let (text, kind, options) = TYPES[k];
        if let Some([]) = rest_after(rust_type.as_bytes(), text.as_bytes()) {
            return (kind, options);
        }
        k += 1;
    }
    panic!("an argument of a type that the table in src/operation/argument_types.rs does not have")
}

/// What follows `start`, if the text begins with it. Spaces do not count: a macro in a macro adds some.
const fn rest_after<'a>(mut text: &'a [u8], mut start: &[u8]) -> Option<&'a [u8]> {
    loop {
        match (text, start) {
            ([b' ', rest @ ..], _) => text = rest,
            (_, [b' ', rest @ ..]) => start = rest,
            (_, []) => return Some(text),
            ([a, after @ ..], [b, rest @ ..]) if *a == *b => (text, start) = (after, rest),
            _ => return None,
        }
    }
}
