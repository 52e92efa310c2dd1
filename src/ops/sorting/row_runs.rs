//! Runs within rows: rows split by a condition, and run-length encoding.

use crate::device::Device;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::recorder::Recorder;
use crate::ops::operations;
use crate::ops::sorting::order_keys::OrderKeys;
use crate::record::axis_rows::AxisRows;
use crate::record::sort_key::differ;
use crate::shape::RowPartition;
use crate::tensor::{Tensor, Values};

operations! {
    /// Splits by a condition, and run-length encoding.
    const OPERATIONS: family "Rows: pairs, windows, groups, sets, samples" on RaggedTensor<T> where T: Element;

    /// Splits the rows before each element at which `begins` is true: sessions from gaps, sentences from punctuation.
    ///
    /// The dimensions of `begins` are the first dimensions of this tensor. Its innermost dimension is split: `[n, (r)]`
    /// becomes `[n, (groups), (members)]`, both ragged. Concatenated, the groups are the row. The first element of a
    /// row begins a group whatever `begins` says. Groups have one element or more; an empty row has none. Any dtype.
    /// Awkward's `ak.unflatten` takes the lengths of the groups instead.
    ///
    /// # Errors
    /// `begins` is not of bools, is a scalar, has more dimensions than the tensor or other row lengths (at the read
    /// where only the device knows them), or is on another device.
    ///
    /// # Cost
    /// A rank bitmap over the elements and a compaction of the groups' starts. The values are neither read nor copied.
    /// No wait. A GPU allocates memory for one group per element.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// // A session ends with a pause of more than 30.
    /// let times = RaggedTensor::from_nested([vec![0, 10, 90, 95, 200], vec![], vec![7]], &Device::cpu())?;
    /// let gaps = (&times - &times.shift(1, 0, 1)?)?;
    /// let sessions = times.split_where(&gaps.greater(30)?)?;
    /// assert_eq!(sessions.to_string(), "<ragged.RaggedTensor [[[0, 10], [90, 95], [200]], [], [[7]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn split_where(&self, begins: &impl AsRef<Tensor> as row) -> T;
    alias "sessions";
    gradient yes;

    /// Run-length encoding of each row along the innermost axis: the value and the length of each run of equal values.
    ///
    /// Two results with the same ragged rows: the first value of each run, of the same dtype, and the lengths, i64. An
    /// empty row has no runs. NaN equals NaN, and -0 equals +0; strings are equal if their bytes are. To decode, gather
    /// the values at the run of each element: [`Tensor::repeat`] takes one number of repeats only. Awkward gives the
    /// lengths alone.
    ///
    /// # Errors
    /// A scalar.
    ///
    /// # Cost
    /// A rank bitmap over the values, a compaction and a map over the runs. Strings are first ranked, as for a
    /// [`Tensor::sort`]. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 1, 2, 1], vec![], vec![3]], &Device::cpu())?;
    /// let (values, lengths) = x.run_lengths()?;
    /// assert_eq!(values.to_string(), "<ragged.RaggedTensor [[1, 2, 1], [], [3]]>");
    /// assert_eq!(lengths.to_string(), "<ragged.RaggedTensor [[2, 1, 1], [], [1]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn run_lengths(&self) -> (T, i64);
    alias "rle", "unique_consecutive";
    awkward "ak.run_lengths";
    polars "Expr.rle";
    gradient yes;
    row vector;
}

#[track_caller]
fn split_where(x: &Tensor, begins: &impl AsRef<Tensor>) -> Result<Tensor> {
    let (rec, begins) = (x.recorder("split_where"), begins.as_ref());
    rec.at(Device::check_same(rec.op, x.backend(), begins.backend()))?;
    if begins.dtype() != DType::Bool {
        return Err(rec.unsupported(begins.dtype(), "the condition must be of bools; compare first"));
    }
    let (along, asserts) = along_innermost_of(rec, x, begins)?;
    let flag = Expr::load(rec.numbers(begins)?, Expr::index());
    let runs = Runs::new(rec, &along.rows, flag, &asserts)?;
    runs.over(rec, &along, &along.elements)
}

