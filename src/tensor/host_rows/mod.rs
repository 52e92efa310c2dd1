//! The rows of a tensor in host memory.

mod erased;
mod iter;

use std::fmt;
use std::future::Future;
use std::ops::Range;

pub use iter::{HostRowIter, HostRowsIntoIter, HostRowsIter};

use super::{HostTensor, RaggedTensor};
use crate::element::Element;
use crate::error::{Error, Result};

/// A dimension below the rows: where the elements of each position of the dimension above are.
#[derive(Debug, Clone)]
enum Level {
    Splits(Vec<u32>),
    Uniform(usize),
}

impl Level {
    /// The positions below a range of positions.
    fn below(&self, at: &Range<usize>) -> Range<usize> {
        match self {
            Self::Splits(splits) => splits[at.start] as usize..splits[at.end] as usize,
            Self::Uniform(len) => at.start * len..at.end * len,
        }
    }
}

/// The positions of values below a range of positions.
fn below_all(levels: &[Level], at: Range<usize>) -> Range<usize> {
    levels.iter().fold(at, |at, level| level.below(&at))
}

/// The rows of a tensor in host memory, read by [`RaggedTensor::rows`]: one array of values, and where rows begin.
///
/// A row of a ragged vector is a slice of values. A row of a tensor of higher rank is the slice of all its values in
/// row-major order, as [`RaggedTensor::row_to_vec`] gives them; [`outer_iter`](Self::outer_iter) divides it further.
pub struct HostRows<T: Element> {
    nrows: usize,
    /// The levels below the rows, outermost first.
    levels: Vec<Level>,
    values: Vec<T::Host>,
}

/// Rows and values.
impl<T: Element> HostRows<T> {
    fn of(host: HostTensor) -> Self {
        let uniform = host.uniform_row_lengths;
        let inner = host.inner_shape;
        let outer = inner.first().copied().unwrap_or(1);
        let nrows = host.nested_row_splits.first().map_or(outer, |splits| splits.len() - 1);
        let ragged =
            host.nested_row_splits.into_iter().enumerate().map(|(k, splits)| match uniform.get(k).copied().flatten() {
                Some(len) => Level::Uniform(len as usize),
                None => Level::Splits(splits),
            });
        let levels = ragged.chain(inner.iter().skip(1).map(|&size| Level::Uniform(size))).collect();
        Self {
            nrows,
            levels,
            values: T::unwrap(host.values).expect("bug: a tensor of another dtype than its type says"),
        }
    }

    /// Number of rows.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let rows = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?.rows()?;
    /// assert_eq!(rows.len(), 3);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn len(&self) -> usize {
        self.nrows
    }

    /// Whether there are no rows.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let rows = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?.rows()?;
    /// assert!(!rows.is_empty());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.nrows == 0
    }

    /// The values of all rows.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let rows = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?.rows()?;
    /// assert_eq!(rows.values(), [1, 2, 3]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn values(&self) -> &[T::Host] {
        &self.values
    }

    /// The values of a row; none if there is no such row.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let rows = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?.rows()?;
    /// assert_eq!((rows.get(0), rows.get(3)), (Some(&[1, 2][..]), None));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn get(&self, row: usize) -> Option<&[T::Host]> {
        (row < self.nrows).then(|| HostRow { rows: self, dim: 0, at: row }.values())
    }

    /// The rows as slices of values, in order.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let rows = x.rows()?;
    /// assert_eq!(rows.iter().map(<[i32]>::len).collect::<Vec<_>>(), [2, 0, 1]);
    /// assert_eq!(rows.iter().next_back(), Some(&[3][..]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn iter(&self) -> HostRowsIter<'_, T> {
        HostRowsIter(self.outer_iter())
    }

    /// The rows as lists of the next dimension, for tensors of rank 3 and more. ndarray: `outer_iter`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let texts = RaggedTensor::from_nested([vec![vec![1, 2], vec![3]], vec![], vec![vec![]]], &Device::cpu())?;
    /// let rows = texts.rows()?;
    /// let lengths = |text: ragged::HostRow<'_, i32>| text.outer_iter().map(|words| words.len()).collect::<Vec<_>>();
    /// assert_eq!(rows.outer_iter().map(lengths).collect::<Vec<_>>(), [vec![2, 1], vec![], vec![0]]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn outer_iter(&self) -> HostRowIter<'_, T> {
        HostRowIter { rows: self, dim: 0, at: 0..self.nrows }
    }
}

impl<T: Element> Clone for HostRows<T> {
    fn clone(&self) -> Self {
        Self { nrows: self.nrows, levels: self.levels.clone(), values: self.values.clone() }
    }
}

impl<T: Element> fmt::Debug for HostRows<T> {
    /// The values of each row.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

/// One row of [`HostRows`], or a list in it.
pub struct HostRow<'a, T: Element> {
    rows: &'a HostRows<T>,
    dim: usize,
    at: usize,
}

