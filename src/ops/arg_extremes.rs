//! Where extremes stand, and how many values are not zero.

use super::axes::Axes;
use super::levels::Levels;
use super::reduce::{Reduction, ordered};
use crate::dtype::DType;
use crate::element::Number;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::graph::opcode::ReduceOp;
use crate::graph::scalar::Scalar;
use crate::tensor::{RaggedTensor, Tensor};

impl Tensor {
    /// The index along the axis of the first of the least (greatest) values; -1 where there are none.
    fn arg_extreme(&self, name: &'static str, op: ReduceOp, axis: i64) -> Result<Self> {
        /// The index of no value.
        const NONE: u32 = u32::MAX;
        let axis = self.axis(name, axis)?;
        let backend = self.backend();
        let x = Expr::load(self.numbers(name)?, Expr::index()).cast(self.dtype().accumulator());
        let key = match x.dtype() {
            d if d.is_float() => {
                // Zeros are equal, whatever their sign.
                let zero = Expr::scalar(Scalar::from_i64(d, 0));
                ordered::encode(x.clone().eq(zero.clone()).select(zero, x), op)
            }
            DType::Bool => x.cast(DType::U32),
            _ => x,
        };
        let levels = Levels::of(self)?;
        let (stage, left) = levels.reduce(backend, name, (axis, axis), false)?;
        let extreme = stage.reduce(backend, name, op, key.clone())?;
        // Maps of their own, so that the planner can store them where one kernel cannot bind all that they read.
        let own = |value: Expr| Expr::load(&Node::map(backend, name, levels.numbers(), value, &[]), Expr::index());
        let found = own(key.eq(Expr::load(&extreme, stage.target())));
        let place = own(found.select(own(levels.place(axis)), Expr::u32(NONE)));
        let first = Expr::load(&stage.reduce(backend, name, ReduceOp::Min, place)?, Expr::index());
        let index = first.clone().eq(Expr::u32(NONE)).select(Expr::scalar(-1i64), first.cast(DType::I64));
        left.tensor(backend, Node::map(backend, name, left.numbers(), index, &[]))
    }

    /// The index of the least value along an axis, the first one of several (`tf.argmin`, NumPy's `argmin`).
    ///
    /// i64, shaped as the [reductions](Axes) are; -1 where there are no values. NaN is less than every number, as in
    /// NumPy; zeros are equal whatever their sign. With ragged dimensions below the axis the index counts the rows that
    /// are too short as well: it is one along the axis. Two passes over the values and a map of the size of the result.
    ///
    /// # Errors
    /// `axis` out of range; string values.
    ///
    /// ```
    /// # fn main() -> ragged::Result<()> {
    /// use ragged::{Device, HostTensor, HostValues};
    /// let x = HostTensor {
    ///     nested_row_splits: vec![vec![0, 3, 3, 5]],
    ///     uniform_row_lengths: vec![None],
    ///     inner_shape: vec![5],
    ///     values: HostValues::I32(vec![3, 1, 1, 5, 4]),
    /// };
    /// let x = x.to_device(&Device::cpu())?;
    /// assert_eq!(x.argmin(1)?.to_host()?.values, HostValues::I64(vec![1, -1, 1]));
    /// assert_eq!(x.argmin(0)?.to_host()?.values, HostValues::I64(vec![0, 0, 0]));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn argmin(&self, axis: i64) -> Result<Self> {
        self.arg_extreme("argmin", ReduceOp::Min, axis)
    }

    /// The index of the greatest value along an axis, the first one of several (`tf.argmax`, NumPy's `argmax`).
    ///
    /// As [`argmin`](Self::argmin); NaN is greater than every number.
    ///
    /// # Errors
    /// As [`argmin`](Self::argmin).
    ///
    /// ```
    /// # fn main() -> ragged::Result<()> {
    /// use ragged::{Device, HostTensor, HostValues};
    /// let x = HostTensor {
    ///     nested_row_splits: vec![vec![0, 3, 3, 5]],
    ///     uniform_row_lengths: vec![None],
    ///     inner_shape: vec![5],
    ///     values: HostValues::F32(vec![3.0, f32::NAN, 9.0, 5.0, 4.0]),
    /// };
    /// let x = x.to_device(&Device::cpu())?;
    /// assert_eq!(x.argmax(1)?.to_host()?.values, HostValues::I64(vec![1, -1, 0]));
    /// assert_eq!(x.argmax(0)?.to_host()?.values, HostValues::I64(vec![2, 0, 0]));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn argmax(&self, axis: i64) -> Result<Self> {
        self.arg_extreme("argmax", ReduceOp::Max, axis)
    }

    /// How many values over the axes are not zero (`tf.math.count_nonzero`).
    ///
    /// i64; 0 where there are no values. NaN is not zero, both zeros are; of bools it counts those that are true.
    /// Shapes and cost as for all [reductions](Axes), and a map of the size of the result.
    ///
    /// # Errors
    /// `axis` out of range or named twice; string values.
    ///
    /// ```
    /// # fn main() -> ragged::Result<()> {
    /// use ragged::{Device, HostTensor, HostValues};
    /// let x = HostTensor {
    ///     nested_row_splits: vec![vec![0, 3, 3, 5]],
    ///     uniform_row_lengths: vec![None],
    ///     inner_shape: vec![5],
    ///     values: HostValues::I32(vec![3, 0, 1, 0, 0]),
    /// };
    /// let x = x.to_device(&Device::cpu())?;
    /// assert_eq!(x.count_nonzero(1, false)?.to_host()?.values, HostValues::I64(vec![2, 0, 0]));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn count_nonzero(&self, axis: impl Into<Axes>, keepdims: bool) -> Result<Self> {
        const OP: &str = "count_nonzero";
        let x = Expr::load(self.numbers(OP)?, Expr::index());
        let r = Reduction::new(OP, self, &axis.into(), keepdims)?;
        let one = x.cast(DType::Bool).cast(DType::U32);
        r.tensor(r.fold(ReduceOp::Sum, one)?.cast(DType::I64))
    }
}

impl<T: Number> RaggedTensor<T> {
    /// [`Tensor::argmin`] of typed values.
    ///
    /// # Errors
    /// As [`Tensor::argmin`].
    #[track_caller]
    pub fn argmin(&self, axis: i64) -> Result<RaggedTensor<i64>> {
        self.erased().argmin(axis)?.try_into()
    }

    /// [`Tensor::argmax`] of typed values.
    ///
    /// # Errors
    /// As [`Tensor::argmax`].
    #[track_caller]
    pub fn argmax(&self, axis: i64) -> Result<RaggedTensor<i64>> {
        self.erased().argmax(axis)?.try_into()
    }

    /// [`Tensor::count_nonzero`] of typed values.
    ///
    /// # Errors
    /// As [`Tensor::count_nonzero`].
    #[track_caller]
    pub fn count_nonzero(&self, axis: impl Into<Axes>, keepdims: bool) -> Result<RaggedTensor<i64>> {
        self.erased().count_nonzero(axis, keepdims)?.try_into()
    }
}
