//! Random words of a key and a counter: Threefry-2x32 with 20 rounds, on the host and as operations of tensors.

use ragged::{DType, Result, Seed, Tensor};

/// Rotation distance of the second word in each round, in bits; the list repeats.
const ROTATIONS: [u32; 8] = [13, 15, 26, 6, 17, 29, 16, 24];
const ROUNDS: usize = 20;
/// Parity constant of the third key word.
const PARITY: u32 = 0x1BD1_1BDA;

/// Two random words.
pub(crate) fn threefry(key: [u32; 2], counter: [u32; 2]) -> [u32; 2] {
    let keys = [key[0], key[1], PARITY ^ key[0] ^ key[1]];
    let [mut x, mut y] = counter;
    (x, y) = (x.wrapping_add(keys[0]), y.wrapping_add(keys[1]));
    for round in 0..ROUNDS {
        x = x.wrapping_add(y);
        y = y.rotate_left(ROTATIONS[round % ROTATIONS.len()]) ^ x;
        if round % 4 == 3 {
            let s = round / 4 + 1;
            x = x.wrapping_add(keys[s % 3]);
            y = y.wrapping_add(keys[(s + 1) % 3].wrapping_add(s as u32));
        }
    }
    [x, y]
}

/// The first random word of each element: of a key whose second word is a scalar of u32, and of a counter of two words.
pub(crate) fn words(key: (u32, &Tensor), counter: [Tensor; 2]) -> Result<Tensor> {
    let third = key.1.bitwise_xor(PARITY ^ key.0)?;
    let first = key.1.zeros_like()?.add(key.0)?;
    let keys = [&first, key.1, &third];
    let [x, y] = counter;
    let (mut x, mut y) = (x.add(keys[0])?, y.add(keys[1])?);
    for round in 0..ROUNDS {
        let by = ROTATIONS[round % ROTATIONS.len()];
        x = x.add(&y)?;
        y = y.left_shift(by)?.bitwise_or(&y.right_shift(32 - by)?)?.bitwise_xor(&x)?;
        if round % 4 == 3 {
            let s = round / 4 + 1;
            x = x.add(keys[s % 3])?;
            y = y.add(&keys[(s + 1) % 3].add(s as u32)?)?;
        }
    }
    Ok(x)
}

/// A key of a seed and a name: two words that differ between names.
pub(crate) fn key(seed: Seed, name: &str) -> [u32; 2] {
    // FNV-1a.
    let hash = name.bytes().fold(0xCBF2_9CE4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01B3));
    threefry([seed.0 as u32, (seed.0 >> 32) as u32], [hash as u32, (hash >> 32) as u32])
}

/// `count` numbers, uniform in [0, 1), with 53 bits.
pub(crate) fn uniform(key: [u32; 2], count: usize) -> impl Iterator<Item = f64> {
    let number = move |k: usize| {
        let [high, low] = threefry(key, [k as u32, (k as u64 >> 32) as u32]);
        ((u64::from(high) << 32 | u64::from(low)) >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..count).map(number)
}

/// The counter of each element of a dense tensor: its position along the outermost dimension, and below.
pub(crate) fn counters(x: &Tensor) -> Result<[Tensor; 2]> {
    let mut below = x.local_index(0)?.cast(DType::U32)?.multiply(0u32)?;
    for (axis, size) in x.shape().into_iter().enumerate().skip(1) {
        // The sizes of inner dimensions are known, and below 2^32.
        let size = size.unwrap_or(1) as u32;
        below = below.multiply(size)?.add(&x.local_index(axis)?.cast(DType::U32)?)?;
    }
    Ok([x.local_index(0)?.cast(DType::U32)?, below])
}

#[cfg(test)]
mod tests {
    use ragged::{Device, RaggedTensor, to_vecs};

    use super::*;

    #[test]
    fn words_are_those_of_the_published_vectors() {
        assert_eq!(threefry([0, 0], [0, 0]), [0x6b20_0159, 0x99ba_4efe]);
        assert_eq!(threefry([u32::MAX; 2], [u32::MAX; 2]), [0x1cb9_96fc, 0xbb00_2be7]);
        assert_eq!(threefry([0x1319_8a2e, 0x0370_7344], [0x243f_6a88, 0x85a3_08d3]), [0xc492_3a9c, 0x483d_f7a0]);
    }

    #[test]
    fn tensors_have_the_words_of_the_host() -> Result<()> {
        let device = Device::cpu();
        let x = RaggedTensor::dense(vec![0f32; 6], &[3, 2], &device)?.into_erased();
        let step = RaggedTensor::dense(vec![0x0370_7344u32], &[1], &device)?.slice(ragged::s![0])?.into_erased();
        let found: RaggedTensor<u32> = words((0x1319_8a2e, &step), counters(&x)?)?.try_into()?;
        let expected: Vec<u32> = (0..6).map(|k| threefry([0x1319_8a2e, 0x0370_7344], [k / 2, k % 2])[0]).collect();
        assert_eq!(to_vecs((&found,))?.0, expected);
        Ok(())
    }
}
