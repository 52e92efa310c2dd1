//! Matrix products: dense, ragged rows by one matrix, and batched.

use crate::device::Device;
use crate::element::Arithmetic;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::size::{RecordedSize, Size};
use crate::ops::operations;
use crate::ops::options::Factor;
use crate::record::elementwise::Takes;
use crate::record::matrices::{Matrices, Pairs};
use crate::shape::{RaggedShape, Repeats, RowPartition, level_below, same_layout, width_of};
use crate::tensor::{Tensor, Values};

operations! {
    /// Matrix products.
    const OPERATIONS: family "Products and segments" on RaggedTensor<T> where T: Arithmetic;

    /// Matrix product over the two innermost dimensions of both tensors, batched over the other dimensions.
    ///
    /// [`Tensor::t`] is an operand with these two dimensions exchanged: `a.matmul(b.t())`, `a.t().matmul(&b)`.
    ///
    /// Shapes:
    /// - Rank 2 by rank 2: `[i, k]` by `[k, j]` gives `[i, j]`, dense. Ragged operands must be rectangular.
    /// - A vector by one matrix: `[k]` by `[k, j]` gives `[j]`.
    /// - A higher rank, not transposed, by one matrix: `[.., k]` by `[k, j]` gives `[.., j]`, ragged where the first
    ///   operand is. This is a product of the flat values; TensorFlow rejects it.
    /// - Equal ranks above 2: batched. The batch dimensions must be equal, ragged ones row by row; they are row
    ///   partitions in the result if they are in either operand. The matrices of each batch must be rectangular; their
    ///   sizes may differ between batches. Dense by dense gives dense. With parentheses for ragged dimensions, a
    ///   product with uniform columns on the right, `[.., (k), j]` or `[.., k, j]`, gives `[.., (i), j]`. Any other
    ///   product gives `[.., (i), (j)]`. A number of rows that is common to all batches becomes a uniform partition,
    ///   and so does a uniform partition of the right operand's columns.
    ///
    /// The dtype stays: integers wrap, and those of 8 and 16 bits accumulate in 32 bits. A matrix without rows matches
    /// any number of terms if its rows are ragged. A sum without terms is 0. NaN and infinities follow IEEE 754 and
    /// stay in their rows and columns.
    ///
    /// Each number of the result is a sum in an order that its number of terms alone determines: at most 256 terms
    /// ascending; more terms in ascending sums of 16 terms, of 16 such sums, and so on up to 65,536 terms, and of these.
    /// The product of two `f32` (and of `f16` and `bf16`, which accumulate in `f32`) and the sum before it are rounded
    /// once, by a fused multiply-add; the product of two `f64` is rounded before it is added. The error is at most about
    /// `64 + k / 65536` roundings of the sum of the magnitudes of `k` terms. A number is a function of its row and its
    /// column, with the same bits on every device: [`Device::numerics`](crate::Device::numerics) says where fused
    /// multiply-adds are emulated.
    ///
    /// # Errors
    /// Different dtypes or devices; bools or strings; ranks below 2, or different ranks, except as above; batches that
    /// differ; rows of a matrix that differ in length; left matrices with another number of columns than the right ones
    /// have rows. Sizes that do not match fail at the call where the host has the splits, and at the read otherwise.
    ///
    /// # Cost
    /// One product, whose tiles are spread evenly for any sizes of the batches. Many terms of few results are divided
    /// as well. Batches of different sizes add a prefix sum of tile counts and, for `[.., (i), (j)]`, a prefix sum of
    /// row lengths. Waits once for the size of the result where only the device knows it and no useful bound exists:
    /// for `j` of a dense result, and for `[.., (i), (j)]` of two ragged dimensions.
    /// [`record_async`](crate::record_async) awaits it.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![[1, 2], [3, 4]], vec![], vec![[5, 6]]], &device)?;
    /// let w = RaggedTensor::from_nested([[10], [1]], &device)?;
    /// assert_eq!(x.matmul(&w)?.to_string(), "<ragged.RaggedTensor [[[12], [34]], [], [[56]]]>");
    /// let vector = RaggedTensor::from_nested([3, 4], &device)?;
    /// assert_eq!(vector.matmul(&w)?.to_vec()?, [34]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn matmul<'a>(&self, other: impl Into<Factor<'a>> as Factor) -> T;
    alias "dot", "mm", "bmm";
    tensorflow "tf.matmul";
    polars "Expr.dot";
    waits "for the size of a product whose columns only the device knows";
    gradient yes;
    row hand;
}

#[track_caller]
fn matmul<'a>(x: &Tensor, other: impl Into<Factor<'a>>) -> Result<Tensor> {
    Factor::from(x).matmul(other.into())
}

/// Every dimension of the tensor below the outermost, as a partition.
#[track_caller]
fn dims(x: &Tensor) -> Result<Vec<RowPartition>> {
    Ok(x.inner_to_partitions(x.inner().len())?.partitions().to_vec())
}

