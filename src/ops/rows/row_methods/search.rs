//! Binary search in a row.

use crate::error::Result;
use crate::ops::{Index, Operand, Row, RowOperand, SearchValues, Sought};
use crate::setters::setters;

/// Values of a [`Row::searchsorted`], with the side of equal values. Converts from a row, a tensor or a number: the left
/// side.
///
/// ```
/// use ragged::arguments::RowOperand;
/// use ragged::opt::RowSought;
/// assert!(!RowSought::from(RowOperand::from(3.0)).right);
/// assert!(RowSought::from(RowOperand::from(3.0)).right(true).right);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RowSought<'a> {
    /// The values.
    pub values: RowOperand<'a>,
    /// Whether a value comes after those that are equal to it.
    pub right: bool,
}

setters! {
    impl[] RowSought<'_> {
        right: bool;
    }
}

impl<'a, X: Into<RowOperand<'a>>> From<X> for RowSought<'a> {
    fn from(values: X) -> Self {
        Self { values: values.into(), right: false }
    }
}
impl<'a> From<Sought<'a>> for RowSought<'a> {
    fn from(sought: Sought<'a>) -> Self {
        Self { values: sought.values.into(), right: sought.right }
    }
}

impl SearchValues for &Row {
    type Sought = RowSought<'static>;
    fn right(self) -> RowSought<'static> {
        RowSought { values: self.into(), right: true }
    }
}

/// Binary search.
impl Row {
    /// The position in this sorted row at which each value would keep it sorted: the number of elements below the value,
    /// or, for [`right_of`](crate::opt::right_of)`(&values)`, not above it.
    ///
    /// The values are a row of the same call, or a number or tensor that is the same for all rows. Rows are those along
    /// the innermost axis, in ascending order as of [`Row::sort`]; dimensions above are those of the values. i64, of
    /// the shape of the values. NaN is above all numbers; -0 equals +0; strings are ordered by their bytes. In an empty
    /// row every position is 0.
    ///
    /// # Errors
    /// A row that is a scalar; bools; values of another dtype or rank; different dimensions above the
    /// innermost, at the read where only the device knows them; a number beside a row of rows; a row of another call.
    ///
    /// # Cost
    /// One map over the values with a binary search per value. Strings of both sides are first ranked, as by a sort. A
    /// tensor of values is copied for each row. Never waits.
    ///
    /// ```
    /// use ragged::opt::right_of;
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1.0, 3.0, 3.0], vec![], vec![4.0]], &Device::cpu())?;
    /// let below: RaggedTensor<i64> = x.map_rows(|row| row.searchsorted(3.0))?;
    /// assert_eq!(below.to_vec()?, [1, 0, 0]);
    /// let upto: RaggedTensor<i64> = x.map_rows(|row| row.searchsorted(right_of(row)))?;
    /// assert_eq!(upto.to_vec()?, [1, 3, 3, 1]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.searchsorted`.
    ///
    /// Polars: `Expr.search_sorted`.
    #[track_caller]
    pub fn searchsorted<'a>(&self, values: impl Into<RowSought<'a>>) -> Result<Self> {
        const OP: &str = "searchsorted";
        let RowSought { values, right } = values.into();
        self.axis(OP, -1)?;
        if let RowOperand::Same(Operand::Value(value)) = &values {
            // A tensor of the row's dtype with one value per row.
            let Operand::Value(value) = Operand::Value(value.clone()).of_dtype(OP, self.dtype())? else {
                unreachable!("bug: a value that is a tensor")
            };
            let one = self.filled(OP, &value)?.lifted(1)?;
            let at = self.all.searchsorted(Sought { values: &one, right })?;
            return Ok(self.with(at.slice([Index::ALL, Index::At(0)])?));
        }
        let values = self.rows_or_repeated(OP, &values)?;
        Ok(self.with(self.all.searchsorted(Sought { values: &values, right })?))
    }
}
