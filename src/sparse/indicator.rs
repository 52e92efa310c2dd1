//! Indicators: the values as positions of the innermost dimension.

use super::SparseTensor;
use super::coordinates::Coordinates;
use super::position::DenseDims;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::integer::Integer;
use crate::tensor::{Tensor, Values};

/// Indicators.
impl SparseTensor {
    /// The dense bool tensor that is true at each value: `[.., k]` becomes `[.., vocabulary]`, where an entry with the
    /// value `v` makes element `v` of its row true.
    ///
    /// The innermost coordinate does not matter, entries may have any order, and values may repeat. Floats are
    /// truncated to integers.
    ///
    /// # Errors
    /// A scalar; bools or byte strings; a negative `vocabulary`; a result of 2^32 - 1 elements or more. At the read:
    /// values below 0, or not below `vocabulary`; coordinates outside of the dense shape.
    ///
    /// # Cost
    /// A histogram of the values and a map over the result. No wait.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 0], [0, 7], [1, 3]], [2, 0, 2], [2, 9], &Device::cpu())?;
    /// assert_eq!(
    ///     x.to_indicator(3)?.to_string(),
    ///     "tensor([[True, False, True], [False, False, True]], shape=(2, 3), dtype=bool)"
    /// );
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.to_indicator`.
    #[track_caller]
    pub fn to_indicator(&self, vocabulary: impl Integer) -> Result<Tensor> {
        let rec = self.recorder("to_indicator");
        let vocabulary = rec.non_negative("the size of the vocabulary", vocabulary)?;
        let Some((_, above)) = self.dense_shape.split_last() else {
            return Err(rec.argument("a scalar has no innermost dimension"));
        };
        if self.dtype() == DType::Bool {
            return Err(rec.unsupported(DType::Bool, "cast the values to integers"));
        }
        let count = self.count();
        let dims = DenseDims::new(rec, &[above, &[vocabulary]].concat())?;
        let own = Expr::load(rec.numbers(&self.values)?, Expr::index());
        let is_number = if self.dtype().is_float() { own.clone().eq(own.clone()) } else { Expr::scalar(true) };
        let value = own.cast(DType::I64);
        let inside = value.clone().bitcast(DType::U64).lt(Expr::number(vocabulary)).and(is_number);
        let check = rec.check("values must be at least 0 and below the size of the vocabulary");
        let mut conditions = self.conditions.clone();
        conditions.push(rec.assert(count.clone(), inside, check));
        let coordinates = Coordinates::new(rec, self)?;
        let all = (0..above.len()).map(|d| coordinates.of(d)).chain([value]);
        let position = dims.position_of(all.map(|c| c.cast(DType::U32)));
        let position = rec.map(count.clone(), position, &conditions);
        let times = rec.histogram(count, Expr::load(&position, Expr::index()), dims.total().clone());
        let is_there = Expr::load(&times, Expr::index()).ne(Expr::u32(0));
        let values = Values::Numbers(rec.map(dims.total().clone(), is_there, &[]));
        dims.tensor(rec, values)
    }
}
