//! Matrix products of rows.

use crate::error::{Error, Result};
use crate::ops::{Factor, Operand, Row, RowOperand, Transposed};
use crate::setters::setters;
use crate::tensor::Tensor;

const OP: &str = "matmul";

/// Operand of a matrix product of rows: a row, or a tensor that is the same for all rows, transposed or not; see
/// [`Row::t`].
///
/// Options that are known at run time only:
///
/// ```
/// use ragged::arguments::RowOperand;
/// use ragged::opt::RowFactor;
/// assert!(RowFactor::from(RowOperand::from(3.0)).transposed(true).transposed);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RowFactor<'a> {
    /// The row or tensor.
    pub operand: RowOperand<'a>,
    /// Whether its two innermost dimensions are exchanged.
    pub transposed: bool,
}

setters! {
    impl[] RowFactor<'_> {
        transposed: bool;
    }
}

impl<'a, X: Into<RowOperand<'a>>> From<X> for RowFactor<'a> {
    fn from(operand: X) -> Self {
        Self { operand: operand.into(), transposed: false }
    }
}
impl<'a, X: AsRef<Tensor>> From<Transposed<'a, X>> for RowFactor<'a> {
    fn from(view: Transposed<'a, X>) -> Self {
        let Factor { tensor, transposed } = view.into();
        Self { operand: tensor.into(), transposed }
    }
}

/// Matrix products.
impl Row {
    /// The matrix product with a row of the same call, or with a tensor that is the same for all rows.
    ///
    /// Both are matrices, or batches of matrices with equal dimensions above the two innermost; a row that is not
    /// transposed also takes one matrix as a tensor, whatever its rank: a vector is multiplied as one row of a matrix.
    /// [`Row::t`] and [`Tensor::t`] transpose an operand without a copy. The dtype stays: integers wrap, and those of 8
    /// and 16 bits accumulate in 32 bits. NaN and infinities follow IEEE 754. A sum without terms is 0. Each number is a
    /// sum in the order of [`Tensor::matmul`]: a function of its row and its column alone, with the same bits on every
    /// device.
    ///
    /// # Errors
    /// A number; different dtypes or devices; bools or strings; ranks below 2, or different ranks, except as above; sizes
    /// that do not match, at the read where only the device knows them; a row of another call.
    ///
    /// # Cost
    /// One product. A tensor beside a transposed row, or one of rank 3 or more, is copied for each row. Waits once
    /// where only the device knows the size of the result and it has no useful bound;
    /// [`record_async`](crate::record_async) awaits it.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let points = RaggedTensor::from_nested([vec![[1.0f32, 2.0], [3.0, 4.0]], vec![[5.0, 6.0]]], &device)?;
    /// let w = RaggedTensor::from_nested([[1.0f32], [10.0]], &device)?;
    /// let y: RaggedTensor<f32> = points.map_rows(|row| row.matmul(&w))?;
    /// assert_eq!(y.to_string(), "<ragged.RaggedTensor [[[21.0], [43.0]], [[65.0]]]>");
    /// let gram: RaggedTensor<f32> = points.map_rows(|row| row.matmul(row.t()))?;
    /// assert_eq!(gram.to_string(), "<ragged.RaggedTensor [[[5.0, 11.0], [11.0, 25.0]], [[61.0]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.matmul`.
    ///
    /// Polars: `Expr.dot`.
    #[track_caller]
    pub fn matmul<'a>(&self, other: impl Into<RowFactor<'a>>) -> Result<Self> {
        self.product(false, &other.into())
    }

    /// View of the row with its two innermost dimensions exchanged, as an operand of [`Row::matmul`].
    /// [`Row::transpose`] makes a row of exchanged dimensions.
    ///
    /// # Cost
    /// None: nothing is copied.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let points = RaggedTensor::from_nested([vec![[1, 2], [3, 4]], vec![[5, 6]]], &Device::cpu())?;
    /// let moments: RaggedTensor<i32> = points.map_rows(|row| row.t().matmul(row))?;
    /// assert_eq!(moments.to_vec()?, [10, 14, 14, 20, 25, 30, 30, 36]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn t(&self) -> RowFactor<'static> {
        RowFactor { operand: self.into(), transposed: true }
    }

    #[track_caller]
    fn product(&self, transposed: bool, other: &RowFactor<'_>) -> Result<Self> {
        let ranks = (self.rank(), other.operand.rank());
        let is_matrix = matches!(&other.operand, RowOperand::Same(Operand::Tensor(_))) && ranks.1 == 2 && !transposed;
        let is_vector = ranks.0 == 1 && is_matrix;
        if !is_vector && (ranks.0 < 2 || ranks.1 < 2) {
            let what = format!(
                "matrices have two dimensions at least, but the operands have rank {} and {}",
                ranks.0, ranks.1
            );
            return Err(Error::argument(OP, what));
        }
        let own = Factor { tensor: &self.all, transposed };
        let rows = match &other.operand {
            RowOperand::Same(Operand::Tensor(t)) if is_matrix => (*t).clone(),
            operand => self.rows_or_repeated(OP, operand)?,
        };
        Ok(self.with(own.matmul(Factor { tensor: &rows, transposed: other.transposed })?))
    }
}

/// Matrix products.
impl RowFactor<'_> {
    /// The matrix product of a transposed row with a row of the same call, or with a tensor that is the same for all rows.
    ///
    /// Both are matrices, or batches of matrices with equal dimensions above the two innermost. The dtype stays: integers
    /// wrap, and those of 8 and 16 bits accumulate in 32 bits. NaN and infinities follow IEEE 754. A sum without terms is
    /// 0. Each number is a sum in the order of [`Tensor::matmul`]: a function of its row and its column alone, with the
    /// same bits on every device.
    ///
    /// # Errors
    /// A left operand that is no row, or a right one that is a number; different dtypes or devices; bools or strings;
    /// ranks below 2, or different ranks; sizes that do not match, at the read where only the device knows them; a row of
    /// another call.
    ///
    /// # Cost
    /// One product; the transposed row is not copied, but a tensor beside it is copied for each row. Waits once where only
    /// the device knows the size of the result and it has no useful bound.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let points = RaggedTensor::from_nested([vec![[1, 2], [3, 4]], vec![[5, 6]]], &Device::cpu())?;
    /// let moments: RaggedTensor<i32> = points.map_rows(|row| row.t().matmul(row))?;
    /// assert_eq!(moments.to_vec()?, [10, 14, 14, 20, 25, 30, 30, 36]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn matmul<'a>(&self, other: impl Into<RowFactor<'a>>) -> Result<Row> {
        match &self.operand {
            RowOperand::Row(row) => row.product(self.transposed, &other.into()),
            RowOperand::Same(_) => Err(Error::argument(OP, "the left operand must be a row")),
        }
    }
}
