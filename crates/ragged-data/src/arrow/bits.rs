//! Bits, as Arrow stores bools and what is null, and bytes, as tensors store bools.

use std::sync::Arc;

use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use ragged::Result;
use rayon::prelude::*;

use crate::memory::room;

/// One in each byte of a word.
const ONES: u64 = u64::MAX / 255;
/// All bits but the highest, in each byte of a word.
const LOW: u64 = ONES * 127;

/// Bits of a word.
const WORD: usize = u64::BITS as usize;
/// Words that a thread converts at once, at least.
const WORDS_PER_TASK: usize = 1 << 12;

/// Blocks of memory of which a tensor adopts the first `len` bytes.
struct Blocks<const BYTES: usize> {
    blocks: Vec<[u8; BYTES]>,
    len: usize,
}

impl<const BYTES: usize> AsRef<[u8]> for Blocks<BYTES> {
    fn as_ref(&self) -> &[u8] {
        &self.blocks.as_flattened()[..self.len]
    }
}

/// Memory that a tensor adopts.
pub(super) type Memory = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// A value for each word of `n` bits, by all threads.
///
/// # Errors
/// The allocator refuses the memory of `what`.
fn each_word<T: Send>(what: &str, n: usize, of: impl Fn(usize) -> T + Sync + Send) -> Result<Vec<T>> {
    let words = n.div_ceil(WORD);
    let mut out = room(what, words)?;
    if words <= WORDS_PER_TASK {
        out.extend((0..words).map(of));
    } else {
        (0..words).into_par_iter().with_min_len(WORDS_PER_TASK).map(of).collect_into_vec(&mut out);
    }
    Ok(out)
}

/// The bits from `64 * word` on; unset where there are none.
fn word_of(bits: &BooleanBuffer, word: usize) -> u64 {
    let (start, shift) = ((bits.offset() + word * WORD) / 8, (bits.offset() + word * WORD) % 8);
    let mut bytes = [0; 16];
    let there = bits.values().get(start..).unwrap_or_default();
    let there = &there[..there.len().min(9)];
    bytes[..there.len()].copy_from_slice(there);
    let low = (u128::from_le_bytes(bytes) >> shift) as u64;
    let left = bits.len() - word * WORD;
    if left < WORD { low & ((1 << left) - 1) } else { low }
}

/// A byte for each bit of `bits`: 1 where it is set, and valid.
///
/// # Errors
/// The allocator refuses the memory.
pub(super) fn bytes_of_bits(bits: &BooleanBuffer, nulls: Option<&NullBuffer>) -> Result<Memory> {
    let blocks = each_word("bools of an Arrow array", bits.len(), |word| {
        let valid = nulls.map_or(u64::MAX, |nulls| word_of(nulls.inner(), word));
        let mut block = [0; WORD];
        let bytes = (word_of(bits, word) & valid).to_le_bytes();
        block.as_chunks_mut().0.iter_mut().zip(bytes).for_each(|(block, byte)| *block = spread(byte).to_le_bytes());
        block
    })?;
    Ok(Arc::new(Blocks { blocks, len: bits.len() }))
}

/// The bits of a byte as the bytes of a word, from the lowest on.
fn spread(byte: u8) -> u64 {
    // Bit i of the byte in byte i, then that byte's own lowest bit.
    let bits = (u64::from(byte) * ONES) & 0x8040_2010_0804_0201;
    ((bits + LOW) >> 7) & ONES
}

/// A bit for each byte: whether it is not 0.
///
/// # Errors
/// The allocator refuses the memory.
pub(super) fn bits_of_bytes(bytes: &[u8]) -> Result<BooleanBuffer> {
    let words = each_word("bits of an Arrow array", bytes.len(), |word| {
        let start = word * WORD;
        let block = &bytes[start..bytes.len().min(start + WORD)];
        let mut bits = [0; 8];
        let (eights, rest) = block.as_chunks::<8>();
        eights.iter().zip(&mut bits).for_each(|(eight, bits)| *bits = gather(u64::from_le_bytes(*eight)));
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            bits[eights.len()] = gather(u64::from_le_bytes(last));
        }
        u64::from_ne_bytes(bits)
    })?;
    Ok(BooleanBuffer::new(Buffer::from_vec(words), 0, bytes.len()))
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
pub(super) fn without_nulls(items: &[u8], size: usize, nulls: &NullBuffer) -> Result<Memory> {
    match size {
        1 => copied::<1, WORD>(items, nulls),
        2 => copied::<2, { 2 * WORD }>(items, nulls),
        4 => copied::<4, { 4 * WORD }>(items, nulls),
        _ => copied::<8, { 8 * WORD }>(items, nulls),
    }
}

/// As [`without_nulls`], of items of `SIZE` bytes and blocks of 64 items.
fn copied<const SIZE: usize, const BLOCK: usize>(items: &[u8], nulls: &NullBuffer) -> Result<Memory> {
    let blocks = each_word("numbers of an Arrow array", nulls.len(), |word| {
        let start = word * BLOCK;
        let there = &items[start..items.len().min(start + BLOCK)];
        let mut block = [0; BLOCK];
        match <&[u8; BLOCK]>::try_from(there) {
            Ok(there) => block = *there,
            Err(_) => block[..there.len()].copy_from_slice(there),
        }
        let mut null = !word_of(nulls.inner(), word);
        let (items, _) = block.as_chunks_mut::<SIZE>();
        while null != 0 {
            items[null.trailing_zeros() as usize] = [0; SIZE];
            null &= null - 1;
        }
        block
    })?;
    Ok(Arc::new(Blocks { blocks, len: items.len() }))
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
        for n in [0, 1, 7, 8, 9, 63, 64, 65, 127, 128, 4095, 4096, 4097, 300_000] {
            for offset in [0, 1, 7, 9] {
                let all = BooleanBuffer::collect_bool(n + offset, |_| random());
                let bits = all.slice(offset, n);
                let nulls = NullBuffer::new(BooleanBuffer::collect_bool(n + offset, |_| random()).slice(offset, n));
                let bytes: Vec<u8> = bits.iter().map(u8::from).collect();
                assert_eq!((*bytes_of_bits(&bits, None)?).as_ref(), bytes, "{n} bits from {offset}");
                assert_eq!(bits_of_bytes(&bytes)?, bits, "{n} bits from {offset}");
                let valid: Vec<u8> = bits.iter().zip(nulls.iter()).map(|(bit, valid)| u8::from(bit && valid)).collect();
                assert_eq!((*bytes_of_bits(&bits, Some(&nulls))?).as_ref(), valid, "{n} bits from {offset}");
                for size in [1, 2, 4, 8] {
                    let items: Vec<u8> = (0..n * size).map(|i| i as u8 | 1).collect();
                    let mut expected = items.clone();
                    for (item, valid) in expected.chunks_mut(size).zip(nulls.iter()).filter(|(_, valid)| !valid) {
                        item.fill(u8::from(valid));
                    }
                    assert_eq!(
                        (*without_nulls(&items, size, &nulls)?).as_ref(),
                        expected,
                        "{n} items of {size} from {offset}"
                    );
                }
            }
        }
        // Any byte but 0 is true.
        assert_eq!(bits_of_bytes(&[0, 2, 128, 255, 1])?.iter().map(u8::from).collect::<Vec<_>>(), [0, 1, 1, 1, 1]);
        Ok(())
    }
}
