//! Sorting along an axis.

use super::levels::Levels;
use super::lines::Lines;
use crate::dtype::DType;
use crate::element::Number;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::tensor::{RaggedTensor, Tensor};

/// A tensor with its lines along an axis in order.
pub(super) struct Sorted {
    /// The lines.
    pub(super) lines: Lines,
    /// For each place of a line the place of the number that comes there.
    pub(super) order: Node,
    /// The numbers, by position.
    pub(super) value: Expr,
    /// The dimensions without the axis, or with one element along it.
    pub(super) left: Levels,
    /// The axis, counted from the front.
    pub(super) axis: usize,
}

impl Sorted {
    pub(super) fn new(op: &'static str, x: &Tensor, axis: i64, descending: bool, keep: bool) -> Result<Self> {
        let node = match x.dtype() {
            DType::Str => {
                let hint = "it needs numbers; look the strings up in a table, or hash them, and sort what that gives";
                return Err(Error::unsupported(op, DType::Str, hint));
            }
            _ => x.numbers(op)?,
        };
        let axis = x.axis(op, axis)?;
        let levels = Levels::of(x)?;
        let (stage, left) = levels.reduce(x.backend(), op, (axis, axis), keep)?;
        let lines = Lines::new(x.backend(), op, &levels, &stage, axis)?;
        let value = Expr::load(node, Expr::index());
        let order = lines.order(&value, descending);
        Ok(Self { lines, order, value, left, axis })
    }

    /// The number that comes at place `at`.
    pub(super) fn at(&self, at: Expr) -> Expr {
        self.value.at(&self.lines.number().at(&Expr::load(&self.order, at)))
    }

    /// The tensor in that order.
    pub(super) fn values(&self, op: &'static str, x: &Tensor) -> Result<Tensor> {
        let value = self.at(self.lines.place().clone());
        x.with_value_node(Node::map(x.backend(), op, x.count()?, value, &[]))
    }

    /// Where each of its numbers stood along the axis.
    pub(super) fn indices(&self, op: &'static str, x: &Tensor) -> Result<Tensor> {
        let place = self.lines.place();
        let index = self.lines.along(Expr::load(&self.order, place.clone()), place);
        x.with_value_node(Node::map(x.backend(), op, x.count()?, index.cast(DType::I64), &[]))
    }
}

impl Tensor {
    /// The same values, along `axis` in ascending order, or in descending order.
    ///
    /// Shape and dtype stay. The sort is stable, in both directions: equal values stay in order. false is below true.
    /// Floats are in total order, -0 before +0; NaN comes last in either direction, as missing values do in data
    /// frames. Empty rows stay empty. An axis with ragged ones below it sorts aligned values: the k-th values of all
    /// rows that have so many, among their places.
    ///
    /// Costs along the innermost axis one kernel over the values, where no row is known to be longer than 896; longer
    /// rows take passes over their elements alone, one a byte of the dtype and two or three for the rows. 8-byte
    /// dtypes take that twice. Where dimensions lie below the axis a map for the keys; where these are ragged two more
    /// sorts of positions. Nothing waits. The result is the same on every device, bit for bit, and a row's does not
    /// depend on its batch.
    ///
    /// `tf.sort` has no ragged form; NumPy's `sort(kind="stable")`, which sorts ascending only.
    ///
    /// # Errors
    /// `axis` out of range; byte strings.
    ///
    /// ```
    /// # use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(vec![vec![3.0, f32::NAN, -1.0], vec![], vec![2.0, 1.0]], &Device::cpu())?;
    /// assert_eq!(x.sort(-1, false)?.to_string(), "<ragged.RaggedTensor [[-1.0, 3.0, nan], [], [1.0, 2.0]]>");
    /// assert_eq!(x.sort(-1, true)?.to_string(), "<ragged.RaggedTensor [[3.0, -1.0, nan], [], [2.0, 1.0]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn sort(&self, axis: i64, descending: bool) -> Result<Self> {
        const OP: &str = "sort";
        Sorted::new(OP, self, axis, descending, false)?.values(OP, self)
    }

    /// Where along `axis` the values of [`Tensor::sort`] stood: the k-th entry of a row is the index, in the row, of
    /// its k-th value in order.
    ///
    /// i64, of the same shape. Equal values are named in order, so the first of them comes first, in both directions;
    /// NaN comes last. An axis with ragged ones below it gives indices along that axis: of rows, for axis 0. Cost and
    /// determinism as [`Tensor::sort`].
    ///
    /// `tf.argsort(stable=True)`, `numpy.argsort(kind="stable")`.
    ///
    /// # Errors
    /// `axis` out of range; byte strings.
    ///
    /// ```
    /// # use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(vec![vec![3, 1, 3], vec![], vec![2, 1]], &Device::cpu())?;
    /// assert_eq!(x.argsort(1, false)?.to_string(), "<ragged.RaggedTensor [[1, 0, 2], [], [1, 0]]>");
    /// assert_eq!(x.argsort(1, true)?.to_string(), "<ragged.RaggedTensor [[0, 2, 1], [], [0, 1]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn argsort(&self, axis: i64, descending: bool) -> Result<Self> {
        const OP: &str = "argsort";
        Sorted::new(OP, self, axis, descending, false)?.indices(OP, self)
    }
}

impl<T: Number> RaggedTensor<T> {
    /// [`Tensor::sort`] of typed values.
    ///
    /// # Errors
    /// As [`Tensor::sort`].
    #[track_caller]
    pub fn sort(&self, axis: i64, descending: bool) -> Result<Self> {
        self.erased().sort(axis, descending)?.try_into()
    }

    /// [`Tensor::argsort`] of typed values.
    ///
    /// # Errors
    /// As [`Tensor::argsort`].
    #[track_caller]
    pub fn argsort(&self, axis: i64, descending: bool) -> Result<RaggedTensor<i64>> {
        self.erased().argsort(axis, descending)?.try_into()
    }
}
