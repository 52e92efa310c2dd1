//! Operations on a tensor of device-known size, with naive twins where one ragged dimension of integers has one.

use ragged::arguments::Fill;
use ragged::arguments::Operand;
use ragged::opt::{Encoding, along, descending, keep, nonempty, reversed};
use ragged::{DType, Result, Tensor, s};

use super::twin::{Twin, order, running, sliced, transposed, unique};

/// An operation on a tensor, or on two.
pub struct Step {
    pub name: &'static str,
    pub run: fn(&Tensor, &Tensor) -> Result<Tensor>,
    /// The result for the twins of the operands, where it is defined.
    pub twin: fn(&Twin, &Twin) -> Option<Twin>,
}

const fn step(name: &'static str, run: fn(&Tensor, &Tensor) -> Result<Tensor>) -> Step {
    Step { name, run, twin: |_, _| None }
}

const fn twinned(
    name: &'static str,
    run: fn(&Tensor, &Tensor) -> Result<Tensor>,
    twin: fn(&Twin, &Twin) -> Option<Twin>,
) -> Step {
    Step { name, run, twin }
}

fn zero(x: &Tensor) -> Operand<'static> {
    Operand::Value(Fill::zero(x.dtype()))
}

fn windows_sum(row: &[i64], n: usize) -> Vec<i64> {
    row.windows(n).map(|w| w.iter().sum()).collect()
}

fn pairwise(row: &[i64], f: impl Fn(i64, i64) -> i64) -> Vec<i64> {
    row.windows(2).map(|w| f(w[0], w[1])).collect()
}

/// The sum of each row.
fn sums(rows: &[Vec<i64>]) -> Vec<i64> {
    rows.iter().map(|row| row.iter().sum()).collect()
}

/// The states `3 state + x`, at most 100, times the last one.
fn states_and_values(row: &[i32]) -> Vec<i32> {
    let next = |state: &mut i32, x: &i32| {
        *state = state.wrapping_mul(3).wrapping_add(*x);
        Some(*state)
    };
    let states: Vec<i32> = row.iter().scan(0, next).collect();
    let last = states.last().copied().unwrap_or(0);
    states.iter().map(|state| state.min(&100).wrapping_mul(last)).collect()
}

/// In ascending order, after the zeros.
fn zeros_first(mut row: Vec<i64>) -> Vec<i64> {
    row.sort_by_key(|&v| (v != 0, v));
    row
}

/// Slices, reversal, masks, gathers, concatenation.
const SELECTIONS: &[Step] = &[
    twinned("itself", |x, _| Ok(x.clone()), |x, _| Some(x.clone())),
    twinned("heads ..-1", |x, _| x.slice(s![.., ..-1]), |x, _| x.each_row(|r| sliced(r, None, Some(-1), 1))),
    twinned("tails 1..", |x, _| x.slice(s![.., 1..]), |x, _| x.each_row(|r| sliced(r, Some(1), None, 1))),
    twinned("heads ..-7", |x, _| x.slice(s![.., ..-7]), |x, _| x.each_row(|r| sliced(r, None, Some(-7), 1))),
    twinned("tails 7..", |x, _| x.slice(s![.., 7..]), |x, _| x.each_row(|r| sliced(r, Some(7), None, 1))),
    twinned("first of each row", |x, _| x.slice(s![.., ..1]), |x, _| x.each_row(|r| sliced(r, None, Some(1), 1))),
    twinned("last of each row", |x, _| x.slice(s![.., -1..]), |x, _| x.each_row(|r| sliced(r, Some(-1), None, 1))),
    twinned(
        "every second row",
        |x, _| x.slice(s![..;2]),
        |x, _| x.all_rows(|r| r.iter().step_by(2).cloned().collect()),
    ),
    twinned("rows 1..", |x, _| x.slice(s![1..]), |x, _| x.all_rows(|r| r.iter().skip(1).cloned().collect())),
    twinned("rows ..-1", |x, _| x.slice(s![..-1]), |x, _| x.all_rows(|r| r[..r.len().saturating_sub(1)].to_vec())),
    twinned("rows backwards", |x, _| x.slice(s![..;-1]), |x, _| x.all_rows(|r| r.iter().rev().cloned().collect())),
    step("the first row", |x, _| x.slice(s![0])),
    step("the last row", |x, _| x.slice(s![-1])),
    twinned("reverse", |x, _| x.reverse(1), |x, _| x.each_row(|r| r.iter().rev().copied().collect())),
    step("reverse of rows", |x, _| x.reverse(0)),
    twinned(
        "mask of positives",
        |x, _| x.boolean_mask(&x.greater(2)?),
        |x, _| x.each_row(|r| r.iter().copied().filter(|&v| v > 2).collect()),
    ),
    step("mask of rows", |x, _| x.boolean_mask(&x.cast(DType::Bool)?.reduce_any(1)?)),
    step("gather of the order of lengths", |x, _| x.gather(&x.row_lengths(1)?.argsort(0)?)),
    step("batch_gather of its order", |x, _| x.batch_gather(&x.argsort(descending(-1))?)),
    step("gather along rows", |x, _| x.gather(along(&x.row_lengths(1)?.floormod(1i64)?.slice(s![..2])?, 1))),
    twinned("concat of rows", |x, _| Tensor::concat(&[x, x], 0), |x, _| x.all_rows(|r| [r, r].concat())),
    twinned(
        "concat in rows",
        |x, _| Tensor::concat(&[x, &x.reverse(1)?], 1),
        |x, _| x.each_row(|r| r.iter().chain(r.iter().rev()).copied().collect()),
    ),
    step("concat of two", |x, y| Tensor::concat(&[x, y], 0)),
    step("stack", |x, _| Tensor::stack(&[x, x], 0)),
    step("stack in rows", |x, _| Tensor::stack(&[x, x], 1)),
    twinned("tile of rows", |x, _| x.tile(&[2, 1]), |x, _| x.all_rows(|r| [r, r].concat())),
    twinned("tile in rows", |x, _| x.tile(&[1, 2]), |x, _| x.each_row(|r| [r, r].concat())),
    twinned("repeat in rows", |x, _| x.repeat(2, 1), |x, _| x.each_row(|r| r.iter().flat_map(|&v| [v, v]).collect())),
    step("where_indices", |x, _| x.greater(2)?.where_indices()),
    step("select_rows", |x, _| x.cast(DType::Bool)?.reduce_any(1)?.select_rows(x, &x.reverse(1)?)),
    step("split_where", |x, _| x.split_where(&x.greater(2)?)),
];

