//! The partition of values into rows: one ragged level, valid by construction.

use std::sync::Arc;

use super::HostSplits;
use crate::error::{Error, Result, caller};
use crate::graph::backend::{BackendRef, are_joined};
use crate::graph::digest::Digest;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{Node, RowDomain, Rows};
use crate::graph::recorder::Recorder;
use crate::graph::row_lengths::KnownLengths;
use crate::graph::size::{RecordedSize, Size};

/// Divides values into rows.
///
/// ```text
/// row_splits   0     3  3     5        row 0 = values[0..3], row 1 is empty, row 2 = values[3..5]
/// values       a  b  c  d  e
/// ```
///
/// The splits are the canonical encoding and live on the device as u32; lengths, starts, limits and row ids are derived
/// there. A uniform partition stores the length of its rows and no splits. Every partition is valid: its splits start
/// at 0, never decrease and end at the number of values.
#[derive(Clone)]
pub struct RowPartition {
    rows: Rows,
    nrows: Extent,
    nvals: Extent,
    /// The splits, where they come from the host.
    host: Option<Arc<HostSplits>>,
    /// Lengths of the shortest and of the longest row, where known on the host.
    lengths: Option<(u32, u32)>,
}

/// Sizes.
impl RowPartition {
    /// Uploads splits that the caller has validated or guarantees.
    pub(crate) fn from_host_splits(rec: Recorder<'_>, splits: impl Into<HostSplits>) -> Result<Self> {
        let splits = splits.into();
        let data = splits.stored(rec)?;
        let lengths = splits.windows(2).fold(None, |seen: Option<(u32, u32)>, w| {
            let len = w[1].wrapping_sub(w[0]);
            Some(seen.map_or((len, len), |(a, b)| (a.min(len), b.max(len))))
        });
        let known = KnownLengths::of(&splits);
        let node = Node::source_splits(rec.backend, (splits.len() as u32, known), data);
        let nvals = Extent::input(Digest::of("nvals", node.digest()), splits.last().copied().unwrap_or(0));
        Ok(Self {
            nrows: Extent::of(node.extent().size().sub(1)),
            nvals,
            rows: Rows::Splits(node),
            host: Some(Arc::new(splits)),
            lengths: Some(lengths.unwrap_or((0, 0))),
        })
    }

    /// `nrows` rows of `len` values each.
    #[track_caller]
    pub(crate) fn uniform(len: impl Into<Size>, nrows: Extent) -> Result<Self> {
        let len = len.into();
        let nvals = nrows.times_size("a uniform partition", &len)?;
        let lengths = Some((len.capacity(), len.capacity()));
        Ok(Self { rows: Rows::Uniform(len), nrows, nvals, host: None, lengths })
    }

    /// The partition whose row `r` has `length` (an expression in the row) values; `capacity` bounds the number of all
    /// values.
    pub(crate) fn from_lengths(
        rec: Recorder<'_>,
        nrows: &Extent,
        length: Expr,
        capacity: impl Into<Size>,
    ) -> Result<Self> {
        if let Some(len) = length.as_size().filter(|len| len.as_known().is_some()) {
            return Self::uniform_but_ragged(rec, nrows, &len);
        }
        // A separate node lets an expensive length be stored instead of computed twice.
        let lengths = rec.map(nrows.clone(), length, &[]);
        let splits = rec.scan(nrows.clone(), Expr::load(&lengths, Expr::index()))?;
        Ok(Self::from_splits_node(splits, nrows.clone(), capacity))
    }

    /// A partition that is ragged by type, with rows of one length.
    fn uniform_but_ragged(rec: Recorder<'_>, nrows: &Extent, len: &Size) -> Result<Self> {
        let nvals = rec.times_size(nrows, len)?;
        let splits = rec.splits(nrows, &Expr::index().mul(Expr::size(len)), &[])?;
        let lengths = Some((len.capacity(), len.capacity()));
        Ok(Self { rows: Rows::Splits(splits), nrows: nrows.clone(), nvals, host: None, lengths })
    }

