//! Encoding of hashable values as 64-bit words.

use std::hash::Hasher;

/// A [`Hasher`] that passes the data to a function instead of hashing it: one word per number; for bytes, their number
/// and one word per eight bytes. Unequal values of one type give different words.
pub(in crate::graph) struct WordHasher<F>(pub(in crate::graph) F);

impl<F: FnMut(u64)> Hasher for WordHasher<F> {
    fn finish(&self) -> u64 {
        unreachable!("bug: nothing is hashed")
    }
    fn write(&mut self, bytes: &[u8]) {
        (self.0)(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            (self.0)(u64::from_le_bytes(word));
        }
    }
    fn write_u8(&mut self, v: u8) {
        (self.0)(v.into());
    }
    fn write_u32(&mut self, v: u32) {
        (self.0)(v.into());
    }
    fn write_u64(&mut self, v: u64) {
        (self.0)(v);
    }
    fn write_usize(&mut self, v: usize) {
        (self.0)(v as u64);
    }
    fn write_isize(&mut self, v: isize) {
        (self.0)(v as u64);
    }
}
