//! Division of matrix products into work items for the cores, by their numbers of multiplications.

use crate::graph::canonical_order::product::BLOCK;

/// Sizes and starts of one product; it has results.
#[derive(Debug, Clone, Copy)]
pub(super) struct Batch {
    pub(super) rows: usize,
    pub(super) terms: usize,
    pub(super) columns: usize,
    pub(super) left: usize,
    pub(super) right: usize,
    pub(super) out: usize,
}

impl Batch {
    /// The end of its results.
    pub(super) fn end(&self) -> usize {
        self.out + self.rows * self.columns
    }

    /// Number of multiplications, at least the number of results.
    fn work(&self) -> u64 {
        (self.rows * self.columns) as u64 * self.terms.max(1) as u64
    }

    /// How the product is divided for that many cores, if a work item takes the time of `area` results.
    fn parts(&self, area: usize, cores: usize) -> Parts {
        let results = self.rows * self.columns;
        if area >= FEW.min(results) || self.terms / (BLOCK as usize) < BLOCKS_PER_CORE * cores {
            return Parts::OfResults(area);
        }
        if results / FEW >= PARTS_PER_CORE * cores {
            return Parts::OfResults(FEW);
        }
        // Parts of a result that is one tile high or wide are packed as often as the whole.
        let (least, most) = (self.rows.min(self.columns), self.rows.max(self.columns));
        let is_thin = least <= EDGE && most / EDGE >= PARTS_PER_CORE * cores;
        if is_thin { Parts::OfResults(area) } else { Parts::OfTerms }
    }
}

/// Work items per core.
const SHARES: u64 = 16;
/// Multiplications per work item: about 10 µs at least, and 1 ms at most, unless a few results have more.
const LEAST: u64 = 1 << 18;
const MOST: u64 = 1 << 25;
/// Rows and columns of a part of a product are multiples of this, which fill the register tiles.
const EDGE: usize = 16;

/// Results per part of a product whose parts have many terms. In smaller parts, packing takes a large share of the time.
const FEW: usize = 1 << 12;
/// Blocks of terms per core, from which terms may be divided.
const BLOCKS_PER_CORE: usize = 8;
/// Parts per core that suffice without dividing the terms.
const PARTS_PER_CORE: usize = 4;

/// A work item.
#[derive(Debug)]
pub(super) enum WorkItem<'b, 'o, T> {
    /// Adjacent results from result `first` on: all of some batches, or some rows of one.
    Rows { batches: &'b [Batch], first: usize, out: &'o mut [T] },
    /// Some columns of some rows of one batch, from `row` and `column` on.
    Rectangle { batch: &'b Batch, row: usize, column: usize, out: Vec<&'o mut [T]> },
}

/// Computes results of one batch: called with the batch, the first row and column, and the rows of results.
type Compute<'f, T> = dyn FnMut(&Batch, (usize, usize), &mut [&mut [T]]) + 'f;

impl<T> WorkItem<'_, '_, T> {
    /// Calls `f` with the results of each batch.
    pub(super) fn for_each(self, f: &mut Compute<'_, T>) {
        match self {
            Self::Rows { batches, first, out } => {
                for batch in batches {
                    let start = batch.out.max(first);
                    let end = (batch.end() - first).min(out.len());
                    let own = &mut out[start - first..end];
                    let rows = &mut own.chunks_mut(batch.columns).collect::<Vec<_>>();
                    f(batch, ((start - batch.out) / batch.columns, 0), rows);
                }
            }
            Self::Rectangle { batch, row, column, mut out } => f(batch, (row, column), &mut out),
        }
    }
}

/// All work items of a call.
#[derive(Debug)]
pub(super) struct Division<'b, 'o, T> {
    /// Items for one core each.
    pub(super) items: Vec<WorkItem<'b, 'o, T>>,
    /// Items of few results and many terms, for all cores.
    pub(super) by_terms: Vec<WorkItem<'b, 'o, T>>,
}

/// Divides the products into work items. The results are in ascending order and within `out`.
pub(super) fn divide<'b, 'o, T>(batches: &'b [Batch], cores: usize, out: &'o mut [T]) -> Division<'b, 'o, T> {
    let all = batches.iter().fold(0, |sum: u64, batch| sum.saturating_add(batch.work()));
    let target = (all / (SHARES * cores as u64)).clamp(LEAST, MOST);
    let (mut items, mut by_terms) = (Vec::new(), Vec::new());
    let (mut rest, mut at) = (out, 0);
    let mut end = 0;
    while let Some(first) = batches.get(end) {
        let mut work = first.work();
        let mut taken = 1;
        while let Some(batch) = batches.get(end + taken)
            && work + batch.work() <= target
        {
            work += batch.work();
            taken += 1;
        }
        let group = &batches[end..end + taken];
        let last = group[taken - 1].end();
        let (own, tail) = std::mem::take(&mut rest)[first.out - at..].split_at_mut(last - first.out);
        (rest, at, end) = (tail, last, end + taken);
        if work <= 2 * target {
            items.push(WorkItem::Rows { batches: group, first: first.out, out: own });
        } else {
            let area = (target / first.terms.max(1) as u64) as usize;
            match first.parts(area, cores) {
                Parts::OfResults(area) => divide_one(first, area, own, &mut items),
                Parts::OfTerms => divide_one(first, FEW, own, &mut by_terms),
            }
        }
    }
    Division { items, by_terms }
}

