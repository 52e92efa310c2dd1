//! Counts of the values of sparse tensors.

use std::ops::Range;

use super::SparseTensor;
use super::bincount_weighted::{no_binary, sums_by_bin};
use super::coordinates::{Coordinates, indices_of};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result, caller, here};
use crate::graph::expr::Expr;
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::ops::{Axes, Bins, IntoAxes};
use crate::tensor::{Tensor, Values};

/// Counts of values.
impl SparseTensor {
    /// The number of entries with each of the values from 0 on, dense.
    ///
    /// Values are counted along `axis` and all axes below it: `axis` 0 or `..` gives a vector of counts, a deeper one a
    /// vector for each element of the dimensions above, `[rows, bins]` for axis 1 of a matrix. Elements without an
    /// entry are not counted, not as 0 either. The counts are i32; [`Bins`] says how many there are, and
    /// [`binary`](crate::opt::binary)`(bins)` gives 1 where a value occurs. Entries may have any order.
    ///
    /// # Errors
    /// Byte strings; an axis out of range, or several; a negative number of bins; 2^32 - 1 counts or more. At the read:
    /// coordinates outside of the dense shape; negative values, floats that are not whole numbers.
    ///
    /// # Cost
    /// That of [`Tensor::bincount`], and below axis 0 that of [`reorder`](Self::reorder) and a search per row.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 3], [0, 1], [2, 0]], [1, 1, 2], [3, 4], &Device::cpu())?;
    /// assert_eq!(x.bincount(.., ..)?.to_nested()?.to_string(), "[0, 2, 1]");
    /// assert_eq!(x.bincount(1, ..)?.to_nested()?.to_string(), "[[0, 2, 0], [0, 0, 0], [0, 0, 1]]");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.math.bincount` of a sparse tensor.
    #[track_caller]
    pub fn bincount(&self, axis: impl IntoAxes, bins: impl Into<Bins>) -> Result<Tensor> {
        let rec = self.recorder("bincount");
        let stay = self.counted_axis(rec, &axis.into())?;
        let (axis, rows) = self.in_rows_above(rec, stay)?;
        self.of_shape_above(stay, rows.bincount(axis, bins)?)
    }

    /// The sum of the weights of the entries with each of the values from 0 on, dense.
    ///
    /// `weights` has an entry at the coordinates of each entry of this tensor, in the same order. Values are counted
    /// along `axis` and all axes below it: `axis` 0 or `..` gives a vector of sums, a deeper one a vector for each
    /// element of the dimensions above, `[rows, bins]` for axis 1 of a matrix. The dtype is that of the weights;
    /// integers wrap, and NaN propagates. A value that does not occur has the sum 0; elements without an entry are not
    /// counted. [`Bins`] says how many sums there are. Weights are added in the order of [`Tensor::bincount_weighted`].
    ///
    /// # Errors
    /// Values that are byte strings; an axis out of range, or several; a negative number of bins;
    /// [`binary`](crate::opt::binary) bins; 2^32 - 1 sums or more; weights of another dense shape or number of entries,
    /// on another device, of bools or byte strings. At the read: coordinates outside of the dense shape; weights at
    /// other coordinates; negative values, floats that are not whole numbers.
    ///
    /// # Cost
    /// That of [`Tensor::bincount_weighted`], and below axis 0 that of [`reorder`](Self::reorder) and a search per row.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 3], [0, 1], [2, 0]], [1, 1, 2], [3, 4], &Device::cpu())?;
    /// let w = SparseTensor::from_entries(&[[0, 3], [0, 1], [2, 0]], [0.5f32, 1.0, 4.0], [3, 4], &Device::cpu())?;
    /// assert_eq!(x.bincount_weighted(&w, .., ..)?.to_nested()?.to_string(), "[0.0, 1.5, 4.0]");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.math.bincount(…, weights=…)` of sparse tensors.
    #[track_caller]
    pub fn bincount_weighted(&self, weights: &Self, axis: impl IntoAxes, bins: impl Into<Bins>) -> Result<Tensor> {
        let rec = self.recorder("bincount_weighted");
        let stay = self.counted_axis(rec, &axis.into())?;
        let (values, weights) = self.with_weights(rec, weights)?;
        let ((axis, rows), (_, weights)) = (values.in_rows_above(rec, stay)?, weights.in_rows_above(rec, stay)?);
        self.of_shape_above(stay, rows.bincount_weighted(&weights, axis, bins)?)
    }

