//! Distinct values of each row.

use crate::dtype::DType;
use crate::element::Element;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::integer::Integer;
use crate::ops::operations;
use crate::ops::sorting::order_keys::OrderKeys;
use crate::ops::sorting::sort::Sorted;
use crate::record::sort_key::differ;
use crate::tensor::{Tensor, Values};

operations! {
    /// Distinct values of each row.
    const OPERATIONS: family "Along an axis" on RaggedTensor<T> where T: Element;

    /// The distinct values of each row, in ascending order.
    ///
    /// `axis` must be the innermost; it becomes ragged, except that a dense tensor of rank 1 stays dense, with a size
    /// that only the device knows. Same dtype. Values are ordered as in [`sort`](Self::sort). -0 and +0 are one value,
    /// of which the result holds the first in the row; NaN is one value, which comes last. Empty rows stay empty. For
    /// the distinct values of a whole tensor, take its [`flat_values`](Tensor::flat_values) first. The same bits on
    /// every device. TensorFlow keeps the order in which values occur.
    ///
    /// # Errors
    /// `axis` out of range or not the innermost.
    ///
    /// # Cost
    /// A [`sort`](Self::sort), two maps and a prefix sum over the values, and a map over the result. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![3, 1, 3, 3], vec![], vec![2]], &Device::cpu())?;
    /// assert_eq!(x.unique(-1)?.to_string(), "<ragged.RaggedTensor [[1, 3], [], [2]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn unique(&self, axis: impl Integer as axis) -> T;
    alias "distinct", "dedup";
    tensorflow "tf.unique";
    polars "list.unique";
    gradient yes;

    /// The distinct values of each row, in ascending order, and the number of occurrences of each value in its row.
    ///
    /// The values have the same dtype, the counts are i64; both have the same rows. `axis` must be the innermost; it
    /// becomes ragged, except that dense tensors of rank 1 stay dense, with a size that only the device knows. Values
    /// are ordered as in [`sort`](Self::sort). -0 and +0 are one value, of which the result holds the first in the row;
    /// NaN is one value, which comes last. Empty rows stay empty. The same bits on every device. TensorFlow keeps the
    /// order in which values occur.
    ///
    /// # Errors
    /// `axis` out of range or not the innermost.
    ///
    /// # Cost
    /// A [`sort`](Self::sort), two maps and a prefix sum over the values, and two maps over the result. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![3, 1, 3, 3], vec![], vec![2]], &Device::cpu())?;
    /// let (values, counts) = x.unique_with_counts(-1)?;
    /// assert_eq!(values.to_string(), "<ragged.RaggedTensor [[1, 3], [], [2]]>");
    /// assert_eq!(counts.to_string(), "<ragged.RaggedTensor [[1, 3], [], [1]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn unique_with_counts(&self, axis: impl Integer as axis) -> (T, i64);
    alias "value_counts";
    tensorflow "tf.unique_with_counts";
    polars "Expr.value_counts";
    gradient yes;

    /// The number of distinct values along `axis`.
    ///
    /// i64; 0 where there are no values. NaN is one value, and so are -0 and +0. Any axis, which disappears; shapes as
    /// for all [reductions](crate::arguments::Axes). The same on every device.
    ///
    /// # Errors
    /// `axis` out of range.
    ///
    /// # Cost
    /// A [`sort`](Self::sort), a map and a prefix sum over the values, and a map over the result. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![3, 1, 3, 3], vec![], vec![2]], &Device::cpu())?;
    /// assert_eq!(x.n_unique(1)?.to_vec()?, [2, 0, 1]);
    /// assert_eq!(x.n_unique(0)?.to_vec()?, [2, 1, 1, 1]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn n_unique(&self, axis: impl Integer as axis) -> i64;
    alias "nunique", "count_distinct";
    polars "list.n_unique";
    gradient none "the result holds counts";
}

#[track_caller]
fn unique(x: &Tensor, axis: impl Integer) -> Result<Tensor> {
    let axis = axis.saturating_i64();
    Ok(counted(x.recorder("unique"), x, axis)?.0)
}

#[track_caller]
fn unique_with_counts(x: &Tensor, axis: impl Integer) -> Result<(Tensor, Tensor)> {
    let axis = axis.saturating_i64();
    counted(x.recorder("unique_with_counts"), x, axis)
}