impl Tensor {
    /// The matrix product, recorded for the operation of `rec`.
    ///
    /// # Errors
    /// As [`Tensor::matmul`].
    pub(super) fn product(
        &self,
        rec: Recorder<'_>,
        transpose_a: bool,
        other: &Self,
        transpose_b: bool,
    ) -> Result<Self> {
        if self.dtype() != other.dtype() {
            return Err(Error::DTypes { op: rec.op, lhs: self.dtype(), rhs: other.dtype(), location: rec.location });
        }
        rec.at(Takes::Numbers.check(rec.op, self.dtype()))?;
        rec.at(Device::check_same(rec.op, self.backend(), other.backend()))?;
        let (rank, other_rank) = (self.rank(), other.rank());
        if (rank, other_rank, transpose_a) == (1, 2, false) {
            let product = rec.at(self.expand_dims(0))?.product(rec, false, other, transpose_b)?;
            return rec.at(product.merge_dims(0, 1));
        }
        let is_flat = other_rank == 2 && (rank == 2 || !transpose_a);
        if rank < 2 || other_rank < 2 || (rank != other_rank && !is_flat) {
            let what = "matrices have two dimensions at least, and as many on both sides; \
                        a tensor of a higher rank that is not transposed also takes one matrix";
            let (lhs, rhs) = (self.shape_text(), other.shape_text());
            return Err(rec.shape(lhs, rhs, what.into()));
        }
        let (a, b) = (rec.at(dims(self))?, rec.at(dims(other))?);
        let asserts = if is_flat { Vec::new() } else { same_batches(rec, [self, other], [&a, &b])? };
        let left = Matrices::new(self, &a, transpose_a, is_flat);
        let right = Matrices::new(other, &b, transpose_b, is_flat);
        let (Some(left), Some(right)) = (left, right) else { unreachable!("bug: ranks were looked at") };
        let pairs = Pairs::new(rec, left, right, asserts)?;
        let operands = [rec.numbers(self)?, rec.numbers(other)?];
        if is_flat {
            self.by_one_matrix(rec, &pairs, operands)
        } else if self.ragged_rank() + other.ragged_rank() == 0
            || (!transpose_a && !self.inner().is_empty() && other.inner().len() >= 2)
        {
            self.by_uniform_matrices(rec, &pairs, operands, other)
        } else {
            let width = other.inner().iter().rev().nth(usize::from(transpose_b)).copied();
            let batches = if other.ragged_rank() > self.ragged_rank() { &b } else { &a };
            self.by_matrices(rec, &pairs, operands, &batches[..batches.len() - 2], width)
        }
    }

    /// The product of batches of matrices, `[b, (m), (k)]` by `[b, (k), n]`, where the array of bools `is_wanted` is true
    /// for a batch; 0 for other batches.
    ///
    /// # Errors
    /// As [`Tensor::matmul`].
    pub(super) fn product_where(&self, rec: Recorder<'_>, other: &Self, is_wanted: &Node) -> Result<Self> {
        let (a, b) = (rec.at(dims(self))?, rec.at(dims(other))?);
        let asserts = same_batches(rec, [self, other], [&a, &b])?;
        let [left, right] = [(self, &a), (other, &b)].map(|(x, dims)| Matrices::new(x, dims, false, false));
        let (Some(left), Some(right)) = (left, right) else { unreachable!("bug: matrices have dimensions") };
        let mut pairs = Pairs::new(rec, left, right, asserts)?;
        pairs.only_where(is_wanted);
        let width = other.inner().iter().next_back().copied();
        self.by_matrices(rec, &pairs, [rec.numbers(self)?, rec.numbers(other)?], &a[..a.len() - 2], width)
    }

    /// Multiplies all rows, as one matrix, by one matrix.
    fn by_one_matrix(&self, rec: Recorder<'_>, pairs: &Pairs, operands: [&Node; 2]) -> Result<Self> {
        let [m, _, n] = &pairs.sizes;
        let n = match n.as_size().filter(|n| n.as_known().is_some()) {
            Some(n) => n,
            // Waits: the result has a dense dimension whose size only the device knows.
            None => Size::given(rec.read(n.clone())?),
        };
        let mut partitions = self.partitions().to_vec();
        let mut inner = self.inner().sizes().to_vec();
        if inner.pop().is_none() {
            partitions.pop();
        }
        inner.push(n.clone());
        let rows = pairs.left.rows_in_all(m);
        let outer = if self.inner().len() > 1 { self.outer().cloned() } else { Some(rows.clone()) };
        let product = pairs.product(rec, operands, &rec.times_size(&rows, &n)?, Expr::u32(0))?;
        rec.tensor(partitions, outer, inner, Values::Numbers(product))
    }

