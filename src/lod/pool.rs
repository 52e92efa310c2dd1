//! One row for each sequence.

use super::{LodTensor, named};
use crate::dtype::DType;
use crate::error::{Result, here, on_behalf};
use crate::graph::recorder::Recorder;
use crate::ops::IntoOperand;
use crate::ops::Operand;
use crate::tensor::{Fill, Tensor};

/// The row that a sequence becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Pool {
    /// The mean of its rows: floats keep their dtype, integers of 8 and 16 bits give f32, wider ones f64.
    Average,
    /// The mean of its rows in a float dtype of choice, with the numbers of [`Tensor::reduce_mean_as`].
    AverageAs(DType),
    /// The sum of its rows.
    Sum,
    /// The sum of its rows divided by the square root of their number.
    Sqrt,
    /// The maximum of its rows.
    Max,
    /// The minimum of its rows.
    Min,
    /// Its first row.
    First,
    /// Its last row.
    Last,
}

/// Pooling of sequences.
impl LodTensor {
    /// One row for each sequence of the last level; `pad_value` for an empty one. Paddle: `sequence_pool`.
    ///
    /// The result has the levels above the last. The dtype stays, except for means: [`Pool::Average`] of integers is
    /// f32 or f64, and [`Pool::AverageAs`] has the dtype that it says, also where a GPU emulates f64. Each column is
    /// pooled separately; NaN in a column gives NaN. The order of sums is that of [`Tensor::reduce_sum`]: the same bits
    /// on every device.
    ///
    /// # Errors
    /// A tensor without levels; a `pad_value` that is not one value of the dtype; strings and bools in sums and
    /// means; integers for [`Pool::Sqrt`]; a dtype that is no float for [`Pool::AverageAs`].
    ///
    /// # Cost
    /// One pass over the values, whose epilogue fills the empty sequences; a map for the first or last rows. Never
    /// waits.
    ///
    /// ```
    /// use ragged::opt::Pool;
    /// use ragged::{Device, LodTensor};
    /// let x = LodTensor::from_nested([vec![1.0f32, 3.0], vec![], vec![5.0]], &Device::cpu())?;
    /// let means = x.sequence_pool(Pool::Average, -1)?;
    /// assert_eq!(means.data()?.to_string(), "tensor([2.0, -1.0, 5.0], shape=(3,), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn sequence_pool<'a>(&self, pool: Pool, pad_value: impl IntoOperand<'a>) -> Result<Self> {
        let rec = self.recorder("sequence_pool");
        let (rows, pad_value) = (self.sequences(rec)?, pad_value.into());
        if pad_value.tensor().is_some() {
            return Err(rec.argument("pad_value must be one number or string, not a tensor"));
        }
        let pooled = match pool {
            Pool::First => return self.for_each_sequence(rows.nth_or(0, pad_value).map_err(named(rec.op))?),
            Pool::Last => return self.for_each_sequence(rows.nth_or(-1, pad_value).map_err(named(rec.op))?),
            Pool::Average => rows.reduce_mean(1),
            Pool::AverageAs(dtype) => rows.reduce_mean_as(dtype, 1),
            Pool::Sum => rows.reduce_sum(1),
            Pool::Max => rows.reduce_max(1),
            Pool::Min => rows.reduce_min(1),
            Pool::Sqrt => on_behalf(|| root_of_lengths(rec, &rows).and_then(|root| rows.reduce_sum(1)?.truediv(&root))),
        };
        let pooled = pooled.map_err(named(rec.op)).map_err(here())?;
        let filled = lengths_beside(&rows, &pooled)?.greater(0)?.select(&pooled, pad_value).map_err(named(rec.op))?;
        self.for_each_sequence(filled)
    }

    /// The first row of each sequence of the last level; zeros for an empty one.
    ///
    /// The result has the levels above the last. Any dtype; empty strings and `false` are the zeros of strings and
    /// bools. [`LodTensor::sequence_pool`] with [`Pool::First`] takes another value for empty sequences. Paddle:
    /// `sequence_first_step`.
    ///
    /// # Errors
    /// A tensor without levels.
    ///
    /// # Cost
    /// One map, which fuses into its consumer. Never waits.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let x = LodTensor::from_nested([vec![1, 3], vec![], vec![5]], &Device::cpu())?;
    /// assert_eq!(x.sequence_first_step()?.data()?.to_string(), "tensor([1, 0, 5], shape=(3,), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn sequence_first_step(&self) -> Result<Self> {
        self.step(self.recorder("sequence_first_step"), 0)
    }

    /// The last row of each sequence of the last level; zeros for an empty one.
    ///
    /// The result has the levels above the last. Any dtype; empty strings and `false` are the zeros of strings and
    /// bools. [`LodTensor::sequence_pool`] with [`Pool::Last`] takes another value for empty sequences. Paddle:
    /// `sequence_last_step`.
    ///
    /// # Errors
    /// A tensor without levels.
    ///
    /// # Cost
    /// One map, which fuses into its consumer. Never waits.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let x = LodTensor::from_nested([vec![1, 3], vec![], vec![5]], &Device::cpu())?;
    /// assert_eq!(x.sequence_last_step()?.data()?.to_string(), "tensor([3, 0, 5], shape=(3,), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn sequence_last_step(&self) -> Result<Self> {
        self.step(self.recorder("sequence_last_step"), -1)
    }

    #[track_caller]
    fn step(&self, rec: Recorder<'_>, index: i64) -> Result<Self> {
        let rows = self.sequences(rec)?;
        let zero = Fill::zero(rows.dtype());
        self.for_each_sequence(rows.nth_or(index, Operand::Value(zero))?)
    }
}

/// The lengths of the rows, with a dimension of size 1 for each inner dimension of `pooled`.
#[track_caller]
fn lengths_beside(rows: &Tensor, pooled: &Tensor) -> Result<Tensor> {
    (1..pooled.rank()).try_fold(rows.row_lengths(1)?, |lengths, _| lengths.expand_dims(-1)).map_err(here())
}

/// The square roots of the lengths of the rows, in the dtype of these.
#[track_caller]
fn root_of_lengths(rec: Recorder<'_>, rows: &Tensor) -> Result<Tensor> {
    let dtype = rows.dtype();
    if !dtype.is_float() {
        return Err(rec.unsupported(dtype, "Pool::Sqrt needs floats, cast first"));
    }
    // In f16, a length above 65504 would be infinite.
    let wide = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let lengths =
        (2..rows.rank()).try_fold(rows.row_lengths(1)?, |lengths, _| lengths.expand_dims(-1)).map_err(here())?;
    lengths.cast(wide)?.sqrt()?.cast(dtype)
}
