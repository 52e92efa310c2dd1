//! Concatenation of strings along axes.

use super::rows_joined::StringRows;
use crate::element::Str;
use crate::error::{Result, here};
use crate::graph::recorder::Recorder;
use crate::ops::IntoReduceAxes;
use crate::ops::Row;
use crate::ops::operations;
use crate::ops::options::ReduceAxes;
use crate::record::axes::Axes;
use crate::record::levels::Levels;
use crate::record::lines::Lines;
use crate::tensor::{Tensor, Values};

operations! {
    /// Concatenation of strings along axes.
    const OPERATIONS: family "Strings" on RaggedTensor<Str>;

    /// Concatenates the strings along the axes, with `separator` in between.
    ///
    /// Shapes are those of every reduction ([`Axes`](crate::arguments::Axes)): along an axis with ragged dimensions
    /// below, the strings at the same offset in their rows are joined. An empty row gives an empty string. All axes
    /// (`..`) are joined as one sequence in flat order. Several axes of a dense tensor are joined as one sequence too,
    /// in the order of the axes: along the first one first. Several axes of a ragged tensor are joined one after the
    /// other, the innermost first.
    ///
    /// Along the ragged dimensions, and the outermost one, of a ragged tensor, no separator follows leading empty
    /// strings, as in TensorFlow: `["", "a"]` gives `a`. Along other dimensions, and as one sequence, it does: `-a`. In
    /// Polars a separator follows every string but the last.
    ///
    /// # Errors
    /// The tensor does not hold strings; an axis out of range, or named twice.
    ///
    /// # Cost
    /// A prefix sum over the strings and a copy of the bytes, per axis or run of adjacent axes. Along the innermost
    /// axis and without a separator the bytes are shared. An axis with ragged dimensions below adds a sort of
    /// positions. Axes of a dense tensor that are not adjacent, or not named from the innermost outwards, add a
    /// [`Tensor::transpose`]. Waits only as every reduction and that does.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec!["a", "b"], vec![], vec!["c"]], &Device::cpu())?;
    /// assert_eq!(x.reduce_join(1, "-")?.to_string(), "tensor([b'a-b', b'', b'c'], shape=(3,), dtype=str)");
    /// assert_eq!(x.reduce_join(0, "")?.to_string(), "tensor([b'ac', b'b'], shape=(2,), dtype=str)");
    /// let x = RaggedTensor::from_nested([["a", "b"], ["c", "d"]], &Device::cpu())?;
    /// assert_eq!(x.reduce_join([0, 1], "")?.to_vec()?, [b"acbd"]);
    /// assert_eq!(x.reduce_join([1, 0], "")?.to_vec()?, [b"abcd"]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn reduce_join(&self, axes: impl IntoReduceAxes as reduce_axes = .., separator: &str = "") -> Str;
    alias "join", "string_agg";
    tensorflow "tf.strings.reduce_join";
    awkward "ak.str.join";
    polars "list.join";
    waits "with `keep` of axis 0, for the longest row, and where axes are transposed, for the number of rows";
    gradient none "it takes strings";
    row hand;
}

const OP: &str = "reduce_join";

#[track_caller]
fn reduce_join(x: &Tensor, axes: impl IntoReduceAxes, separator: &str) -> Result<Tensor> {
    let axes = axes.into();
    let in_flat_order = x.ragged_rank() == 0 || axes.axes == Axes::All;
    joined(x, axes, separator, in_flat_order)
}

