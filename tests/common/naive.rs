//! Naive reference implementations on rows as `Vec`s in a `Vec`: slow, short, independent of the crate.

use ragged::{Element, HostTensor, HostValues, bf16, f16};

/// Rows of one ragged dimension.
pub type Rows<T> = Vec<Vec<T>>;

/// A tensor with one partition and no inner dimension, row by row.
pub fn rows<T: Element>(t: &HostTensor) -> Rows<T::Host> {
    let values = T::unwrap(t.values.clone()).expect("the tensor's own type");
    assert_eq!(t.nested_row_splits.len(), 1, "one partition");
    t.nested_row_splits[0].windows(2).map(|w| values[w[0] as usize..w[1] as usize].to_vec()).collect()
}

/// The tensor of these rows, with one partition.
pub fn host<T: Element>(rows: &[Vec<T::Host>]) -> HostTensor {
    let mut splits = vec![0u32];
    let mut values = Vec::new();
    for row in rows {
        values.extend(row.iter().cloned());
        splits.push(values.len() as u32);
    }
    HostTensor::from_row_splits(splits, T::wrap(values))
}

/// Number type of the naive reductions.
pub trait Num: Copy + PartialOrd {
    const ZERO: Self;
    const ONE: Self;
    /// The least and the greatest finite value.
    const LEAST: Self;
    const GREATEST: Self;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn nan(self) -> bool;
    fn wide(self) -> f64;
}

macro_rules! integers {
    ($($t:ty),*) => {$(impl Num for $t {
        const ZERO: Self = 0;
        const ONE: Self = 1;
        const LEAST: Self = Self::MIN;
        const GREATEST: Self = Self::MAX;
        fn plus(self, other: Self) -> Self {
            self.wrapping_add(other)
        }
        fn times(self, other: Self) -> Self {
            self.wrapping_mul(other)
        }
        fn nan(self) -> bool {
            false
        }
        fn wide(self) -> f64 {
            self as f64
        }
    })*};
}
integers!(u8, i8, u16, i16, i32, u32, i64, u64);

macro_rules! floats {
    ($($t:ty),*) => {$(impl Num for $t {
        const ZERO: Self = 0.0;
        const ONE: Self = 1.0;
        const LEAST: Self = Self::MIN;
        const GREATEST: Self = Self::MAX;
        fn plus(self, other: Self) -> Self {
            self + other
        }
        fn times(self, other: Self) -> Self {
            self * other
        }
        fn nan(self) -> bool {
            self.is_nan()
        }
        fn wide(self) -> f64 {
            self.into()
        }
    })*};
}
floats!(f32, f64);

macro_rules! narrow_floats {
    ($($t:ty),*) => {$(impl Num for $t {
        const ZERO: Self = Self::ZERO;
        const ONE: Self = Self::ONE;
        const LEAST: Self = Self::MIN;
        const GREATEST: Self = Self::MAX;
        fn plus(self, other: Self) -> Self {
            Self::from_f32(self.to_f32() + other.to_f32())
        }
        fn times(self, other: Self) -> Self {
            Self::from_f32(self.to_f32() * other.to_f32())
        }
        fn nan(self) -> bool {
            self.is_nan()
        }
        fn wide(self) -> f64 {
            self.into()
        }
    })*};
}
narrow_floats!(f16, bf16);

/// Row sums, from left to right; 0 for an empty row.
pub fn sum<T: Num>(rows: &[Vec<T>]) -> Vec<T> {
    rows.iter().map(|row| row.iter().fold(T::ZERO, |a, &b| a.plus(b))).collect()
}

/// Row products, from left to right; 1 for an empty row.
pub fn prod<T: Num>(rows: &[Vec<T>]) -> Vec<T> {
    rows.iter().map(|row| row.iter().fold(T::ONE, |a, &b| a.times(b))).collect()
}

/// Row minima: the greatest finite value for an empty row, NaN for a row with a NaN.
pub fn min<T: Num>(rows: &[Vec<T>]) -> Vec<T> {
    extremes(rows, T::GREATEST, |a, b| b < a)
}

/// Row maxima: the least finite value for an empty row, NaN for a row with a NaN.
pub fn max<T: Num>(rows: &[Vec<T>]) -> Vec<T> {
    extremes(rows, T::LEAST, |a, b| b > a)
}

fn extremes<T: Num>(rows: &[Vec<T>], of_empty: T, better: impl Fn(T, T) -> bool) -> Vec<T> {
    let pick = |a: T, b: T| if !a.nan() && (b.nan() || better(a, b)) { b } else { a };
    rows.iter().map(|row| row.iter().copied().reduce(pick).unwrap_or(of_empty)).collect()
}

/// Row means in f64; NaN for an empty row.
pub fn mean<T: Num>(rows: &[Vec<T>]) -> Vec<f64> {
    rows.iter().map(|row| row.iter().fold(0.0, |a, &b| a + b.wide()) / row.len() as f64).collect()
}

