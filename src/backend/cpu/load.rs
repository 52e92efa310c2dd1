//! Loads of array elements. Consecutive elements are borrowed, not copied.

use super::array::Array;
use super::copier::{copy_elements, copy_segments};
use super::encoding::{Encoded, Value};
use super::segments::segments;
use crate::dtype::DType;
use crate::graph::scalar::Scalar;

/// Loads the elements at the given indices. An index out of range loads the last element.
pub(super) fn load<'a>(array: &'a Array, dtype: DType, n: usize, at: &Encoded<'_>) -> Encoded<'a> {
    match at {
        Encoded::Constant(Scalar::U32(at)) => Encoded::Constant(element(array, dtype, *at)),
        Encoded::Segments(ends, 0, indices) => segments(ends.clone(), 0, load(array, dtype, ends.len(), indices)),
        Encoded::Segments(ends, 1, first) if let Some(first) = in_range(array, ends, first) => {
            Encoded::borrowed(dtype, array.bytes(), first..first + n)
        }
        at => Encoded::filled(dtype, n, |out| store(array, dtype, at, out)),
    }
}

/// The element at index `at`.
pub(super) fn element(array: &Array, dtype: DType, at: u32) -> Scalar {
    Encoded::borrowed(dtype, array.bytes(), 0..array.len()).get((at as usize).min(array.len() - 1))
}

/// The first element, if the indices are one sequence within the array.
fn in_range(array: &Array, ends: &[u32], first: &Encoded<'_>) -> Option<usize> {
    let (&[n], Scalar::U32(first)) = (ends, first.get(0)) else { return None };
    (first as usize + n as usize <= array.len()).then_some(first as usize)
}

/// Fills `out` with the elements at the given indices.
pub(super) fn store(array: &Array, dtype: DType, at: &Encoded<'_>, out: &mut [u8]) {
    match at {
        Encoded::Segments(ends, step, first) => copy_segments(dtype.size(), array.bytes(), ends, *step, first, out),
        at => copy_elements(dtype.size(), array.bytes(), &u32::expanded(out.len() / dtype.size(), at), out),
    }
}
