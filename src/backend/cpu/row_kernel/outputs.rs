//! The outputs of a row kernel, divided among its work items.

use std::ops::Range;

use super::super::array::Array;
use super::super::work_items::RowStarts;

/// The layout of the outputs: `inner` numbers per row, except for a last one of one number per value if the kernel
/// `maps`.
pub(super) struct Outputs<'a> {
    pub(super) starts: RowStarts<'a>,
    pub(super) inner: usize,
    pub(super) maps: bool,
}

/// Consecutive rows, and their bytes of each output.
pub(super) struct WorkItem<'o> {
    pub(super) rows: Range<usize>,
    pub(super) outputs: Vec<&'o mut [u8]>,
}

impl Outputs<'_> {
    /// The work items of the rows `ranges`, which cover the arrays from the first element on.
    pub(super) fn items<'o>(&self, ranges: Vec<Range<usize>>, arrays: &'o mut [Array]) -> Vec<WorkItem<'o>> {
        let last = arrays.len() - 1;
        let mut rest: Vec<(usize, &mut [u8])> =
            arrays.iter_mut().map(|array| (array.dtype().size(), array.bytes_mut())).collect();
        let mut item = |rows: Range<usize>| {
            let divide = |(k, (size, rest)): (usize, &mut (usize, &'o mut [u8]))| {
                let numbers = match self.maps && k == last {
                    true => self.starts.at(rows.end) - self.starts.at(rows.start),
                    false => rows.len() * self.inner,
                };
                rest.split_off_mut(..numbers * *size).unwrap_or_default()
            };
            let outputs = rest.iter_mut().enumerate().map(divide).collect();
            WorkItem { rows, outputs }
        };
        ranges.into_iter().map(&mut item).collect()
    }
}
