//! Attention: weighted means of values, by the products of queries and keys.

use std::sync::Arc;

use crate::device::Device;
use crate::dtype::DType;
use crate::element::FloatElement;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::ops::options::AttentionKeys;
use crate::ops::products::masked_values;
use crate::ops::{Row, operations};
use crate::record::axis_rows::AxisRows;
use crate::record::elementwise::{Takes, number};
use crate::shape::RowPartition;
use crate::tensor::{Fill, Tensor, Values};

operations! {
    /// Attention.
    const OPERATIONS: family "Products and segments" on RaggedTensor<T> where T: FloatElement;

    /// Scaled dot-product attention: for each query, the mean of the values of its row, weighted by the softmax of the
    /// scaled products of the query with the keys.
    ///
    /// Shapes: queries `[b, (n), d]`, keys `[b, (m), d]` and values `[b, (m), e]` give `[b, (n), e]`. With heads, queries
    /// `[b, (n), h, d]`, keys `[b, (m), h, d]` and values `[b, (m), h, e]` give `[b, (n), h, e]`; heads are independent
    /// of each other. Rows are those of the innermost ragged dimension, or of dimension 1 of dense tensors. The queries of
    /// a row may differ in number from its keys.
    ///
    /// Options of the keys: [`causal`](crate::opt::causal), [`scaled`](crate::opt::scaled),
    /// [`masked`](crate::opt::masked). Positions are counted from the start of the row, for queries as for keys: with
    /// other numbers of queries than of keys, `causal` aligns their starts.
    ///
    /// A query without keys, or whose keys are all excluded, gives zeros, as in PyTorch since version 2.5. Empty rows
    /// stay empty. NaN in a query, in a key that it attends to or in the value of such a key gives NaN; other queries are
    /// unaffected. A key that a mask excludes has no influence on the result, whatever it and its value hold; in PyTorch,
    /// NaN or an infinity in its value gives NaN. With a mask, an infinity in a value that is not excluded gives that
    /// infinity, also where its weight underflows to 0. In the gradient by the queries, NaN in an excluded key gives NaN.
    ///
    /// For finite values, the result has the bits of `softmax(q kᵀ * scale) v`, computed by [`matmul`](Self::matmul),
    /// [`multiply`](Self::multiply) and [`softmax`](Self::softmax): a function of its row alone, on every device. The
    /// dtype stays. In f16 and bf16, sums accumulate in f32; scores and weights are rounded to the dtype.
    ///
    /// # Errors
    /// Different dtypes or devices; a dtype other than floats; ranks other than above; no heads; widths or heads that
    /// differ or are known only when a program runs; rows that differ in number, or in length between keys and values, at
    /// the read where only the device knows them; a scale that the dtype cannot represent; errors of the mask, and a mask
    /// that does not give one bool per pair; 2^32 scores or more; with a mask, 2^31 numbers of values or results, or more.
    ///
    /// # Cost
    /// Two products and a softmax. With a mask, one more pass over the values, and a third product for rows with values
    /// that are not finite. Several heads take one copy of each operand and of the result. Waits as
    /// [`matmul`](Self::matmul) for the number of scores.
    ///
    /// Memory: scores and weights are one number each per query, key and head. Scores of long rows, which are at least 2^20
    /// (2^25 on a GPU) and 4 times the numbers of queries and keys, are not stored but computed where they are read, in the
    /// gradient too, if the arrays fit the bindings of a kernel: memory is linear in the lengths of rows. The products of
    /// queries and keys are then computed twice, in the gradient 4 times; on a GPU again for each 16 to 64 columns of the
    /// values, each time at several times the cost of stored products.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let queries = RaggedTensor::from_nested([vec![[0.0f32]], vec![[1.0], [2.0]]], &device)?;
    /// let keys = RaggedTensor::from_nested([vec![[1.0f32], [2.0]], vec![]], &device)?;
    /// let values = RaggedTensor::from_nested([vec![[10.0f32], [20.0]], vec![]], &device)?;
    /// let means = queries.scaled_dot_product_attention(&keys, &values)?;
    /// assert_eq!(means.to_string(), "<ragged.RaggedTensor [[[15.0]], [[0.0], [0.0]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn scaled_dot_product_attention<'a>(
        &self, keys: impl Into<AttentionKeys<'a>> as AttentionKeys, values: &impl AsRef<Tensor> as same,
    ) -> T;
    alias "attention", "softmax attention", "transformer";
    tensorflow "tf.keras.layers.Attention";
    waits "for the number of scores where only the device knows it";
    gradient yes;
    row none "it is an operation on the rows of tensors";
}

