//! Several rows of one call as one.

use std::borrow::Borrow;

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::integer::Integer;
use crate::ops::Row;
use crate::tensor::Tensor;

use super::row_numbers;

/// The first of some rows of one call, and the tensors of all of them.
#[track_caller]
fn of_one_call<'a, R: Borrow<Row>>(op: &'static str, rows: &'a [R]) -> Result<(&'a Row, Vec<&'a Tensor>)> {
    let Some(first) = rows.first().map(Borrow::borrow) else {
        return Err(Error::argument(op, "there must be at least one row"));
    };
    let mut all = Vec::with_capacity(rows.len());
    for row in rows {
        all.push(row.borrow().of_same_call(op, first)?);
    }
    Ok((first, all))
}

/// Joining of several rows.
impl Row {
    /// Concatenates rows of one call along `axis`, which counts in the rows.
    ///
    /// All have one dtype and one rank. Dimensions before `axis` must be equal; ragged dimensions below may differ.
    ///
    /// # Errors
    /// An empty list; `axis` out of range; different ranks or dtypes; different sizes before `axis`, at the read where
    /// only the device knows them; rows of different calls.
    ///
    /// # Cost
    /// A map over the values and a map over the rows for the splits. More than two distinct rows, or more than 8, are
    /// appended first: a copy of the values, and a prefix sum per ragged dimension. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Row};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let both: RaggedTensor<i32> = x.map_rows(|row| Row::concat(&[row, &row.reverse(0)?], 0))?;
    /// assert_eq!(both.to_string(), "<ragged.RaggedTensor [[1, 2, 2, 1], [], [3, 3]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.concat`.
    ///
    /// Awkward: `ak.concatenate`.
    ///
    /// Polars: `pl.concat`.
    #[track_caller]
    pub fn concat(rows: &[impl Borrow<Self>], axis: impl Integer) -> Result<Self> {
        const OP: &str = "concat";
        let (first, all) = of_one_call(OP, rows)?;
        Ok(first.with(Tensor::concat(&all, first.axis(OP, axis.saturating_i64())?)?))
    }

    /// Stacks rows of one call along a new dimension `axis` of the row: 0 to the rank, or negative.
    ///
    /// All have one dtype and one rank. Along axis 0 each of the rows becomes a row of the result, and they may have
    /// different shapes; numbers give a vector. Along another axis the dimensions before it must be equal.
    ///
    /// # Errors
    /// An empty list; `axis` out of range; different ranks or dtypes; different sizes before `axis`, at the read where
    /// only the device knows them; rows of different calls.
    ///
    /// # Cost
    /// A map over the values and a map over the rows for the splits. More than two distinct rows, or more than 8, are
    /// appended first: a copy of the values, and a prefix sum per ragged dimension. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Row};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let y: RaggedTensor<i32> = x.map_rows(|row| Row::stack(&[row, &row.slice(ragged::s![..1])?], 0))?;
    /// assert_eq!(y.to_string(), "<ragged.RaggedTensor [[[1, 2], [1]], [[], []], [[3], [3]]]>");
    /// let ends: RaggedTensor<i64> = x.map_rows(|row| Row::stack(&[row.size()?, row.n_unique(0)?], 0))?;
    /// assert_eq!(ends.to_vec()?, [2, 2, 0, 0, 1, 1]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.ragged.stack`.
    #[track_caller]
    pub fn stack(rows: &[impl Borrow<Self>], axis: impl Integer) -> Result<Self> {
        const OP: &str = "stack";
        let (first, all) = of_one_call(OP, rows)?;
        Ok(first.with(Tensor::stack(&all, first.new_axis(OP, axis.saturating_i64())?)?))
    }

    /// Rows of one call and one shape as the columns of one: a new, innermost dimension has one element per row.
    ///
    /// All have one dtype, which may be any. Empty rows stay empty. [`Row::unzip`] is the inverse.
    ///
    /// # Errors
    /// An empty list; different dtypes or ranks; different sizes, at the read where only the device knows them; rows of
    /// different calls.
    ///
    /// # Cost
    /// One map over the values, which fuses into its consumer, after a copy of the values of more than 8 rows; strings
    /// add a prefix sum. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Row};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let y: RaggedTensor<i32> = x.map_rows(|row| Row::zip(&[row, &row.negative()?]))?;
    /// assert_eq!(y.to_string(), "<ragged.RaggedTensor [[[1, -1], [2, -2]], [], [[3, -3]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.stack(…, axis=-1)`.
    ///
    /// Awkward: `ak.zip`.
    #[track_caller]
    pub fn zip(rows: &[impl Borrow<Self>]) -> Result<Self> {
        let (first, all) = of_one_call("zip", rows)?;
        Ok(first.with(Tensor::zip(&all)?))
    }

    /// The sum of rows of one call and one shape, added in list order.
    ///
    /// Dtype and shape stay; integers wrap, NaN propagates. Nothing broadcasts. Empty rows stay empty.
    ///
    /// # Errors
    /// An empty list; different dtypes or shapes, at the read where only the device knows them; a dtype that is not
    /// numeric; rows of different calls.
    ///
    /// # Cost
    /// One map, which fuses into its consumer; each further 32 rows add one. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Row};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let y: RaggedTensor<i32> = x.map_rows(|row| Row::add_n(&[row, row, &row.square()?]))?;
    /// assert_eq!(y.to_vec()?, [3, 8, 15]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.math.add_n`.
    ///
    /// Polars: `pl.sum_horizontal`.
    #[track_caller]
    pub fn add_n(rows: &[impl Borrow<Self>]) -> Result<Self> {
        let (first, all) = of_one_call("add_n", rows)?;
        Ok(first.with(Tensor::add_n(&all)?))
    }

