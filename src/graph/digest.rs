//! 128-bit structural hashes: two graphs with the same digest are taken to be the same graph.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};

/// A structural hash. Two independent 64-bit SipHash states make an accidental collision a matter of 2^-64 for any
/// number of nodes a process can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Digest(u64, u64);

impl Digest {
    /// The digest of anything hashable; `tag` separates the kinds of things hashed.
    pub(crate) fn of(tag: &str, what: impl Hash) -> Self {
        let (mut a, mut b) = (DefaultHasher::new(), DefaultHasher::new());
        b.write_u64(0x9E37_79B9_7F4A_7C15);
        for h in [&mut a, &mut b] {
            tag.hash(h);
            what.hash(h);
        }
        Self(a.finish(), b.finish())
    }

    /// The digest as text, for file and pipeline names.
    pub(crate) fn short(self) -> String {
        format!("{:016x}", self.0)
    }
}

/// What is known by a digest: digests are hashes already.
pub(crate) type DigestMap<V> = HashMap<Digest, V, BuildHasherDefault<Rehash>>;

/// Takes a part of a digest for its hash.
#[derive(Debug, Default)]
pub(crate) struct Rehash(u64);

impl Hasher for Rehash {
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
