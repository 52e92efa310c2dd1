//! Partitions rows into work items for the cores.

use std::ops::Range;

use super::compiled_expr::Inputs;
use crate::graph::planned::Rows;

/// Row starts, on the host.
#[derive(Clone, Copy)]
pub(crate) enum RowStarts<'a> {
    Splits(&'a [u32]),
    Uniform(usize),
}

/// The rows `first..end` and their part of the output.
pub(crate) struct WorkItem<'o, T> {
    pub(crate) first: usize,
    pub(crate) end: usize,
    pub(crate) out: &'o mut [T],
}

impl<'a> RowStarts<'a> {
    pub(crate) fn new(inputs: &'a Inputs, rows: &Rows) -> Self {
        match rows {
            Rows::Splits(node) => Self::Splits(inputs.array(node).slice()),
            Rows::Uniform(len) => Self::Uniform(inputs.sizes().value(len) as usize),
        }
    }

    /// The start of row `row`.
    #[inline(always)]
    pub(crate) fn at(&self, row: usize) -> usize {
        match self {
            Self::Splits(s) => s[row] as usize,
            Self::Uniform(len) => row * len,
        }
    }

    /// The exclusive end of the work item that begins with row `first`: see [`RowStarts::work_items`]. A binary search,
    /// since a linear one takes as long as a core takes to sum the rows.
    fn end(&self, first: usize, nrows: usize, inner: usize, chunk: usize) -> usize {
        let most = nrows.min(first + (chunk / inner.max(1)).max(1));
        let values = chunk.checked_div(inner).unwrap_or(usize::MAX);
        let fits = match self {
            Self::Splits(s) => {
                let end = (s[first] as usize).saturating_add(values);
                s[first + 1..=most].partition_point(|&split| split as usize <= end)
            }
            Self::Uniform(len) => values.checked_div(*len).unwrap_or(usize::MAX),
        };
        most.min(first.saturating_add(fits.max(1)))
    }

    /// Work items of all rows of `out`, which has `inner` numbers per row. A work item has at most `chunk` numbers of
    /// output and at most `chunk` numbers of values (`inner` per value), unless it is a single longer row.
    pub(crate) fn work_items<'o, T>(&self, inner: usize, chunk: usize, out: &'o mut [T]) -> Vec<WorkItem<'o, T>> {
        let nrows = out.len().checked_div(inner).unwrap_or(0);
        self.partition(nrows, inner, chunk, out, |first, end| end - first)
    }

    /// As [`RowStarts::work_items`], for the first `nrows` rows and an `out` with `inner` numbers per value. Work items
    /// without values are omitted.
    pub(crate) fn work_items_of_values<'o, T>(
        &self,
        nrows: usize,
        inner: usize,
        chunk: usize,
        out: &'o mut [T],
    ) -> Vec<WorkItem<'o, T>> {
        let mut items = self.partition(nrows, inner, chunk, out, |first, end| self.at(end) - self.at(first));
        items.retain(|item| !item.out.is_empty());
        items
    }

    fn partition<'o, T>(
        &self,
        nrows: usize,
        inner: usize,
        chunk: usize,
        mut out: &'o mut [T],
        size: impl Fn(usize, usize) -> usize,
    ) -> Vec<WorkItem<'o, T>> {
        let item = |Range { start: first, end }: Range<usize>| {
            let own = out.split_off_mut(..size(first, end) * inner).unwrap_or_default();
            WorkItem { first, end, out: own }
        };
        self.ranges(nrows, inner, chunk).into_iter().map(item).collect()
    }

    /// The rows of each work item of the first `nrows` rows.
    pub(crate) fn ranges(&self, nrows: usize, inner: usize, chunk: usize) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        let mut first = 0;
        while first < nrows {
            let end = self.end(first, nrows, inner, chunk);
            ranges.push(first..end);
            first = end;
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_items_are_as_long_as_allowed() {
        let lens = [3, 0, 0, 9, 1, 1, 0, 5, 40, 0, 2, 2, 2, 2, 0];
        let splits: Vec<u32> = [0]
            .into_iter()
            .chain(lens.iter().scan(0, |end, len| {
                *end += len;
                Some(*end)
            }))
            .collect();
        let starts = RowStarts::Splits(&splits);
        for inner in [1, 2] {
            let mut out = vec![0; lens.len() * inner];
            let found: Vec<_> =
                starts.work_items(inner, 10, &mut out).iter().map(|r| (r.first, r.end, r.out.len())).collect();
            let mut first = 0;
            for (k, &(from, to, len)) in found.iter().enumerate() {
                assert_eq!((from, len), (first, (to - from) * inner));
                let numbers = |to: usize| (starts.at(to) - starts.at(from)) * inner;
                assert!(to == from + 1 || numbers(to) <= 10, "{inner}: {from}..{to}");
                assert!(to == lens.len() || to - from == 10 / inner || numbers(to + 1) > 10, "{inner}: {from}..{to}");
                assert!(k + 1 < found.len() || to == lens.len());
                first = to;
            }
        }
        let mut values = vec![0; 67];
        let found = starts.work_items_of_values(lens.len(), 1, 10, &mut values);
        assert_eq!(found.iter().map(|run| run.out.len()).sum::<usize>(), 67);
        assert!(found.iter().all(|run| run.out.len() == starts.at(run.end) - starts.at(run.first)));
        let mut out = [0; 7];
        let found = RowStarts::Uniform(4).work_items(1, 10, &mut out);
        assert_eq!(found.iter().map(|run| (run.first, run.end)).collect::<Vec<_>>(), [(0, 2), (2, 4), (4, 6), (6, 7)]);
        assert_eq!(RowStarts::Uniform(0).work_items(1, 10, &mut [0; 25]).len(), 3);
    }
}
