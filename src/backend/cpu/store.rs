//! Stores the values of a block to memory.

use super::array::ArrayElement;
use super::compiled_expr::Op;
use super::encoding::Encoded;
use super::eval::Block;
use super::loops::ExpandRuns;
use super::number::Number;
use super::operand::Operand;
use super::output_writer::OutputWriter;
use super::run_arithmetic;
use super::simd;
use crate::dtype::DType;

impl<'a> Block<'a> {
    /// Fills `out` with the bytes of the expression's values. Returns whether all intermediate results are run-length
    /// encoded, which permits larger blocks.
    pub(crate) fn store(self, dtype: DType, out: &mut [u8]) -> bool {
        match dtype {
            DType::I32 => self.store_numbers::<i32>(bytemuck::cast_slice_mut(out)),
            DType::U32 => self.store_numbers::<u32>(bytemuck::cast_slice_mut(out)),
            DType::I64 => self.store_numbers::<i64>(bytemuck::cast_slice_mut(out)),
            DType::U64 => self.store_numbers::<u64>(bytemuck::cast_slice_mut(out)),
            DType::F32 => self.store_numbers::<f32>(bytemuck::cast_slice_mut(out)),
            DType::F64 => self.store_numbers::<f64>(bytemuck::cast_slice_mut(out)),
            other => self.store_bytes(other.size(), out),
        }
    }

    /// As [`Block::store`], for numbers. If the last operation is arithmetic, it writes to `out` without an
    /// intermediate block.
    pub(crate) fn store_numbers<T: Number + ArrayElement>(mut self, out: &mut [T]) -> bool {
        if let Op::Binary(op, a, b) = self.expr().ops()[self.expr().root()]
            && !self.is_empty()
        {
            let first = self.eval(a);
            if let Some(cycle) = self.cycle(op, &first, b) {
                self.memoize(self.expr().root(), cycle);
            } else if run_arithmetic::store::<T>(op, &first, &self.eval(b), out) {
                return false;
            }
        }
        self.store_bytes(size_of::<T>(), bytemuck::cast_slice_mut(out))
    }

    /// As [`Block::store`], for values of `size` bytes.
    fn store_bytes(self, size: usize, out: &mut [u8]) -> bool {
        match size {
            1 => self.store_words::<u8>(out),
            2 => self.store_words::<u16>(bytemuck::cast_slice_mut(out)),
            4 => self.store_words::<u32>(bytemuck::cast_slice_mut(out)),
            _ => self.store_words::<u64>(bytemuck::cast_slice_mut(out)),
        }
    }

    /// As [`Block::store`], for values of the size of `W`.
    fn store_words<W: ArrayElement>(mut self, out: &mut [W]) -> bool {
        if self.is_empty() {
            return false;
        }
        if let Some(in_runs) = self.copy(out) {
            return in_runs;
        }
        self.root().store_words(out);
        false
    }
}

impl Encoded<'_> {
    /// Fills `out` with the bytes of the values, of `size` bytes each.
    pub(super) fn store(&self, size: usize, out: &mut [u8]) {
        match size {
            1 => self.store_words::<u8>(out),
            2 => self.store_words::<u16>(bytemuck::cast_slice_mut(out)),
            4 => self.store_words::<u32>(bytemuck::cast_slice_mut(out)),
            _ => self.store_words::<u64>(bytemuck::cast_slice_mut(out)),
        }
    }

    /// As [`Encoded::store`], for values of the size of `W`.
    fn store_words<W: ArrayElement>(&self, out: &mut [W]) {
        match self {
            Encoded::Runs(ends, values) => match values.dense().words() {
                Operand::Constant(v) => out.fill(v),
                Operand::Dense(values) => {
                    simd::run(ExpandRuns { ends, values, out: OutputWriter::of(out) });
                }
            },
            encoded => match encoded.dense().words() {
                Operand::Constant(v) => out.fill(v),
                Operand::Dense(values) => out.copy_from_slice(&values[..out.len()]),
            },
        }
    }
}
