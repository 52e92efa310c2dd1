//! Encodings of an expression's values at the positions of a block: constant, segments, dense.
//!
//! | encoding | values | examples |
//! |---|---|---|
//! | constant | the same value at every position | scalars, properties of a single row |
//! | segments of step 0 | run-length encoding: one value per segment | row numbers, properties of rows |
//! | segments of step 1, -1 | one sequence of u32 per segment | positions, indices of row elements, of reversed rows |
//! | dense | one value per position, borrowed from an array or in a register | elements |
//!
//! Operations on constants and segments compute one value per segment (see `arithmetic`); loads at consecutive indices
//! borrow their elements, and loads at segments copy them (see `load`).

use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::rc::Rc;

use bytemuck::Pod;
use half::{bf16, f16};

use super::loops::expand;
use super::operand::{AnyOperand, Operand, word};
use super::registers::Register;
use crate::dtype::DType;
use crate::graph::scalar::Scalar;

/// Bytes of values: borrowed from a stored array, or part of a register.
#[derive(Debug, Clone)]
pub(crate) enum Bytes<'a> {
    Borrowed(&'a [u8]),
    Owned(Rc<Register>, Range<usize>),
}

impl Bytes<'_> {
    /// A part of the bytes, which is not copied.
    fn slice(&self, range: Range<usize>) -> Self {
        match self {
            Self::Borrowed(bytes) => Self::Borrowed(&bytes[range]),
            Self::Owned(register, own) => Self::Owned(register.clone(), own.start + range.start..own.start + range.end),
        }
    }
}

impl Deref for Bytes<'_> {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Owned(register, range) => &register.bytes()[range.clone()],
        }
    }
}

/// Values of a type, one per position.
#[derive(Debug, Clone)]
pub(crate) struct Dense<'a, T> {
    bytes: Bytes<'a>,
    of: PhantomData<T>,
}

/// Ends of segments: the number of positions up to the end of each segment. Segments may be empty.
pub(crate) type Ends = Dense<'static, u32>;

impl<T: Pod> Dense<'_, T> {
    /// `n` values, all of which `fill` sets.
    pub(crate) fn filled(n: usize, fill: impl FnOnce(&mut [T])) -> Self {
        Self::collected(n, |out| {
            fill(out);
            n
        })
    }

    /// At most `most` values: `fill` sets as many as it returns.
    pub(crate) fn collected(most: usize, fill: impl FnOnce(&mut [T]) -> usize) -> Self {
        let mut register = Register::new(most * size_of::<T>());
        let n = fill(bytemuck::cast_slice_mut(register.bytes_mut()));
        Self { bytes: Bytes::Owned(Rc::new(register), 0..n * size_of::<T>()), of: PhantomData }
    }
}

/// Two lists of at most `most` numbers: `fill` sets as many of both as it returns.
pub(crate) fn lists<'a>(
    most: usize,
    fill: impl FnOnce(&mut [u32], &mut [u32]) -> usize,
) -> (Dense<'a, u32>, Dense<'a, u32>) {
    let mut n = 0;
    let mut first = None;
    let second = Dense::collected(most, |second| {
        first = Some(Dense::collected(most, |first| {
            n = fill(first, second);
            n
        }));
        n
    });
    (first.expect("bug: a list that was not filled"), second)
}

impl<T: Pod> Deref for Dense<'_, T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(&self.bytes)
    }
}

impl<T: Pod> From<Vec<T>> for Dense<'_, T> {
    fn from(values: Vec<T>) -> Self {
        Self::filled(values.len(), |out| out.copy_from_slice(&values))
    }
}

impl PartialEq for Dense<'_, u32> {
    fn eq(&self, other: &Self) -> bool {
        let (a, b): (&[u32], &[u32]) = (self, other);
        std::ptr::eq(a, b) || a == b
    }
}

/// Step of segments from position to position: 0, 1 or -1.
pub(crate) type Step = i32;

/// The value that a segment has `positions` positions after `value`.
#[inline(always)]
pub(crate) fn after(value: u32, step: Step, positions: u32) -> u32 {
    value.wrapping_add(positions.wrapping_mul(step as u32))
}

/// The values of one expression at the positions of a block.
#[derive(Debug, Clone)]
pub(crate) enum Encoded<'a> {
    /// The same value at every position.
    Constant(Scalar),
    /// Segments: their ends, their step, and the first value of each, which is arbitrary for empty segments. Steps other
    /// than 0 have dtype u32. The first values are dense or, for step 0, possibly one ascending sequence.
    Segments(Ends, Step, Rc<Encoded<'a>>),
    /// One value per position. Bools are bytes of 0 and 1.
    Dense(DType, Bytes<'a>),
}

/// The Rust type of an encoding's values. Bools are evaluated as u8.
pub(crate) trait Value: Pod + Default {
    fn wrap(values: Dense<'_, Self>) -> Encoded<'_>;
    /// The values of a dense or constant encoding.
    fn operand<'l>(encoded: &'l Encoded<'_>) -> Operand<'l, Self> {
        encoded.operand().of()
    }
    /// One value per position, for any encoding.
    fn expanded<'a>(n: usize, encoded: &Encoded<'a>) -> Dense<'a, Self> {
        match encoded.dense() {
            Encoded::Dense(_, bytes) => Dense { bytes, of: PhantomData },
            same => Dense::filled(n, |out| out.fill(Self::operand(&same).get(0))),
        }
    }
}