/// Elements and values.
impl<'a, T: Element> HostRow<'a, T> {
    /// All values of the row, in row-major order.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let rows = RaggedTensor::from_nested([vec![vec![1, 2], vec![3]], vec![]], &Device::cpu())?.rows()?;
    /// let values: Vec<&[i32]> = rows.outer_iter().map(|row| row.values()).collect();
    /// assert_eq!(values, [&[1, 2, 3][..], &[]]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn values(&self) -> &'a [T::Host] {
        &self.rows.values[below_all(&self.rows.levels[self.dim..], self.at..self.at + 1)]
    }

    /// Number of dimensions: 1 for a row of values, 0 for a single value.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let rows = RaggedTensor::from_nested([vec![vec![1, 2], vec![3]], vec![]], &Device::cpu())?.rows()?;
    /// assert_eq!(rows.outer_iter().map(|row| row.rank()).collect::<Vec<_>>(), [2, 2]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn rank(&self) -> usize {
        self.rows.levels.len() - self.dim
    }

    /// Number of elements: of values in a row of values, of lists in a row of lists. A single value, of
    /// [rank](Self::rank) 0, has none; [`values`](Self::values) gives it.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let rows = RaggedTensor::from_nested([vec![vec![1, 2], vec![3]], vec![]], &Device::cpu())?.rows()?;
    /// assert_eq!(rows.outer_iter().map(|row| row.len()).collect::<Vec<_>>(), [2, 0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn len(&self) -> usize {
        self.below().1.len()
    }

    /// Whether there are no elements.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let rows = RaggedTensor::from_nested([vec![vec![1, 2], vec![3]], vec![]], &Device::cpu())?.rows()?;
    /// assert_eq!(rows.outer_iter().map(|row| row.is_empty()).collect::<Vec<_>>(), [false, true]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements of the row: lists, or single values. A single value, of [rank](Self::rank) 0, has none.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let rows = RaggedTensor::from_nested([vec![vec![1, 2], vec![3]], vec![]], &Device::cpu())?.rows()?;
    /// let lists = rows.outer_iter().flat_map(|row| row.outer_iter());
    /// assert_eq!(lists.map(|list| list.values()).collect::<Vec<_>>(), [&[1, 2][..], &[3]]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn outer_iter(&self) -> HostRowIter<'a, T> {
        let (dim, at) = self.below();
        HostRowIter { rows: self.rows, dim, at }
    }

    /// The dimension and the positions of the elements.
    fn below(&self) -> (usize, Range<usize>) {
        match self.rows.levels.get(self.dim) {
            Some(level) => (self.dim + 1, level.below(&(self.at..self.at + 1))),
            None => (self.dim, self.at..self.at),
        }
    }
}

impl<T: Element> Clone for HostRow<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: Element> Copy for HostRow<'_, T> {}

impl<T: Element> fmt::Debug for HostRow<'_, T> {
    /// The values of the row.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.values().fmt(f)
    }
}

/// Reads as rows.
impl<T: Element> RaggedTensor<T> {
    /// Reads the tensor as rows of the outermost dimension, to iterate over: once for all rows, where
    /// [`RaggedTensor::row_to_vec`] reads once per row.
    ///
    /// `for row in x.rows()?` gives vectors, and `for row in &x.rows()?` slices, without a copy. A row of a tensor of
    /// higher rank has the values of all its lists; see [`HostRows::outer_iter`]. Waits like
    /// [`Tensor::to_host`](crate::Tensor::to_host), and holds one copy, as it does. TensorFlow: iteration over a
    /// tensor.
    ///
    /// # Errors
    /// A scalar; the first failed device-side check; a lost device; more memory than is available, or than the device's
    /// budget.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let mut sums = Vec::new();
    /// for row in &x.rows()? {
    ///     sums.push(row.iter().sum::<i32>());
    /// }
    /// assert_eq!(sums, [3, 0, 3]);
    /// let rows: Vec<Vec<i32>> = x.rows()?.into_iter().collect();
    /// assert_eq!(rows, [vec![1, 2], vec![], vec![3]]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn rows(&self) -> Result<HostRows<T>> {
        self.check_has_rows()?;
        Ok(HostRows::of(self.to_host()?))
    }

    /// Reads the tensor as rows of the outermost dimension, without blocking; see [`RaggedTensor::rows`].
    ///
    /// The future may be awaited in any executor, moved between threads, or dropped, which cancels only the read; see
    /// [`Tensor::to_host_async`](crate::Tensor::to_host_async).
    ///
    /// # Errors
    /// A scalar; the first failed device-side check; a lost device; more memory than is available, or than the device's
    /// budget.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let rows = pollster::block_on(x.rows_async())?;
    /// assert_eq!(rows.iter().map(<[i32]>::len).collect::<Vec<_>>(), [2, 0, 1]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn rows_async(&self) -> impl Future<Output = Result<HostRows<T>>> + Send + use<T> {
        let (has_rows, read) = (self.check_has_rows(), self.to_host_async());
        async move {
            has_rows?;
            Ok(HostRows::of(read.await?))
        }
    }

    #[track_caller]
    fn check_has_rows(&self) -> Result<()> {
        if self.erased().rank() == 0 { Err(Error::argument("rows", "a scalar has no rows")) } else { Ok(()) }
    }
}
