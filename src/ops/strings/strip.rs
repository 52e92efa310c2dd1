//! Removal of white space around byte strings.

use super::separators::is_any_of;
use super::slices::slices;
use crate::element::Str;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::opcode::ReduceOp;
use crate::ops::by_key::reduce_rows;
use crate::ops::options::WHITE_SPACE;
use crate::tensor::{RaggedTensor, Tensor};

impl Tensor {
    /// Removes ASCII white space (space, tab, line feed, vertical tab, form feed, carriage return) at both ends of each
    /// string. The layout stays.
    ///
    /// # Errors
    /// The tensor does not hold strings.
    ///
    /// # Cost
    /// One pass over the bytes, which reduces the first and the last position that stays, a prefix sum of the lengths,
    /// and a copy of the bytes that stay. No wait.
    ///
    /// # Source
    /// `tf.strings.strip`; Polars: `str.strip_chars`, which removes Unicode's white space.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([" a b\n", "", " \t"], &Device::cpu())?;
    /// assert_eq!(x.string_strip()?.to_string(), "tensor([b'a b', b'', b''], shape=(3,), dtype=str)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn string_strip(&self) -> Result<Self> {
        const OP: &str = "string_strip";
        let (_, bytes) = self.strings(OP)?;
        let (first, end) = self.stripped(OP)?;
        let length = end.sub(first.clone());
        let size = self.values_ref().bytes_size();
        let values = slices(self.backend(), OP, &self.count()?, bytes, (first, length), size)?;
        self.holding(values)
    }

    /// First position and end of each string without white space around it, as expressions in the string. Both are 0
    /// for a string without other bytes.
    #[track_caller]
    pub(super) fn stripped(&self, op: &'static str) -> Result<(Expr, Expr)> {
        let (strings, bytes) = self.strings(op)?;
        let at = Expr::index();
        let stays = is_any_of(&Expr::load(bytes, at.clone()), &WHITE_SPACE).not();
        let edge = |by, position: Expr, none: u32| {
            let value = stays.clone().select(position, Expr::u32(none));
            let rows = (strings.rows(), strings.nrows_extent());
            let node = reduce_rows(self.backend(), op, by, rows, strings.nvals_extent(), 1, value)?;
            Ok::<_, Error>(Expr::load(&node, at.clone()))
        };
        let end = edge(ReduceOp::Max, at.clone().add(Expr::u32(1)), 0)?;
        let first = edge(ReduceOp::Min, at.clone(), u32::MAX)?;
        // Without bytes that stay, the minimum is the greatest number.
        Ok((first.min(end.clone()), end))
    }
}

impl RaggedTensor<Str> {
    /// As [`Tensor::string_strip`].
    ///
    /// # Errors
    /// As [`Tensor::string_strip`].
    #[track_caller]
    pub fn string_strip(&self) -> Result<Self> {
        self.erased().string_strip()?.try_into()
    }
}
