//! A function of one row, computed for all rows at once.

use std::sync::Arc;

use crate::element::Element;
use crate::error::{Error, Result, caller};
use crate::graph::expr::Check;
use crate::ops::declarations::typed::Typed;
use crate::ops::rows::row::Row;
use crate::ops::rows::row_results::RowResults;
use crate::tensor::{RaggedTensor, Tensor};

const OP: &str = "map_rows";

/// Functions of your own, of one row.
impl Tensor {
    /// Applies `function` to each row and stacks the results.
    ///
    /// The closure is called once, on a [`Row`] that stands for every row: what it does is recorded, and runs for all
    /// rows together in as many kernels as for one. Rows of `[n, (r), …]` are `[(r), …]`, rows of a vector are scalars.
    /// The result has `n` rows, each of the shape that the closure gives, with ragged dimensions where these shapes
    /// differ. Tensors from outside may be used in the closure: every row meets the whole of them. A closure that returns
    /// a tuple or a vector of rows gives as many tensors: see [`RowResults`].
    ///
    /// # Errors
    /// A scalar, which has no rows; what the closure returns; a row of another call.
    ///
    /// # Cost
    /// That of the operations in the closure, each over the whole tensor. Nothing is read back.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1.0_f32, 3.0], vec![], vec![5.0]], &device)?;
    /// let shares = x.erased().map_rows(|row| row / row.reduce_sum(..)?)?;
    /// assert_eq!(shares.to_string(), "<ragged.RaggedTensor [[0.25, 0.75], [], [1.0]]>");
    ///
    /// let limits = RaggedTensor::from_nested([3, 0, 2], &device)?;
    /// let ranges = limits.erased().map_rows(|limit| limit.range())?;
    /// assert_eq!(ranges.to_string(), "<ragged.RaggedTensor [[0, 1, 2], [], [0, 1]]>");
    ///
    /// let (sums, sizes) = x.erased().map_rows(|row| Ok((row.reduce_sum(..)?, row.size()?)))?;
    /// assert_eq!(sums.to_string(), "tensor([4.0, 0.0, 5.0], shape=(3,), dtype=f32)");
    /// assert_eq!(sizes.to_string(), "tensor([2, 0, 1], shape=(3,), dtype=i64)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.map_fn`, which runs a loop over the rows and must be told the shape of the result.
    #[track_caller]
    pub fn map_rows<R: RowResults>(&self, function: impl FnOnce(&Row) -> Result<R>) -> Result<R::Tensors> {
        Self::rows_mapped(OP, &[self], |rows| function(&rows[0]))
    }

    /// Applies `function` to the rows of several tensors that have equally many, and stacks the results.
    ///
    /// The closure is called once, on one [`Row`] per tensor that stands for every row; what it does is recorded, and
    /// runs for all rows together. The result has one row for each row of the tensors, of the shape that the closure
    /// gives.
    ///
    /// # Errors
    /// No tensors; a scalar, which has no rows; tensors on different devices; what the closure returns; a row of
    /// another call; different numbers of rows, at the read where only the device knows them.
    ///
    /// # Cost
    /// That of the operations in the closure, each over the whole tensors. Nothing is read back.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Tensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![3]], &device)?;
    /// let w = RaggedTensor::from_nested([10, 100], &device)?;
    /// let weighted = Tensor::map_rows_of(&[&x, &w], |rows| &rows[0] * &rows[1])?;
    /// assert_eq!(weighted.to_string(), "<ragged.RaggedTensor [[10, 20], [300]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn map_rows_of<R: RowResults>(
        tensors: &[impl AsRef<Self>],
        function: impl FnOnce(&[Row]) -> Result<R>,
    ) -> Result<R::Tensors> {
        let tensors: Vec<&Self> = tensors.iter().map(AsRef::as_ref).collect();
        Self::rows_mapped("map_rows_of", &tensors, function)
    }

    /// As [`map_rows_of`](Self::map_rows_of).
    #[track_caller]
    fn rows_mapped<R: RowResults>(
        op: &'static str,
        tensors: &[&Self],
        function: impl FnOnce(&[Row]) -> Result<R>,
    ) -> Result<R::Tensors> {
        let Some((first, others)) = tensors.split_first() else {
            return Err(Error::argument(op, "there must be at least one tensor"));
        };
        if tensors.iter().any(|t| t.rank() == 0) {
            return Err(Error::argument(op, "a scalar has no rows"));
        }
        let call = Arc::new(());
        let mut rows = vec![Row::new((*first).clone(), &call)];
        for other in others {
            rows.push(Row::new(first.beside(op, other)?, &call));
        }
        function(&rows)?.into_tensors(op, &rows[0])
    }

    /// `other`, on the condition that it has as many rows as this tensor.
    #[track_caller]
    fn beside(&self, op: &'static str, other: &Self) -> Result<Self> {
        crate::device::Device::check_same(op, self.backend(), other.backend())?;
        let location = caller();
        let check = Check::new(op, "the tensors have different numbers of rows");
        let rows = self.nrows_extent().agrees(&other.nrows_extent());
        let condition = rows.condition(self.recorder(op), check, |(a, b)| Error::Shape {
            op,
            lhs: self.shape_text(),
            rhs: other.shape_text(),
            what: format!("{a} rows on the left, {b} on the right"),
            location,
        })?;
        other.on_condition(op, condition.as_slice())
    }
}

