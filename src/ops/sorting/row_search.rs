//! Binary search in sorted rows.

use crate::device::Device;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::opcode::UnaryOp;
use crate::graph::size::RecordedSize;
use crate::ops::operations;
use crate::ops::options::Sought;
use crate::ops::sorting::order_keys::OrderKeys;
use crate::record::axis_rows::AxisRows;
use crate::record::elementwise::Takes;
use crate::tensor::Tensor;

operations! {
    /// Binary search in sorted rows.
    const OPERATIONS: family "Along an axis" on RaggedTensor<T> where T: Element;

    /// The position in each sorted row at which each value would keep the row sorted.
    ///
    /// The number of elements of the row that are below the value, or, for
    /// [`right_of`](crate::opt::right_of)`(&values)`, not above it. Rows are those along the innermost axis, in
    /// ascending order as of [`Tensor::sort`]; a row that is not sorted gives some position. `values` has the same
    /// dimensions above its innermost axis, whose rows are searched for in the row of this tensor: for `[n, (r)]` and
    /// `[n, (v)]` the result is `[n, (v)]`, i64. NaN is above all numbers; -0 equals +0; strings are ordered by their
    /// bytes. In an empty row every position is 0. TensorFlow takes uniform rows.
    ///
    /// # Errors
    /// A scalar; bools; different dtypes, ranks or devices; different dimensions above the innermost,
    /// at the read where only the device knows them.
    ///
    /// # Cost
    /// One map over `values` with a binary search per value, of as many steps as the longest row that the host knows of
    /// takes. Strings of both tensors are first concatenated and ranked, as for a [`Tensor::sort`]. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1.0, 3.0, 3.0], vec![]], &device)?;
    /// let v = RaggedTensor::from_nested([vec![0.0, 3.0, 9.0], vec![1.0]], &device)?;
    /// assert_eq!(x.searchsorted(&v)?.to_string(), "<ragged.RaggedTensor [[0, 1, 3], [0]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn searchsorted<'a>(&self, values: impl Into<Sought<'a>> as Sought) -> i64;
    alias "bisect", "digitize", "lower_bound";
    tensorflow "tf.searchsorted";
    polars "Expr.search_sorted";
    gradient none "the result holds positions";
    row hand;
}

#[track_caller]
fn searchsorted<'a>(tensor: &Tensor, values: impl Into<Sought<'a>>) -> Result<Tensor> {
    let rec = tensor.recorder("searchsorted");
    let Sought { values, right } = values.into();
    if tensor.dtype() == DType::Bool {
        rec.at(Takes::Numbers.check(rec.op, tensor.dtype()))?;
    }
    rec.at(Device::check_same(rec.op, tensor.backend(), values.backend()))?;
    if tensor.dtype() != values.dtype() {
        return Err(Error::DTypes { op: rec.op, lhs: tensor.dtype(), rhs: values.dtype(), location: rec.location });
    }
    if tensor.rank() != values.rank() {
        let what = "the ranks must be equal".into();
        return Err(rec.shape(tensor.shape_text(), values.shape_text(), what));
    }
    let [tensor, values] = &OrderKeys::of_both(rec, tensor, values)?;
    let (x, v) = (AxisRows::innermost(rec, tensor)?, AxisRows::innermost(rec, values)?);
    let asserts = x.agrees_above(&v)?;
    let at = Expr::index();
    let row = v.rows.row_of(at.clone());
    let (start, length) = (x.rows.start(row.clone()), x.rows.length(row));
    let sought = Expr::load(rec.numbers(values)?, at);
    let numbers = rec.numbers(tensor)?;
    let longest = x.rows.known_lengths().map_or(u32::MAX, |(_, longest)| longest);
    let longest = longest.min(x.rows.nvals_extent().capacity());
    // Number of elements known to come before the value. A multiple of 4 steps, so that few plans differ.
    let mut before = Expr::u32(0);
    let steps = (u32::BITS - longest.leading_zeros()).next_multiple_of(4);
    for step in (0..steps).rev() {
        let next = before.clone().add(Expr::u32(1 << step));
        let last = Expr::load(
            numbers,
            start.clone().add(next.clone().min(length.clone())).max(Expr::u32(1)).sub(Expr::u32(1)),
        );
        let comes_before = if right { below(sought.clone(), last).not() } else { below(last, sought.clone()) };
        before = next.clone().le(length.clone()).and(comes_before).select(next, before);
    }
    let position = before.cast(DType::I64);
    values.with_value_node(rec.map(values.count()?, position, &asserts))
}

/// Whether `a` comes before `b` in the order of a sort, in which NaN is last.
fn below(a: Expr, b: Expr) -> Expr {
    if !a.dtype().is_float() {
        return a.lt(b);
    }
    let (a_is_nan, b_is_nan) = (a.clone().unary(UnaryOp::IsNan), b.clone().unary(UnaryOp::IsNan));
    a.lt(b).or(b_is_nan.and(a_is_nan.not()))
}
