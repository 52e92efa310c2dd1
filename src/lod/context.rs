//! Operations on the context of each row: convolution and enumeration of windows.

use super::{LodTensor, named};
use crate::error::{Error, Result, caller};
use crate::graph::recorder::Recorder;
use crate::integer::Integer;
use crate::ops::IntoOperand;
use crate::ops::{Context, Operand};
use crate::tensor::{Fill, Tensor};

/// Windows around elements.
impl LodTensor {
    /// Convolution over each sequence of the last level: the context of a row, as one vector, times the filter. Paddle:
    /// `sequence_conv`, without bias and activation.
    ///
    /// The rows are vectors of `d` numbers (or single numbers) and the filter is `[size * d, out]`. The context is a
    /// number of rows, or [`starting_at`](crate::opt::starting_at)`(size, start)`; by default it starts `size / 2` rows
    /// before the row, rounded down. Zeros stand where it leaves the sequence. The result has rows of `out` numbers and
    /// the same levels; its dtype is that of both. Sums are those of the product: integers wrap, NaN propagates. Empty
    /// sequences stay empty.
    ///
    /// # Errors
    /// A tensor without levels; rows of rank 2 or more; a filter of another shape, dtype or device; a size below 1;
    /// bools and strings.
    ///
    /// # Cost
    /// A map that arranges the contexts and a [matrix product](crate::Tensor::matmul), whose bits are the same on every
    /// device. Never waits.
    ///
    /// ```
    /// use ragged::{Device, LodTensor, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = LodTensor::from_nested([vec![1.0f32, 2.0, 3.0], vec![4.0]], &device)?;
    /// let sum_of_three = RaggedTensor::from_nested([[1.0f32], [1.0], [1.0]], &device)?;
    /// let y = x.sequence_conv(&sum_of_three, 3)?;
    /// assert_eq!(y.data()?.to_string(), "tensor([[3.0], [6.0], [5.0], [4.0]], shape=(4, 1), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn sequence_conv(&self, filter: &impl AsRef<Tensor>, context: impl Into<Context>) -> Result<Self> {
        let rec = self.recorder("sequence_conv");
        let (filter, context) = (filter.as_ref(), context.into());
        let rows = self.sequences(rec)?;
        let rows = match rows.rank() {
            2 => rows.expand_dims(-1)?,
            3 => rows,
            _ => return Err(rows_of_numbers(rec, &rows)),
        };
        if context.size < 1 {
            return Err(rec.argument(format!("the size of the window must be at least 1, but is {}", context.size)));
        }
        let width = rows.inner().iter().map(|&d| i64::from(d)).sum::<i64>().saturating_mul(context.size);
        // The product checks the number of rows where the device computes it.
        let fits = filter.ragged_rank() == 0
            && match filter.ragged_shape().known_sizes()[..] {
                [rows, _] => rows.is_none_or(|rows| i64::try_from(rows) == Ok(width)),
                _ => false,
            };
        if !fits {
            let what = format!(
                "the filter must be [{width}, out], a row for each of {} rows of {} numbers",
                context.size,
                rows.inner()[0]
            );
            let (lhs, rhs) = (rows.shape_text(), filter.shape_text());
            return Err(Error::Shape { op: rec.op, lhs, rhs, what, location: caller() });
        }
        let start = context.start.unwrap_or(-(context.size / 2));
        let context = Context { start: Some(start), ..context };
        let contexts = rows.contexts(rec, context, Fill::zero(rows.dtype()), 1)?;
        self.for_each_sequence(contexts.merge_dims(2, 3)?.matmul(filter).map_err(named(rec.op))?)
    }

    /// The window of `win_size` successive values that begins at each row, within its sequence of the last level;
    /// `pad_value` stands behind the end. Paddle: `sequence_enumerate`.
    ///
    /// The rows are single values: `[n]` or `[n, 1]`. They become rows of `win_size` values; the levels stay. Any
    /// dtype. Empty sequences stay empty.
    ///
    /// # Errors
    /// A tensor without levels; rows of several values; a `win_size` below 1; a `pad_value` that is not one value of
    /// the dtype.
    ///
    /// # Cost
    /// One map, which fuses into its consumer. Never waits.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let x = LodTensor::from_nested([vec![1, 2, 3], vec![4]], &Device::cpu())?;
    /// let pairs = x.sequence_enumerate(2, 0)?;
    /// assert_eq!(pairs.data()?.to_string(), "tensor([[1, 2], [2, 3], [3, 0], [4, 0]], shape=(4, 2), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn sequence_enumerate<'a>(&self, win_size: impl Integer, pad_value: impl IntoOperand<'a>) -> Result<Self> {
        let rec = self.recorder("sequence_enumerate");
        let rows = self.sequences(rec)?;
        let Operand::Value(pad_value) = pad_value.into().of_dtype(rec.op, rows.dtype())? else {
            return Err(rec.argument("pad_value must be one number or string, not a tensor"));
        };
        let size = Context { size: win_size.saturating_i64(), start: Some(0) };
        let windows = match (rows.rank(), rows.width()) {
            (2, _) => rows.contexts(rec, size, pad_value, 1)?,
            (3, 1) => rows.contexts(rec, size, pad_value, 1)?.merge_dims(2, 3)?,
            _ => {
                let what = format!("the rows must be single values, but the sequences are {}", rows.shape_text());
                return Err(rec.argument(what));
            }
        };
        self.for_each_sequence(windows)
    }
}

/// The error for rows of rank 2 or more.
#[track_caller]
fn rows_of_numbers(rec: Recorder<'_>, rows: &Tensor) -> Error {
    let what = format!("the rows must be vectors, but the sequences are {}", rows.shape_text());
    rec.argument(what)
}
