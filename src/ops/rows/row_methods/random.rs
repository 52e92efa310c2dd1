//! Random numbers of a row, which depend on the seed, the index of the row and positions in the row alone.

use crate::error::Result;
use crate::graph::expr::Expr;
use crate::integer::{Integer, saturating_u32};
use crate::ops::{Index, Row, Seed};
use crate::record::axis_rows::AxisRows;
use crate::tensor::Tensor;

use super::value_rows;

/// Dropout, random order and random samples.
impl Row {
    /// Sets each value to 0 with probability `rate`, and multiplies it by `1 / (1 - rate)` otherwise, which keeps the
    /// expected value.
    ///
    /// The dropped values of a row depend on the seed, the index of the row and positions in the row alone: not on the
    /// lengths of other rows, unlike in [`Tensor::dropout`]. The first row drops what `dropout` drops of it alone.
    /// Shape and dtype stay; f16 and bf16 round once. A rate of 0 changes nothing. A dropped NaN or infinity becomes
    /// 0. An empty row stays empty.
    ///
    /// # Errors
    /// A rate that is not at least 0 and less than 1; a dtype other than floats.
    ///
    /// # Cost
    /// One map of some 100 operations per value. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Seed};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1.0f32; 3], vec![1.0; 50]], &device)?;
    /// let longer = RaggedTensor::from_nested([vec![1.0f32; 9], vec![1.0; 50]], &device)?;
    /// let dropped = |x: &RaggedTensor<f32>| -> ragged::Result<Vec<f32>> {
    ///     let y: RaggedTensor<f32> = x.map_rows(|row| row.dropout(0.5, Seed(7)))?;
    ///     y.to_vec()
    /// };
    /// assert_eq!(dropped(&x)?[3..], dropped(&longer)?[9..]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.nn.dropout`.
    #[track_caller]
    pub fn dropout(&self, rate: f64, seed: Seed) -> Result<Self> {
        const OP: &str = "dropout";
        let rows = value_rows(OP, &self.all)?;
        let counter = [rows.offset_of(Expr::index()), rows.row_of(Expr::index())];
        Ok(self.with(self.all.dropped(OP, rate, seed, counter)?))
    }

    /// The elements along `axis` in random order.
    ///
    /// Shape and dtype stay, unless dimensions below the axis are ragged, which move with their elements. The order
    /// depends on the seed, the index of the row and positions in the row alone, not on other rows. Any dtype. An empty
    /// row stays empty.
    ///
    /// # Errors
    /// `axis` out of range.
    ///
    /// # Cost
    /// A map of some 100 operations per element, a row sort of 32-bit numbers (see [`Tensor::sort`]) and a gather.
    /// Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Seed};
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3, 4], vec![], vec![5, 6]], &Device::cpu())?;
    /// let y: RaggedTensor<i32> = x.map_rows(|row| row.shuffle(Seed(7), 0)?.sort(0))?;
    /// assert_eq!(y.to_string(), x.to_string());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.random.shuffle`.
    ///
    /// Polars: `Expr.shuffle`.
    #[track_caller]
    pub fn shuffle(&self, seed: Seed, axis: impl Integer) -> Result<Self> {
        const OP: &str = "shuffle";
        Ok(self.with(self.shuffled(OP, seed, self.axis(OP, axis.saturating_i64())?)?))
    }

    /// `k` elements along `axis`, drawn without replacement, in random order; all of a row of fewer.
    ///
    /// The elements are the first `k` of [`Row::shuffle`] with the same seed. Any dtype. An empty row stays empty.
    ///
    /// # Errors
    /// `axis` out of range; a negative `k`, or one of 2^32 or more.
    ///
    /// # Cost
    /// A map of some 100 operations per element, a row sort of 32-bit numbers (see [`Tensor::sort`]) and a gather of
    /// the elements that are kept. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Seed};
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3, 4], vec![], vec![5]], &Device::cpu())?;
    /// let y: RaggedTensor<i64> = x.map_rows(|row| row.sample(2, Seed(7), 0)?.size())?;
    /// assert_eq!(y.to_vec()?, [2, 0, 1]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// Polars: `list.sample`.
    #[track_caller]
    pub fn sample(&self, k: impl Integer, seed: Seed, axis: impl Integer) -> Result<Self> {
        const OP: &str = "sample";
        let k = saturating_u32(OP, "k", k)?;
        let axis = self.axis(OP, axis.saturating_i64())?;
        let mut index = vec![Index::ALL; axis as usize];
        index.push(Index::Slice { start: None, stop: Some(i64::from(k)), step: 1 });
        Ok(self.with(self.shuffled(OP, seed, axis)?.slice(index)?))
    }

    /// The tensor of all rows, shuffled along one of its axes but the first.
    #[track_caller]
    fn shuffled(&self, op: &'static str, seed: Seed, axis: i64) -> Result<Tensor> {
        // All elements of one row are one stream, however many rows it has itself.
        let merged = AxisRows::new(self.all.recorder(op), &self.all.merged(1, axis as usize)?, 1)?.rows;
        let counter = [merged.offset_of(Expr::index()), merged.row_of(Expr::index())];
        self.all.shuffled(op, seed, axis, Some(counter))
    }
}