    /// The number of entries with each value that occurs, as a sparse tensor in row-major order.
    ///
    /// The nonzero counts of [`bincount`](Self::bincount), along `axis` and all axes below it: `[bins]` for axis 0 or
    /// `..`, `[rows, bins]` for axis 1 of a matrix. Counts are i32. No bin takes memory: integers may be as large as
    /// 2^63 - 2, and the dimensions above the axis as large as those of a sparse tensor. The result has at least one
    /// bin, also of no values, unless fewer are asked for.
    ///
    /// # Errors
    /// Byte strings; an axis out of range, or several; a negative number of bins. At the read: coordinates outside of
    /// the dense shape; negative values, floats that are not whole numbers; integers of 64 bits above 2^63 - 2.
    ///
    /// # Cost
    /// That of [`coalesce`](Self::coalesce), and a pass over the values with a wait where the number of bins depends on
    /// the largest value.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 3], [0, 1], [2, 0]], [1, 1, 2], [3, 4], &Device::cpu())?;
    /// let counts = x.bincount_sparse(1, ..)?;
    /// assert_eq!(counts.indices().to_string(), "tensor([[0, 1], [2, 2]], shape=(2, 2), dtype=i64)");
    /// assert_eq!(counts.values().to_string(), "tensor([2, 1], shape=(2,), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.bincount`.
    #[track_caller]
    pub fn bincount_sparse(&self, axis: impl IntoAxes, bins: impl Into<Bins>) -> Result<Self> {
        let rec = self.recorder("bincount_sparse");
        let (stay, bins) = (self.counted_axis(rec, &axis.into())?, bins.into());
        let one = rec.map(self.count(), Expr::scalar(Scalar::I32(1)), &[]);
        let ones = rec.tensor(Vec::new(), Some(self.count()), [], Values::Numbers(one))?;
        let counts = self.sums_above(rec, &ones, stay, bins)?;
        if bins.binary { counts.map_values(|n| n.ones_like()) } else { Ok(counts) }
    }

    /// The sum of the weights of each value that occurs, as a sparse tensor in row-major order.
    ///
    /// The sums of [`bincount_weighted`](Self::bincount_weighted), along `axis` and all axes below it: `[bins]` for
    /// axis 0 or `..`, `[rows, bins]` for axis 1 of a matrix. The dtype is that of the weights; integers wrap, NaN
    /// propagates, and a sum of 0 is an entry. The weights of a value are added in the order of the entries, in the
    /// canonical order of row reductions. No bin takes memory: integers may be as large as 2^63 - 2, and the dimensions
    /// above the axis as large as those of a sparse tensor. The result has at least one bin, also of no values, unless
    /// fewer are asked for.
    ///
    /// # Errors
    /// Values that are byte strings; an axis out of range, or several; a negative number of bins;
    /// [`binary`](crate::opt::binary) bins; weights of another dense shape or number of entries, on another device, of
    /// bools or byte strings. At the read: coordinates outside of the dense shape; weights at other coordinates;
    /// negative values, floats that are not whole numbers; integers of 64 bits above 2^63 - 2.
    ///
    /// # Cost
    /// A sort of the entries by coordinates and value, a reduction, and a pass over the values with a wait where the
    /// number of bins depends on the largest value.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 3], [0, 1], [2, 0]], [1, 1, 2], [3, 4], &Device::cpu())?;
    /// let w = SparseTensor::from_entries(&[[0, 3], [0, 1], [2, 0]], [0.5f32, 1.0, 4.0], [3, 4], &Device::cpu())?;
    /// let sums = x.bincount_sparse_weighted(&w, 1, ..)?;
    /// assert_eq!(sums.values().to_string(), "tensor([1.5, 4.0], shape=(2,), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.bincount(…, weights=…)`.
    #[track_caller]
    pub fn bincount_sparse_weighted(&self, weights: &Self, axis: impl IntoAxes, bins: impl Into<Bins>) -> Result<Self> {
        let rec = self.recorder("bincount_sparse_weighted");
        let (stay, bins) = (self.counted_axis(rec, &axis.into())?, no_binary(rec, bins.into())?);
        let (values, weights) = self.with_weights(rec, weights)?;
        values.sums_above(rec, &weights.values, stay, bins)
    }

    /// How many dimensions stay when values are counted along the only axis of `axes` and all below it.
    #[track_caller]
    fn counted_axis(&self, rec: Recorder<'_>, axes: &Axes) -> Result<usize> {
        match axes {
            Axes::All => Ok(0),
            Axes::List(axes) => match axes[..] {
                [axis] => self.axis(rec, axis),
                _ => Err(rec.argument(format!("{} axes were given; it takes one, or .. for all", axes.len()))),
            },
        }
    }

