//! Other shapes of the same entries.

use super::SparseTensor;
use super::coordinates::{Coordinates, indices_of};
use super::create::dense_size;
use crate::dtype::DType;
use crate::error::{Error, Result, caller, here};
use crate::graph::backend::Part;
use crate::graph::expr::Expr;
use crate::graph::node::RowDomain;
use crate::graph::opcode::ReduceOp;
use crate::graph::recorder::Recorder;
use crate::graph::run::recording::read_now;
use crate::graph::scalar::Scalar;
use crate::graph::size::RecordedSize;
use crate::integer::Integer;
use crate::record::by_key::one_row;
use crate::record::by_key::reduce_rows;

/// Reshaping.
impl SparseTensor {
    /// The same elements, in the same row-major order, under another dense shape. One size may be -1: it follows from
    /// the others.
    ///
    /// Entries keep their order.
    ///
    /// # Errors
    /// A dense shape of another number of elements, or of 2^63 or more; a negative size other than one -1, or a -1
    /// beside a size of 0. At the read: coordinates outside of the dense shape.
    ///
    /// # Cost
    /// A map over the coordinates, in 64-bit integers where the dense shape has 2^32 elements or more. No wait.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 2], [1, 1]], [1, 2], [2, 3], &Device::cpu())?;
    /// let y = x.reshape(&[3, -1])?;
    /// assert_eq!(y.dense_shape(), [3, 2]);
    /// assert_eq!(y.indices().to_string(), "tensor([[1, 0], [2, 0]], shape=(2, 2), dtype=i64)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.reshape`.
    #[track_caller]
    pub fn reshape<I: Integer>(&self, dense_shape: &[I]) -> Result<Self> {
        let rec = self.recorder("reshape");
        let sizes: Vec<i64> = dense_shape.iter().map(|d| d.saturating_i64()).collect();
        let elements = elements(rec, &self.dense_shape)?;
        let new = fitted(rec, elements, &sizes)?;
        if new == self.dense_shape {
            return Ok(self.clone());
        }
        // Coordinates that fail their check must not wrap before a division of positions: the quotients of numbers.
        let dtype = if elements < 1 << 32 { DType::U32 } else { DType::U64 };
        let number = |n: u64| Expr::number(Scalar::from_i64(dtype, n as i64));
        let coordinates = Coordinates::new(rec, self)?;
        let own = |d: usize| match dtype {
            DType::U32 => coordinates.of(d).cast(DType::U32),
            _ => coordinates.of(d).bitcast(DType::U64),
        };
        let mut rest = (0..self.rank())
            .fold(Expr::scalar(Scalar::from_i64(dtype, 0)), |at, d| at.mul(number(self.dense_shape[d])).add(own(d)));
        if self.rank() > 1 && new.len() > 1 {
            let stored = rec.map(self.count(), rest, &[]);
            rest = Expr::load(&stored, Expr::index());
        }
        let mut all = Vec::with_capacity(new.len());
        for (k, &size) in new.iter().enumerate().rev() {
            let size = number(size.max(1));
            all.push(if k == 0 { rest.clone() } else { rest.clone().remainder(size.clone()) });
            rest = rest.quotient(size);
        }
        all.reverse();
        let indices = indices_of(rec, &self.count(), &all, &self.conditions)?;
        Ok(Self::of_parts(indices, self.values.clone(), new, self.order).subject_to(&self.conditions))
    }

    /// Adds a dimension of size 1 at `axis`: 0 to the rank, or negative to count from the back.
    ///
    /// # Errors
    /// `axis` out of range. At the read: coordinates outside of the dense shape.
    ///
    /// # Cost
    /// A map over the coordinates. No wait.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 2], [1, 1]], [1, 2], [2, 3], &Device::cpu())?;
    /// let y = x.expand_dims(-1)?;
    /// assert_eq!(y.dense_shape(), [2, 3, 1]);
    /// assert_eq!(y.indices().to_string(), "tensor([[0, 2, 0], [1, 1, 0]], shape=(2, 3), dtype=i64)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.expand_dims`.
    #[track_caller]
    pub fn expand_dims(&self, axis: impl Integer) -> Result<Self> {
        let rec = self.recorder("expand_dims");
        let (axis, rank) = (axis.saturating_i64(), self.rank() as i64 + 1);
        if axis < -rank || axis >= rank {
            return Err(Error::Axis { op: rec.op, axis, rank: rank as usize, location: caller() });
        }
        let axis = axis.rem_euclid(rank) as usize;
        let coordinates = Coordinates::new(rec, self)?;
        let mut all = coordinates.all();
        all.insert(axis, Expr::scalar(0i64));
        let mut dense_shape = self.dense_shape.clone();
        dense_shape.insert(axis, 1);
        let indices = indices_of(rec, &self.count(), &all, &self.conditions)?;
        Ok(Self::of_parts(indices, self.values.clone(), dense_shape, self.order).subject_to(&self.conditions))
    }