#[track_caller]
fn run_lengths(x: &Tensor) -> Result<(Tensor, Tensor)> {
    let rec = x.recorder("run_lengths");
    let keys = OrderKeys::new(rec, x)?;
    let numbers = rec.numbers(keys.tensor())?;
    let along = AxisRows::innermost(rec, keys.tensor())?;
    let (at, one) = (Expr::index(), Expr::u32(1));
    let previous = at.clone().max(one.clone()).sub(one);
    let begins = differ(Expr::load(numbers, at.clone()), Expr::load(numbers, previous));
    let runs = Runs::new(rec, &along.rows, begins, &[])?;
    let values = runs.tensor(rec, &along, Expr::load(numbers, Expr::load(&runs.first, at.clone())))?;
    let lengths = runs.tensor(rec, &along, runs.members.length(at).cast(DType::I64))?;
    Ok((keys.values(values)?, lengths))
}

/// Runs of successive elements of a row, of one element or more each.
pub(super) struct Runs {
    /// The partition of the runs into rows.
    rows: RowPartition,
    /// The partition of the elements into runs.
    members: RowPartition,
    /// First element of each run.
    pub(super) first: Node,
}

impl Runs {
    /// The runs of `rows` that begin where `begins` holds, an expression in the element, and at the start of each row.
    pub(super) fn new(rec: Recorder<'_>, rows: &RowPartition, begins: Expr, asserts: &[Node]) -> Result<Self> {
        let at = Expr::index();
        let count = rows.nvals_extent();
        let is_first = at.clone().eq(rows.start(rows.row_of(at.clone())));
        // The conditions are attached to the flags, on which everything below depends.
        let flags = rec.map(count.clone(), is_first.or(begins), asserts);
        let marks = RankBitmap::new(rec, count, Expr::load(&flags, at.clone()));
        let starts = marks.rank(&rows.start(at.clone()));
        let grouped = rec.rows_of_starts(rows.nrows_extent(), &starts, count.size(), &[])?;
        let grouped = grouped.with_lengths(rows.known_lengths().map(|(a, b)| (a.min(1), b)));
        let found = grouped.nvals_extent();
        let first = rec.kept(&marks, found.clone());
        let start = at.clone().lt(found.expr()).select(Expr::load(&first, at), count.expr());
        let members = rec.rows_of_starts(found, &start, count.size(), &[])?;
        let members = members.with_nvals(count.clone());
        Ok(Self {
            members: members.with_lengths(rows.known_lengths().map(|(_, b)| (1.min(b), b))),
            rows: grouped,
            first,
        })
    }

    /// Number of runs.
    fn count(&self) -> &Extent {
        self.rows.nvals_extent()
    }

    /// A tensor of one number per run, below the partitions above the axis.
    pub(super) fn tensor(&self, rec: Recorder<'_>, along: &AxisRows<'_>, value: Expr) -> Result<Tensor> {
        let count = self.count().clone();
        let values = Values::Numbers(rec.map(count.clone(), value, &[]));
        rec.tensor(along.partitions(self.rows.clone()), Some(count), [], values)
    }

    /// `elements` below the partition into runs and the partitions above the axis.
    pub(super) fn over(&self, rec: Recorder<'_>, along: &AxisRows<'_>, elements: &Tensor) -> Result<Tensor> {
        let mut parts = along.partitions(self.rows.clone());
        parts.push(self.members.clone());
        parts.extend(elements.partitions().iter().cloned());
        let (outer, inner) = (elements.outer().cloned(), elements.inner().clone());
        rec.tensor(parts, outer, inner, elements.values_ref().clone())
    }
}

/// The rows of `x` along the innermost axis of `other`, whose dimensions must be the first of `x`; with the conditions.
pub(super) fn along_innermost_of<'a>(
    rec: Recorder<'a>,
    x: &Tensor,
    other: &Tensor,
) -> Result<(AxisRows<'a>, Vec<Node>)> {
    let rank = other.rank();
    if rank == 0 || rank > x.rank() {
        let what = match rank {
            0 => "a scalar has no rows".into(),
            _ => format!("{rank} dimensions for the first of {}", x.rank()),
        };
        return Err(rec.shape(x.shape_text(), other.shape_text(), what));
    }
    let along = AxisRows::new(rec, x, rank as i64 - 1)?;
    let asserts = along.agrees(&AxisRows::innermost(rec, other)?)?;
    Ok((along, asserts))
}
