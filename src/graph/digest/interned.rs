//! Interning: equal live values are one object.

use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use crate::graph::digest::{Digest, DigestMap};

/// All live values of one kind, by digest. The lock is held only for a look-up or an insertion.
pub(in crate::graph) struct Interner<T>(LazyLock<Mutex<DigestMap<Weak<T>>>>);

impl<T> Interner<T> {
    pub(in crate::graph) const fn new() -> Self {
        Self(LazyLock::new(Mutex::default))
    }

    fn lock(&self) -> MutexGuard<'_, DigestMap<Weak<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The live value of that digest; otherwise the value that `make` returns. `make` runs under the lock: it must
    /// neither drop the last reference to an interned value nor intern another one.
    pub(in crate::graph) fn get_or_insert(&self, digest: Digest, make: impl FnOnce() -> T) -> Arc<T> {
        let mut table = self.lock();
        if let Some(found) = table.get(&digest).and_then(Weak::upgrade) {
            return found;
        }
        let value = Arc::new(make());
        table.insert(digest, Arc::downgrade(&value));
        value
    }

    /// Removes the entry of a value that is being dropped, unless an equal value has replaced it since.
    pub(in crate::graph) fn remove_dropped(&self, digest: Digest) {
        let mut table = self.lock();
        if table.get(&digest).is_some_and(|w| w.strong_count() == 0) {
            table.remove(&digest);
        }
    }
}