    /// The values with one row per element of the first `stay` dimensions, and the axis to count along.
    #[track_caller]
    fn in_rows_above(&self, rec: Recorder<'_>, stay: usize) -> Result<(i64, Tensor)> {
        if stay == 0 {
            return Ok((0, self.values.on_condition(rec.op, &self.conditions)?));
        }
        let product = |dims: &[u64]| {
            dims.iter().try_fold(1u64, |n, &d| n.checked_mul(d)).filter(|&n| n < i64::MAX as u64).ok_or_else(|| {
                rec.argument(format!("the dimensions {dims:?} have more elements than 2^63 - 2; count sparsely"))
            })
        };
        let (above, below) = self.dense_shape.split_at(stay);
        let (rows, columns) = (product(above).map_err(here())?, product(below).map_err(here())?);
        let matrix = if self.rank() == 2 { self.clone() } else { self.as_matrix(rec, stay, [rows, columns])? };
        Ok((1, matrix.sorted(rec)?.values_in_rows(rec)?))
    }

    /// The entries in a matrix, whose rows are the elements of the first `stay` dimensions. The matrix may have more
    /// elements than a sparse tensor may have that is reshaped.
    #[track_caller]
    fn as_matrix(&self, rec: Recorder<'_>, stay: usize, [rows, columns]: [u64; 2]) -> Result<Self> {
        let coordinates = Coordinates::new(rec, self)?;
        let dtype = if rows.max(columns) < 1 << 32 { DType::U32 } else { DType::U64 };
        let flat = |dims: Range<usize>| {
            dims.fold(Expr::scalar(Scalar::from_i64(dtype, 0)), |at, d| {
                let size = Expr::number(Scalar::from_i64(dtype, self.dense_shape[d] as i64));
                at.mul(size).add(coordinates.of(d).cast(dtype))
            })
        };
        let both = [flat(0..stay), flat(stay..self.rank())];
        let indices = indices_of(rec, &self.count(), &both, &self.conditions)?;
        let matrix = Self::of_parts(indices, self.values.clone(), vec![rows, columns], self.order);
        Ok(matrix.subject_to(&self.conditions))
    }

    /// The counts `[rows, bins]` with the first `stay` dimensions in place of the rows.
    #[track_caller]
    fn of_shape_above(&self, stay: usize, counts: Tensor) -> Result<Tensor> {
        if stay < 2 {
            return Ok(counts);
        }
        let bins = counts.width();
        counts.reshape([&self.dense_shape[..stay], &[u64::from(bins)]].concat())
    }

    /// The sums of the weights by the first `stay` coordinates and by value.
    #[track_caller]
    fn sums_above(&self, rec: Recorder<'_>, weights: &Tensor, stay: usize, bins: Bins) -> Result<Self> {
        let mut all = Coordinates::new(rec, self)?.all();
        all.truncate(stay);
        let above = (all, self.dense_shape[..stay].to_vec());
        let values = self.values.on_condition(rec.op, &self.conditions)?;
        sums_by_bin(rec, (&values, weights), above, bins, &self.conditions)
    }

    /// This tensor and the weights with its coordinates, under the condition that the weights have these.
    #[track_caller]
    fn with_weights(&self, rec: Recorder<'_>, weights: &Self) -> Result<(Self, Self)> {
        Device::check_same(rec.op, self.backend(), weights.backend())?;
        let location = caller();
        let misfit = |what: &str| Error::Shape {
            op: rec.op,
            lhs: format!("{:?}", self.dense_shape),
            rhs: format!("{:?}", weights.dense_shape),
            what: what.into(),
            location,
        };
        if weights.dtype() == DType::Bool || weights.dtype() == DType::Str {
            return Err(rec.unsupported(weights.dtype(), "weights are numbers"));
        }
        if self.dense_shape != weights.dense_shape {
            return Err(misfit("the weights must have the dense shape of the values"));
        }
        const ONE_EACH: &str = "there must be one weight for each entry";
        let same = self.count().agrees(&weights.count());
        let mut asserts = Vec::from_iter(same.condition(rec, rec.check(ONE_EACH), |_| misfit(ONE_EACH))?);
        let (own, others) = (Coordinates::new(rec, self)?, Coordinates::new(rec, weights)?);
        let equal = own.all().into_iter().zip(others.all()).fold(Expr::scalar(true), |all, (a, b)| all.and(a.eq(b)));
        let check = rec.check("the weights must have the coordinates of the values, in the same order");
        asserts.push(rec.assert(self.count(), equal, check));
        let values = self.clone().subject_to(&asserts);
        let weights = Self { values: weights.values.clone(), ..values.clone() };
        Ok((values, weights))
    }
}