macro_rules! values {
    ($($t:ty => $v:ident),*) => {
        $(impl Value for $t {
            fn wrap(values: Dense<'_, Self>) -> Encoded<'_> {
                Encoded::Dense(DType::$v, values.bytes)
            }
        })*

        /// The scalar of a dtype with the bits of element `i`.
        fn scalar(dtype: DType, elements: AnyOperand<'_>, i: usize) -> Scalar {
            match dtype {
                $(DType::$v => Scalar::$v(elements.of().get(i)),)*
                DType::Bool => Scalar::Bool(elements.of::<u8>().get(i) != 0),
                DType::Str => unreachable!("bug: a string has no encoding"),
            }
        }
    };
}
values!(
    u8 => U8, i8 => I8, u16 => U16, i16 => I16, i32 => I32, u32 => U32, i64 => I64, u64 => U64, f16 => F16,
    bf16 => BF16, f32 => F32, f64 => F64
);

/// Evaluates the Rust expression `$e` with `$w` as the unsigned integer type of the given size.
macro_rules! by_size {
    ($size:expr, $w:ident => $e:expr) => {
        match $size {
            1 => {
                type $w = u8;
                $e
            }
            2 => {
                type $w = u16;
                $e
            }
            4 => {
                type $w = u32;
                $e
            }
            _ => {
                type $w = u64;
                $e
            }
        }
    };
}
pub(super) use by_size;

impl<'a> Encoded<'a> {
    /// `n` dense values, whose bytes `fill` sets.
    pub(crate) fn filled(dtype: DType, n: usize, fill: impl FnOnce(&mut [u8])) -> Self {
        Self::Dense(dtype, Dense::filled(n * dtype.size(), fill).bytes)
    }

    /// The elements `range` of an array.
    pub(crate) fn borrowed(dtype: DType, elements: &'a [u8], range: Range<usize>) -> Self {
        Self::Dense(dtype, Bytes::Borrowed(elements)).slice(range)
    }

    /// Bools, one per byte.
    #[cfg(test)]
    pub(crate) fn flags(flags: Dense<'a, u8>) -> Self {
        Self::Dense(DType::Bool, flags.bytes)
    }

    /// The dtype of the values.
    pub(crate) fn dtype(&self) -> DType {
        match self {
            Self::Constant(s) => s.dtype(),
            Self::Segments(_, _, first) => first.dtype(),
            Self::Dense(dtype, _) => *dtype,
        }
    }

    /// Constant or dense values.
    pub(crate) fn operand(&self) -> AnyOperand<'_> {
        match self {
            Self::Constant(s) => AnyOperand::Constant(*s),
            Self::Dense(_, bytes) => AnyOperand::Dense(bytes),
            Self::Segments(..) => unreachable!("bug: an operand in segments"),
        }
    }

    /// The value at position `i` of a constant or dense encoding.
    pub(crate) fn get(&self, i: usize) -> Scalar {
        scalar(self.dtype(), self.operand(), i)
    }

    /// The values at consecutive positions of a constant or dense encoding, which are not copied.
    pub(crate) fn slice(&self, range: Range<usize>) -> Self {
        match self {
            Self::Dense(dtype, bytes) => {
                let size = dtype.size();
                Self::Dense(*dtype, bytes.slice(range.start * size..range.end * size))
            }
            same => same.clone(),
        }
    }

    /// The values of a constant or dense encoding, with their bits as another dtype of the same size.
    pub(crate) fn bitcast(&self, to: DType) -> Self {
        match self {
            Self::Dense(_, bytes) => Self::Dense(to, bytes.clone()),
            same => Self::Constant(scalar(to, same.operand(), 0)),
        }
    }

    /// Expands segments to one value per position. Constants stay constants.
    pub(crate) fn dense(&self) -> Self {
        match self {
            Self::Segments(ends, ..) => {
                let n = ends.last().map_or(0, |&n| n as usize);
                Self::filled(self.dtype(), n, |out| self.store(out))
            }
            other => other.clone(),
        }
    }

    /// Fills `out` with the bytes of the values.
    pub(crate) fn store(&self, out: &mut [u8]) {
        match self {
            Self::Constant(s) => by_size!(s.dtype().size(), W => bytemuck::cast_slice_mut(out).fill(word::<W>(*s))),
            Self::Dense(_, bytes) => out.copy_from_slice(&bytes[..out.len()]),
            Self::Segments(ends, step, first) => {
                let first = first.dense();
                match step {
                    0 => by_size!(self.dtype().size(), W => {
                        expand(ends, first.operand().of::<W>(), |first, _| first, bytemuck::cast_slice_mut(out));
                    }),
                    1 => expand(ends, u32::operand(&first), u32::wrapping_add, bytemuck::cast_slice_mut(out)),
                    _ => expand(ends, u32::operand(&first), u32::wrapping_sub, bytemuck::cast_slice_mut(out)),
                }
            }
        }
    }
}