    /// Multiplies by matrices of one size: all results have the same number of columns. The rest of the layout is that
    /// of the left operand; the batch dimensions are those of the operand that has more row partitions.
    fn by_uniform_matrices(
        &self,
        rec: Recorder<'_>,
        pairs: &Pairs,
        operands: [&Node; 2],
        other: &Self,
    ) -> Result<Self> {
        let known = |n: &Expr| n.as_size().filter(|n| n.as_known().is_some());
        let (m, n) = (&pairs.sizes[0], known(&pairs.sizes[2]).unwrap_or(Size::Const(0)));
        let batches = if other.ragged_rank() > self.ragged_rank() { other } else { self };
        let mut inner = batches.inner().sizes().to_vec();
        inner.pop();
        // Of a left operand with fewer row partitions, the rows are an inner dimension.
        let rows = self.inner().sizes().iter().rev().nth(usize::from(!pairs.left.transposed)).cloned();
        if let (Some(rows), Some(_)) = (rows, inner.pop()) {
            inner.push(rows);
        }
        inner.push(n.clone());
        let first_row = match &pairs.left.row {
            Some(rows) if !pairs.left.transposed => rows.start(Expr::index()),
            _ => Expr::index().mul(m.clone()),
        };
        let width = width_of(&inner);
        let outer = batches.outer().cloned().unwrap_or_else(|| Extent::known(1));
        let product = pairs.product(rec, operands, &rec.times_size(&outer, &width)?, first_row.mul(Expr::size(&n)))?;
        rec.tensor(batches.partitions().to_vec(), Some(outer), inner, Values::Numbers(product))
    }

    /// Multiplies by matrices whose sizes may differ: the rows of the results are a partition, and so are the columns,
    /// unless all matrices have the inner dimension `width` of columns. `batches` are the partitions of the batches.
    fn by_matrices(
        &self,
        rec: Recorder<'_>,
        pairs: &Pairs,
        operands: [&Node; 2],
        batches: &[RowPartition],
        width: Option<u32>,
    ) -> Result<Self> {
        let [m, _, n] = &pairs.sizes;
        let Some(rows) = pairs.left.partitions()[0] else { unreachable!("bug: one batch of a higher rank") };
        let rows = match rows.uniform_size() {
            _ if !pairs.left.transposed => rows.clone(),
            Some(len) => rec.uniform_rows(len.clone(), pairs.left.batches.clone())?,
            None => {
                let most = rows.nvals_extent().capacity();
                rec.rows_of_lengths(&pairs.left.batches, m.clone(), most)?
            }
        };
        let mut partitions = batches.to_vec();
        let all_rows = rows.nvals_extent().clone();
        if let Some(width) = width {
            let start = rows.start(Expr::index()).mul(Expr::u32(width));
            let product = pairs.product(rec, operands, &rec.times(&all_rows, width)?, start)?;
            partitions.push(rows);
            return rec.tensor(partitions, Some(all_rows), vec![width], Values::Numbers(product));
        }
        let Some(source) = pairs.right.partitions()[1] else { unreachable!("bug: one batch of a higher rank") };
        let length = n.at(&rows.row_of(Expr::index()));
        let columns = match (source.uniform_size(), pairs.results) {
            (Some(len), _) => rec.uniform_rows(len, all_rows)?,
            (None, Some(results)) => {
                let results = rec.known(results)?;
                rec.rows_of_lengths(&all_rows, length, results.size())?.with_nvals(results)
            }
            (None, None) => rec.at(level_below(rec, source, &all_rows, length, Repeats::Maybe))?,
        };
        let extent = columns.nvals_extent().clone();
        let start = columns.start(rows.start(Expr::index()));
        let product = pairs.product(rec, operands, &extent, start)?;
        partitions.extend([rows, columns]);
        rec.tensor(partitions, Some(extent), [], Values::Numbers(product))
    }
}

/// Conditions that all dimensions of the operands but the two innermost are equal.
fn same_batches(rec: Recorder<'_>, operands: [&Tensor; 2], dims: [&[RowPartition]; 2]) -> Result<Vec<Node>> {
    let batches = |dims: &[RowPartition]| {
        let outer = dims[dims.len() - 2].nrows_extent().clone();
        let outside = dims[..dims.len() - 2].to_vec();
        rec.at(RaggedShape::of_parts(rec, outside, Some(outer), [], Vec::new()))
    };
    let [a, b] = dims.map(batches);
    let same = same_layout(rec, &a?, &b?).map_err(|e| match e {
        Error::Shape { what, .. } => {
            let [lhs, rhs] = operands.map(Tensor::shape_text);
            rec.shape(lhs, rhs, format!("batches differ: {what}"))
        }
        e => e,
    });
    rec.at(same)
}

/// Matrix products.
impl Factor<'_> {
    /// Matrix product of two operands, either of which may be transposed; shapes and cost are those of
    /// [`Tensor::matmul`].
    ///
    /// # Errors
    /// Different dtypes or devices; bools or strings; shapes that do not match, at the read where only the device knows
    /// them.
    #[track_caller]
    pub fn matmul(self, other: Factor<'_>) -> Result<Tensor> {
        let rec = self.tensor.recorder("matmul");
        self.tensor.product(rec, self.transposed, other.tensor, other.transposed)
    }
}
