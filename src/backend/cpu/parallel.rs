//! Loops over work items on all cores.
//!
//! Rayon's loops are instantiated per item type and closure. These loops take `dyn` closures, so that rayon is
//! instantiated once per item type.

use rayon::prelude::*;

/// Calls `f` with each index below `n`.
pub(super) fn for_each_index(n: usize, f: &(dyn Fn(usize) + Sync)) {
    (0..n).into_par_iter().for_each(f);
}

/// Calls `f` with each item.
pub(super) fn for_each<T: Send>(mut items: Vec<T>, f: &(dyn Fn(T) + Sync)) {
    match items.pop() {
        Some(only) if items.is_empty() => f(only),
        last => {
            items.extend(last);
            items.into_par_iter().for_each(f);
        }
    }
}

/// Calls `f` with the number of each chunk of `len` elements, and the chunk. The last chunk may be shorter.
pub(super) fn for_each_chunk<T: Send>(slice: &mut [T], len: usize, f: &(dyn Fn(usize, &mut [T]) + Sync)) {
    for_each(slice.chunks_mut(len).enumerate().collect(), &|(k, chunk)| f(k, chunk));
}

/// Collects the results of `f` for each index below `n`.
pub(super) fn collect<T: Send>(n: usize, f: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    let mut results: Vec<Option<T>> = std::iter::repeat_with(|| None).take(n).collect();
    for_each_chunk(&mut results, 1, &|k, result| result[0] = Some(f(k)));
    results.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_is_visited_once() {
        for n in [0, 1, 2, 1000] {
            let mut visits = vec![0; n];
            for_each(visits.iter_mut().enumerate().collect(), &|(k, visits)| *visits += k + 1);
            assert!(visits.iter().copied().eq(1..=n));
            for_each_chunk(&mut visits, 7, &|k, chunk| chunk.iter_mut().for_each(|x| *x = k));
            assert!(visits.iter().copied().eq((0..n).map(|k| k / 7)));
            assert_eq!(collect(n, &|k| 2 * k), (0..n).map(|k| 2 * k).collect::<Vec<_>>());
        }
    }
}
