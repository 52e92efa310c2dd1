//! Stores the values of a block to memory.

use super::arithmetic;
use super::compiled_expr::Op;
use super::encoding::Encoded;
use super::eval::Block;
use crate::dtype::DType;

impl Block<'_> {
    /// Fills `out` with the bytes of the expression's values. Returns whether elements were copied in segments,
    /// which permits larger blocks. If the last operation is arithmetic, a load or a selection of loads, it
    /// writes to `out` without an intermediate block.
    pub(crate) fn store(mut self, dtype: DType, out: &mut [u8]) -> bool {
        if self.is_empty() {
            return false;
        }
        let is_dense = |encoded: &Encoded<'_>| matches!(encoded, Encoded::Dense(..));
        let root = self.expr().root();
        if let &Op::Binary(op, a, b) = &self.expr().ops()[root] {
            let (a, b) = (self.eval(a), self.eval(b));
            if is_dense(&a) || is_dense(&b) {
                arithmetic::store(op, &a, &b, out);
                return false;
            }
        } else if let Some(in_segments) = self.copy(dtype, out) {
            return in_segments;
        }
        self.root().store(out);
        false
    }
}
