//! Products of few results and many terms, whose terms are divided among the cores.

use std::sync::Arc;

use super::super::array::ArrayElement;
use super::super::number::Number;
use super::super::parallel;
use super::super::pool::Pool;
use super::blocked::{Panels, add_to, sums};
use super::factor::Factor;
use crate::error::Result;
use crate::graph::canonical_order::product::{BLOCK, GROUP, SECTION};

/// Multiplications per work item, if it has several parts.
const ITEM: usize = 1 << 23;
/// Groups or sections per core, from which these are the parts.
const PARTS_PER_CORE: usize = 4;

/// Computes the product as [`product`](super::blocked::product) does, if it has several blocks: first the sums of
/// blocks, or of sections or groups if they are many, on all cores; then the sums of these.
pub(super) fn product<T: Number + ArrayElement, const N: usize>(
    (pool, op): (&Arc<Pool>, &str),
    left: Factor<'_, T>,
    right: Factor<'_, T>,
    terms: usize,
    out: &mut [&mut [T]],
) -> Result<()> {
    let columns = out.first().map_or(0, |row| row.len());
    let results = out.len() * columns;
    if results == 0 {
        return Ok(());
    }
    let [block, section, group] = [BLOCK, SECTION, GROUP].map(|n| n as usize);
    let enough = PARTS_PER_CORE * rayon::current_num_threads();
    let span = [group, section].into_iter().find(|span| terms.div_ceil(*span) >= enough).unwrap_or(block);
    let parts = terms.div_ceil(span);
    let parts_per_item = (ITEM / (results * span)).clamp(1, group / span);
    let _counted = pool.reserve_host(op, (parts * results * size_of::<T>()) as u64)?;
    let mut partial = vec![T::default(); parts * results];
    let items = partial.chunks_mut(parts_per_item * results).enumerate().collect();
    parallel::for_each(items, &|(item, partial): (usize, &mut [T])| {
        let mut panels = Panels::<T, N>::new();
        for (part, partial) in partial.chunks_mut(results).enumerate() {
            let first = (item * parts_per_item + part) * span;
            let rows = &mut partial.chunks_mut(columns).collect::<Vec<_>>();
            sums(left, right, first..terms.min(first + span), rows, &mut panels);
        }
    });
    let rows = out.iter_mut().enumerate().collect();
    parallel::for_each(rows, &|(r, row): (usize, &mut &mut [T])| {
        row.fill(T::default());
        let (mut of_group, mut of_section) = (vec![T::default(); columns], vec![T::default(); columns]);
        for sections in partial.chunks(group / span * results) {
            of_group.fill(T::default());
            for parts in sections.chunks((section / span).max(1) * results) {
                of_section.fill(T::default());
                for part in parts.chunks(results) {
                    add_to(&mut of_section, &part[r * columns..][..columns]);
                }
                add_to(&mut of_group, &of_section);
            }
            add_to(row, &of_group);
        }
    });
    Ok(())
}