/// The positions that a Python slice `start:stop:step` takes from `len` elements.
///
/// # Panics
/// If `step` is 0.
pub fn positions(len: usize, start: Option<i64>, stop: Option<i64>, step: i64) -> Vec<usize> {
    assert_ne!(step, 0, "a step");
    let len = len as i64;
    let (low, high) = if step > 0 { (0, len) } else { (-1, len - 1) };
    let end = |at: i64| (if at < 0 { at + len } else { at }).clamp(low, high);
    let first = start.map_or(if step > 0 { low } else { high }, end);
    let limit = stop.map_or(if step > 0 { high } else { low }, end);
    let inside = |at: &i64| if step > 0 { *at < limit } else { *at > limit };
    let next = |at: &i64| at.checked_add(step);
    std::iter::successors(Some(first), next).take_while(inside).map(|at| at as usize).collect()
}

/// The elements that a Python slice takes.
pub fn slice<T: Clone>(all: &[T], start: Option<i64>, stop: Option<i64>, step: i64) -> Vec<T> {
    positions(all.len(), start, stop, step).into_iter().map(|at| all[at].clone()).collect()
}

/// The rows of all parts, concatenated along axis 0.
pub fn concat_rows<T: Clone>(parts: &[Rows<T>]) -> Rows<T> {
    parts.concat()
}

/// The parts, concatenated along axis 1.
///
/// # Panics
/// If the parts have different numbers of rows.
pub fn concat_in_rows<T: Clone>(parts: &[Rows<T>]) -> Rows<T> {
    let nrows = parts.first().map_or(0, Vec::len);
    assert!(parts.iter().all(|p| p.len() == nrows), "equal numbers of rows");
    (0..nrows).map(|r| parts.iter().flat_map(|p| p[r].iter().cloned()).collect()).collect()
}

/// The rows at the given indices.
pub fn gather<T: Clone>(rows: &[Vec<T>], at: &[usize]) -> Rows<T> {
    at.iter().map(|&r| rows[r].clone()).collect()
}

/// Adds one number per row to the values of the row.
///
/// # Panics
/// If there is not one number per row.
pub fn add_to_rows<T: Num>(rows: &[Vec<T>], numbers: &[T]) -> Rows<T> {
    assert_eq!(rows.len(), numbers.len(), "one number per row");
    rows.iter().zip(numbers).map(|(row, &n)| row.iter().map(|v| v.plus(n)).collect()).collect()
}

/// Rows of `width` values, truncated or padded with `fill`; by default as wide as the longest row.
pub fn pad<T: Clone>(rows: &[Vec<T>], width: Option<usize>, fill: &T) -> Rows<T> {
    let width = width.unwrap_or_else(|| rows.iter().map(Vec::len).max().unwrap_or(0));
    let filled = |row: &Vec<T>| row.iter().cloned().chain(std::iter::repeat(fill.clone())).take(width).collect();
    rows.iter().map(filled).collect()
}

/// The values' bits, with one pattern for all NaNs.
pub fn bits(values: &HostValues) -> Vec<Vec<u8>> {
    match values {
        HostValues::Bool(v) => v.iter().map(|&b| vec![b.into()]).collect(),
        HostValues::U8(v) => v.iter().map(|&n| vec![n]).collect(),
        HostValues::I8(v) => v.iter().map(|n| n.to_le_bytes().to_vec()).collect(),
        HostValues::U16(v) => v.iter().map(|n| n.to_le_bytes().to_vec()).collect(),
        HostValues::I16(v) => v.iter().map(|n| n.to_le_bytes().to_vec()).collect(),
        HostValues::I32(v) => v.iter().map(|n| n.to_le_bytes().to_vec()).collect(),
        HostValues::U32(v) => v.iter().map(|n| n.to_le_bytes().to_vec()).collect(),
        HostValues::I64(v) => v.iter().map(|n| n.to_le_bytes().to_vec()).collect(),
        HostValues::U64(v) => v.iter().map(|n| n.to_le_bytes().to_vec()).collect(),
        HostValues::F16(v) => {
            v.iter().map(|&f| if f.is_nan() { f16::NAN } else { f }.to_bits().to_le_bytes().to_vec()).collect()
        }
        HostValues::BF16(v) => {
            v.iter().map(|&f| if f.is_nan() { bf16::NAN } else { f }.to_bits().to_le_bytes().to_vec()).collect()
        }
        HostValues::F32(v) => {
            v.iter().map(|&f| if f.is_nan() { f32::NAN } else { f }.to_bits().to_le_bytes().to_vec()).collect()
        }
        HostValues::F64(v) => {
            v.iter().map(|&f| if f.is_nan() { f64::NAN } else { f }.to_bits().to_le_bytes().to_vec()).collect()
        }
        HostValues::Str(v) => v.clone(),
        other => panic!("bits of {}", other.dtype()),
    }
}
