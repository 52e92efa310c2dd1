//! Slices and splits.

use super::SparseTensor;
use super::coordinates::{Coordinates, indices_of};
use crate::dtype::DType;
use crate::error::{Result, here};
use crate::graph::expr::Expr;
use crate::graph::recorder::Recorder;
use crate::integer::Integer;
use crate::record::tensor_list::counted_tensors;

/// Slices and splits.
impl SparseTensor {
    /// The part of the tensor that begins at `start` and has `size` elements along each dimension, or fewer where the
    /// dense shape ends.
    ///
    /// Coordinates are relative to `start`. Entries keep their order. A `start` beyond the dense shape gives a
    /// dimension of size 0.
    ///
    /// # Errors
    /// A negative number; another number of dimensions. At the read: coordinates outside of the dense shape.
    ///
    /// # Cost
    /// A map and a rank bitmap over the entries, and a compaction of those that stay. No wait: the number of entries of
    /// the result is known on the device only.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 2], [1, 0], [1, 3]], [1, 2, 3], [2, 4], &Device::cpu())?;
    /// let part = x.slice(&[0, 2], &[2, 9])?;
    /// assert_eq!(part.dense_shape(), [2, 2]);
    /// assert_eq!(part.to_dense(0)?.to_string(), "tensor([[1, 0], [0, 3]], shape=(2, 2), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.slice`.
    #[track_caller]
    pub fn slice<I: Integer, J: Integer>(&self, start: &[I], size: &[J]) -> Result<Self> {
        let rec = self.recorder("slice");
        let rank = self.rank();
        if start.len() != rank || size.len() != rank {
            let what =
                format!("start and size have {} and {} dimensions, but the tensor has {rank}", start.len(), size.len());
            return Err(rec.argument(what));
        }
        let start = start.iter().map(|&n| rec.non_negative("start", n));
        let start = start.collect::<Result<Vec<_>>>().map_err(here())?;
        let size = size.iter().map(|&n| rec.non_negative("size", n));
        let size = size.collect::<Result<Vec<_>>>().map_err(here())?;
        self.part(rec, &start, &size)
    }

    /// As [`slice`](Self::slice).
    #[track_caller]
    fn part(&self, rec: Recorder<'_>, start: &[u64], size: &[u64]) -> Result<Self> {
        let dense_shape: Vec<u64> =
            (0..self.rank()).map(|d| size[d].min(self.dense_shape[d].saturating_sub(start[d]))).collect();
        if dense_shape == self.dense_shape {
            return Ok(self.clone());
        }
        let coordinates = Coordinates::new(rec, self)?;
        let mut all = coordinates.all();
        let mut stays = Expr::scalar(true);
        for d in 0..self.rank() {
            if dense_shape[d] == self.dense_shape[d] {
                continue;
            }
            all[d] = coordinates.of(d).sub(Expr::number(start[d] as i64));
            // Read as unsigned, a coordinate before the start is too large.
            stays = stays.and(all[d].clone().bitcast(DType::U64).lt(Expr::number(dense_shape[d])));
        }
        let moved = indices_of(rec, &self.count(), &all, &[])?;
        Ok(Self { dense_shape, ..self.kept_where(rec, &moved, stays)? })
    }

    /// Splits the tensor into `parts` along `axis`.
    ///
    /// Where the size is no multiple of `parts`, the first parts are larger by 1.
    ///
    /// # Errors
    /// `axis` out of range; `parts` below 1 or above the size of the dimension; more than 2^20 parts; no
    /// host memory for them. At the read: coordinates outside of the
    /// dense shape.
    ///
    /// # Cost
    /// That of [`slice`](Self::slice) per part.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 2], [2, 0]], [1, 2], [3, 4], &Device::cpu())?;
    /// let parts = x.split(2, 0)?;
    /// assert_eq!((parts[0].dense_shape(), parts[1].dense_shape()), (&[2, 4][..], &[1, 4][..]));
    /// assert_eq!(parts[1].indices().to_string(), "tensor([[0, 0]], shape=(1, 2), dtype=i64)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.split`.
    #[track_caller]
    pub fn split(&self, parts: impl Integer, axis: impl Integer) -> Result<Vec<Self>> {
        let rec = self.recorder("split");
        let axis = self.axis(rec, axis)?;
        let whole = self.dense_shape[axis];
        let parts = match u64::try_from(parts.saturating_i64()) {
            Ok(parts) if (1..=whole).contains(&parts) => parts,
            _ => {
                let given = parts.saturating_i64();
                let what = format!("a dimension of size {whole} cannot be split into {given} parts");
                return Err(rec.argument(what));
            }
        };
        // Coordinates, and the positions and the number of the entries of a part.
        let _counted = counted_tensors(rec, &self.values, parts, 3)?;
        let (least, longer) = (whole / parts, whole % parts);
        let (mut start, mut size) = (vec![0; self.rank()], self.dense_shape.clone());
        let part = |k: u64| {
            size[axis] = least + u64::from(k < longer);
            let part = self.part(rec, &start, &size);
            start[axis] += size[axis];
            part
        };
        (0..parts).map(part).collect::<Result<_>>().map_err(here())
    }
}