    /// The partition whose row `r` starts at `start`, an expression in the row. At the number of rows the expression
    /// gives the number of values, at most `capacity`.
    pub(crate) fn from_starts(
        rec: Recorder<'_>,
        nrows: &Extent,
        start: &Expr,
        capacity: impl Into<Size>,
        asserts: &[Node],
    ) -> Result<Self> {
        let splits = rec.splits(nrows, start, asserts)?;
        Ok(Self::from_splits_node(splits, nrows.clone(), capacity))
    }

    /// The partition of a node of valid splits, whose entries beyond the actual rows repeat the last split.
    pub(crate) fn from_splits_node(splits: Node, nrows: Extent, capacity: impl Into<Size>) -> Self {
        let total = splits.last_entry();
        let nvals = if nrows.as_known() == Some(0) { Extent::known(0) } else { Extent::bounded(capacity, total) };
        Self { rows: Rows::Splits(splits), nrows, nvals, host: None, lengths: None }
    }

    /// A partition of these parts, which are valid together.
    pub(crate) fn of_parts(rows: Rows, nrows: Extent, nvals: Extent, lengths: Option<(u32, u32)>) -> Self {
        Self { rows, nrows, nvals, host: None, lengths }
    }

    /// The same partition as the level below `above`, whose values are the rows of this one. Takes over the size of
    /// `above` as its number of rows, where the host knows that both are equal.
    #[track_caller]
    pub(crate) fn below(mut self, above: &Extent) -> Result<Self> {
        if self.nrows == *above || self.nrows.as_known().is_none() || self.nrows.as_known() != above.as_known() {
            return Ok(self);
        }
        match &self.rows {
            Rows::Uniform(len) => Self::uniform(len, above.clone()),
            Rows::Splits(_) => {
                self.nrows = above.clone();
                Ok(self)
            }
        }
    }

    /// Split at the current position, derived from `entry`, with the last split forced to the number of values: the
    /// last row takes all remaining values.
    ///
    /// Kernels that compute one result per value write only the values inside rows. Values beyond the last row would
    /// hold stale data of another tensor.
    pub(crate) fn ending_at(entry: Expr, nrows: &Extent, nvals: &Extent) -> Expr {
        let is_start = Expr::index().lt(nrows.expr().max(Expr::u32(1)));
        is_start.select(entry.min(nvals.expr()), nvals.expr())
    }

    /// The same partition with host knowledge of its number of values; a partition without rows has none.
    pub(crate) fn with_nvals(mut self, nvals: Extent) -> Self {
        self.nvals = if self.nrows.as_known() == Some(0) { Extent::known(0) } else { nvals };
        self
    }

    /// The same partition, annotated with the lengths of its shortest and longest row.
    pub(crate) fn with_lengths(mut self, lengths: Option<(u32, u32)>) -> Self {
        self.lengths = lengths.or(self.lengths);
        self
    }

    /// The rows, with `inner` numbers per value.
    pub(crate) fn domain(&self, inner: u32) -> RowDomain {
        RowDomain { rows: self.rows.clone(), nrows: self.nrows.clone(), nvals: self.nvals.clone(), inner }
    }
    pub(crate) fn rows(&self) -> &Rows {
        &self.rows
    }
    pub(crate) fn nrows_extent(&self) -> &Extent {
        &self.nrows
    }
    pub(crate) fn nvals_extent(&self) -> &Extent {
        &self.nvals
    }
    /// The splits, where the host has them.
    pub(crate) fn host_splits(&self) -> Option<&[u32]> {
        self.host.as_ref().map(|splits| &***splits)
    }
    /// The splits with their memory, where the host has them.
    pub(crate) fn shared_host_splits(&self) -> Option<&Arc<HostSplits>> {
        self.host.as_ref()
    }
    /// Entry `at` of the splits as an input size identified by their node, where the host has the splits.
    pub(crate) fn known_split(&self, at: u32) -> Option<Size> {
        let split = *self.host.as_ref()?.get(at as usize)?;
        match &self.rows {
            _ if at == 0 => Some(Size::from(0)),
            Rows::Splits(node) => Some(Size::input(Digest::of("split", (node.digest(), at)), split)),
            Rows::Uniform(_) => Some(Size::from(split)),
        }
    }
    /// Lengths of the shortest and of the longest row, where known on the host.
    pub(crate) fn known_lengths(&self) -> Option<(u32, u32)> {
        self.lengths
    }

