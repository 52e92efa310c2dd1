//! Operations of [`Tensor`] on a [`Row`], with axes counted in the row.

use super::options::batched;
use super::{ElementFunction, Index, Row, RowOperand, SliceItems, WgslElement};
use crate::dtype::DType;
use crate::error::{Error, Result, here};
use crate::integer::Integer;
use crate::tensor::Tensor;

impl Row {
    /// As [`Tensor::cast`].
    ///
    /// # Errors
    /// As the operation of [`Tensor`].
    #[track_caller]
    pub fn cast(&self, dtype: DType) -> Result<Self> {
        self.with(self.all.cast(dtype)?)
    }

    /// As [`Tensor::map_elements`].
    ///
    /// # Errors
    /// As the operation of [`Tensor`].
    #[track_caller]
    pub fn map_elements<A: WgslElement, R: WgslElement>(&self, function: &ElementFunction<fn(A) -> R>) -> Result<Self> {
        self.with(self.all.map_elements(function)?)
    }

    /// As [`Tensor::select`]: the elements of `x` where this row of bools is true, those of `y` where it is false. Each
    /// row uses its own rows of the operands, broadcast within the row.
    ///
    /// # Errors
    /// As the operation of [`Tensor`]; a row of another call.
    ///
    /// ```
    /// # use ragged::{Axes, Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(vec![vec![1.0_f32, 5.0], vec![], vec![4.0]], &Device::cpu())?;
    /// let y: RaggedTensor<f32> = x.map_rows(|row| {
    ///     let most = row.reduce_max(..)?;
    ///     row.less(&most)?.select(0.0_f32, row)
    /// })?;
    /// assert_eq!(y.to_string(), "<ragged.RaggedTensor [[0.0, 5.0], [], [4.0]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn select<'a>(&self, x: impl Into<RowOperand<'a>>, y: impl Into<RowOperand<'a>>) -> Result<Self> {
        const OP: &str = "select";
        let (x, y) = (x.into(), y.into());
        let rank = self.rank().max(x.rank()).max(y.rank());
        let (x_rows, y_rows) = (self.rows_of(OP, &x, rank)?, self.rows_of(OP, &y, rank)?);
        self.with(self.lifted(rank)?.select(x.or_rows(x_rows.as_ref()), y.or_rows(y_rows.as_ref()))?)
    }

    /// Number of elements of each row: one i64 scalar per row.
    ///
    /// # Errors
    /// As [`Tensor::reduce_sum`].
    ///
    /// ```
    /// # use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let sizes: RaggedTensor<i64> = x.map_rows(|row| row.size())?;
    /// assert_eq!(sizes.to_vec()?, [2, 0, 1]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn size(&self) -> Result<Self> {
        match self.rank() {
            0 => self.constant(1i64),
            1 => self.with(self.all.row_lengths(1)?),
            _ => self.with(self.all.row_lengths(-1)?)?.reduce_sum(..),
        }
    }

    /// As [`Tensor::slice`]; the items apply to the dimensions of the row.
    ///
    /// # Errors
    /// As the operation of [`Tensor`].
    #[track_caller]
    pub fn slice(&self, index: impl SliceItems) -> Result<Self> {
        let mut items = vec![Index::ALL];
        items.extend_from_slice(index.items());
        self.with(self.all.slice(items)?)
    }

    /// Element `index` of each row along its outermost dimension. Negative indices count from the end. Unlike in
    /// [`Tensor::slice`], the dimension may be ragged: every row must have that element.
    ///
    /// # Errors
    /// The row is a scalar; at the read, a row is too short.
    ///
    /// ```
    /// # use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(vec![vec![1, 2], vec![3]], &Device::cpu())?;
    /// let last: RaggedTensor<i32> = x.map_rows(|row| row.at(-1))?;
    /// assert_eq!(last.to_vec()?, [2, 3]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn at(&self, index: impl Integer) -> Result<Self> {
        const OP: &str = "at";
        self.axis(OP, 0)?;
        self.with(self.all.nth_named(OP, index.saturating_i64())?)
    }

    /// As [`Tensor::range`], of a scalar in each row.
    ///
    /// # Errors
    /// As the operation of [`Tensor`].
    #[track_caller]
    pub fn range(&self) -> Result<Self> {
        self.with(self.all.range()?)
    }

    /// As [`Tensor::concat`], of rows of one call.
    ///
    /// # Errors
    /// As the operation of [`Tensor`]; rows of different calls.
    #[track_caller]
    pub fn concat(rows: &[&Self], axis: impl Integer) -> Result<Self> {
        let axis = axis.saturating_i64();
        const OP: &str = "concat";
        let Some(first) = rows.first() else {
            return Err(Error::argument(OP, "there must be at least one row"));
        };
        let all = rows
            .iter()
            .map(|row| (*row).clone().of_call(OP, &first.call))
            .collect::<Result<Vec<_>>>()
            .map_err(here())?;
        first.with(Tensor::concat(&all.iter().collect::<Vec<_>>(), first.axis(OP, axis)?)?)
    }

    /// As [`Tensor::gather`] along the row's outermost dimension, with separate indices for each row.
    ///
    /// # Errors
    /// As the operation of [`Tensor`]; a row of another call.
    #[track_caller]
    pub fn gather(&self, indices: &Self) -> Result<Self> {
        const OP: &str = "gather";
        self.axis(OP, 0)?;
        self.with(self.all.gather(batched(&indices.clone().of_call(OP, &self.call)?, 1))?)
    }

    /// As [`Tensor::boolean_mask`]: the elements of each row where a row of bools is true.
    ///
    /// # Errors
    /// As the operation of [`Tensor`]; a row of another call; a mask of one flag per row, as rows cannot be removed.
    #[track_caller]
    pub fn boolean_mask(&self, mask: &Self) -> Result<Self> {
        const OP: &str = "boolean_mask";
        mask.axis(OP, 0)?;
        self.with(self.all.boolean_mask(&mask.clone().of_call(OP, &self.call)?)?)
    }
}