    /// The Cartesian product of rows of one call along `axis`: one row for each factor.
    ///
    /// The results share their shape: as many tuples as the product of the lengths, in lexicographic order, in which
    /// the last factor varies fastest. Dtypes and dimensions below `axis` may differ. A row that is empty in one factor
    /// has no tuples.
    ///
    /// # Errors
    /// An empty list; `axis` out of range; different dimensions above `axis`, at the read where only the device knows
    /// them; rows of different calls. At the read: 2^32 tuples or more.
    ///
    /// # Cost
    /// A prefix sum over the elements of the first factor, and one over the tuples of each intermediate product. Each
    /// result is a gather, which fuses into its consumer. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Row};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let products: RaggedTensor<i32> = x.map_rows(|row| {
    ///     let pairs = Row::cartesian(&[row, row], 0)?;
    ///     &pairs[0] * &pairs[1]
    /// })?;
    /// assert_eq!(products.to_string(), "<ragged.RaggedTensor [[1, 2, 2, 4], [], [9]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// Awkward: `ak.cartesian`.
    #[track_caller]
    pub fn cartesian(rows: &[impl Borrow<Self>], axis: impl Integer) -> Result<Vec<Self>> {
        const OP: &str = "cartesian";
        let (first, all) = of_one_call(OP, rows)?;
        let axis = first.axis(OP, axis.saturating_i64())?;
        first.with_all(Tensor::cartesian(&all, axis)?)
    }

    /// The Cartesian product of rows of one call along `axis` with a dimension per factor: one row for each factor.
    ///
    /// The results share their shape. An element whose later factors are empty keeps an empty row. Dtypes and
    /// dimensions below `axis` may differ. A row without elements of the first factor is empty.
    ///
    /// # Errors
    /// An empty list; `axis` out of range; different dimensions above `axis`, at the read where only the device knows
    /// them; rows of different calls. At the read: 2^32 tuples or more.
    ///
    /// # Cost
    /// A prefix sum over the elements of the first factor, and one over the tuples of each intermediate product. Each
    /// result is a gather, which fuses into its consumer. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Row};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let table: RaggedTensor<i32> = x.map_rows(|row| {
    ///     let pairs = Row::cartesian_nested(&[row, row], 0)?;
    ///     &pairs[0] * &pairs[1]
    /// })?;
    /// assert_eq!(table.to_string(), "<ragged.RaggedTensor [[[1, 2], [2, 4]], [], [[9]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// Awkward: `ak.cartesian(…, nested=True)`.
    #[track_caller]
    pub fn cartesian_nested(rows: &[impl Borrow<Self>], axis: impl Integer) -> Result<Vec<Self>> {
        const OP: &str = "cartesian_nested";
        let (first, all) = of_one_call(OP, rows)?;
        let axis = first.axis(OP, axis.saturating_i64())?;
        first.with_all(Tensor::cartesian_nested(&all, axis)?)
    }

    /// The rows of several results.
    #[track_caller]
    fn with_all(&self, results: Vec<Tensor>) -> Result<Vec<Self>> {
        let mut rows = Vec::with_capacity(results.len());
        for result in results {
            rows.push(self.with(result));
        }
        Ok(rows)
    }

    /// Concatenates the strings at the same position of each of some rows of one call, with `separator` in between.
    ///
    /// All have one shape, which stays; a scalar is joined to every string of its row. Empty rows stay empty.
    ///
    /// # Errors
    /// An empty list; rows that do not hold strings; different shapes, at the read where only the device knows them; rows
    /// of different calls.
    ///
    /// # Cost
    /// A prefix sum over the strings and a map over the bytes, and a gather per scalar; for more than two operands,
    /// after a copy of all strings. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Row, Str};
    /// let x = RaggedTensor::from_nested([vec!["a", "b"], vec![], vec!["c"]], &Device::cpu())?;
    /// let y: RaggedTensor<Str> = x.map_rows(|row| Row::string_join(&[row, &row.reduce_join(0, "")?], "-"))?;
    /// assert_eq!(y.to_string(), "<ragged.RaggedTensor [[b'a-ab', b'b-ab'], [], [b'c-c']]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.strings.join`.
    ///
    /// Awkward: `ak.str.join_element_wise`.
    ///
    /// Polars: `pl.concat_str`.
    #[track_caller]
    pub fn string_join(rows: &[impl Borrow<Self>], separator: &str) -> Result<Self> {
        const OP: &str = "string_join";
        let (first, all) = of_one_call(OP, rows)?;
        let Some(layout) = all.iter().find(|t| t.rank() > 1) else {
            return Ok(first.with(Tensor::string_join(&all, separator)?));
        };
        let mut alike = Vec::with_capacity(all.len());
        for t in &all {
            t.strings(OP)?;
            alike.push(match t.rank() {
                1 => {
                    layout.strings(OP)?;
                    let layout = layout.string_length()?;
                    t.gather(&row_numbers(OP, &layout, DType::I64)?)?
                }
                _ => (*t).clone(),
            });
        }
        Ok(first.with(Tensor::string_join(&alike, separator)?))
    }
}
