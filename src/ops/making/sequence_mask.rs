//! Masks of sequences that are padded to one length.

use crate::dtype::DType;
use crate::element::IntegerElement;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::ops::counting::bin::read_u64;
use crate::ops::operations;
use crate::ops::options::MaxLength;
use crate::record::elementwise::Takes;
use crate::tensor::{Tensor, Values};

operations! {
    /// Masks of padded sequences.
    const OPERATIONS: family "Rows: pairs, windows, groups, sets, samples" on RaggedTensor<T> where T: IntegerElement;

    /// The mask of padded sequences of these lengths: true at position `j` of a new innermost dimension if `j` is below
    /// the length.
    ///
    /// The new dimension has the size `max_length`; `..` gives that of the greatest length. A length of 0 or less gives
    /// no true, one above `max_length` gives only true. Partitions stay: empty rows stay empty. Bools;
    /// [`cast`](Tensor::cast) gives numbers. Paddle: `sequence_mask`.
    ///
    /// # Errors
    /// Lengths that are not integers; a negative `max_length`; 2^32 values or more.
    ///
    /// # Cost
    /// One map, which fuses into its consumer. Waits for the greatest length if `max_length` is `..`;
    /// [`record_async`](crate::record_async) awaits it.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let lengths = RaggedTensor::from_nested([2, 0, 3], &Device::cpu())?;
    /// let mask = lengths.sequence_mask(2)?;
    /// assert_eq!(mask.to_vec()?, [true, true, false, false, true, true]);
    /// assert_eq!(lengths.sequence_mask(..)?.shape(), [Some(3), Some(3)]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn sequence_mask(&self, max_length: impl Into<MaxLength> as MaxLength = ..) -> bool;
    tensorflow "tf.sequence_mask";
    waits "for the greatest length, where `max_length` is `..`";
    gradient none "it takes integers";
    row hand;
}

#[track_caller]
fn sequence_mask(x: &Tensor, max_length: impl Into<MaxLength>) -> Result<Tensor> {
    const OP: &str = "sequence_mask";
    let rec = x.recorder(OP);
    Takes::Integers.check(OP, x.dtype())?;
    let most = match max_length.into() {
        MaxLength(Some(most)) => rec.non_negative("max_length", most)?,
        MaxLength(None) => {
            let greatest = x.reduce_max(..)?;
            let greatest = Expr::load(rec.numbers(&greatest)?, Expr::u32(0));
            match rec.read(counted(greatest.clone()))? {
                // The error shows the length itself.
                u32::MAX => read_u64(rec, greatest.cast(DType::U64))?,
                length => length.into(),
            }
        }
    };
    let size = rec.given(most)?.size().clone();
    let by = Expr::size(&size.max(1));
    let length = counted(Expr::load(rec.numbers(x)?, Expr::index().div(by.clone())));
    let numbers = rec.times_size(&x.count()?, &size)?;
    let mask = rec.map(numbers, Expr::index().rem(by).lt(length), &[]);
    let (outer, mut inner) = (x.outer().cloned(), x.inner().sizes().to_vec());
    let outer = match outer {
        Some(outer) => {
            inner.push(size);
            outer
        }
        None => Extent::of(size),
    };
    rec.tensor(x.partitions().to_vec(), Some(outer), inner, Values::Numbers(mask))
}

/// A length as a u32: negative ones are 0, ones beyond u32 are the greatest u32.
fn counted(length: Expr) -> Expr {
    match length.dtype() {
        DType::U32 => length,
        DType::I64 => {
            let most = Expr::scalar(i64::from(u32::MAX));
            length.max(Expr::scalar(0i64)).min(most).cast(DType::U32)
        }
        DType::U64 => length.min(Expr::scalar(u64::from(u32::MAX))).cast(DType::U32),
        // Narrow integers are widened with their sign.
        _ => length.cast(DType::I32).max(Expr::scalar(0i32)).cast(DType::U32),
    }
}