/// The distinct values, and the number of occurrences of each.
fn counted(rec: Recorder<'_>, x: &Tensor, axis: i64) -> Result<(Tensor, Tensor)> {
    let keys = OrderKeys::new(rec, x)?;
    let (distinct, counts) = Runs::new(rec, keys.tensor(), axis)?.tensors(keys.tensor())?;
    Ok((keys.values(distinct)?, counts))
}

#[track_caller]
fn n_unique(x: &Tensor, axis: impl Integer) -> Result<Tensor> {
    let axis = axis.saturating_i64();
    let rec = x.recorder("n_unique");
    let keys = OrderKeys::new(rec, x)?;
    let runs = Runs::new(rec, keys.tensor(), axis)?;
    let line = Expr::index();
    let count = runs.start(line.clone().add(Expr::u32(1))).sub(runs.start(line)).cast(DType::I64);
    let left = &runs.sorted.left;
    left.tensor(runs.rec, runs.rec.map(left.numbers(), count, &[]))
}

/// Sorted rows, and the number of distinct values before each place.
struct Runs<'a> {
    rec: Recorder<'a>,
    sorted: Sorted<'a>,
    /// The number of values before each place that differ from their predecessor in the row; and, as one more entry,
    /// the total.
    before: Node,
}

impl<'a> Runs<'a> {
    fn new(rec: Recorder<'a>, x: &Tensor, axis: i64) -> Result<Self> {
        let sorted = Sorted::new(rec, x, axis.into(), false)?;
        let (at, one) = (Expr::index(), Expr::u32(1));
        let lines = &sorted.lines;
        let is_first = at.clone().eq(lines.rows().start(lines.line_of(at.clone())));
        let previous = at.clone().max(one.clone()).sub(one.clone());
        let is_new = is_first.or(differ(sorted.at(at.clone()), sorted.at(previous)));
        let is_new = rec.map(lines.count().clone(), is_new.select(one, Expr::u32(0)), &[]);
        let before = rec.scan(lines.count().clone(), Expr::load(&is_new, at))?;
        Ok(Self { rec, sorted, before })
    }

    /// Number of distinct values in the lines before line `at`.
    fn start(&self, at: Expr) -> Expr {
        Expr::load(&self.before, self.sorted.lines.rows().start(at))
    }

    /// The distinct values, and the number of occurrences of each.
    fn tensors(&self, x: &Tensor) -> Result<(Tensor, Tensor)> {
        let (rec, lines) = (self.rec, &self.sorted.lines);
        let last = x.rank() - 1;
        if self.sorted.axis != last {
            let what = format!(
                "axis {} of a tensor of shape {} has dimensions below it, whose columns may have different numbers of \
                 values; take the innermost axis, or n_unique",
                self.sorted.axis,
                x.shape_text()
            );
            return Err(rec.argument(what));
        }
        let (at, one) = (Expr::index(), Expr::u32(1));
        let capacity = lines.count().size();
        let (parts, found) = if last == 0 {
            (Vec::new(), Extent::bounded(capacity, self.before.last_entry()))
        } else {
            let mut parts = rec.at(x.inner_to_partitions(x.inner().len()))?.partitions().to_vec();
            parts.pop();
            let starts = self.start(at.clone());
            let part = rec.rows_of_starts(lines.nlines(), &starts, capacity, &[])?;
            let part = part.with_lengths(Some((0, lines.longest())));
            let found = part.nvals_extent().clone();
            parts.push(part);
            (parts, found)
        };
        // The place of the k-th distinct value is the last place with k distinct values before it.
        let place = rec.map(found.clone(), Expr::row_of(&self.before, at.clone()), &[]);
        let value = self.sorted.at(Expr::load(&place, at.clone()));
        let next = at.clone().add(one);
        let ends = next.clone().lt(found.expr()).select(Expr::load(&place, next), lines.count().expr());
        let times = ends.sub(Expr::load(&place, at)).cast(DType::I64);
        let tensor = |value: Expr| {
            let values = Values::Numbers(rec.map(found.clone(), value, &[]));
            rec.tensor(parts.clone(), Some(found.clone()), [], values)
        };
        Ok((tensor(value)?, tensor(times)?))
    }
}
