//! Loads of array elements. Consecutive elements are borrowed, not copied.

use std::ops::Range;

use super::array::{Array, ArrayElement};
use super::encoding::{Dense, Direction, Encoded, Value};
use super::loops::map_values;
use super::operand::Operand;
use super::output_writer::OutputWriter;
use super::run_encoding;
use crate::dtype::DType;
use crate::graph::scalar::Scalar;

/// Loads the elements at the given indices. An index out of range loads the last element.
pub(super) fn load<'a>(array: &'a Array, dtype: DType, n: usize, at: &Encoded<'_>) -> Encoded<'a> {
    match at {
        Encoded::Constant(Scalar::U32(i)) => {
            Encoded::Constant(element(array, dtype, (*i as usize).min(array.len() - 1)))
        }
        Encoded::Runs(ends, values) => run_encoding::runs(ends.clone(), load(array, dtype, ends.len(), values)),
        Encoded::Sequences(Direction::Ascending, ends, firsts)
            if let (&[end], &[first]) = (&ends[..], &firsts[..])
                && dtype != DType::Bool
                && first as usize + end as usize <= array.len() =>
        {
            borrow(array, dtype, first as usize..first as usize + end as usize)
        }
        at => match dtype.size() {
            1 => Encoded::of_words(dtype, gather::<u8>(array.slice(), n, at)),
            2 => Encoded::of_words(dtype, gather::<u16>(array.slice(), n, at)),
            4 => Encoded::of_words(dtype, gather::<u32>(array.slice(), n, at)),
            _ => Encoded::of_words(dtype, gather::<u64>(array.slice(), n, at)),
        },
    }
}

/// Element `i` of an array.
fn element(array: &Array, dtype: DType, i: usize) -> Scalar {
    match dtype {
        DType::Bool => Scalar::Bool(array.slice::<u8>()[i] != 0),
        _ => borrow(array, dtype, i..i + 1).get(0),
    }
}

/// Borrows the elements `range` of an array, whose dtype is not bool.
fn borrow(array: &Array, dtype: DType, range: Range<usize>) -> Encoded<'_> {
    macro_rules! typed {
        ($($v:ident),*) => {
            match dtype {
                $(DType::$v => Encoded::$v(Dense::Borrowed(&array.slice()[range])),)*
                DType::Bool | DType::Str => unreachable!("bug: {dtype} elements are not stored as values"),
            }
        };
    }
    typed!(U8, I8, U16, I16, I32, U32, I64, U64, F16, BF16, F32, F64)
}

/// The elements at the given indices, as words of their size.
fn gather<W: ArrayElement + Default>(from: &[W], n: usize, at: &Encoded<'_>) -> Vec<W> {
    let last = from.len() - 1;
    let one = |i: u32| from[(i as usize).min(last)];
    let Encoded::Sequences(direction, ends, firsts) = at else {
        let at = at.dense();
        return match u32::operand(&at) {
            Operand::Dense(at) => map_values(&at[..n], one),
            Operand::Constant(i) => vec![one(i); n],
        };
    };
    let mut out = OutputWriter::new(n);
    let mut start = 0;
    for (&end, &first) in ends.iter().zip(firsts.iter()) {
        let len = (end - start) as usize;
        let i = first as usize;
        match direction {
            Direction::Ascending if i + len <= from.len() => out.convert(from, i, len, |x| x),
            Direction::Descending if i < from.len() && len <= i + 1 => out.convert_back(from, i, len, |x| x),
            direction => out.extend((0..len).map(|k| one(direction.after(first, k as u32)))),
        }
        start = end;
    }
    out.finish()
}
