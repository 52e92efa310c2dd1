//! Random numbers and random tensors.

use ragged::{DType, HostTensor, HostValues, bf16, f16};

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, n: usize) -> usize {
        ((self.next() >> 33) as usize) % n.max(1)
    }
    /// True with probability `1 / n`.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
    pub fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
    pub fn signed(&mut self, reach: i64) -> i64 {
        self.below(2 * reach as usize + 1) as i64 - reach
    }
}

/// `n` values: mostly small ones, the limits of the range, and all special values of floats.
pub fn values(random: &mut Random, dtype: DType, n: usize) -> HostValues {
    macro_rules! ints {
        ($t:ty, $v:ident) => {
            HostValues::$v(
                (0..n)
                    .map(|_| match random.below(12) {
                        0 => <$t>::MIN,
                        1 => <$t>::MAX,
                        2 => random.next() as $t,
                        _ => random.signed(5) as $t,
                    })
                    .collect(),
            )
        };
    }
    macro_rules! floats {
        ($t:ident, $v:ident, $bits:ty) => {
            HostValues::$v(
                (0..n)
                    .map(|_| match random.below(16) {
                        0 => random.of(&[$t::NAN, $t::INFINITY, $t::NEG_INFINITY, -0.0, $t::MAX, $t::MIN_POSITIVE]),
                        1 => $t::from_bits(random.next() as $bits),
                        _ => random.signed(300) as $t / 64.0,
                    })
                    .collect(),
            )
        };
    }
    macro_rules! narrow {
        ($t:ident, $v:ident) => {
            HostValues::$v(
                (0..n)
                    .map(|_| match random.below(8) {
                        0 => $t::from_bits(random.next() as u16),
                        _ => $t::from_f32(random.signed(300) as f32 / 64.0),
                    })
                    .collect(),
            )
        };
    }
    match dtype {
        DType::Bool => HostValues::Bool((0..n).map(|_| random.below(2) == 0).collect()),
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
        DType::F32 => floats!(f32, F32, u32),
        DType::F64 => floats!(f64, F64, u64),
        _ => HostValues::Str((0..n).map(|_| string(random)).collect()),
    }
}

/// A mostly short string, now and then long enough for every branch of a hash.
fn string(random: &mut Random) -> Vec<u8> {
    let len = if random.once_in(20) { random.of(&[8, 16, 17, 33, 65, 140]) } else { random.below(6) };
    let letter = random.below(26) as u8;
    (0..len as u8).map(|k| if k % 4 == 2 { b' ' } else { b'a' + letter }).collect()
}

/// Row lengths around the sizes of subgroups, tiles and workgroups.
const EDGES: [u32; 8] = [15, 16, 17, 31, 33, 255, 257, 600];

/// A tensor of ragged rank 0 to 3, with a uniform or an inner dimension now and then.
pub fn tensor(random: &mut Random, dtype: DType) -> HostTensor {
    let mut rows = random.of(&[0, 1, 2, 3, 5, 17, 33]);
    let (mut nested_row_splits, mut uniform_row_lengths) = (Vec::new(), Vec::new());
    for _ in 0..random.below(4) {
        let uniform = random.once_in(5).then(|| random.below(4) as u32);
        // Rows of equal length that are not declared uniform; one long row and empty rows.
        let (equal, lone) = (random.once_in(8).then(|| random.below(3) as u32), random.once_in(8));
        let giant = random.below(rows.max(1));
        let mut splits = vec![0u32];
        for row in 0..rows {
            let ragged = match random.below(15) {
                _ if equal.is_some() => equal.unwrap_or(0),
                _ if lone => u32::from(row == giant) * if rows > 300 { 3 } else { 257 },
                0 if rows < 100 => random.of(&EDGES),
                _ => random.below(4) as u32,
            };
            splits.push(splits[splits.len() - 1] + uniform.unwrap_or(ragged));
        }
        rows = splits[rows] as usize;
        nested_row_splits.push(splits);
        uniform_row_lengths.push(uniform);
    }
    let mut inner_shape = vec![rows];
    while random.once_in(3) && inner_shape.len() < 4 {
        inner_shape.push(random.below(4));
    }
    let n = inner_shape.iter().product();
    HostTensor { nested_row_splits, uniform_row_lengths, inner_shape, values: values(random, dtype, n) }
}

/// A dense vector of integers from `low` to below `high`.
pub fn vector(random: &mut Random, n: usize, low: i64, high: i64) -> HostTensor {
    let all = (0..n).map(|_| low + random.below((high - low) as usize) as i64).collect();
    HostTensor::dense(&[n], HostValues::I64(all))
}

/// Rows of integers from `low` to below `high`, with a partition.
pub fn rows(random: &mut Random, nrows: usize, low: i64, high: i64) -> HostTensor {
    let mut splits = vec![0u32];
    for _ in 0..nrows {
        splits.push(splits[splits.len() - 1] + random.below(4) as u32);
    }
    let n = splits[nrows] as usize;
    let HostTensor { values, .. } = vector(random, n, low, high);
    HostTensor::from_row_splits(splits, values)
}