#[track_caller]
fn scaled_dot_product_attention<'a>(
    queries: &Tensor,
    keys: impl Into<AttentionKeys<'a>>,
    values: &impl AsRef<Tensor>,
) -> Result<Tensor> {
    let (options, values) = (keys.into(), values.as_ref());
    let rec = queries.recorder("scaled_dot_product_attention");
    let dtype = queries.dtype();
    rec.at(Takes::Floats.check(rec.op, dtype))?;
    for other in [options.tensor, values] {
        if other.dtype() != dtype {
            return Err(Error::DTypes { op: rec.op, lhs: dtype, rhs: other.dtype(), location: rec.location });
        }
        rec.at(Device::check_same(rec.op, queries.backend(), other.backend()))?;
    }
    let [q, k, v] = [queries, options.tensor, values];
    let (q, k, v) = (Vectors::new(rec, q)?, Vectors::new(rec, k)?, Vectors::new(rec, v)?);
    if q.heads != k.heads || q.heads != v.heads || q.width != k.width {
        let what = "queries and keys must have vectors of one width, and all three tensors the same number of heads";
        let other = if q.heads == k.heads && q.width == k.width { values } else { options.tensor };
        return Err(rec.shape(queries.shape_text(), other.shape_text(), what.into()));
    }
    let mut conditions = q.rows.agrees_above(&k.rows)?;
    conditions.extend(k.rows.agrees(&v.rows)?);
    let scale = scale(rec, &options, dtype, q.width)?;
    let of_queries = q.matrix_rows(rec)?;
    let shares = |a: &Vectors<'_>, b: &Vectors<'_>| a.rows.rows.same(&b.rows.rows);
    let of_keys = if shares(&k, &q) { of_queries.clone() } else { k.matrix_rows(rec)? };
    let of_values = if shares(&v, &k) { of_keys.clone() } else { v.matrix_rows(rec)? };
    let scores = q.matrices(rec, &of_queries)?.product(rec, false, &k.matrices(rec, &of_keys)?, true)?;
    let attended = attended(rec, &options, &scores)?;
    let scores = scores.map_numbers(rec, |x| {
        let scaled = x.mul(scale);
        match &attended {
            Some(attended) => attended.clone().select(scaled, number(dtype, f64::NEG_INFINITY)),
            None => scaled,
        }
    })?;
    // Kernels that compute the scores of long rows where they read them have these bits: the first one folds the maximum
    // and the sum of exponentials of a query over its keys in the canonical order of reductions, the second one adds
    // weighted values in the canonical order of products. Rescaling partial means by the running maximum, as flash
    // attention does in one pass, would round differently.
    let weights = scores.softmax_along(rec, -1)?;
    let values = v.matrices(rec, &of_values)?;
    let means = match attended {
        None => weights.product(rec, false, &values, false)?,
        Some(attended) => {
            let weights = weights.map_numbers(rec, |x| attended.select(x, number(dtype, -1.0)))?;
            masked_values::means(rec, &weights, &values, v.width)?
        }
    };
    q.with_vectors(rec, &of_queries, &means, v.width, &conditions)
}

/// The factor of scores, rounded to their dtype.
///
/// # Errors
/// A number that the dtype cannot represent.
fn scale(rec: Recorder<'_>, options: &AttentionKeys<'_>, dtype: DType, width: u32) -> Result<Expr> {
    let scale = options.scale.unwrap_or_else(|| 1.0 / f64::from(width.max(1)).sqrt());
    match rec.at(Fill::from(scale).of_dtype(rec.op, dtype))? {
        Fill::Number(scale) => Ok(Expr::number(scale)),
        Fill::String(_) => Err(rec.unsupported(DType::Str, "it needs floats")),
    }
}

/// Most splits of matrices that the host computes, so that the number of scores needs no wait.
const HOST_SPLITS: usize = 1 << 20;

/// Rows of vectors, one per element and head.
struct Vectors<'a> {
    rows: AxisRows<'a>,
    heads: u32,
    width: u32,
}

impl<'a> Vectors<'a> {
    fn new(rec: Recorder<'a>, x: &Tensor) -> Result<Self> {
        let axis = x.ragged_rank().max(1);
        let dims = x.rank().saturating_sub(axis + 1);
        if !(1..=2).contains(&dims) {
            let what = format!("rows of vectors, or of one vector per head, are required; given: {}", x.shape_text());
            return Err(rec.argument(what));
        }
        let rows = AxisRows::new(rec, x, axis as i64)?;
        let known = rows.elements.inner().sizes().iter().map(|size| size.as_known()).collect::<Option<Vec<u32>>>();
        let (heads, width) = match known.as_deref() {
            Some([width]) => (1, *width),
            Some([0, _]) => {
                return Err(rec.argument(format!("{} has no heads; required: one at least", x.shape_text())));
            }
            Some([heads, width]) => (*heads, *width),
            _ => {
                let what = format!("the heads or the width of a tensor of shape {} have no fixed size", x.shape_text());
                return Err(rec.argument(what));
            }
        };
        Ok(Self { rows, heads, width })
    }