/// Functions of your own, of one row.
impl Row {
    /// Applies `function` to each row of this row and stacks the results: [`Tensor::map_rows`] one level further in.
    ///
    /// # Errors
    /// A scalar, which has no rows; what the closure returns; a row of another call, as those from outside of the
    /// closure are.
    ///
    /// # Cost
    /// That of the operations in the closure, each over the whole tensor. Nothing is read back.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![3]], vec![vec![4]]], &Device::cpu())?;
    /// let sums = x.erased().map_rows(|row| row.map_rows(|inner| inner.reduce_sum(..)))?;
    /// assert_eq!(sums.to_string(), "<ragged.RaggedTensor [[3, 3], [4]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.map_fn`.
    ///
    /// Polars: `list.eval`.
    #[track_caller]
    pub fn map_rows<R: RowResults>(&self, function: impl FnOnce(&Self) -> Result<R>) -> Result<R> {
        if self.rank() == 0 {
            return Err(Error::argument(OP, "a scalar has no rows"));
        }
        let all = self.all();
        let all = if all.ragged_rank() == 0 { Tensor::from_tensor(all, 1)? } else { all.clone() };
        R::of_inner(all.values()?.map_rows(function)?, &all, self)
    }
}

/// Functions of your own, of one row.
impl<T: Element> RaggedTensor<T> {
    /// Applies `function` to each row and stacks the results, which are of type `U`.
    ///
    /// The closure is called once, on a [`Row`] that stands for every row: what it does is recorded, and runs for all
    /// rows together in as many kernels as for one. Rows of `[n, (r), …]` are `[(r), …]`, rows of a vector are scalars.
    /// The result has `n` rows, each of the shape that the closure gives, with ragged dimensions where these shapes
    /// differ.
    /// `U` is a typed tensor for the closure's result, or a tuple or a vector of them for several.
    ///
    /// # Errors
    /// A scalar, which has no rows; what the closure returns; a row of another call; a result of another dtype than
    /// `U`.
    ///
    /// # Cost
    /// That of the operations in the closure, each over the whole tensor. Nothing is read back.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![3]], &Device::cpu())?;
    /// let sums: RaggedTensor<i32> = x.map_rows(|row| row.reduce_sum(..))?;
    /// assert_eq!(sums.to_vec()?, [3, 3]);
    /// let (least, most): (RaggedTensor<i32>, RaggedTensor<i32>) =
    ///     x.map_rows(|row| Ok((row.reduce_min(..)?, row.reduce_max(..)?)))?;
    /// assert_eq!((least.to_vec()?, most.to_vec()?), (vec![1, 3], vec![2, 3]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn map_rows<U, R: RowResults>(&self, function: impl FnOnce(&Row) -> Result<R>) -> Result<U>
    where
        R::Tensors: Typed<U>,
    {
        self.erased().map_rows(function)?.typed()
    }
}
