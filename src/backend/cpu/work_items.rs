//! Partitions rows into runs, the work items that cores share.

use super::compiled_expr::Inputs;
use crate::graph::node::Rows;

/// Row starts, on the host.
#[derive(Clone, Copy)]
pub(crate) enum RowStarts<'a> {
    Splits(&'a [u32]),
    Uniform(usize),
}

/// One work item: the rows `first..last` with their part of the result.
pub(crate) struct WorkItem<'o, T> {
    pub(crate) first: usize,
    pub(crate) last: usize,
    pub(crate) out: &'o mut [T],
}

impl<'a> RowStarts<'a> {
    pub(crate) fn new(inputs: &'a Inputs, rows: &Rows) -> Self {
        match rows {
            Rows::Splits(node) => Self::Splits(inputs.array(node).slice()),
            Rows::Uniform(len) => Self::Uniform(len.value() as usize),
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

    /// The exclusive end of a run that begins with row `first`. A run has at most `chunk` results and at most `chunk`
    /// numbers, `inner` per row and per value, unless it is a single longer row. Found by binary search, since visiting
    /// every row takes as long as a core takes to sum it.
    fn last(&self, first: usize, nrows: usize, inner: usize, chunk: usize) -> usize {
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

    /// Runs of the rows of `out`, which has `inner` numbers per row. A run has at most `chunk` of these and at most
    /// `chunk` numbers of values, unless it is a single longer row. Each run has its rows' part of `out`.
    pub(crate) fn work_items<'o, T>(&self, inner: usize, chunk: usize, out: &'o mut [T]) -> Vec<WorkItem<'o, T>> {
        let nrows = out.len().checked_div(inner).unwrap_or(0);
        self.cut(nrows, inner, chunk, out, |first, last| last - first)
    }

    /// As [`RowStarts::work_items`], for the first `nrows` rows and an `out` with `inner` numbers per value. Runs
    /// without values are omitted.
    pub(crate) fn work_items_of_values<'o, T>(
        &self,
        nrows: usize,
        inner: usize,
        chunk: usize,
        out: &'o mut [T],
    ) -> Vec<WorkItem<'o, T>> {
        let mut runs = self.cut(nrows, inner, chunk, out, |first, last| self.at(last) - self.at(first));
        runs.retain(|run| !run.out.is_empty());
        runs
    }

    fn cut<'o, T>(
        &self,
        nrows: usize,
        inner: usize,
        chunk: usize,
        mut out: &'o mut [T],
        size: impl Fn(usize, usize) -> usize,
    ) -> Vec<WorkItem<'o, T>> {
        let mut runs = Vec::new();
        let mut first = 0;
        while first < nrows {
            let last = self.last(first, nrows, inner, chunk);
            let (run, rest) = out.split_at_mut(size(first, last) * inner);
            runs.push(WorkItem { first, last, out: run });
            (first, out) = (last, rest);
        }
        runs
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
                starts.work_items(inner, 10, &mut out).iter().map(|r| (r.first, r.last, r.out.len())).collect();
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
        assert!(found.iter().all(|run| run.out.len() == starts.at(run.last) - starts.at(run.first)));
        let mut out = [0; 7];
        let found = RowStarts::Uniform(4).work_items(1, 10, &mut out);
        assert_eq!(found.iter().map(|run| (run.first, run.last)).collect::<Vec<_>>(), [(0, 2), (2, 4), (4, 6), (6, 7)]);
        assert_eq!(RowStarts::Uniform(0).work_items(1, 10, &mut [0; 25]).len(), 3);
    }
}
