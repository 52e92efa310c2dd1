//! Operations on the elements of a row.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::scalar::Scalar;
use crate::ops::{Depth, ElementFunction, Row, RowOperand, WgslElement};

/// Conversions and selection of elements.
impl Row {
    /// Converts the elements to another dtype by value.
    ///
    /// The shape stays. Integers wrap. Floats round to the nearest float, or towards zero to an integer. A float beyond
    /// the range of the integers gives the nearest end of the range, and NaN gives 0. Any value but 0 is `true`.
    ///
    /// # Errors
    /// Byte strings on either side, unless the dtypes are the same; a dtype that the device lacks.
    ///
    /// # Cost
    /// One map, which fuses into its consumer; none for the same dtype. Never waits.
    ///
    /// ```
    /// use ragged::{DType, Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let halves: RaggedTensor<f32> = x.map_rows(|row| row.cast(DType::F32)? / 2.0f32)?;
    /// assert_eq!(halves.to_vec()?, [0.5, 1.0, 1.5]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.cast`.
    ///
    /// Awkward: `ak.values_astype`.
    ///
    /// Polars: `Expr.cast`.
    #[track_caller]
    pub fn cast(&self, dtype: DType) -> Result<Self> {
        Ok(self.with(self.all.cast(dtype)?))
    }

    /// Reinterprets the bits of the elements as another dtype. A narrower dtype adds an innermost dimension of the parts
    /// of each element, low bits first; a wider dtype joins the elements of the innermost dimension of the row.
    ///
    /// Empty rows stay empty.
    ///
    /// # Errors
    /// Bools or strings on either side, unless the dtypes are the same; a wider dtype without an innermost dimension of
    /// the row that fills one element; a dtype that the device lacks.
    ///
    /// # Cost
    /// One map, which fuses into its consumer; none for the same dtype. Never waits.
    ///
    /// ```
    /// use ragged::{DType, Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1.0f32], vec![], vec![-2.0]], &Device::cpu())?;
    /// let bits: RaggedTensor<u32> = x.map_rows(|row| row.bitcast(DType::U32))?;
    /// assert_eq!(bits.to_vec()?, [0x3f80_0000, 0xc000_0000]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.bitcast`.
    ///
    /// Polars: `Expr.reinterpret`.
    #[track_caller]
    pub fn bitcast(&self, dtype: DType) -> Result<Self> {
        if self.rank() == 0 && dtype.size() > self.dtype().size() && dtype != DType::Str && self.dtype() != DType::Str {
            let what = format!("a scalar of {} does not fill an element of {dtype}", self.dtype());
            return Err(Error::argument("bitcast", what));
        }
        Ok(self.with(self.all.bitcast(dtype)?))
    }

    /// What a function of elements gives for each element, as [`Tensor::map_elements`](crate::Tensor::map_elements).
    ///
    /// The shape stays; the dtype is that of the function. An empty row stays empty.
    ///
    /// # Errors
    /// Elements of another dtype than the function takes. At the read: a panic of the Rust function.
    ///
    /// # Cost
    /// One map, which fuses with its producers and consumers. Never waits.
    ///
    /// ```
    /// use ragged::{Device, ElementFunction, RaggedTensor};
    /// let bump = ElementFunction::new("bump", "fn bump(x: f32) -> f32 { return x * x + 1.0; }", |x: f32| x * x + 1.0)?;
    /// let x = RaggedTensor::from_nested([vec![1.0f32, 2.0], vec![], vec![3.0]], &Device::cpu())?;
    /// let y: RaggedTensor<f32> = x.map_rows(|row| row.map_elements(&bump)?.reduce_sum(..))?;
    /// assert_eq!(y.to_vec()?, [7.0, 0.0, 10.0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.vectorized_map`.
    ///
    /// Polars: `Expr.map_elements`.
    #[track_caller]
    pub fn map_elements<A: WgslElement, R: WgslElement>(&self, function: &ElementFunction<fn(A) -> R>) -> Result<Self> {
        Ok(self.with(self.all.map_elements(function)?))
    }

    /// The elements of `x` where this row of bools is true, those of `y` where it is false.
    ///
    /// Each of the operands is a row of the same call, a number, or a tensor that is the same for all rows. The three
    /// broadcast within the row. `x` and `y` have one dtype, which may be any. Elements are copied unchanged: a NaN
    /// that is not selected has no effect. An empty row stays empty.
    ///
    /// # Errors
    /// A row that does not hold bools; operands of different dtypes or devices; shapes that do not broadcast, at the
    /// read where only the device knows them; a row of another call.
    ///
    /// # Cost
    /// One map, which fuses into its consumer. Strings add a prefix sum and another map. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(vec![vec![1.0_f32, 5.0], vec![], vec![4.0]], &Device::cpu())?;
    /// let y: RaggedTensor<f32> = x.map_rows(|row| {
    ///     let most = row.reduce_max(..)?;
    ///     row.less(&most)?.select(0.0_f32, row)
    /// })?;
    /// assert_eq!(y.to_string(), "<ragged.RaggedTensor [[0.0, 5.0], [], [4.0]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.where(condition, x, y)`.
    ///
    /// Awkward: `ak.where(condition, x, y)`.
    ///
    /// Polars: `pl.when`.
    #[track_caller]
    pub fn select<'a>(&self, x: impl Into<RowOperand<'a>>, y: impl Into<RowOperand<'a>>) -> Result<Self> {
        const OP: &str = "select";
        let (x, y) = (x.into(), y.into());
        let rank = self.rank().max(x.rank()).max(y.rank());
        let (x_rows, y_rows) = (self.rows_of(OP, &x, rank)?, self.rows_of(OP, &y, rank)?);
        Ok(self.with(self.lifted(rank)?.select(x.or_rows(x_rows.as_ref()), y.or_rows(y_rows.as_ref()))?))
    }

    /// One-hot encoding: for each integer `i` of the row, a vector of `depth` elements that is `on` at index `i` and
    /// `off` elsewhere.
    ///
    /// The vectors form a new innermost dimension of the row, or the one of [`along`](crate::opt::along)`(depth,
    /// axis)`, whose axis counts in the row. The dtype is that of `on` and `off`. An index that is negative, or not
    /// below `depth`, gives a vector of `off`.
    ///
    /// # Errors
    /// Indices that are not integers; `on` and `off` of different dtypes; an axis out of range, or not below the ragged
    /// dimensions; 2^32 - 1 values or more.
    ///
    /// # Cost
    /// One map, which fuses into its consumer. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![0, 2], vec![], vec![1]], &Device::cpu())?;
    /// let sums: RaggedTensor<i32> = x.map_rows(|row| row.one_hot(3, 1, 0)?.reduce_sum(0))?;
    /// assert_eq!(sums.to_vec()?, [1, 0, 1, 0, 0, 0, 0, 1, 0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.one_hot`.
    #[track_caller]
    pub fn one_hot(&self, depth: impl Into<Depth>, on: impl Into<Scalar>, off: impl Into<Scalar>) -> Result<Self> {
        let Depth { depth, axis } = depth.into();
        let axis = self.new_axis("one_hot", axis)?;
        Ok(self.with(self.all.one_hot(Depth { depth, axis }, on, off)?))
    }
}
