//! Sorting along an axis.

use crate::dtype::DType;
use crate::element::Element;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::recorder::Recorder;
use crate::ops::operations;
use crate::ops::options::SortAxis;
use crate::ops::sorting::order_keys::OrderKeys;
use crate::record::levels::Levels;
use crate::record::lines::Lines;
use crate::tensor::Tensor;

operations! {
    /// Sorting along an axis.
    const OPERATIONS: family "Along an axis" on RaggedTensor<T> where T: Element;

    /// The same values in ascending or descending order along `axis`.
    ///
    /// Shape and dtype stay, empty rows stay empty. The sort is stable in both directions: equal values keep their
    /// order, zeros of both signs among them. false is below true. NaN comes last in either direction, like missing
    /// values in data frames; Awkward has it first. Strings are ordered by their bytes: a string is below all that it
    /// begins. [`descending`](crate::opt::descending)`(axis)` reverses the order. An axis with ragged ones below it
    /// sorts aligned values: the k-th values of all rows that have one, among their positions.
    ///
    /// The result is the same on every device, bit for bit, and a row's result is independent of its batch.
    ///
    /// # Errors
    /// `axis` out of range.
    ///
    /// # Cost
    /// One kernel over the values along the innermost axis, where the host knows that no row is longer than 896. Longer
    /// rows take radix passes over their elements alone: one per byte of the dtype, and two or three for the rows.
    /// 8-byte dtypes take all of these twice. Dimensions below the axis add a map for the keys; ragged ones add two
    /// sorts of positions. No wait.
    ///
    /// Strings are first ranked, by sorts of 4-byte words: one to four over the chunks of 3 to 15 bytes that the
    /// strings consist of, and two more per round that joins chunks in pairs. The rounds, log2 of the chunks of the
    /// longest string, halve the chunks, down to one per string. Where the host does not know the longest string, it
    /// may be as long as all strings together: it records a multiple of 4 rounds for that length, and those that no
    /// string needs process nothing. After the sort the strings are gathered: a prefix sum and a map over their bytes.
    ///
    /// ```
    /// use ragged::opt::descending;
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![3.0, f32::NAN, -1.0], vec![], vec![2.0, 1.0]], &Device::cpu())?;
    /// assert_eq!(x.sort(-1)?.to_string(), "<ragged.RaggedTensor [[-1.0, 3.0, nan], [], [1.0, 2.0]]>");
    /// assert_eq!(x.sort(descending(-1))?.to_string(), "<ragged.RaggedTensor [[3.0, -1.0, nan], [], [2.0, 1.0]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn sort(&self, axis: impl Into<SortAxis> as sort_axis = -1) -> T;
    tensorflow "tf.sort";
    awkward "ak.sort";
    polars "list.sort";
    gradient yes;

    /// The indices of the values along `axis` in ascending or descending order.
    ///
    /// The k-th entry of a row is the index, in the row, of its k-th value in the order of [`sort`](Self::sort). i64,
    /// of the same shape; empty rows stay empty. Indices of equal values ascend in both directions; NaN comes last. An
    /// axis with ragged ones below it gives indices along that axis: of rows, for axis 0. The same on every device.
    ///
    /// # Errors
    /// `axis` out of range.
    ///
    /// # Cost
    /// That of [`sort`](Self::sort), without the gather of strings: one kernel over the values along the innermost
    /// axis, where the host knows that no row is longer than 896, radix passes otherwise. No wait.
    ///
    /// ```
    /// use ragged::opt::descending;
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![3, 1, 3], vec![], vec![2, 1]], &Device::cpu())?;
    /// assert_eq!(x.argsort(1)?.to_string(), "<ragged.RaggedTensor [[1, 0, 2], [], [1, 0]]>");
    /// assert_eq!(x.argsort(descending(1))?.to_string(), "<ragged.RaggedTensor [[0, 2, 1], [], [0, 1]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn argsort(&self, axis: impl Into<SortAxis> as sort_axis = -1) -> i64;
    alias "arg_sort", "order";
    tensorflow "tf.argsort(…, stable=True)";
    awkward "ak.argsort";
    polars "Expr.arg_sort";
    gradient none "the result holds positions";
}

#[track_caller]
fn sort(x: &Tensor, axis: impl Into<SortAxis>) -> Result<Tensor> {
    let rec = x.recorder("sort");
    let keys = OrderKeys::new(rec, x)?;
    let sorted = Sorted::new(rec, keys.tensor(), axis.into(), false)?;
    keys.permuted(sorted.values(keys.tensor())?)
}

#[track_caller]
fn argsort(x: &Tensor, axis: impl Into<SortAxis>) -> Result<Tensor> {
    let rec = x.recorder("argsort");
    let keys = OrderKeys::new(rec, x)?;
    Sorted::new(rec, keys.tensor(), axis.into(), false)?.indices(x)
}

/// The lines of a tensor along an axis, in sorted order.
pub(crate) struct Sorted<'a> {
    rec: Recorder<'a>,
    /// The lines.
    pub(crate) lines: Lines<'a>,
    /// The place before the sort of the number at place `Index` in sorted order.
    pub(crate) order: Expr,
    /// The numbers, as an expression in their position.
    pub(crate) value: Expr,
    /// The dimensions without the axis, or with one element along it.
    pub(crate) left: Levels,
    /// The axis, counted from the front.
    pub(crate) axis: usize,
}

impl<'a> Sorted<'a> {
    pub(crate) fn new(rec: Recorder<'a>, x: &Tensor, axis: SortAxis, keep: bool) -> Result<Self> {
        Self::first(rec, x, axis, keep, u32::MAX)
    }

    /// As [`Self::new`], with the first `k` places of each line only; the others are unspecified.
    pub(crate) fn first(
        rec: Recorder<'a>,
        x: &Tensor,
        SortAxis { axis, descending }: SortAxis,
        keep: bool,
        k: u32,
    ) -> Result<Self> {
        let node = rec.numbers(x)?;
        let axis = rec.axis(x, axis)?;
        let levels = Levels::of(rec, x)?;
        let (stage, left) = levels.reduce(rec, (axis, axis), keep)?;
        let lines = Lines::new(rec, &levels, &stage, axis)?;
        let value = Expr::load(node, Expr::index());
        let order = match lines.first(&value, descending, k) {
            Some(first) => first?,
            None => Expr::load(&lines.order(&value, descending), Expr::index()),
        };
        Ok(Self { rec, lines, order, value, left, axis })
    }

    /// The number at place `at` in sorted order.
    pub(crate) fn at(&self, at: Expr) -> Expr {
        self.value.at(&self.lines.number().at(&self.order.at(&at)))
    }

    /// The tensor in sorted order.
    pub(crate) fn values(&self, x: &Tensor) -> Result<Tensor> {
        let value = self.at(self.lines.place().clone());
        self.tensor(x, value)
    }

    /// The index of each sorted number along the axis before the sort.
    pub(crate) fn indices(&self, x: &Tensor) -> Result<Tensor> {
        let place = self.lines.place();
        let index = self.lines.along(self.order.at(place), place);
        self.tensor(x, index.cast(DType::I64))
    }

    /// The tensor with the layout of `x` and these numbers.
    fn tensor(&self, x: &Tensor, value: Expr) -> Result<Tensor> {
        let count = self.rec.count(x)?;
        self.rec.at(x.with_value_node(self.rec.map(count, value, &[])))
    }
}
