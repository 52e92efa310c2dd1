//! Eviction from LRU caches.

use std::{collections::HashMap, hash::Hash};

/// Evicts the least recently used quarter of a cache whose values have the time of their last use. Evicting a quarter
/// amortizes the selection.
pub(super) fn evict_oldest_quarter<K: Eq + Hash, V>(cached: &mut HashMap<K, (V, u64)>) {
    let mut times: Vec<u64> = cached.values().map(|(_, used)| *used).collect();
    let oldest = times.len() / 4;
    let (_, pivot, _) = times.select_nth_unstable(oldest);
    let pivot = *pivot;
    cached.retain(|_, (_, used)| *used > pivot);
}