/// Concatenates the strings along the axes. `in_flat_order`: adjacent axes as one sequence, with a separator after leading
/// empty strings too.
#[track_caller]
fn joined(x: &Tensor, ReduceAxes { axes, keep }: ReduceAxes, separator: &str, in_flat_order: bool) -> Result<Tensor> {
    x.strings(OP)?;
    let backend = x.backend();
    let rec = Recorder::new(backend, OP);
    if let (Axes::List(list), 0) = (&axes, x.ragged_rank()) {
        axes.resolve(OP, x)?;
        let order = list.iter().map(|&axis| rec.axis(x, axis)).collect::<Result<Vec<_>>>().map_err(here())?;
        if !order.windows(2).all(|pair| pair[1] + 1 == pair[0]) {
            return x.joined_in_order(&order, keep, separator);
        }
    }
    let in_flat_order = in_flat_order || separator.is_empty();
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for axis in axes.resolve(OP, x)? {
        match runs.last_mut() {
            Some((_, last)) if in_flat_order && *last + 1 == axis => *last = axis,
            _ => runs.push((axis, axis)),
        }
    }
    let mut levels = Levels::of(rec, x)?;
    let mut values = x.values_ref().clone();
    for &run in runs.iter().rev() {
        let skips_leading_empty = !in_flat_order && (1..=levels.ragged_rank()).contains(&run.0.max(1));
        let (stage, left) = levels.reduce(rec, run, keep)?;
        let lines = Lines::new(rec, &levels, &stage, run.0)?;
        let rows = StringRows {
            rows: lines.rows(),
            nrows: lines.nlines(),
            nplaces: lines.count(),
            string: lines.number(),
            skips_leading_empty,
            asserts: &[],
        };
        if let Values::Strings { strings, bytes } = &values {
            values = rows.joined(rec, (strings, bytes), separator.as_bytes())?;
        }
        levels = left;
    }
    if keep && axes == Axes::All && x.ragged_rank() > 0 {
        // As in the other reductions, the inner dimensions are kept twice.
        levels = levels.with_ones(rec, x.inner().len())?;
    }
    levels.holding(rec, values)
}

/// Concatenation of strings along axes.
impl Row {
    /// Concatenates the strings of each row along its axes, with `separator` in between.
    ///
    /// All axes (`..`) are joined as one sequence in flat order; an empty row gives an empty string. Several axes of rows
    /// that are dense are joined in the order of the axes, those of ragged rows the innermost first, as by
    /// [`Tensor::reduce_join`].
    ///
    /// # Errors
    /// Rows that do not hold strings; an axis out of range, or named twice.
    ///
    /// # Cost
    /// A prefix sum over the strings and a copy of the bytes, per axis or run of adjacent axes.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Str};
    /// let x = RaggedTensor::from_nested([vec![vec!["a"], vec![], vec!["b", "c"]], vec![]], &Device::cpu())?;
    /// let all: RaggedTensor<Str> = x.map_rows(|row| row.reduce_join(.., "-"))?;
    /// assert_eq!(all.to_vec()?, ["a-b-c".as_bytes(), b""]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.strings.reduce_join`.
    ///
    /// Awkward: `ak.str.join`.
    ///
    /// Polars: `list.join`.
    #[track_caller]
    pub fn reduce_join(&self, axes: impl IntoReduceAxes, separator: &str) -> Result<Self> {
        let ReduceAxes { axes, keep } = axes.into();
        let all = self.all();
        // What decides is the row by itself, which may be dense where all rows are ragged.
        let in_flat_order = match &axes {
            Axes::All => true,
            Axes::List(list) => list.len() == 1 && all.ragged_rank() <= 1,
        };
        let of_all = match axes {
            Axes::All => Axes::List((1..all.rank() as i64).collect()),
            list @ Axes::List(_) => self.axes(OP, list)?,
        };
        if in_flat_order && all.ragged_rank() > 0 {
            return Ok(self.with(joined(all, ReduceAxes { axes: of_all, keep }, separator, true)?));
        }
        let of_all = if in_flat_order { reversed(of_all) } else { of_all };
        Ok(self.with(reduce_join(all, ReduceAxes { axes: of_all, keep }, separator)?))
    }
}

/// The axes in the order in which those of a dense tensor are joined as one sequence in flat order: the innermost first.
fn reversed(axes: Axes) -> Axes {
    match axes {
        Axes::All => Axes::All,
        Axes::List(list) => Axes::List(list.into_iter().rev().collect()),
    }
}

impl Tensor {
    /// Concatenates the strings of a dense tensor along the axes as one sequence, along the first axis first.
    #[track_caller]
    fn joined_in_order(&self, order: &[usize], keep: bool, separator: &str) -> Result<Self> {
        let stay: Vec<usize> = (0..self.rank()).filter(|axis| !order.contains(axis)).collect();
        // The axes become the innermost dimensions, the first one the innermost.
        let axes: Vec<usize> = stay.iter().copied().chain(order.iter().rev().copied()).collect();
        let innermost: Vec<usize> = (stay.len()..self.rank()).rev().collect();
        let mut joined = self.transpose(axes)?.reduce_join(innermost, separator)?;
        for axis in (0..self.rank()).filter(|axis| keep && order.contains(axis)) {
            joined = joined.expand_dims(axis)?;
        }
        Ok(joined)
    }
}
