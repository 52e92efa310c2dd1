//! Alternatives to dubious results of the origin.

use crate::case::{Case, Value, ints};

/// The mean of integers in a wide accumulator: of all values if `axis` is null, otherwise of each row of a tensor with
/// one partition.
pub fn wide_mean(case: &Case) -> Option<Vec<f64>> {
    let (Some(Value::Tensor(x)), "reduce_mean") = (case.inputs.first(), case.op.as_str()) else { return None };
    let all = x.values.dtype().is_integer().then(|| ints(x))?;
    let splits = match (case.attr_ints("axis").as_deref(), x.nested_row_splits.as_slice()) {
        (None, _) => vec![0, all.len() as u32],
        (Some([1 | -1]), [splits]) if x.inner_shape.len() == 1 => splits.clone(),
        _ => return None,
    };
    let mean = |row: &[i64]| row.iter().map(|&n| i128::from(n)).sum::<i128>() as f64 / row.len() as f64;
    Some(splits.windows(2).map(|w| mean(&all[w[0] as usize..w[1] as usize])).collect())
}

/// Whether the origin accepted invalid arguments and gives a tensor whose splits do not start at 0, or a shape with a
/// negative size. This crate has no such tensors or shapes: an error is expected.
pub fn is_no_tensor(want: &Value) -> bool {
    match want {
        Value::Tensor(t) => t.nested_row_splits.iter().any(|splits| splits.first() != Some(&0)),
        Value::RaggedShape { inner_shape, .. } => inner_shape.iter().any(|&size| size < 0),
        _ => false,
    }
}

/// Cases whose origin accepts an index beyond the end of its row and gives a value of a later row. Such an index is an
/// error here.
const BEYOND_THE_ROW: [&str; 16] = [
    "gather/batch_gather/4a708219",
    "gather/gather/60941db5",
    "gather/gather/7b23a150",
    "gather/gather/98e1dd10",
    "gather/gather/b6b18d15",
    "gather/gather/c2ed0aba",
    "gather/gather/c8ebf832",
    "gather/gather/ca864283",
    "gather/gather/cb32df84",
    "gather/gather/d21ee2f5",
    "gather/gather/e060eb3b",
    "gather/gather/e7590681",
    "gather/gather/f36b9b5c",
    "gather/gather_nd/ae65ae7a",
    "gather/gather_nd/bd7fa3d7",
    "gather/gather_nd/fda1a779",
];

/// Whether the origin's value is from another row, so that an error is expected.
pub fn reads_another_row(case: &Case) -> bool {
    BEYOND_THE_ROW.contains(&case.id.as_str())
}
