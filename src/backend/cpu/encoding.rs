//! Vector encodings of an expression's values at the positions of a block: constant, run-length, sequence, dense.

use std::ops::{Deref, Range};
use std::rc::Rc;

use half::{bf16, f16};

use super::array::ArrayElement;
use super::loops::{Blend, either_flag, expand_runs};
use super::operand::Operand;
use super::output_writer::{OutputWriter, fixed_len};
use super::simd;
use crate::dtype::DType;
use crate::graph::scalar::Scalar;

/// Values, one per position: borrowed from a stored array, or owned.
#[derive(Debug, Clone)]
pub(crate) enum Dense<'a, T> {
    Borrowed(&'a [T]),
    Owned(Rc<Vec<T>>),
}

impl<T> Deref for Dense<'_, T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        match self {
            Self::Borrowed(s) => s,
            Self::Owned(v) => v,
        }
    }
}

impl<T> From<Vec<T>> for Dense<'_, T> {
    fn from(values: Vec<T>) -> Self {
        Self::Owned(Rc::new(values))
    }
}

/// Ends of runs: the number of positions up to the end of each run.
pub(crate) type Ends = Rc<Vec<u32>>;

/// Direction of sequences: the sign of the step from position to position, which is 1 or -1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Each value is the previous one plus 1.
    Ascending,
    /// Each value is the previous one minus 1, such as the positions of reversed rows.
    Descending,
}

impl Direction {
    /// The value that a sequence has `positions` positions after `value`.
    #[inline(always)]
    pub(crate) fn after(self, value: u32, positions: u32) -> u32 {
        match self {
            Self::Ascending => value.wrapping_add(positions),
            Self::Descending => value.wrapping_sub(positions),
        }
    }

    /// The direction of a number minus the sequence.
    pub(crate) fn opposite(self) -> Self {
        match self {
            Self::Ascending => Self::Descending,
            Self::Descending => Self::Ascending,
        }
    }
}

