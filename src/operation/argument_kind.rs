//! What an argument of an operation is.

/// What an argument is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArgumentKind {
    /// An axis; negative ones count from the innermost.
    Axis,
    /// Several axes, or all.
    Axes,
    /// The axes of a reduction, with the option to keep them.
    ReduceAxes,
    /// The axis of a scan, with its options.
    ScanAxis,
    /// The axis of a sort, with its options.
    SortAxis,
    /// Another tensor.
    Tensor,
    /// Several tensors, sparse tensors or records.
    Tensors,
    /// A sparse tensor.
    SparseTensor,
    /// A tensor or one value: a number or a string.
    Operand,
    /// A vector of integers: a tensor, or a list on the host.
    IntegerVector,
    /// Several vectors of integers.
    IntegerVectors,
    /// One value of the dtype that the call has: a number or a string.
    Value,
    /// A number that is converted to the dtype of the tensor.
    Number,
    /// An integer.
    Integer,
    /// A list of integers.
    Integers,
    /// A float.
    Float,
    /// A list of floats, or one.
    Floats,
    /// Two numbers: the ends of a range.
    NumberRange,
    /// Text.
    Text,
    /// A dtype.
    DType,
    /// Sizes of dimensions, or row partitions.
    Shape,
    /// A row partition.
    RowPartition,
    /// Row partitions, outermost first.
    RowPartitions,
    /// Fields of records, with their names.
    Fields,
    /// The names on the way to a field of records.
    FieldPath,
    /// Updates of fields of records.
    Updates,
    /// The types of records.
    Schema,
    /// Indices and ranges, one per dimension.
    Slice,
    /// One of the variants of an enum, whose name is in [`Argument::options`](super::Argument::options).
    Choice,
    /// Options alone: a struct, whose name is in [`Argument::options`](super::Argument::options).
    Options,
    /// The seed of random numbers.
    Seed,
    /// Values on the host: nested lists, flat lists, arrays, memory of the program.
    HostValues,
    /// A device.
    Device,
    /// A buffer of a wgpu device.
    Buffer,
    /// A function of tensors, rows or elements.
    Function,
}
