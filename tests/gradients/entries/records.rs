//! Operations of records.

use ragged::{Result, RowPartition, StructuredTensor, Tensor, Update, keys};

use super::operands::indices;
use crate::table::table;

/// Records with the fields `a` and `b`, one per row.
fn of(x: &Tensor, y: &Tensor) -> Result<StructuredTensor> {
    StructuredTensor::from_fields_and_rank([("a", x.square()?), ("b", y.square()?)], 1)
}

/// Records of two dimensions.
fn rows(x: &Tensor, y: &Tensor) -> Result<StructuredTensor> {
    StructuredTensor::from_fields_and_rank([("a", x.square()?), ("b", y.square()?)], 2)
}

table! { records on [StructuredTensor] {
    from_fields DR |x, y| StructuredTensor::from_fields([("a", x.square()?), ("b", y.square()?)], x.ragged_shape());
    from_fields_and_rank DRLI |x, y| of(x, y);
    field DRLI |x, y| of(x, y)?.field::<f64>("b");
    field_value DRLI |x, y| of(x, y)?.field_value("b");
    get DRLI |x, y| of(x, y)?.get(keys![1.., "a"]);
    row_at DRLI |x, y| of(x, y)?.row_at(&indices(x, [2])?.reduce_sum(..)?);
    slice_rows R |x, y| rows(x, y)?.slice_rows([1, 0, 0, 2, 0], [1, 0, 1, 2, 0]);
    gather DRLI |x, y| of(x, y)?.gather(&indices(x, [2, 0, 0])?);
    concat DRLI |x, y| StructuredTensor::concat(&[of(x, y)?, of(y, x)?], 0);
    with_updates DRLI |x, y| of(x, y)?.with_updates([Update::set("c", x.exp()?), Update::remove("a")]);
    promote DRLI |x, y| {
        let outer = StructuredTensor::from_fields_and_rank([("inner", of(x, y)?)], 1)?;
        outer.promote(["inner", "a"], "c")
    };
    merge_dims RL |x, y| rows(x, y)?.merge_dims(0, 1);
    partition_outer_dimension DR |x, y| {
        let rows = RowPartition::from_row_lengths([2, 0, 1], &x.device())?;
        of(x, y)?.gather(&indices(x, [2, 0, 1])?)?.partition_outer_dimension(&rows)
    };
    expand_dims DRLI |x, y| of(x, y)?.expand_dims(1);
}}
