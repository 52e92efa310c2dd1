//! Sequences of one length: padding, its inverse, and masks.

use super::{LodTensor, named};
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::ops::{MaxLength, PaddedShape, Padding};
use crate::shape::RowPartition;
use crate::tensor::{Integers, RaggedTensor, Tensor};

/// Padding and masks.
impl LodTensor {
    /// Pads the sequences of the last level to one length, `[n, maxlen, ..]` under the levels above, and returns their
    /// lengths too. Paddle: `sequence_pad`.
    ///
    /// `maxlen` is a length, or `..` for that of the longest sequence. `pad_value` is a number or string, or a tensor
    /// of the shape of a row, Paddle's time step, or that broadcasts to it; a tensor of shape `[1]` fits every row. Any
    /// dtype. The padding of an empty sequence fills its whole row.
    ///
    /// # Errors
    /// A tensor without levels; a negative `maxlen`; one below the length of the longest sequence, at the read where
    /// only the device knows it; a pad value of another dtype or shape.
    ///
    /// # Cost
    /// One map over the result. With `..`, a wait where only the device knows the longest sequence;
    /// [`record_async`](crate::record_async) awaits it.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let x = LodTensor::from_nested([vec![1, 2, 3], vec![], vec![4]], &Device::cpu())?;
    /// let (padded, lengths) = x.sequence_pad(0, ..)?;
    /// assert_eq!(
    ///     padded.data()?.to_string(),
    ///     "tensor([[1, 2, 3], [0, 0, 0], [4, 0, 0]], shape=(3, 3), dtype=i32)"
    /// );
    /// assert_eq!(lengths.to_vec()?, [3, 0, 1]);
    /// let error = x.sequence_pad(0, 2).unwrap_err();
    /// assert!(error.to_string().contains("maxlen 2 is below the 3 rows of sequence 0"));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn sequence_pad<'a>(
        &self,
        pad_value: impl Into<Padding<'a>>,
        maxlen: impl Into<MaxLength>,
    ) -> Result<(Self, RaggedTensor<i64>)> {
        let rec = self.recorder("sequence_pad");
        let rows = self.sequences(rec)?;
        let mut shape = vec![-1; rows.rank()];
        let mut asserts = Vec::new();
        if let MaxLength(Some(maxlen)) = maxlen.into() {
            let most = rec.known(rec.non_negative("maxlen", maxlen)?)?.capacity();
            shape[1] = most.into();
            asserts.extend(longest_at_most(rec, self.last_level(rec)?, most)?);
        }
        let mut padding = pad_value.into();
        // Paddle's scalar is a tensor of shape [1], and a row without dimensions counts as one number.
        let scalar;
        if let (Padding::Tensor(t), []) = (&padding, &rows.inner()[..])
            && t.shape() == [Some(1)]
        {
            scalar = t.reshape([0i64; 0])?;
            padding = Padding::Tensor(&scalar);
        }
        let padded = rows.to_tensor(PaddedShape { padding, shape: Some(shape) }).map_err(named(rec.op))?;
        let padded = self.for_each_sequence(padded.on_condition(rec.op, &asserts)?)?;
        Ok((padded, rows.row_lengths(1)?.try_into()?))
    }

    /// The inverse of `sequence_pad`: the first `length[i]` rows of padded sequence `i` become sequence
    /// `i` of a new last level. Paddle: `sequence_unpad`.
    ///
    /// The data are `[n, maxlen, ..]`; as in Paddle, `[n, maxlen]` counts as `[n, maxlen, 1]`. Lengths are a list on
    /// the host, or a vector or column on the device. Levels stay above the new one. Any dtype. A length of 0 gives an
    /// empty sequence.
    ///
    /// # Errors
    /// Data of rank 0 or 1; not one length per padded sequence; a length that is negative or above `maxlen`, at the
    /// read where only the device knows it.
    ///
    /// # Cost
    /// A prefix sum over the lengths, and one map, which fuses into its consumer. Never waits.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let padded = LodTensor::from_nested([[1, 2, 0], [3, 0, 0]], &Device::cpu())?;
    /// let x = padded.sequence_unpad(&[2, 1])?;
    /// assert_eq!(x.lod()?, [[0, 2, 3]]);
    /// assert_eq!(x.data()?.to_string(), "tensor([[1], [2], [3]], shape=(3, 1), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn sequence_unpad<'a>(&self, length: impl Into<Integers<'a>>) -> Result<Self> {
        let rec = self.recorder("sequence_unpad");
        let data = self.data()?;
        let data = match data.rank() {
            0 | 1 => {
                let what = format!("padded sequences are [n, maxlen, ..], but the shape is {}", data.shape_text());
                return Err(rec.argument(what));
            }
            2 => data.expand_dims(-1)?,
            _ => data,
        };
        let rows = Tensor::from_tensor(&data, 1)?.rows_cut(rec, None, ("length", length.into()))?;
        Self::under(self.tensor().partitions(), rows)
    }

    /// The mask of the rows of padded sequences: for each sequence of the last level `maxlen` bools, true for its rows,
    /// false for padding, under the levels above. [`Tensor::sequence_mask`] of [`LodTensor::lengths`].
    ///
    /// `maxlen` is as in [`LodTensor::sequence_pad`], but may be below the length of the longest sequence, as in
    /// Paddle.
    ///
    /// # Errors
    /// A tensor without levels; a negative `maxlen`.
    ///
    /// # Cost
    /// One map, which fuses into its consumer. With `..`, a wait where only the device knows the longest sequence;
    /// [`record_async`](crate::record_async) awaits it.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let x = LodTensor::from_nested([vec![1, 2], vec![], vec![4]], &Device::cpu())?;
    /// let mask = x.sequence_mask(..)?.data()?;
    /// assert_eq!(
    ///     mask.to_string(),
    ///     "tensor([[True, True], [False, False], [True, False]], shape=(3, 2), dtype=bool)"
    /// );
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn sequence_mask(&self, maxlen: impl Into<MaxLength>) -> Result<Self> {
        let rec = self.recorder("sequence_mask");
        let rows = self.sequences(rec)?;
        let maxlen = match maxlen.into() {
            MaxLength(None) => MaxLength::from(rows.longest_rows(rec)?.first().copied().unwrap_or(0)),
            given => given,
        };
        self.for_each_sequence(rows.row_lengths(1)?.sequence_mask(maxlen)?)
    }
}

/// The condition that no row is longer than `most`; none where the host knows it.
///
/// # Errors
/// The host knows a longer row.
#[track_caller]
fn longest_at_most(rec: Recorder<'_>, level: &RowPartition, most: u32) -> Result<Option<Node>> {
    let longer = match (level.host_splits(), level.uniform_length()) {
        (Some(splits), _) => splits.windows(2).map(|pair| pair[1] - pair[0]).enumerate().find(|(_, n)| *n > most),
        (None, Some(length)) if level.nrows_extent().as_known() != Some(0) => {
            Some((0, length)).filter(|(_, n)| *n > most)
        }
        _ => None,
    };
    if let Some((sequence, length)) = longer {
        let what = format!(
            "maxlen {most} is below the {length} rows of sequence {sequence}; the longest sequence must fit, `..` takes \
             its length"
        );
        return Err(rec.argument(what));
    }
    if level.known_lengths().is_some_and(|(_, longest)| longest <= most) {
        return Ok(None);
    }
    let check = rec.check(format!("maxlen {most} is below the length of a sequence"));
    let fits = level.length(Expr::index()).le(Expr::u32(most));
    Ok(Some(rec.assert(level.nrows_extent().clone(), fits, check)))
}
