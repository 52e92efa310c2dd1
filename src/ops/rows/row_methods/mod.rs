//! Methods of a [`Row`] that are written by hand: those whose arguments count in the row, are rows themselves, or are
//! the same for all rows. All others follow from the declarations of the operations.

mod counts;
mod elements;
mod joining;
mod lookups;
mod ordering;
mod parts;
mod products;
mod random;
mod reshape;
mod scans;
mod search;
mod shapes;
mod text;

pub use products::RowFactor;
pub use search::RowSought;

use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result, caller};
use crate::graph::expr::Expr;
use crate::ops::{Row, RowOperand};
use crate::record::axis_rows::AxisRows;
use crate::record::rows::Repeats;
use crate::shape::RowPartition;
use crate::tensor::Tensor;

impl Row {
    /// Converts the axis of a new dimension of the row to that of the tensor.
    #[track_caller]
    fn new_axis(&self, op: &'static str, axis: i64) -> Result<i64> {
        let rank = self.rank() as i64 + 1;
        if axis < -rank || axis >= rank {
            return Err(Error::Axis { op, axis, rank: rank as usize, location: caller() });
        }
        Ok(axis.rem_euclid(rank) + 1)
    }

    /// The tensor of all rows, whose first level is a partition: for operations on the rows of a row.
    ///
    /// # Errors
    /// The row has no rows.
    #[track_caller]
    fn of_rows(&self, op: &'static str) -> Result<Tensor> {
        if self.rank() < 2 {
            return Err(Error::argument(op, format!("it needs a row that has rows, but its rank is {}", self.rank())));
        }
        if self.all.ragged_rank() == 0 { Tensor::from_tensor(&self.all, 1) } else { Ok(self.all.clone()) }
    }

    /// A tensor that is the same for all rows, as the tensor of all rows.
    #[track_caller]
    fn repeated(&self, op: &'static str, same: &Tensor) -> Result<Tensor> {
        let rec = same.recorder(op);
        Device::check_same(op, self.all.backend(), same.backend())?;
        let known = same.ragged_rank() == 0 && same.nrows_extent().as_known().is_some();
        let one = if known && same.rank() > 0 { same.expand_dims(0)? } else { same.with_new_axis(rec, 0)? };
        one.take_rows(self.all.recorder(op), self.all.nrows_extent(), Expr::u32(0), Repeats::Maybe, &[])
    }

    /// The tensor of all rows of an operand that is a row or a tensor.
    #[track_caller]
    fn rows_or_repeated(&self, op: &'static str, operand: &RowOperand<'_>) -> Result<Tensor> {
        match operand {
            RowOperand::Row(row) => row.of_same_call(op, self).cloned(),
            RowOperand::Same(same) => match same.tensor() {
                Some(t) => self.repeated(op, t),
                None => Err(Error::argument(op, "it needs a row or a tensor, not a number")),
            },
        }
    }
}

/// The partition of all values into the rows of axis 0.
#[track_caller]
fn value_rows(op: &'static str, all: &Tensor) -> Result<RowPartition> {
    match all.rank() {
        0 | 1 => RowPartition::uniform(1, all.nrows_extent()),
        rank => Ok(AxisRows::innermost(all.recorder(op), &all.merged(1, rank - 1)?)?.rows),
    }
}

/// The row of axis 0 that each value is in, as a tensor of the layout of `all`.
#[track_caller]
fn row_numbers(op: &'static str, all: &Tensor, dtype: DType) -> Result<Tensor> {
    let rec = all.recorder(op);
    let row = value_rows(op, all)?.row_of(Expr::index()).cast(dtype);
    all.with_value_node(rec.map(all.count()?, row, &[]))
}