    /// The same entries in a dense shape that is at least as large along each dimension.
    ///
    /// The coordinates and the values stay, of any dtype.
    ///
    /// # Errors
    /// Another number of dimensions; a size below that of the dense shape.
    ///
    /// # Cost
    /// No pass, no wait.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 2], [1, 1]], [1, 2], [2, 3], &Device::cpu())?;
    /// assert_eq!(x.reset_shape(&[5, 5])?.dense_shape(), [5, 5]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.reset_shape`, of a shape.
    #[track_caller]
    pub fn reset_shape<I: Integer>(&self, dense_shape: &[I]) -> Result<Self> {
        let rec = self.recorder("reset_shape");
        let sizes = dense_shape.iter().map(|&d| dense_size(rec, d));
        let sizes = sizes.collect::<Result<Vec<_>>>().map_err(here())?;
        if sizes.len() != self.rank() || sizes.iter().zip(&self.dense_shape).any(|(new, own)| new < own) {
            let what = "the new shape must have as many dimensions, each at least as large; slice takes a part".into();
            let (lhs, rhs) = (format!("{:?}", self.dense_shape), format!("{sizes:?}"));
            return Err(Error::Shape { op: rec.op, lhs, rhs, what, location: caller() });
        }
        Ok(Self { dense_shape: sizes, ..self.clone() })
    }

    /// The same entries in the smallest dense shape that holds them: the largest coordinate plus 1 along each
    /// dimension, and 0 without entries.
    ///
    /// Waits for the largest coordinates, which [`record_async`](crate::record_async) awaits.
    ///
    /// # Errors
    /// Coordinates outside of the dense shape.
    ///
    /// # Cost
    /// A reduction of the coordinates, and a wait.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 2], [1, 1]], [1, 2], [9, 9], &Device::cpu())?;
    /// assert_eq!(x.shrink_shape()?.dense_shape(), [2, 3]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.reset_shape` without a shape.
    #[track_caller]
    pub fn shrink_shape(&self) -> Result<Self> {
        let rec = self.recorder("shrink_shape");
        let (backend, count) = (self.backend(), self.count());
        if self.rank() == 0 {
            return Ok(self.clone());
        }
        if count.capacity() == 0 {
            return Ok(Self { dense_shape: vec![0; self.rank()], ..self.clone() });
        }
        let all = Coordinates::new(rec, self)?.tensor(self)?;
        let row = RowDomain { inner: self.rank() as u32, ..one_row(rec, &count)? };
        let value = Expr::load(rec.numbers(&all)?, Expr::index());
        let most = reduce_rows(rec, ReduceOp::Max, row, value)?;
        let bytes = read_now(backend, rec.op, vec![Part::whole(most)]).map_err(here())?;
        let largest: Vec<i64> = bytemuck::pod_collect_to_vec(&bytes[0]);
        // Without entries the maxima are the least i64.
        let dense_shape = largest.iter().map(|&c| c.max(-1).saturating_add(1) as u64).collect();
        Ok(Self { dense_shape, ..self.clone() })
    }
}

/// Number of elements of a dense shape.
///
/// # Errors
/// 2^63 or more.
#[track_caller]
fn elements(rec: Recorder<'_>, dense_shape: &[u64]) -> Result<u64> {
    if dense_shape.contains(&0) {
        return Ok(0);
    }
    let location = caller();
    let product = dense_shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d));
    product.filter(|&n| n <= i64::MAX as u64).ok_or_else(|| Error::Limit {
        what: rec.op.into(),
        requested: product.unwrap_or(u64::MAX),
        unit: "elements",
        limit: i64::MAX as u64,
        whose: "a dense shape".into(),
        location,
    })
}

/// The dense shape of these sizes, one of which may be -1, for that many elements.
#[track_caller]
fn fitted(rec: Recorder<'_>, all: u64, sizes: &[i64]) -> Result<Vec<u64>> {
    let location = caller();
    let misfit =
        |what: &str| Error::Argument { op: rec.op, what: format!("{what}: {all} elements, {sizes:?}"), location };
    if sizes.iter().any(|&n| n < -1) || sizes.iter().filter(|&&n| n == -1).count() > 1 {
        return Err(misfit("sizes must not be negative, except for one -1"));
    }
    let others: Vec<u64> = sizes.iter().filter(|&&n| n != -1).map(|&n| n as u64).collect();
    let others = elements(rec, &others)?;
    let open = sizes.contains(&-1);
    if open && others == 0 {
        return Err(misfit("a size of 0 leaves the -1 undetermined"));
    }
    let fits = if open { all.is_multiple_of(others) } else { all == others };
    if !fits {
        return Err(misfit("the dense shape must have as many elements"));
    }
    Ok(sizes.iter().map(|&n| if n == -1 { all / others } else { n as u64 }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;

    #[test]
    fn one_size_follows_from_the_others() {
        let device = Device::cpu();
        let rec = Recorder::new(device.backend(), "test");
        assert_eq!(fitted(rec, 12, &[3, -1]), Ok(vec![3, 4]));
        assert_eq!(fitted(rec, 0, &[5, -1]), Ok(vec![5, 0]));
        assert_eq!(fitted(rec, 1, &[]), Ok(vec![]));
        for (all, sizes) in [(12, &[5, -1][..]), (12, &[-1, -1]), (12, &[-2, -6]), (0, &[0, -1]), (12, &[3, 5])] {
            assert!(fitted(rec, all, sizes).is_err(), "{sizes:?}");
        }
        assert!(elements(rec, &[1 << 40, 1 << 40]).is_err());
        assert_eq!(elements(rec, &[1 << 40, 1 << 40, 0]), Ok(0));
    }
}
