//! 128-bit structural hashes. Graphs with equal digests are treated as equal.

pub(super) mod interned;
pub(super) mod word_hasher;

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hash, Hasher};

use self::word_hasher::WordHasher;

/// A structural hash. 128 bits keep the probability of an accidental collision near 2^-64 for any number of nodes that
/// a process can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Digest(u64, u64);

impl Digest {
    /// The digest of a hashable value. `tag` separates the domains of different kinds of values.
    pub(crate) fn of(tag: &str, what: impl Hash) -> Self {
        let mut sip = Sip::new();
        let mut words = WordHasher(|word| sip.word(word));
        words.write(tag.as_bytes());
        what.hash(&mut words);
        sip.digest()
    }

    /// The digest as text, for file and pipeline names.
    pub(crate) fn short(self) -> String {
        format!("{:016x}", self.0)
    }
}

/// SipHash-1-3 with 128-bit output (Aumasson and Bernstein 2012), fed one 64-bit word per number. Every recorded
/// expression hashes a few words. Measured: the standard library's hasher takes three times as long, since it hashes
/// byte by byte and needs two passes for 128 bits.
struct Sip {
    v: [u64; 4],
    words: u64,
}

impl Sip {
    fn new() -> Self {
        // "somepseudorandomlygeneratedbytes", with the constant of the 128-bit variant; the keys are 0.
        let v = [0x736f_6d65_7073_6575, 0x646f_7261_6e64_6f6d, 0x6c79_6765_6e65_7261, 0x7465_6462_7974_6573];
        Self { v: [v[0], v[1] ^ 0xee, v[2], v[3]], words: 0 }
    }

    #[inline]
    fn round(&mut self) {
        let [mut a, mut b, mut c, mut d] = self.v;
        a = a.wrapping_add(b);
        c = c.wrapping_add(d);
        b = b.rotate_left(13) ^ a;
        d = d.rotate_left(16) ^ c;
        a = a.rotate_left(32).wrapping_add(d);
        c = c.wrapping_add(b);
        b = b.rotate_left(17) ^ c;
        d = d.rotate_left(21) ^ a;
        self.v = [a, b, c.rotate_left(32), d];
    }

    #[inline]
    fn word(&mut self, word: u64) {
        self.words += 1;
        self.v[3] ^= word;
        self.round();
        self.v[0] ^= word;
    }

    fn digest(mut self) -> Digest {
        self.word(self.words);
        let mut half = |at: usize, mark: u64| {
            self.v[at] ^= mark;
            (0..3).for_each(|_| self.round());
            self.v.iter().fold(0, |all, v| all ^ v)
        };
        Digest(half(2, 0xee), half(1, 0xdd))
    }
}

/// A map keyed by digests, with the digest itself as hash.
pub(crate) type DigestMap<V> = HashMap<Digest, V, BuildHasherDefault<IdentityHasher>>;

/// A set of digests.
pub(crate) type DigestSet = HashSet<Digest, BuildHasherDefault<IdentityHasher>>;

/// Pass-through hasher: the hash is the last word written, such as the second half of a digest.
#[derive(Debug, Default)]
pub(crate) struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("bug: no digest")
    }
    fn write_u64(&mut self, part: u64) {
        self.0 = part;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_bit_changes_the_digest() {
        let of = |words: &[u64]| Digest::of("test", words);
        let base = [3u64, 0, u64::MAX, 1 << 40];
        let mut seen = DigestSet::default();
        assert!(seen.insert(of(&base)));
        for at in 0..base.len() {
            for bit in 0..64 {
                let mut other = base;
                other[at] ^= 1 << bit;
                let Digest(a, b) = of(&other);
                let Digest(x, y) = of(&base);
                // About half of the bits of each half change.
                assert!((a ^ x).count_ones().abs_diff(32) < 24 && (b ^ y).count_ones().abs_diff(32) < 24);
                assert!(seen.insert(Digest(a, b)), "word {at}, bit {bit}");
            }
        }
        assert_ne!(Digest::of("a", (1u32, 2u32)), Digest::of("a", (2u32, 1u32)));
        assert_ne!(Digest::of("a", ("xy", "z")), Digest::of("a", ("x", "yz")));
        assert_ne!(Digest::of("a", ()), Digest::of("b", ()));
        assert_ne!(Digest::of("a", 0u32), Digest::of("a", (0u32, 0u32)));
        assert_eq!(Digest::of("a", (1u64, true)), Digest::of("a", (1u64, true)));
    }

    #[test]
    fn digests_of_many_numbers_are_all_different() {
        let mut seen = DigestSet::default();
        assert!((0..100_000u32).all(|v| seen.insert(Digest::of("number", v))));
    }
}
