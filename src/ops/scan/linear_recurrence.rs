//! Linear recurrences along an axis.

use crate::element::Arithmetic;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::opcode::ReduceOp;
use crate::graph::size::RecordedSize;
use crate::integer::Integer;
use crate::ops::options::ScanAxis;
use crate::ops::{IntoOperand, IntoOperandOf, operations};
use crate::record::elementwise::{Takes, Together};
use crate::record::levels::Levels;
use crate::record::operand::Operand;
use crate::record::row_scan::{RowScan, Terms};
use crate::shape::Place;
use crate::tensor::{Fill, Tensor, Values};

operations! {
    /// Linear recurrences along an axis.
    const OPERATIONS: family "Along an axis" on RaggedTensor<T> where T: Arithmetic;

    /// The linear recurrence `y[i] = decay[i] * y[i - 1] + x[i]` along an axis: discounted sums.
    ///
    /// `decay` is a number, or a tensor that broadcasts with `x` as in arithmetic ([`Tensor::add`]), to the layout of
    /// the result. `initial` is the result before the first one of each row: a number, usually 0, or a tensor that
    /// broadcasts to the layout of the result without the axis, such as one number per row. `axis` counts in the
    /// result. [`reversed`](crate::opt::reversed) starts at the ends of rows: `y[i] = decay[i] * y[i + 1] + x[i]`, the
    /// returns of reinforcement learning. [`exclusive`](crate::opt::exclusive) gives the result before each element,
    /// the first of which is `initial`. Same dtype; integers wrap, f16 and bf16 are computed in f32, in which a decay
    /// that is a number is not rounded to them. Empty rows stay empty. Along an axis with ragged dimensions below,
    /// elements at the same offset in their rows form a recurrence.
    ///
    /// The recurrence is a scan of affine maps, of logarithmic depth: its order of operations depends on the position
    /// in the row, so that a row has the same bits on every backend and in every batch. A result is the sum of products
    /// of values with up to 256 decays, and of these sums with products of more: products that underflow are 0, and
    /// decays above 1 whose products overflow give infinities or NaN. A preceding result of 0 contributes 0 for any
    /// decay, also for an infinite one; no result is -0. From an infinity or NaN on, the results of the row are
    /// infinite or NaN.
    ///
    /// # Errors
    /// Bool or string values; operands of different dtypes or devices; shapes that do not broadcast, at the read where
    /// only the device knows the lengths of rows; a number that the dtype cannot represent; `axis` out of range. On a GPU
    /// with few bindings: values of several columns that take a hundred of them.
    ///
    /// # Cost
    /// That of [`cumsum`](Self::cumsum), with two numbers per value: one pass over the values and decays, and two more
    /// over rows longer than 256 (longer than 64 with inner dimensions below the axis), which store products of decays
    /// too; three dispatches at most. An axis with ragged dimensions below adds two sorts of positions. No wait.
    ///
    /// ```
    /// use ragged::opt::reversed;
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1.0f32, 2.0, 4.0], vec![], vec![8.0]], &device)?;
    /// assert_eq!(x.linear_recurrence(0.5, 0.0, 1)?.to_vec()?, [1.0, 2.5, 5.25, 8.0]);
    /// assert_eq!(x.linear_recurrence(0.5, 0.0, reversed(1))?.to_vec()?, [3.0, 4.0, 4.0, 8.0]);
    /// // A decay of 0 ends an episode; the rows begin with 10, 0 and 2.
    /// let decay = RaggedTensor::from_nested([vec![0.5f32, 0.0, 1.0], vec![], vec![0.5]], &device)?;
    /// let initial = RaggedTensor::from_nested([10.0f32, 0.0, 2.0], &device)?;
    /// assert_eq!(x.linear_recurrence(&decay, &initial, 1)?.to_vec()?, [6.0, 2.0, 6.0, 9.0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn linear_recurrence<'a>(
        &self,
        decay: impl IntoOperandOf<'a, T> as operand,
        initial: impl IntoOperandOf<'a, T> as operand,
        axis: impl Into<ScanAxis> as scan_axis = 0,
    ) -> T;
    alias "discounted_sum", "scan_discounted_sum", "discounted_returns", "lfilter", "associative_scan", "affine scan";
    gradient yes;
    row hand;
}

