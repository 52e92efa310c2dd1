//! Random ragged tensors, with row lengths at which kernels switch algorithms.

use std::fmt;

use proptest::collection::vec;
use proptest::prelude::*;
use ragged::{DType, HostTensor, HostValues, bf16, f16};

/// Random numbers from a seed (SplitMix64).
pub struct Random(pub u64);

impl Random {
    /// A number below `bound`.
    pub fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((((z ^ (z >> 31)) >> 32) * u64::from(bound)) >> 32) as u32
    }
}

/// A random tensor, with a short debug text for failing property tests.
#[derive(Clone)]
pub struct Sample(pub HostTensor);

impl std::ops::Deref for Sample {
    type Target = HostTensor;
    fn deref(&self) -> &HostTensor {
        &self.0
    }
}

impl PartialEq<Sample> for HostTensor {
    fn eq(&self, other: &Sample) -> bool {
        *self == other.0
    }
}

impl fmt::Debug for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 300;
        let lengths: Vec<Vec<u32>> =
            self.nested_row_splits.iter().map(|s| s.windows(2).map(|w| w[1] - w[0]).collect()).collect();
        write!(f, "{} {:?}", self.values.dtype(), self.inner_shape)?;
        for text in [format!("{lengths:?}"), format!("{:?}", self.values)] {
            let cut: String = text.chars().take(MOST).collect();
            write!(f, " {cut}{}", if cut.len() < text.len() { "…" } else { "" })?;
        }
        Ok(())
    }
}

/// Row lengths around the sizes of subgroups, workgroups and tiles.
const EDGES: [u32; 17] = [0, 1, 2, 15, 16, 17, 31, 32, 33, 255, 256, 257, 2047, 2048, 2049, 3, 5];

/// Approximate limit on the values of one level.
const BUDGET: u32 = 6000;

/// The lengths of `nrows` rows, with a total of about [`BUDGET`] values at most.
pub fn lengths(nrows: usize) -> BoxedStrategy<Vec<u32>> {
    if nrows == 0 {
        return Just(Vec::new()).boxed();
    }
    // One row may take the whole budget only if there are few rows.
    let fair = (BUDGET / nrows as u32).max(1);
    let edge = proptest::sample::select(EDGES.to_vec());
    let few = vec(0..=4u32.min(fair), nrows);
    let ends_empty = few.clone().prop_map(|mut lengths| {
        if let [first, .., last] = lengths.as_mut_slice() {
            (*first, *last) = (0, 0);
        }
        lengths
    });
    let giant = (few.clone(), 0..nrows, edge.clone()).prop_map(|(mut lengths, at, len)| {
        lengths[at] = len;
        lengths
    });
    let edges = vec(edge.clone(), nrows).prop_map(|mut lengths| {
        let mut left = BUDGET;
        for len in &mut lengths {
            *len = (*len).min(left);
            left -= *len;
        }
        lengths
    });
    prop_oneof![
        1 => Just(vec![0; nrows]),
        1 => Just(vec![1; nrows]),
        1 => edge.prop_map(move |len| vec![len.min(fair); nrows]),
        4 => few,
        2 => ends_empty,
        3 => giant,
        2 => edges,
    ]
    .boxed()
}

/// Numbers of rows of the outermost partition.
fn row_counts() -> BoxedStrategy<usize> {
    prop_oneof![
        1 => Just(0usize),
        1 => Just(1),
        6 => 2..10usize,
        1 => prop_oneof![15..18usize, 31..34usize, 255..258usize],
    ]
    .boxed()
}

/// Row splits of `ragged_rank` levels, outermost first, and the number of flat values.
pub fn partitions(ragged_rank: usize) -> BoxedStrategy<(Vec<Vec<u32>>, usize)> {
    let mut out = row_counts().prop_map(|n| (Vec::new(), n)).boxed();
    for _ in 0..ragged_rank {
        out = out
            .prop_flat_map(|(levels, n)| (Just(levels), lengths(n)))
            .prop_map(|(mut levels, lengths)| {
                let splits = splits(&lengths);
                let n = splits[lengths.len()] as usize;
                levels.push(splits);
                (levels, n)
            })
            .boxed();
    }
    out
}