/// How a product is divided.
enum Parts {
    /// Into rectangles of about that many results.
    OfResults(usize),
    /// Into rectangles of [`FEW`] results, and each of these into blocks of terms.
    OfTerms,
}

/// Divides one product into rectangles of about `area` results.
fn divide_one<'b, 'o, T>(batch: &'b Batch, area: usize, out: &'o mut [T], items: &mut Vec<WorkItem<'b, 'o, T>>) {
    // Twice as wide as high, since packed columns are copied faster than packed rows.
    let width = balanced(batch.columns, (2 * area).isqrt().max(area / batch.rows));
    let height = balanced(batch.rows, area / width);
    for (i, rows) in out.chunks_mut(height * batch.columns).enumerate() {
        let row = i * height;
        if width >= batch.columns {
            let batches = std::slice::from_ref(batch);
            items.push(WorkItem::Rows { batches, first: batch.out + row * batch.columns, out: rows });
            continue;
        }
        let mut parts: Vec<Vec<&mut [T]>> = Vec::new();
        parts.resize_with(batch.columns.div_ceil(width), Vec::new);
        for row in rows.chunks_mut(batch.columns) {
            for (part, piece) in parts.iter_mut().zip(row.chunks_mut(width)) {
                part.push(piece);
            }
        }
        let rectangle = |(j, out)| WorkItem::Rectangle { batch, row, column: j * width, out };
        items.extend(parts.into_iter().enumerate().map(rectangle));
    }
}

/// The length of the parts if `len` is divided evenly into parts of about `target`.
fn balanced(len: usize, target: usize) -> usize {
    let parts = (len / target.max(EDGE)).max(1);
    len.div_ceil(parts).next_multiple_of(EDGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each result has one work item, whose row and column are those of the result.
    fn check(sizes: &[(usize, usize, usize)], gap: usize, cores: usize) -> (usize, usize) {
        let mut end = 0;
        let mut batches = Vec::new();
        for &(rows, terms, columns) in sizes {
            let batch = Batch { rows, terms, columns, left: 0, right: 0, out: end + gap };
            end = batch.end();
            batches.push(batch);
        }
        let mut out = vec![usize::MAX; end];
        let Division { items, by_terms } = divide(&batches, cores, &mut out);
        let count = (items.len(), by_terms.len());
        for item in items.into_iter().chain(by_terms) {
            item.for_each(&mut |batch, (row, column), out| {
                for (r, out) in out.iter_mut().enumerate() {
                    for (c, out) in out.iter_mut().enumerate() {
                        assert_eq!(*out, usize::MAX);
                        *out = batch.out + (row + r) * batch.columns + column + c;
                    }
                }
            });
        }
        for batch in &batches {
            assert!((batch.out..batch.end()).all(|at| out[at] == at), "{batch:?}");
        }
        count
    }

    #[test]
    fn each_result_is_in_one_work_item() {
        assert_eq!(check(&[], 0, 2), (0, 0));
        assert_eq!(check(&[(1, 0, 1)], 3, 2), (1, 0));
        for cores in [1, 2, 64] {
            check(&[(700, 1000, 300), (1, 1, 1), (2, 0, 3), (5, 100_000, 37)], 2, cores);
            check(&vec![(3, 4, 5); 10_000], 0, cores);
            check(&[(100_000, 64, 1), (1, 64, 100_000), (17, 1 << 20, 33)], 1, cores);
        }
    }

    #[test]
    fn work_is_divided_among_cores() {
        assert_eq!(check(&vec![(4, 4, 4); 1000], 0, 8), (1, 0));
        assert!((16..50).contains(&check(&[(1024, 1024, 1024)], 0, 2).0));
        assert!((64..300).contains(&check(&[(1024, 1024, 1024)], 0, 16).0));
        assert!(check(&[(1, 4096, 4096)], 0, 16).0 >= 16);
        assert!(check(&[(4096, 4096, 1)], 0, 16).0 >= 16);
        assert!(check(&[(1024, 1 << 16, 1024)], 0, 16).0 >= 64);
    }

    #[test]
    fn many_terms_of_few_results_are_divided() {
        for cores in [2, 16] {
            assert_eq!(check(&[(32, 1 << 20, 32)], 0, cores), (0, 1));
            assert_eq!(check(&[(1, 1 << 20, 1), (4, 4, 4)], 0, cores), (1, 1));
            let (items, by_terms) = check(&[(128, 1 << 20, 64)], 0, cores);
            assert!(items == 0 && (2..4).contains(&by_terms), "{by_terms}");
            assert_eq!(check(&[(64, 1000, 64)], 0, cores).1, 0);
        }
    }
}
