//! Bits, as Arrow stores bools and what is null, and bytes, as tensors store bools.

use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use ragged::Result;

use crate::memory::room;

/// One in each byte of a word.
const ONES: u64 = u64::MAX / 255;
/// All bits but the highest, in each byte of a word.
const LOW: u64 = ONES * 127;

/// A byte for each bit of `bits`: 1 where it is set, and valid.
///
/// # Errors
/// The allocator refuses the memory.
pub(super) fn bytes_of_bits(bits: &BooleanBuffer, nulls: Option<&NullBuffer>) -> Result<Vec<u8>> {
    let n = bits.len();
    let mut bytes: Vec<u8> = room("bools of an Arrow array", n.next_multiple_of(64))?;
    let mut push = |word: u64| bytes.extend_from_slice(bytemuck::bytes_of(&word.to_le_bytes().map(spread)));
    match nulls {
        None => bits.bit_chunks().iter_padded().for_each(push),
        Some(nulls) => {
            let valid = nulls.inner().bit_chunks();
            bits.bit_chunks().iter_padded().zip(valid.iter_padded()).for_each(|(word, valid)| push(word & valid));
        }
    }
    bytes.truncate(n);
    Ok(bytes)
}

/// The bits of a byte as bytes, in memory from the lowest on.
fn spread(byte: u8) -> u64 {
    // Bit i of the byte in byte i, then that byte's own lowest bit.
    let bits = (u64::from(byte) * ONES) & 0x8040_2010_0804_0201;
    (((bits + LOW) >> 7) & ONES).to_le()
}

/// A bit for each byte: whether it is not 0.
///
/// # Errors
/// The allocator refuses the memory.
pub(super) fn bits_of_bytes(bytes: &[u8]) -> Result<BooleanBuffer> {
    let mut bits: Vec<u8> = room("bits of an Arrow array", bytes.len().div_ceil(8))?;
    let (words, rest) = bytes.as_chunks::<8>();
    bits.extend(words.iter().map(|word| gather(u64::from_le_bytes(*word))));
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        bits.push(gather(u64::from_le_bytes(last)));
    }
    Ok(BooleanBuffer::new(Buffer::from_vec(bits), 0, bytes.len()))
}

/// Whether each byte of a word is not 0, as the bits of a byte.
fn gather(word: u64) -> u8 {
    let ones = ((((word & LOW) + LOW) | word) >> 7) & ONES;
    // The lowest bit of byte i moves to bit 56 + i.
    (ones.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

/// A copy of items of `size` bytes, 0 where they are null.
///
/// # Errors
/// The allocator refuses the memory.
pub(super) fn without_nulls(items: &[u8], size: usize, nulls: &NullBuffer) -> Result<Vec<u8>> {
    /// Words of bits for which items are copied at once, which then are in a cache.
    const WORDS: usize = 64;
    let mut bytes: Vec<u8> = room("numbers of an Arrow array", items.len())?;
    let valid = nulls.inner().bit_chunks();
    let mut valid = valid.iter_padded();
    for block in items.chunks(WORDS * 64 * size) {
        let start = bytes.len();
        bytes.extend_from_slice(block);
        for items in bytes[start..].chunks_mut(64 * size) {
            // A padded word has bits of no items.
            let mut null = !valid.next().unwrap_or(0);
            while null != 0 {
                let at = null.trailing_zeros() as usize * size;
                match items.get_mut(at..at + size) {
                    Some(item) => item.fill(0),
                    None => break,
                }
                null &= null - 1;
            }
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bits at every offset in a byte, of numbers around multiples of words, next to a loop.
    #[test]
    fn words_are_the_bits_one_by_one() -> Result<()> {
        let mut state = 1u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 30) == 0
        };
        for n in [0, 1, 7, 8, 9, 63, 64, 65, 127, 128, 4095, 4096, 4097, 9000] {
            for offset in [0, 1, 7, 9] {
                let all = BooleanBuffer::collect_bool(n + offset, |_| random());
                let bits = all.slice(offset, n);
                let nulls = NullBuffer::new(BooleanBuffer::collect_bool(n + offset, |_| random()).slice(offset, n));
                let bytes: Vec<u8> = bits.iter().map(u8::from).collect();
                assert_eq!(bytes_of_bits(&bits, None)?, bytes, "{n} bits from {offset}");
                assert_eq!(bits_of_bytes(&bytes)?, bits, "{n} bits from {offset}");
                let valid: Vec<u8> = bits.iter().zip(nulls.iter()).map(|(bit, valid)| u8::from(bit && valid)).collect();
                assert_eq!(bytes_of_bits(&bits, Some(&nulls))?, valid, "{n} bits from {offset}");
                for size in [1, 2, 4, 8] {
                    let items: Vec<u8> = (0..n * size).map(|i| i as u8 | 1).collect();
                    let mut expected = items.clone();
                    for (item, valid) in expected.chunks_mut(size).zip(nulls.iter()).filter(|(_, valid)| !valid) {
                        item.fill(u8::from(valid));
                    }
                    assert_eq!(without_nulls(&items, size, &nulls)?, expected, "{n} items of {size} from {offset}");
                }
            }
        }
        // Any byte but 0 is true.
        assert_eq!(bits_of_bytes(&[0, 2, 128, 255, 1])?.iter().map(u8::from).collect::<Vec<_>>(), [0, 1, 1, 1, 1]);
        Ok(())
    }
}
