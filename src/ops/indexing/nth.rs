//! One element of each row, by its position in the row.

use crate::element::Element;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::integer::Integer;
use crate::ops::operations;
use crate::ops::{IntoOperand, IntoOperandOf};
use crate::record::operand::Operand;
use crate::record::rows::Repeats;
use crate::tensor::{BytesBound, Fill, Pick, Tensor, Values};

operations! {
    /// One element of each row, by its position in the row.
    const OPERATIONS: family "Indexing and gathering" on RaggedTensor<T> where T: Element;

    /// Element `index` of each row of axis 1; a negative index counts from the end of the row.
    ///
    /// The result has the shape without axis 1. Any dtype. Every row must have the element: [`nth_or`](Self::nth_or)
    /// gives a default for rows without it, [`nth_or_skip`](Tensor::nth_or_skip) leaves such rows out.
    ///
    /// # Errors
    /// A scalar or a vector. At the read: a row without the element, which includes every empty row.
    ///
    /// # Cost
    /// One map over the result, and a prefix sum per ragged dimension below axis 1. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![4]], &Device::cpu())?;
    /// assert_eq!(x.nth(0)?.to_vec()?, [1, 4]);
    /// assert_eq!(x.nth(-1)?.to_vec()?, [3, 4]);
    /// assert!(x.nth(1)?.to_vec().is_err());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn nth(&self, index: impl Integer as integer) -> T;
    alias "get", "first", "last";
    awkward "ak.Array.__getitem__";
    polars "list.get";
    gradient yes;
    row hand;

    /// Element `index` of each row of axis 1, or `default` for rows that are too short.
    ///
    /// A negative index counts from the end of the row. The result has the shape without axis 1, and one element for
    /// every row, empty ones included. Any dtype; the default is one value of it. Awkward and Polars give `None` or
    /// null, which their `fill_none` and `fill_null` replace.
    ///
    /// # Errors
    /// A scalar or a vector; ragged dimensions below axis 1; a default that is not one value of the tensor's dtype.
    ///
    /// # Cost
    /// One map over the result; strings add a prefix sum. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![], vec![4]], &Device::cpu())?;
    /// assert_eq!(x.nth_or(1, -1)?.to_vec()?, [2, -1, -1]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn nth_or<'a>(&self, index: impl Integer as integer, default: impl IntoOperandOf<'a, T> as operand) -> T;
    awkward "ak.firsts";
    polars "list.get(…, null_on_oob=True)";
    gradient yes;
    row hand;

    /// Element `index` of each row of axis 1 that has it; shorter rows are left out.
    ///
    /// A negative index counts from the end of the row. The result has the shape without axis 1, and as many elements
    /// as rows have the element, a number that only the device knows. Any dtype. Awkward:
    /// `x[ak.num(x) > index, index]`.
    ///
    /// # Errors
    /// A scalar or a vector.
    ///
    /// # Cost
    /// A compaction of the rows, one map over the result, and a prefix sum per ragged dimension below axis 1. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![], vec![4]], &Device::cpu())?;
    /// assert_eq!(x.nth_or_skip(0)?.to_vec()?, [1, 4]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn nth_or_skip(&self, index: impl Integer as integer) -> T;
    gradient yes;
    row none "rows cannot be left out";
}

#[track_caller]
fn nth(x: &Tensor, index: impl Integer) -> Result<Tensor> {
    let rec = x.recorder("nth");
    x.nth_named(rec, index.saturating_i64())
}

#[track_caller]
fn nth_or<'a>(x: &Tensor, index: impl Integer, default: impl IntoOperand<'a>) -> Result<Tensor> {
    const OP: &str = "nth_or";
    let rec = x.recorder(OP);
    let Operand::Value(default) = default.into().of_dtype(OP, x.dtype())? else {
        return Err(rec.argument("the default must be a number or a string, not a tensor"));
    };
    let Nth { rows, from, present } = Nth::new(rec, x, index.saturating_i64())?;
    let values = rows.values()?;
    if values.ragged_rank() > 0 {
        let what = format!("elements of a tensor of shape {} are ragged; nth_or_skip takes them", x.shape_text());
        return Err(rec.argument(what));
    }
    let count = rows.nrows_extent();
    let numbers = rec.times_size(&count, &values.width_size())?;
    let width = Expr::size(&values.width_size().max(1));
    let (row, number) = (Expr::index().div(width.clone()), Expr::index().rem(width));
    let source = Pick::From(values.values_ref(), values.flat(from.at(&row), number));
    let fill = if let Fill::String(s) = &default { s.len() as u64 } else { 0 };
    let bytes = values.values_ref().bytes_capacity().saturating_add(fill.saturating_mul(numbers.capacity().into()));
    let pick = Pick::either(present.at(&row), source, Pick::Fill(default));
    let picked = rec.rearranged(&numbers, &pick, BytesBound::at_most(bytes), &[])?;
    rec.tensor(Vec::new(), Some(count), values.inner().clone(), picked)
}

#[track_caller]
fn nth_or_skip(x: &Tensor, index: impl Integer) -> Result<Tensor> {
    let rec = x.recorder("nth_or_skip");
    let index = index.saturating_i64();
    let Nth { rows, present, .. } = Nth::new(rec, x, index)?;
    let count = rows.nrows_extent();
    let present = rec.map(count.clone(), present, &[]);
    let present = rec.tensor(Vec::new(), Some(count), [], Values::Numbers(present))?;
    rows.boolean_mask(&present)?.nth_named(rec, index)
}

/// Element `index` of each row, counted from the end if negative.
struct Nth {
    /// The tensor, whose first level is a partition.
    rows: Tensor,
    /// At row `Index`: the position of the element in the values.
    from: Expr,
    /// At row `Index`: whether the row has the element.
    present: Expr,
}

impl Nth {
    fn new(rec: Recorder<'_>, x: &Tensor, index: i64) -> Result<Self> {
        if x.rank() < 2 {
            let what = format!("it needs a tensor of rows, but the shape is {}", x.shape_text());
            return Err(rec.argument(what));
        }
        let rows = if x.ragged_rank() == 0 { rec.at(x.inner_to_partitions(1))? } else { x.clone() };
        let part = &rows.partitions()[0];
        let (row, length) = (Expr::index(), part.length(Expr::index()));
        let distance = Expr::u32(u32::try_from(index.unsigned_abs()).unwrap_or(u32::MAX));
        let (offset, present) = match index {
            0.. => (distance.clone(), distance.lt(length)),
            _ => (length.clone().sub(distance.clone()), distance.le(length)),
        };
        let from = part.within(row, offset);
        Ok(Self { rows, from, present })
    }
}

impl Tensor {
    pub(crate) fn nth_named(&self, rec: Recorder<'_>, index: i64) -> Result<Self> {
        let Nth { rows, from, present } = Nth::new(rec, self, index)?;
        let check = rec.check_of_index(format!("a row has no element {index}"));
        let count = rows.nrows_extent();
        let asserts = [rec.assert(count.clone(), present, check)];
        rec.at(rows.values())?.take_rows(rec, count, from, Repeats::Never, &asserts)
    }
}