    /// The number of rows, if the host knows it.
    ///
    /// ```
    /// use ragged::{Device, RowPartition};
    /// let rows = RowPartition::from_row_lengths(&[2, 0, 1], &Device::cpu())?;
    /// assert_eq!(rows.nrows(), Some(3));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn nrows(&self) -> Option<usize> {
        self.nrows.host_value().map(|n| n as usize)
    }
    /// The number of values, if the host knows it.
    ///
    /// ```
    /// use ragged::{Device, RowPartition};
    /// let rows = RowPartition::from_row_lengths(&[2, 0, 1], &Device::cpu())?;
    /// assert_eq!(rows.nvals(), Some(3));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn nvals(&self) -> Option<usize> {
        self.nvals.host_value().map(|n| n as usize)
    }
    /// The length of every row, if this is a uniform partition.
    ///
    /// ```
    /// use ragged::{Device, RowPartition};
    /// let rows = RowPartition::from_uniform_row_length(2, 6, &Device::cpu())?;
    /// assert_eq!(rows.uniform_row_length(), Some(2));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn uniform_row_length(&self) -> Option<usize> {
        self.uniform_length().map(|n| n as usize)
    }
    /// The same partition, with a parameter of the program in place of a constant length of uniform rows.
    pub(crate) fn with_given_length(mut self) -> Self {
        if let Rows::Uniform(Size::Const(len)) = self.rows {
            self.rows = Rows::Uniform(Size::given(len));
        }
        self
    }
    /// The length of every row as a size, if this is a uniform partition.
    pub(crate) fn uniform_size(&self) -> Option<&Size> {
        match &self.rows {
            Rows::Uniform(len) => Some(len),
            Rows::Splits(_) => None,
        }
    }
    /// The length of every row as a number of the device, if this is a uniform partition.
    pub(crate) fn uniform_length(&self) -> Option<u32> {
        match &self.rows {
            Rows::Uniform(len) => Some(len.capacity()),
            Rows::Splits(_) => None,
        }
    }

    /// Fails if the splits, or a device-known count, are on another device.
    #[track_caller]
    pub(crate) fn check_device(&self, backend: &BackendRef) -> Result<()> {
        let mut foreign = None;
        let mut look = |n: &Node| {
            if !are_joined(n.backend(), backend) {
                foreign = Some(n.backend().name().to_owned());
            }
        };
        if let Rows::Splits(n) = &self.rows {
            look(n);
        }
        for size in [self.nrows.size(), self.nvals.size()] {
            if size.host_value().is_none() {
                size.counts().into_iter().filter_map(Size::count_node).for_each(|n| look(&n));
            }
        }
        match foreign {
            None => Ok(()),
            Some(lhs) => {
                Err(Error::Devices { op: "a row partition", lhs, rhs: backend.name().into(), location: caller() })
            }
        }
    }

    /// Whether both have provably the same layout: the same partition, or one of equal origin.
    pub(crate) fn same(&self, other: &Self) -> bool {
        let rows = match (&self.rows, &other.rows) {
            (Rows::Uniform(a), Rows::Uniform(b)) => a.is_same(b),
            (a, b) => a == b,
        };
        rows && self.nrows.is_same(&other.nrows)
    }

    /// Start of row `row`.
    pub(crate) fn start(&self, row: Expr) -> Expr {
        self.rows.start(row)
    }

    /// Number of values of row `row`.
    pub(crate) fn length(&self, row: Expr) -> Expr {
        self.rows.length(row)
    }

    /// Number of values of a row that must exist. Where the splits are a pending prefix sum of lengths, returns the
    /// summed length, so that the prefix sum need not be computed for it.
    pub(crate) fn length_of_existing(&self, row: Expr) -> Expr {
        match &self.rows {
            Rows::Splits(node) => match node.summed() {
                Some(length) => length.at(&row),
                None => self.length(row),
            },
            Rows::Uniform(_) => self.length(row),
        }
    }

    /// The row that holds value `at`.
    pub(crate) fn row_of(&self, at: Expr) -> Expr {
        self.rows.row_of(at)
    }

    /// Offset of value `at` within its row.
    pub(crate) fn offset_of(&self, at: Expr) -> Expr {
        match &self.rows {
            Rows::Uniform(len) => at.rem(Expr::size(&len.max(1))),
            Rows::Splits(_) => at.clone().sub(self.start(self.row_of(at))),
        }
    }

    /// Position of the value at `offset` within row `row`.
    pub(crate) fn within(&self, row: Expr, offset: Expr) -> Expr {
        match &self.rows {
            Rows::Uniform(len) => row.mul(Expr::size(len)).add(offset),
            Rows::Splits(node) => Expr::within(node, row, offset),
        }
    }

    /// The splits to read, an array of `nrows + 1` live entries; none where the rows are uniform. The array of the
    /// partition may have more live entries than rows.
    pub(crate) fn live_splits(&self, backend: &BackendRef) -> Option<Node> {
        let Rows::Splits(splits) = &self.rows else { return None };
        match self.nrows.plus("row_splits", &Extent::known(1)) {
            Ok(entries) if !splits.extent().is_same(&entries) => {
                Some(Node::map(backend, "row_splits", entries, Expr::load(splits, Expr::index()), &[]))
            }
            _ => Some(splits.clone()),
        }
    }

    /// The splits as an array: `nrows + 1` entries, u32.
    #[track_caller]
    pub(crate) fn splits_node(&self, backend: &BackendRef) -> Result<Node> {
        match &self.rows {
            Rows::Splits(node) => Ok(node.clone()),
            Rows::Uniform(len) => {
                let start = Expr::index().mul(Expr::size(len));
                Node::splits(backend, "row_splits", &self.nrows, &start, &[])
            }
        }
    }

    /// Validates splits by TensorFlow's rules.
    ///
    /// # Errors
    /// Empty `splits`; `splits[0] != 0`; `splits[r + 1] < splits[r]`; `splits[nrows] != nvals`; more than 2^32 - 2.
    pub(crate) fn validate_splits<I: Copy + Into<i64>>(
        rec: Recorder<'_>,
        splits: &[I],
        nvals: Option<u64>,
    ) -> Result<()> {
        let split = |at: usize| splits.get(at).copied().map(Into::into);
        let Some((first, last)) = split(0).zip(split(splits.len().wrapping_sub(1))) else {
            return Err(rec.partition("row_splits must have at least one entry, but is empty"));
        };
        if first != 0 {
            return Err(rec.partition(format!("row_splits must start at 0, but row_splits[0] is {first}")));
        }
        if let Some(r) = splits.windows(2).position(|w| w[1].into() < w[0].into()) {
            let (a, b): (i64, i64) = (splits[r].into(), splits[r + 1].into());
            return Err(rec.partition(format!(
                "row_splits must not decrease, but row_splits[{}] = {b} is below row_splits[{r}] = {a}",
                r + 1
            )));
        }
        if let Some(nvals) = nvals
            && last as u64 != nvals
        {
            return Err(rec.partition(format!("row_splits ends at {last}, but there are {nvals} values")));
        }
        rec.known(last as u64)?;
        rec.known(splits.len() as u64)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;
    use crate::dtype::DType;

    #[test]
    fn rows_of_one_length_are_found_where_only_the_device_knows_how_many() {
        let device = Device::cpu();
        let backend = device.backend();
        let data = backend.upload(DType::U32, bytemuck::bytes_of(&8u32)).expect("uploaded");
        let live = Expr::load(&Node::source(backend, DType::U32, 1, data), Expr::u32(0));
        let rows = Extent::bounded(50, live);
        let p = RowPartition::from_lengths(Recorder::new(backend, "test"), &rows, Expr::u32(3), 150).expect("recorded");
        let found = Node::map(backend, "test", Extent::known(3), p.row_of(Expr::index().mul(Expr::u32(10))), &[]);
        let read = backend.read(&[found]).expect("read");
        assert_eq!(bytemuck::pod_collect_to_vec::<u8, u32>(&read[0]), [0, 3, 6]);
    }
}