/// The splits of rows with the given lengths.
pub fn splits(lengths: &[u32]) -> Vec<u32> {
    std::iter::once(0)
        .chain(lengths.iter().scan(0, |at, len| {
            *at += len;
            Some(*at)
        }))
        .collect()
}

/// `n` values of a dtype: small numbers, the limits of the range, and all special values of floats.
pub fn values(dtype: DType, n: usize) -> BoxedStrategy<HostValues> {
    macro_rules! ints {
        ($t:ty, $v:ident) => {
            vec(prop_oneof![6 => 0..100 as $t, 2 => any::<$t>(), 1 => Just(<$t>::MIN), 1 => Just(<$t>::MAX)], n)
                .prop_map(HostValues::$v)
                .boxed()
        };
    }
    macro_rules! floats {
        ($t:ident, $v:ident) => {
            vec(
                prop_oneof![
                    40 => (-4096..4096i32).prop_map(|k| k as $t / 64.0),
                    8 => proptest::num::$t::NORMAL,
                    1 => proptest::sample::select(vec![
                        0.0, -0.0, $t::NAN, $t::INFINITY, $t::NEG_INFINITY, $t::MAX, $t::MIN, $t::MIN_POSITIVE,
                    ]),
                ],
                n,
            )
            .prop_map(HostValues::$v)
            .boxed()
        };
    }
    macro_rules! narrow {
        ($t:ident, $v:ident) => {
            // Every bit pattern is a float.
            vec(
                prop_oneof![
                    5 => (-4096..4096i32).prop_map(|k| $t::from_f32(k as f32 / 64.0)),
                    1 => any::<u16>().prop_map($t::from_bits)
                ],
                n,
            )
            .prop_map(HostValues::$v)
            .boxed()
        };
    }
    match dtype {
        DType::Bool => vec(any::<bool>(), n).prop_map(HostValues::Bool).boxed(),
        DType::U8 => ints!(u8, U8),
        DType::I8 => ints!(i8, I8),
        DType::U16 => ints!(u16, U16),
        DType::I16 => ints!(i16, I16),
        DType::I32 => ints!(i32, I32),
        DType::U32 => ints!(u32, U32),
        DType::I64 => ints!(i64, I64),
        DType::U64 => ints!(u64, U64),
        DType::F16 => narrow!(f16, F16),
        DType::BF16 => narrow!(bf16, BF16),
        DType::F32 => floats!(f32, F32),
        DType::F64 => floats!(f64, F64),
        DType::Str => vec(prop_oneof![8 => vec(any::<u8>(), 0..9), 1 => vec(any::<u8>(), 60..70)], n)
            .prop_map(HostValues::Str)
            .boxed(),
        other => panic!("no random values of {other}"),
    }
}

/// A tensor of the given dtype, ragged rank and inner shape (the dimensions after that of the values).
pub fn tensor_of(dtype: DType, ragged_rank: usize, inner: &[usize]) -> BoxedStrategy<Sample> {
    let inner = inner.to_vec();
    partitions(ragged_rank)
        .prop_flat_map(move |(nested_row_splits, outer)| {
            let mut inner_shape = vec![outer];
            inner_shape.extend(&inner);
            let n = inner_shape.iter().product();
            (Just(nested_row_splits), Just(inner_shape), values(dtype, n))
        })
        .prop_map(|(nested_row_splits, inner_shape, values)| {
            let uniform_row_lengths = vec![None; nested_row_splits.len()];
            Sample(HostTensor { nested_row_splits, uniform_row_lengths, inner_shape, values })
        })
        .boxed()
}

/// A tensor of one of the dtypes, of ragged rank 0 to 3 and inner rank 0 to 2.
pub fn tensor(dtypes: &[DType]) -> BoxedStrategy<Sample> {
    let inner = prop_oneof![
        4 => Just(Vec::new()),
        2 => (0..4usize).prop_map(|d| vec![d]),
        1 => (1..3usize, 1..4usize).prop_map(|(a, b)| vec![a, b]),
    ];
    (proptest::sample::select(dtypes.to_vec()), 0..=3usize, inner)
        .prop_flat_map(|(dtype, ragged_rank, inner)| tensor_of(dtype, ragged_rank, &inner))
        .boxed()
}