/// Sorts, scans, windows, sets.
const ROWS: &[Step] = &[
    twinned(
        "sum of windows of 3",
        |x, _| x.sliding_windows(3, 1)?.reduce_sum(2),
        |x, _| x.each_row(|r| windows_sum(r, 3)),
    ),
    twinned(
        "sum of windows of 8",
        |x, _| x.sliding_windows(8, 1)?.reduce_sum(2),
        |x, _| x.each_row(|r| windows_sum(r, 8)),
    ),
    step("windows of 2", |x, _| x.sliding_windows(2, 1)),
    twinned(
        "sort",
        |x, _| x.sort(-1),
        |x, _| x.each_row(|r| order(r, false).iter().map(|&at| r[at as usize]).collect()),
    ),
    twinned(
        "sort down",
        |x, _| x.sort(descending(-1)),
        |x, _| x.each_row(|r| order(r, true).iter().map(|&at| r[at as usize]).collect()),
    ),
    twinned("argsort", |x, _| x.argsort(-1), |x, _| x.each_row_wide(|r| order(r, false))),
    twinned(
        "top 2",
        |x, _| Ok(x.top_k(2, -1)?.0),
        |x, _| x.each_row(|r| order(r, true).iter().take(2).map(|&at| r[at as usize]).collect()),
    ),
    step("indices of the top 2", |x, _| Ok(x.top_k(2, -1)?.1)),
    step("segment_max of the top's indices", |x, _| {
        let (_, at) = x.top_k(1, -1)?;
        at.values()?.segment_max(&at.value_rowids()?)
    }),
    twinned("cumsum", |x, _| x.cumsum(-1), |x, _| x.each_row(running)),
    step("cumsum reversed", |x, _| x.cumsum(reversed(-1))),
    step("cumsum of rows", |x, _| x.cumsum(0)),
    twinned(
        "cummax",
        |x, _| x.cummax(-1),
        |x, _| {
            x.each_row(|r| {
                r.iter()
                    .scan(i64::MIN, |most, &v| {
                        Some({
                            *most = v.max(*most);
                            *most
                        })
                    })
                    .collect()
            })
        },
    ),
    twinned("unique", |x, _| x.unique(1), |x, _| x.each_row(unique)),
    step("counts of unique", |x, _| Ok(x.unique_with_counts(1)?.1)),
    step("n_unique", |x, _| x.n_unique(1)),
    step("runs", |x, _| Ok(x.run_lengths()?.0)),
    step("lengths of runs", |x, _| Ok(x.run_lengths()?.1)),
    twinned("diff", |x, _| x.diff(1), |x, _| x.each_row(|r| pairwise(r, |a, b| b - a))),
    twinned(
        "tails less heads",
        |x, _| x.slice(s![.., 1..])?.subtract(&x.slice(s![.., ..-1])?),
        |x, _| x.each_row(|r| pairwise(r, |a, b| b - a)),
    ),
    step("shift", |x, _| x.shift(1, zero(x), 1)),
    step("roll", |x, _| x.roll(1, 1)),
    twinned("local_index", |x, _| x.local_index(1), |x, _| x.each_row_wide(|r| (0..r.len() as i64).collect())),
    step("groups of values", |x, _| {
        let flat = x.flat_values()?;
        Ok(flat.group_by_key(&flat)?.1)
    }),
    twinned(
        "second keys of groups of two keys",
        |x, _| Ok(x.group_by_key((&x.cast(DType::Bool)?, x))?.0.1),
        |x, _| x.each_row(|r| zeros_first(unique(r))),
    ),
    twinned(
        "members of groups of two keys",
        |x, _| x.group_by_key((&x.cast(DType::Bool)?, x))?.1.merge_dims(-2, -1),
        |x, _| x.each_row(|r| zeros_first(r.to_vec())),
    ),
    step("groups of three keys", |x, _| {
        let flat = x.flat_values()?;
        Ok(flat.group_by_key([&flat.cast(DType::Bool)?, &flat, &flat.reverse(0)?])?.1)
    }),
    twinned(
        "updated rows",
        |x, _| {
            let sums = x.reduce_sum(1)?.flat_values()?.reshape([-1])?;
            let at = sums.greater(2)?.where_indices()?.reshape([-1])?;
            sums.update_rows(&at, &sums.gather(&at)?.add(1)?)
        },
        |x, _| x.vector(sums)?.each_number(|sum| if sum > 2 { sum + 1 } else { sum }),
    ),
    twinned(
        "last states and running values",
        |x, _| {
            let x = x.cast(DType::I32)?;
            let start = x.flat_values()?.reshape([-1])?.slice(s![..0])?.reduce_sum(keep(0))?;
            let out = x.scan_rows([&start], |states, x| {
                let state = states[0].multiply(3)?.add(x)?;
                Ok((vec![state.clone()], vec![state.minimum(100)?]))
            })?;
            out.outputs[0].multiply(&out.states[0].expand_dims(-1)?)
        },
        |x, _| x.each_row_narrow(states_and_values),
    ),
    step("set_union with its reverse", |x, _| x.set_union(&x.reverse(1)?)),
    step("of each row what is not zero", |x, _| x.map_rows(|r| r.boolean_mask(&r.cast(DType::Bool)?))),
    step("ranges", |x, _| x.row_lengths(1)?.range()),
    step("dropped heads and tails", |x, _| x.slice(s![.., 1..])?.slice(s![.., ..-1])),
];

