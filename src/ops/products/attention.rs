//! Attention: weighted means of values, by the products of queries and keys.

use std::sync::Arc;

use crate::device::Device;
use crate::dtype::DType;
use crate::element::FloatElement;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::ops::options::AttentionKeys;
use crate::ops::{Row, operations};
use crate::record::axis_rows::AxisRows;
use crate::record::elementwise::{Takes, number, parameter, rounded_once};
use crate::shape::RowPartition;
use crate::tensor::{Tensor, Values};

operations! {
    /// Attention.
    const OPERATIONS: family "Products and segments" on RaggedTensor<T> where T: FloatElement;

    /// Scaled dot-product attention: for each query, the mean of the values of its row, weighted by the softmax of the
    /// scaled products of the query with the keys.
    ///
    /// Shapes: queries `[b, (n), d]`, keys `[b, (m), d]` and values `[b, (m), e]` give `[b, (n), e]`; with heads, queries
    /// `[b, (n), h, d]`, keys `[b, (m), h, d]` and values `[b, (m), h, e]` give `[b, (n), h, e]`, each head alone. Rows
    /// are those of the innermost ragged dimension, or of dimension 1 of dense tensors; the queries may have other row
    /// lengths than the keys.
    ///
    /// Options of the keys: [`causal`](crate::opt::causal), [`scaled`](crate::opt::scaled),
    /// [`masked`](crate::opt::masked). A query without keys, or of which the mask takes all keys, gives zeros. Keys that
    /// the mask excludes have weight 0. NaN in a query or in a key that it attends to gives NaN.
    ///
    /// The result has the bits of `softmax(q kᵀ * scale) v`, computed by [`matmul`](Self::matmul) and
    /// [`softmax`](Self::softmax): a function of its row alone, on every device.
    ///
    /// # Errors
    /// Different dtypes or devices; a dtype other than floats; ranks other than above; widths or heads that differ or are
    /// known only when a program runs; rows that differ in number, or between keys and values, at the read where only the
    /// device knows them; the errors of the mask, and a mask that is not one bool per pair.
    ///
    /// # Cost
    /// Two products and a softmax. The scores, a number for each pair of a query and a key in a row, are stored. Waits as
    /// [`matmul`](Self::matmul) for the number of scores.
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
        &self, keys: impl Into<AttentionKeys<'a>>, values: &impl AsRef<Tensor> as same,
    ) -> T;
    alias "attention", "softmax attention", "transformer";
    tensorflow "tf.keras.layers.Attention";
    waits "for the number of scores where only the device knows it";
    gradient yes;
    row none "a tensor's rows are treated each alone already";
}

const OP: &str = "scaled_dot_product_attention";

#[track_caller]
fn scaled_dot_product_attention<'a>(
    queries: &Tensor,
    keys: impl Into<AttentionKeys<'a>>,
    values: &impl AsRef<Tensor>,
) -> Result<Tensor> {
    let (options, values) = (keys.into(), values.as_ref());
    let rec = Recorder::new(queries.backend(), OP);
    Takes::Floats.check(OP, queries.dtype())?;
    for other in [options.tensor, values] {
        if other.dtype() != queries.dtype() {
            let (lhs, rhs) = (queries.dtype(), other.dtype());
            return Err(Error::DTypes { op: OP, lhs, rhs, location: rec.location });
        }
        rec.at(Device::check_same(OP, queries.backend(), other.backend()))?;
    }
    let [q, k, v] = [queries, options.tensor, values];
    let (q, k, v) = (Vectors::new(rec, q)?, Vectors::new(rec, k)?, Vectors::new(rec, v)?);
    if q.heads != k.heads || q.heads != v.heads || q.width != k.width {
        let what = "queries and keys have the same width, and all three the same heads";
        return Err(rec.shape(queries.shape_text(), options.tensor.shape_text(), what.into()));
    }
    let mut conditions = q.rows.agrees_above(&k.rows)?;
    conditions.extend(k.rows.agrees(&v.rows)?);
    let of_queries = q.matrix_rows(rec)?;
    let of_keys = k.matrix_rows(rec)?;
    let scores = q.matrices(rec, &of_queries)?.matmul(k.matrices(rec, &of_keys)?.t())?;
    let scale = options.scale.unwrap_or_else(|| 1.0 / f64::from(q.width.max(1)).sqrt());
    let scale = parameter(queries.dtype().computes_in(), scale);
    let scaled = |x: Expr| rounded_once([x], |[x]| x.mul(scale));
    let allowed = allowed(rec, &options, &scores)?;
    let dtype = queries.dtype();
    let masked = scores.map_numbers(rec, |x| match &allowed {
        Some(allowed) => allowed.clone().select(scaled(x), number(dtype, f64::NEG_INFINITY)),
        None => scaled(x),
    })?;
    let mut weights = masked.softmax(-1)?;
    if let Some(allowed) = allowed {
        weights = weights.map_numbers(rec, |x| allowed.select(x, number(dtype, 0.0)))?;
    }
    let means = weights.matmul(&v.matrices(rec, &of_keys)?)?;
    // Back to the order of the queries.
    let (h, e) = (Expr::u32(q.heads), Expr::u32(v.width.max(1)));
    let (vector, column) = (Expr::index().div(e.clone()), Expr::index().rem(e.clone()));
    let (element, head) = (vector.clone().div(h.clone()), vector.rem(h.clone()));
    let rows = &q.rows.rows;
    let at = of_queries.within(rows.row_of(element.clone()).mul(h).add(head), rows.offset_of(element));
    let count = rec.times(&rec.times(rows.nvals_extent(), q.heads)?, v.width)?;
    let result = rec.map(count, Expr::load(rec.numbers(&means)?, at.mul(e).add(column)), &conditions);
    let mut inner = q.rows.elements.inner().sizes().to_vec();
    if let Some(last) = inner.last_mut() {
        *last = v.width.into();
    }
    let elements = rec.tensor(Vec::new(), Some(rows.nvals_extent().clone()), inner, Values::Numbers(result))?;
    q.rows.with(rows.clone(), &elements)
}

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
            Some([heads, width]) if *heads > 0 => (*heads, *width),
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
}

/// Whether a query attends to a key, an expression in the score; `None` if all do.
fn allowed(rec: Recorder<'_>, options: &AttentionKeys<'_>, scores: &Tensor) -> Result<Option<Expr>> {
    let [rows, columns] = scores.partitions() else {
        return Err(rec.argument("bug: scores without rows"));
    };
    let (query, key) = (rows.offset_of(columns.row_of(Expr::index())), columns.offset_of(Expr::index()));
    let causal = options.causal.then(|| query.clone().lt(key.clone()).eq(Expr::scalar(Scalar::from(false))));
    let Some(mask) = &options.mask else { return Ok(causal) };
    let (call, pairs) = (Arc::new(()), columns.nvals_extent());
    let positions = |of: Expr| {
        let values = Values::Numbers(rec.map(pairs.clone(), of.cast(DType::I32), &[]));
        Ok(Row::new(rec.tensor(Vec::new(), Some(pairs.clone()), [], values)?, &call))
    };
    let found = (mask.0)(&positions(query)?, &positions(key)?)?.of_call(OP, &call)?;
    if found.dtype() != DType::Bool || found.rank() != 1 {
        let what =
            format!("the mask gives {} of shape {}; required: a bool per pair", found.dtype(), found.shape_text());
        return Err(rec.argument(what));
    }
    let own = Expr::load(rec.numbers(&found)?, Expr::index());
    Ok(Some(match causal {
        Some(causal) => causal.and(own),
        None => own,
    }))
}