/// The values of one expression at the positions of a block.
#[derive(Debug, Clone)]
pub(crate) enum Encoded<'a> {
    /// The same value at every position.
    Constant(Scalar),
    /// Run-length encoding: one value per run. The values are dense, or one ascending sequence. The value of an empty
    /// run is arbitrary.
    Runs(Ends, Rc<Encoded<'a>>),
    /// One arithmetic sequence of u32 per run, with step 1 or -1: the first value of each run. Runs may be empty.
    Sequences(Direction, Ends, Dense<'a, u32>),
    Bool(Dense<'a, bool>),
    U8(Dense<'a, u8>),
    I8(Dense<'a, i8>),
    U16(Dense<'a, u16>),
    I16(Dense<'a, i16>),
    I32(Dense<'a, i32>),
    U32(Dense<'a, u32>),
    I64(Dense<'a, i64>),
    U64(Dense<'a, u64>),
    F16(Dense<'a, f16>),
    BF16(Dense<'a, bf16>),
    F32(Dense<'a, f32>),
    F64(Dense<'a, f64>),
}

/// The Rust type of an encoding's values.
pub(crate) trait Value: Copy + Default + 'static {
    fn wrap<'a>(values: Dense<'a, Self>) -> Encoded<'a>;
    /// The values of a dense or constant encoding.
    fn operand<'l>(encoded: &'l Encoded<'_>) -> Operand<'l, Self>;
    /// One value per position, for a dense or constant encoding.
    fn expanded<'a>(n: usize, encoded: &Encoded<'a>) -> Dense<'a, Self>;
}

macro_rules! encodings {
    ($($t:ty => $v:ident),*) => {$(
        impl Value for $t {
            fn wrap<'a>(values: Dense<'a, Self>) -> Encoded<'a> {
                Encoded::$v(values)
            }
            fn operand<'l>(encoded: &'l Encoded<'_>) -> Operand<'l, Self> {
                match encoded {
                    Encoded::$v(s) => Operand::Dense(s),
                    Encoded::Constant(Scalar::$v(s)) => Operand::Constant(*s),
                    other => unreachable!("bug: {:?} where {} was planned", other.dtype(), stringify!($t)),
                }
            }
            fn expanded<'a>(n: usize, encoded: &Encoded<'a>) -> Dense<'a, Self> {
                match encoded {
                    Encoded::$v(s) => s.clone(),
                    other => vec![Self::operand(other).get(0); n].into(),
                }
            }
        }
    )*
    impl<'a> Encoded<'a> {
        /// The dtype of the values.
        pub(crate) fn dtype(&self) -> DType {
            match self {
                Self::Constant(s) => s.dtype(),
                Self::Runs(_, values) => values.dtype(),
                Self::Sequences(..) => DType::U32,
                $(Self::$v(_) => DType::$v,)*
            }
        }
        /// The bits of constant or dense values, as words of the values' size.
        pub(crate) fn words<W: ArrayElement>(&self) -> Operand<'_, W> {
            match self {
                Self::Constant(s) => Operand::Constant(word(*s)),
                $(Self::$v(s) => Operand::Dense(bytemuck::cast_slice::<$t, W>(s)),)*
                Self::Runs(..) | Self::Sequences(..) => unreachable!("bug: words of runs"),
            }
        }
        /// A range of dense values that are borrowed from an array.
        fn borrowed(&self, range: Range<usize>) -> Option<Self> {
            match self {
                $(Self::$v(Dense::Borrowed(s)) => Some(Self::$v(Dense::Borrowed(&s[range]))),)*
                _ => None,
            }
        }
        /// The value at position `i` of a constant or dense encoding, or of one sequence.
        pub(crate) fn get(&self, i: usize) -> Scalar {
            match self {
                Self::Constant(s) => *s,
                $(Self::$v(s) => Scalar::$v(s[i]),)*
                Self::Sequences(direction, _, first) => Scalar::U32(direction.after(first[0], i as u32)),
                Self::Runs(..) => unreachable!("bug: a value by position in runs"),
            }
        }
    }

    /// The bits of a scalar, as a word of its size.
    pub(crate) fn word<W: ArrayElement>(s: Scalar) -> W {
        match s {
            $(Scalar::$v(x) => bytemuck::cast_slice::<$t, W>(&[x])[0],)*
        }
    }
    };
}
encodings!(
    bool => Bool, u8 => U8, i8 => I8, u16 => U16, i16 => I16, i32 => I32, u32 => U32, i64 => I64, u64 => U64, f16 => F16,
    bf16 => BF16, f32 => F32, f64 => F64
);

/// Evaluates the Rust expression `$e` with `$w` as the unsigned integer type of the dtype's size.
macro_rules! by_size {
    ($dtype:expr, $w:ident => $e:expr) => {
        match $dtype.size() {
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

impl<'a> Encoded<'a> {
    /// Dense values of the given bits. Words of the dtype's size are not copied.
    pub(crate) fn of_words<W: ArrayElement>(dtype: DType, words: Vec<W>) -> Self {
        macro_rules! numbers {
            ($($v:ident),*) => {
                match dtype {
                    DType::Bool => {
                        let flags = bytemuck::cast_vec::<W, u8>(words).into_iter().map(|x| x != 0);
                        Self::Bool(flags.collect::<Vec<_>>().into())
                    }
                    $(DType::$v => Self::$v(bytemuck::cast_vec(words).into()),)*
                    DType::Str => unreachable!("bug: a string has no encoding"),
                }
            };
        }
        numbers!(U8, I8, U16, I16, I32, U32, I64, U64, F16, BF16, F32, F64)
    }

    /// Expands runs and sequences to one value per position. Constants stay constants.
    pub(crate) fn dense(&self) -> Self {
        match self {
            Self::Runs(ends, values) => match &**values {
                Self::Constant(s) => Self::Constant(*s),
                Self::Sequences(..) => Self::Runs(ends.clone(), values.dense().into()).dense(),
                values => {
                    let dtype = values.dtype();
                    by_size!(dtype, W => match values.words::<W>() {
                        Operand::Dense(values) => Self::of_words(dtype, expand_runs(ends, values)),
                        Operand::Constant(_) => unreachable!("bug: a constant among dense encodings"),
                    })
                }
            },
            Self::Sequences(direction, ends, first) => {
                let mut out = OutputWriter::new(ends.last().map_or(0, |&n| n as usize));
                let mut start = 0;
                for (&end, &first) in ends.iter().zip(first.iter()) {
                    out.numbers((end - start) as usize, |k| direction.after(first, k));
                    start = end;
                }
                Self::U32(out.finish().into())
            }
            other => other.clone(),
        }
    }

    /// The values at the given positions of a constant or dense encoding, or of sequences.
    pub(crate) fn gather<'x>(&self, positions: &[u32]) -> Encoded<'x> {
        match self {
            Self::Constant(s) => Encoded::Constant(*s),
            Self::Sequences(..) => self.dense().gather(positions),
            dense => {
                let dtype = dense.dtype();
                by_size!(dtype, W => {
                    let words = dense.words::<W>();
                    Encoded::of_words(dtype, positions.iter().map(|&i| words.get(i as usize)).collect())
                })
            }
        }
    }

    /// The values of a dense or constant encoding at the given ranges of positions, concatenated.
    pub(crate) fn gather_ranges(&self, ranges: &[(u32, u32)]) -> Self {
        if let Self::Constant(s) = self {
            return Self::Constant(*s);
        }
        if let &[(from, to)] = ranges
            && let Some(borrowed) = self.borrowed(from as usize..to as usize)
        {
            return borrowed;
        }
        let n = ranges.iter().map(|(from, to)| (to - from) as usize).sum();
        let dtype = self.dtype();
        by_size!(dtype, W => {
            let Operand::Dense(words) = self.words::<W>() else { unreachable!("bug: words of a constant") };
            let mut out = OutputWriter::new(n);
            for &(from, to) in ranges {
                out.copy(words, from as usize, (to - from) as usize, fixed_len::<W>());
            }
            Self::of_words(dtype, out.finish())
        })
    }

    /// Merges two selections into `n` values: the next value of `a` where `at_a` is set, else the next value of `b`.
    pub(crate) fn merge<'x>(n: usize, at_a: &[bool], a: &Encoded<'_>, b: &Encoded<'_>) -> Encoded<'x> {
        let dtype = a.dtype();
        by_size!(dtype, W => {
            let (a, b) = (a.words::<W>(), b.words::<W>());
            let (mut i, mut j) = (0, 0);
            let merged = (0..n).map(|k| {
                if at_a[k] {
                    i += 1;
                    a.get(i - 1)
                } else {
                    j += 1;
                    b.get(j - 1)
                }
            });
            Encoded::of_words(dtype, merged.collect())
        })
    }

    /// As [`Encoded::merge`], with a flag per run. Runs end at `ends`.
    pub(crate) fn merge_runs<'x>(
        ends: &[u32],
        at_a: Operand<'_, bool>,
        a: &Encoded<'_>,
        b: &Encoded<'_>,
    ) -> Encoded<'x> {
        let dtype = a.dtype();
        by_size!(dtype, W => {
            let (a, b) = (a.words::<W>(), b.words::<W>());
            let mut out = OutputWriter::new(ends.last().map_or(0, |&n| n as usize));
            let (mut i, mut j, mut start) = (0, 0, 0);
            for (k, &end) in ends.iter().enumerate() {
                let len = (end - start) as usize;
                let (from, at) = if at_a.get(k) { (a, &mut i) } else { (b, &mut j) };
                match from {
                    Operand::Constant(v) => out.repeat(v, len),
                    Operand::Dense(s) => out.copy(s, *at, len, fixed_len::<W>()),
                }
                *at += len;
                start = end;
            }
            Encoded::of_words(dtype, out.finish())
        })
    }

    /// Blends position by position: `a` where the condition holds, else `b`.
    pub(crate) fn blend<'x>(n: usize, condition: &[bool], a: &Encoded<'_>, b: &Encoded<'_>) -> Encoded<'x> {
        let (condition, dtype) = (&condition[..n], a.dtype());
        if dtype == DType::Bool {
            let (a, b) = (bool::operand(a), bool::operand(b));
            return Encoded::Bool(simd::run(Blend { condition, a, b, either: either_flag }).into());
        }
        by_size!(dtype, W => {
            let (a, b) = (a.words::<W>(), b.words::<W>());
            let either = |c: bool, a: W, b: W| if c { a } else { b };
            Encoded::of_words(dtype, simd::run(Blend { condition, a, b, either }))
        })
    }
}