/// Reductions, shapes, parts.
const SHAPES: &[Step] = &[
    twinned("sum of each row", |x, _| x.reduce_sum(1), |x, _| x.vector(sums)),
    step("sum of columns", |x, _| x.reduce_sum(0)),
    twinned(
        "maximum of each column",
        |x, _| x.reduce_max(0),
        |x, _| x.vector(|r| transposed(r).iter().map(|c| c.iter().copied().max().unwrap_or(0)).collect()),
    ),
    step("mean of each row", |x, _| x.reduce_mean(1)),
    step("sum of all", |x, _| x.reduce_sum(..)),
    step("argmax", |x, _| x.argmax(1)),
    step("less its maximum", |x, _| x.subtract(&x.reduce_max(keep(1))?)),
    twinned("plus itself", |x, _| x.add(x), |x, _| x.each_row(|r| r.iter().map(|v| v + v).collect())),
    step("plus the other", |x, y| x.add(y)),
    step("plus the lengths", |x, _| x.row_lengths(1)?.add(1i64)),
    twinned("merged", |x, _| x.merge_dims(0, 1), |x, _| x.flat()),
    twinned("values", |x, _| x.values(), |x, _| x.flat()),
    twinned(
        "row_lengths",
        |x, _| x.row_lengths(1),
        |x, _| x.vector_wide(|r| r.iter().map(|r| r.len() as i64).collect()),
    ),
    step("row_splits", |x, _| x.row_splits()),
    twinned(
        "value_rowids",
        |x, _| x.value_rowids(),
        |x, _| x.vector_wide(|r| (0..).zip(r).flat_map(|(at, r)| vec![at; r.len()]).collect()),
    ),
    step("nrows", |x, _| x.nrows()),
    step("size", |x, _| x.size()),
    step("bounding_shape", |x, _| x.bounding_shape()),
    step("segment_sum of its rows", |x, _| x.values()?.segment_sum(&x.value_rowids()?)),
    step("unsorted_segment_max", |x, _| x.unsorted_segment_max(&x.row_lengths(1)?.floormod(3i64)?, 3)),
    twinned("transpose_rows", |x, _| x.transpose_rows(), |x, _| x.all_rows(transposed)),
    twinned(
        "transpose_rows twice",
        // Without columns the number of rows is lost, unless the result is dense, which depends on who computed it.
        |x, _| if x.shape().get(1) == Some(&Some(0)) { Ok(x.clone()) } else { x.transpose_rows()?.transpose_rows() },
        |x, _| x.all_rows(|r| transposed(&transposed(r))),
    ),
    step("transpose", |x, _| x.transpose_rows()?.transpose([1, 0])),
    step("expand_dims", |x, _| x.expand_dims(0)),
    step("expand_dims in rows", |x, _| x.expand_dims(1)),
    step("squeeze", |x, _| x.squeeze(..)),
    step("broadcast_like", |x, y| x.broadcast_like(y)),
    step("broadcast of maxima", |x, _| x.reduce_max(keep(-1))?.broadcast_like(x)),
    step("broadcast_to", |x, _| x.broadcast_to([3i64])),
    step("its sum, three times, plus it", |x, _| x.reduce_sum(..)?.broadcast_to([3i64])?.add(x)),
    step("unzip", |x, _| Tensor::zip(&x.unzip()?)),
    step("fill_empty_rows", |x, _| Ok(x.fill_empty_rows(zero(x))?.0)),
    step("reshape_like", |x, _| x.flat_values()?.reshape([-1])?.reshape_like(x)),
    step("dynamic_partition", |x, _| Ok(x.dynamic_partition(&x.row_lengths(1)?.floormod(2i64)?, 2)?.swap_remove(1))),
    step("from_tensor", |x, _| Tensor::from_tensor(x, 1)),
    step("first rows with their lengths", |x, _| {
        // Pairs of device-known height and as many lengths.
        let lengths = x.boolean_mask(&x.greater(2)?)?.minimum(1)?;
        let at = x.greater(2)?.where_indices()?;
        Tensor::from_tensor_with_lengths(&Tensor::concat(&[&at, &at], 1)?, &lengths, 1)
    }),
    step("bounding_shape of pairs", |x, _| Tensor::stack(&[x, x], 1)?.bounding_shape()),
    step("with the lengths of its mask", |x, y| Tensor::from_tensor_with_lengths(x, y, 1)),
    step("with its values", |x, _| x.with_flat_values(&x.flat_values()?.reverse(0)?)),
];

