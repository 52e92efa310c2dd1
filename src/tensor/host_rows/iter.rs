//! Iterators over rows.

use std::fmt;
use std::iter::FusedIterator;
use std::ops::Range;

use super::{HostRow, HostRows, Level, below_all};
use crate::element::Element;

impl<'a, T: Element> IntoIterator for &'a HostRows<T> {
    type Item = &'a [T::Host];
    type IntoIter = HostRowsIter<'a, T>;
    fn into_iter(self) -> HostRowsIter<'a, T> {
        self.iter()
    }
}

impl<T: Element> IntoIterator for HostRows<T> {
    type Item = Vec<T::Host>;
    type IntoIter = HostRowsIntoIter<T>;
    fn into_iter(self) -> HostRowsIntoIter<T> {
        HostRowsIntoIter { rows: 0..self.nrows, levels: self.levels, values: self.values.into_iter() }
    }
}

/// Iterator over rows, or over the lists of a row: [`HostRows::outer_iter`], [`HostRow::outer_iter`].
pub struct HostRowIter<'a, T: Element> {
    pub(super) rows: &'a HostRows<T>,
    pub(super) dim: usize,
    pub(super) at: Range<usize>,
}

impl<'a, T: Element> HostRowIter<'a, T> {
    fn row(&self, at: usize) -> HostRow<'a, T> {
        HostRow { rows: self.rows, dim: self.dim, at }
    }
}

/// Iterator over rows as slices of values: [`HostRows::iter`].
pub struct HostRowsIter<'a, T: Element>(pub(super) HostRowIter<'a, T>);

/// Iterator over rows as vectors of values, which are moved: [`HostRows`] as an iterator.
pub struct HostRowsIntoIter<T: Element> {
    rows: Range<usize>,
    levels: Vec<Level>,
    values: std::vec::IntoIter<T::Host>,
}

impl<T: Element> HostRowsIntoIter<T> {
    /// Number of values of a row.
    fn len_of(&self, row: usize) -> usize {
        below_all(&self.levels, row..row + 1).len()
    }
}

impl<'a, T: Element> Iterator for HostRowIter<'a, T> {
    type Item = HostRow<'a, T>;
    fn next(&mut self) -> Option<HostRow<'a, T>> {
        self.at.next().map(|at| self.row(at))
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.at.size_hint()
    }
    fn nth(&mut self, n: usize) -> Option<HostRow<'a, T>> {
        self.at.nth(n).map(|at| self.row(at))
    }
}
impl<T: Element> DoubleEndedIterator for HostRowIter<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.at.next_back().map(|at| self.row(at))
    }
}
impl<T: Element> ExactSizeIterator for HostRowIter<'_, T> {}
impl<T: Element> FusedIterator for HostRowIter<'_, T> {}
impl<T: Element> Clone for HostRowIter<'_, T> {
    fn clone(&self) -> Self {
        Self { rows: self.rows, dim: self.dim, at: self.at.clone() }
    }
}
impl<T: Element> fmt::Debug for HostRowIter<'_, T> {
    /// The rows that are left.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl<'a, T: Element> Iterator for HostRowsIter<'a, T> {
    type Item = &'a [T::Host];
    fn next(&mut self) -> Option<&'a [T::Host]> {
        self.0.next().map(|row| row.values())
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
    fn nth(&mut self, n: usize) -> Option<&'a [T::Host]> {
        self.0.nth(n).map(|row| row.values())
    }
}
impl<T: Element> DoubleEndedIterator for HostRowsIter<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|row| row.values())
    }
}
impl<T: Element> ExactSizeIterator for HostRowsIter<'_, T> {}
impl<T: Element> FusedIterator for HostRowsIter<'_, T> {}
impl<T: Element> Clone for HostRowsIter<'_, T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}
impl<T: Element> fmt::Debug for HostRowsIter<'_, T> {
    /// The rows that are left.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Element> Iterator for HostRowsIntoIter<T> {
    type Item = Vec<T::Host>;
    fn next(&mut self) -> Option<Vec<T::Host>> {
        let row = self.rows.next()?;
        let len = self.len_of(row);
        Some(self.values.by_ref().take(len).collect())
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rows.size_hint()
    }
}
impl<T: Element> DoubleEndedIterator for HostRowsIntoIter<T> {
    fn next_back(&mut self) -> Option<Vec<T::Host>> {
        let row = self.rows.next_back()?;
        let len = self.len_of(row);
        let mut row: Vec<T::Host> = self.values.by_ref().rev().take(len).collect();
        row.reverse();
        Some(row)
    }
}
impl<T: Element> ExactSizeIterator for HostRowsIntoIter<T> {}
impl<T: Element> FusedIterator for HostRowsIntoIter<T> {}
impl<T: Element> fmt::Debug for HostRowsIntoIter<T> {
    /// The values that are left.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.values.as_slice()).finish()
    }
}