#[track_caller]
fn linear_recurrence<'a>(
    x: &Tensor,
    decay: impl IntoOperand<'a>,
    initial: impl IntoOperand<'a>,
    axis: impl Into<ScanAxis>,
) -> Result<Tensor> {
    let rec = x.recorder("linear_recurrence");
    let along = axis.into();
    let dtype = x.dtype();
    rec.at(Takes::Numbers.check(rec.op, dtype))?;
    let accumulator = dtype.accumulator();
    // A number is not rounded to a narrow float, in which nothing is computed.
    let of_dtype = |operand: Operand<'a>| match (&operand, dtype.is_float()) {
        (Operand::Value(_), true) => rec.at(operand.of_dtype(rec.op, accumulator)),
        _ => rec.at(operand.of_dtype(rec.op, dtype)),
    };
    let (decay, initial) = (of_dtype(decay.into())?, of_dtype(initial.into())?);
    let rank_of = |operand: &Operand<'_>| operand.tensor().map_or(0, Tensor::rank);
    let rank = x.rank().max(rank_of(&decay));
    let axis = rec.at(axis_of(rec.op, along.axis, rank))?;
    // Dimensions of the initial results above the axis stay aligned with those of the result.
    let below = rank - 1 - axis;
    let expanded = match initial.tensor() {
        Some(t) if t.rank() > below => Some(rec.at(t.expand_dims((t.rank() - below).saturating_i64()))?),
        _ => None,
    };
    let initial = expanded.as_ref().map_or(initial, Operand::Tensor);
    let operands = [Operand::Tensor(x), decay, initial];
    let together = Together::of_any_dtypes(rec, &operands)?;
    let number = |k: usize| {
        let e = match &operands[k] {
            Operand::Tensor(t) => Expr::load(rec.numbers(t)?, together.places[k].expr()),
            Operand::Value(Fill::Number(number)) => Expr::number(*number),
            Operand::Value(Fill::String(_)) => return Err(rec.unsupported(dtype, "")),
        };
        Ok(e.cast(accumulator))
    };
    let [value, decay, first] = [number(0)?, number(1)?, number(2)?];
    let is_zero = matches!(&operands[2], Operand::Value(Fill::Number(n)) if n.bits() == 0);
    let terms = Terms::of_recurrence(value.clone(), decay, (!is_zero).then_some(first));
    let all = if together.places[0] == Place::Same && together.asserts.is_empty() {
        x.clone()
    } else {
        let node = rec.map(together.count.clone(), value.cast(dtype), &together.asserts);
        together.with(Values::Numbers(node))?
    };
    scanned(&all, terms, ScanAxis { axis: axis.saturating_i64(), ..along }, rec.op)
}

/// The axis of a tensor of that rank.
#[track_caller]
fn axis_of(op: &'static str, axis: i64, rank: usize) -> Result<usize> {
    let from_front = if axis < 0 { axis.saturating_add(rank.saturating_i64()) } else { axis };
    let found = usize::try_from(from_front).ok().filter(|&axis| axis < rank);
    found.ok_or_else(|| crate::error::Error::argument(op, format!("axis {axis} is out of range for rank {rank}")))
}

/// The recurrence of `terms`, expressions in the number of `layout`, in its layout and dtype. The conditions of
/// `layout` apply.
#[track_caller]
pub(super) fn scanned(layout: &Tensor, terms: Terms, along: ScanAxis, op: &'static str) -> Result<Tensor> {
    let rec = layout.recorder(op);
    let count = layout.count()?;
    if count.capacity() == 0 {
        return Ok(layout.clone());
    }
    let axis = layout.axis(op, along.axis)?;
    let scan = RowScan { op: ReduceOp::Sum, exclusive: along.exclusive, reverse: along.reversed };
    let (stage, _) = Levels::of(rec, layout)?.reduce(rec, (axis, axis), false)?;
    let result = stage.scan(rec, terms, &scan)?.cast(layout.dtype());
    layout.with_value_node(rec.map(count, result, &[]))
}