/// Operations whose dense results have a value per row and position of the longest row.
pub const PADDED: &[Step] = &[
    step("to_tensor", |x, _| x.to_tensor(Fill::zero(x.dtype()))),
    step("to_tensor and back", |x, _| {
        Tensor::from_tensor_with_lengths(&x.to_tensor(Fill::zero(x.dtype()))?, &x.row_lengths(1)?, 1)
    }),
    step("to_sparse and back", |x, _| Tensor::from_sparse(&x.to_sparse()?)),
];

/// Operations on strings.
const TEXT: &[Step] = &[
    step("string_upper", |x, _| x.string_upper()),
    step("string_length", |x, _| x.string_length()),
    step("unicode_decode", |x, _| x.unicode_decode(Encoding::Utf8)),
    step("bytes_split", |x, _| x.bytes_split()),
    step("words", |x, _| x.string_split(nonempty(" "))),
    step("values of lines", |x, _| x.string_split("b")?.values()),
    step("ngrams", |x, _| x.string_ngrams(2, "-")),
    step("substr", |x, _| x.substr(0, 2)),
    step("string_to_bytes and back", |x, _| x.string_to_bytes()?.bytes_to_string()),
    step("strip_prefix", |x, y| x.strip_prefix(&y.substr(0, 0)?)),
    step("strip_suffix", |x, _| x.strip_suffix("b")),
    step("nth_field_or", |x, _| x.nth_field_or(" ", 1, "-")),
    step("fingerprint64", |x, _| x.fingerprint64()),
    step("string_prefix_to_number", |x, _| {
        let lengths = x.string_length()?.as_string()?;
        Tensor::string_join(&[&lengths, x], " ")?.string_prefix_to_number(DType::I64)
    }),
    step("string_join", |x, _| Tensor::string_join(&[x, x], "+")),
    step("reduce_join", |x, _| x.reduce_join(-1, "")),
    step("as_string", |x, _| x.as_string()),
];

/// All steps, by dtype: those of numbers, and those of strings.
pub fn steps(dtype: DType) -> Vec<&'static Step> {
    let selections = SELECTIONS.iter();
    match dtype {
        DType::Str => selections.chain(TEXT).chain(SHAPES).collect(),
        _ => selections.chain(ROWS).chain(SHAPES).chain(TEXT.last()).collect(),
    }
}
