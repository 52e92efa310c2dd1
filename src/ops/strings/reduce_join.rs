//! Concatenation of strings along axes.

use super::rows_joined::StringRows;
use crate::element::Str;
use crate::error::Result;
use crate::ops::IntoReduceAxes;
use crate::ops::axes::Axes;
use crate::ops::levels::Levels;
use crate::ops::lines::Lines;
use crate::ops::options::ReduceAxes;
use crate::tensor::{RaggedTensor, Tensor, Values};

impl Tensor {
    /// Concatenates the strings along the axes, in order, with `separator` in between.
    ///
    /// Shapes are those of every reduction ([`Axes`](crate::Axes)): along an axis with ragged dimensions below, the
    /// strings at the same offset in their rows are joined. An empty row gives an empty string. Several axes of a ragged
    /// tensor are joined one after the other, the innermost first; all of them (`..`), and adjacent axes of a dense
    /// tensor, as one sequence in flat order.
    ///
    /// Along the ragged dimensions, and the outermost one, of a ragged tensor, no separator follows leading empty
    /// strings: `["", "a"]` gives `a`. Along other dimensions, and in flat order, it does: `-a`.
    ///
    /// # Errors
    /// The tensor does not hold strings; an axis out of range, or named twice.
    ///
    /// # Cost
    /// A prefix sum over the strings and a copy of the bytes, per axis or run of adjacent axes. Along the innermost axis and
    /// without a separator the bytes are shared. An axis with ragged dimensions below adds a sort of positions.
    /// Waits only as every reduction does.
    ///
    /// # Source
    /// `tf.strings.reduce_join`, with the same rules for empty strings; `keepdims` is [`keep`](crate::keep). Polars:
    /// `list.join`, where every string but the last is followed by a separator.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec!["a", "b"], vec![], vec!["c"]], &Device::cpu())?;
    /// assert_eq!(x.reduce_join(1, "-")?.to_string(), "tensor([b'a-b', b'', b'c'], shape=(3,), dtype=str)");
    /// assert_eq!(x.reduce_join(0, "")?.to_string(), "tensor([b'ac', b'b'], shape=(2,), dtype=str)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn reduce_join(&self, axes: impl IntoReduceAxes, separator: &str) -> Result<Self> {
        const OP: &str = "reduce_join";
        let ReduceAxes { axes, keep } = axes.into();
        self.strings(OP)?;
        let backend = self.backend();
        let in_flat_order = self.ragged_rank() == 0 || axes == Axes::All || separator.is_empty();
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for axis in axes.resolve(OP, self)? {
            match runs.last_mut() {
                Some((_, last)) if in_flat_order && *last + 1 == axis => *last = axis,
                _ => runs.push((axis, axis)),
            }
        }
        let mut levels = Levels::of(self)?;
        let mut values = self.values_ref().clone();
        for &run in runs.iter().rev() {
            let skips_leading_empty = !in_flat_order && (1..=levels.ragged_rank()).contains(&run.0.max(1));
            let (stage, left) = levels.reduce(backend, OP, run, keep)?;
            let lines = Lines::new(backend, OP, &levels, &stage, run.0)?;
            let rows = StringRows {
                rows: lines.rows(),
                nrows: lines.nlines(),
                nplaces: lines.count(),
                string: lines.number(),
                skips_leading_empty,
                asserts: &[],
            };
            if let Values::Strings { strings, bytes } = &values {
                values = rows.joined(backend, OP, (strings, bytes), separator.as_bytes())?;
            }
            levels = left;
        }
        if keep && axes == Axes::All && self.ragged_rank() > 0 {
            // As in the other reductions, the inner dimensions are kept twice.
            levels = levels.with_ones(self.inner().len())?;
        }
        levels.holding(backend, values)
    }
}

impl RaggedTensor<Str> {
    /// As [`Tensor::reduce_join`].
    ///
    /// # Errors
    /// As [`Tensor::reduce_join`].
    #[track_caller]
    pub fn reduce_join(&self, axes: impl IntoReduceAxes, separator: &str) -> Result<Self> {
        self.erased().reduce_join(axes, separator)?.try_into()
    }
}
