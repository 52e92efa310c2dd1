//! Where batches end.

/// Where batches end: after a number of rows, or of bytes.
///
/// A number of rows converts to it: `dataset.batch(32)`.
///
/// ```
/// use ragged_data::dataset::BatchSize;
/// let size = BatchSize::bytes(64 << 20).max_rows(10_000).max_row_bytes(1 << 30);
/// assert_ne!(size, BatchSize::rows(32).drop_remainder());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchSize {
    pub(super) rows: usize,
    pub(super) bytes: u64,
    pub(super) row_bytes: u64,
    pub(super) drop_remainder: bool,
}

/// Sizes.
impl BatchSize {
    /// Batches of `n` rows (at least 1); the last has the rest.
    ///
    /// ```
    /// use ragged_data::dataset::BatchSize;
    /// assert_eq!(BatchSize::rows(32), BatchSize::from(32));
    /// ```
    pub fn rows(n: usize) -> Self {
        Self { rows: n.max(1), bytes: u64::MAX, row_bytes: u64::MAX, drop_remainder: false }
    }

    /// Batches of at most `n` bytes, or of one row that has more. Bytes are those of values and row splits.
    ///
    /// ```
    /// use ragged_data::dataset::BatchSize;
    /// let size = BatchSize::bytes(1 << 20);
    /// # let _ = size;
    /// ```
    pub fn bytes(n: u64) -> Self {
        Self { rows: usize::MAX, bytes: n, row_bytes: u64::MAX, drop_remainder: false }
    }

    /// At most this number of rows too.
    ///
    /// ```
    /// use ragged_data::dataset::BatchSize;
    /// let size = BatchSize::bytes(1 << 20).max_rows(1000);
    /// # let _ = size;
    /// ```
    pub fn max_rows(mut self, n: usize) -> Self {
        self.rows = n.max(1);
        self
    }

    /// A row of more bytes is an error that names it.
    ///
    /// ```
    /// use ragged_data::dataset::BatchSize;
    /// let size = BatchSize::bytes(1 << 20).max_row_bytes(1 << 30);
    /// # let _ = size;
    /// ```
    pub fn max_row_bytes(mut self, n: u64) -> Self {
        self.row_bytes = n;
        self
    }

    /// The last batch is dropped if it has fewer rows than a number of rows asks for.
    ///
    /// ```
    /// use ragged_data::dataset::BatchSize;
    /// let size = BatchSize::rows(32).drop_remainder();
    /// # let _ = size;
    /// ```
    pub fn drop_remainder(mut self) -> Self {
        self.drop_remainder = true;
        self
    }
}

impl From<usize> for BatchSize {
    fn from(rows: usize) -> Self {
        Self::rows(rows)
    }
}