    /// The rows of the matrices, one matrix per row and head.
    fn matrix_rows(&self, rec: Recorder<'_>) -> Result<RowPartition> {
        let rows = &self.rows.rows;
        if self.heads == 1 {
            return Ok(rows.clone());
        }
        let nrows = rec.times(rows.nrows_extent(), self.heads)?;
        let nvals = rec.times(rows.nvals_extent(), self.heads)?;
        if let Some(len) = rows.uniform_size() {
            return rec.uniform_rows(len, nrows);
        }
        let is_short = |splits: &&[u32]| splits.len().saturating_mul(self.heads as usize) <= HOST_SPLITS;
        if let Some(splits) = rows.host_splits().filter(is_short) {
            let mut of_heads = vec![0];
            for row in splits.windows(2) {
                for _ in 0..self.heads {
                    of_heads.push(of_heads[of_heads.len() - 1] + (row[1] - row[0]));
                }
            }
            return RowPartition::from_host_splits(rec, of_heads);
        }
        let length = rows.length(Expr::index().div(Expr::u32(self.heads)));
        let partition = rec.rows_of_lengths(&nrows, length, nvals.size().clone())?;
        Ok(partition.with_nvals(nvals).with_lengths(rows.known_lengths()))
    }

    /// One matrix per row and head, whose rows are `partition`.
    fn matrices(&self, rec: Recorder<'_>, partition: &RowPartition) -> Result<Tensor> {
        let outer = partition.nvals_extent().clone();
        let node = rec.numbers(&self.rows.elements)?;
        let node = if self.heads == 1 {
            node.clone()
        } else {
            let (h, d) = (Expr::u32(self.heads), Expr::u32(self.width.max(1)));
            let (vector, column) = (Expr::index().div(d.clone()), Expr::index().rem(d.clone()));
            let matrix = partition.row_of(vector.clone());
            let element = self.rows.rows.within(matrix.clone().div(h.clone()), partition.offset_of(vector));
            let at = element.mul(h.clone()).add(matrix.rem(h)).mul(d).add(column);
            rec.map(rec.times(&outer, self.width)?, Expr::load(node, at), &[])
        };
        rec.tensor(vec![partition.clone()], Some(outer), vec![self.width], Values::Numbers(node))
    }

    /// The tensor of the layout of these vectors with the `width` numbers per vector of `results`, one matrix per row
    /// and head, whose rows are `partition`.
    fn with_vectors(
        &self,
        rec: Recorder<'_>,
        partition: &RowPartition,
        results: &Tensor,
        width: u32,
        conditions: &[Node],
    ) -> Result<Tensor> {
        let rows = &self.rows.rows;
        let at = if self.heads == 1 {
            Expr::index()
        } else {
            let (h, e) = (Expr::u32(self.heads), Expr::u32(width.max(1)));
            let (vector, column) = (Expr::index().div(e.clone()), Expr::index().rem(e.clone()));
            let (element, head) = (vector.clone().div(h.clone()), vector.rem(h.clone()));
            let matrix = rows.row_of(element.clone()).mul(h).add(head);
            partition.within(matrix, rows.offset_of(element)).mul(e).add(column)
        };
        let count = rec.times(&rec.times(rows.nvals_extent(), self.heads)?, width)?;
        let numbers = rec.map(count, Expr::load(rec.numbers(results)?, at), conditions);
        let mut inner = self.rows.elements.inner().sizes().to_vec();
        if let Some(last) = inner.last_mut() {
            *last = width.into();
        }
        let elements = rec.tensor(Vec::new(), Some(rows.nvals_extent().clone()), inner, Values::Numbers(numbers))?;
        self.rows.with(rows.clone(), &elements)
    }
}

/// Whether a query attends to a key, as an expression in the score; `None` if all queries attend to all keys.
fn attended(rec: Recorder<'_>, options: &AttentionKeys<'_>, scores: &Tensor) -> Result<Option<Expr>> {
    let [rows, columns] = scores.partitions() else {
        return Err(rec.argument("bug: scores without rows"));
    };
    let (query, key) = (rows.offset_of(columns.row_of(Expr::index())), columns.offset_of(Expr::index()));
    let causal = options.causal.then(|| key.clone().le(query.clone()));
    let Some(mask) = &options.mask else { return Ok(causal) };
    let (call, pairs) = (Arc::new(()), columns.nvals_extent());
    let positions = |of: Expr| {
        let values = Values::Numbers(rec.map(pairs.clone(), of.cast(DType::I32), &[]));
        Ok::<_, Error>(Row::new(rec.tensor(Vec::new(), Some(pairs.clone()), [], values)?, &call))
    };
    let found = (mask.0)(&positions(query)?, &positions(key)?)?;
    if !Arc::ptr_eq(&found.call, &call) {
        return Err(rec.argument("the mask gives a row of another call; it is a function of the two positions"));
    }
    let found = found.all;
    if found.dtype() != DType::Bool || found.rank() != 1 {
        let (dtype, rank) = (found.dtype(), found.rank() - 1);
        let what = format!("the mask gives {dtype} of rank {rank} per pair of a query and a key; required: one bool");
        return Err(rec.argument(what));
    }
    let own = Expr::load(rec.numbers(&found)?, Expr::index());
    Ok(Some(match causal {
        Some(causal) => causal.and(own),
        None => own,
    }))
}
