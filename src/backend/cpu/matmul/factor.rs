//! Factors of a matrix product, and their packing into panels.

use std::ops::Range;

use super::super::number::Number;

/// Factor of a product: lines of terms. A line is a row of a left factor or a column of a right one. Either the lines
/// or the terms are adjacent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Factor<'a, T> {
    values: &'a [T],
    start: usize,
    /// Stride between the lines.
    line: usize,
    /// Stride between the terms of a line.
    term: usize,
}

impl<'a, T: Number> Factor<'a, T> {
    /// The left factor of `rows` by `terms` numbers, stored row-major, or column-major if `transposed`.
    pub(crate) fn left(values: &'a [T], start: usize, (rows, terms): (usize, usize), transposed: bool) -> Self {
        let (line, term) = if transposed { (1, rows) } else { (terms, 1) };
        Self { values, start, line, term }
    }

    /// The right factor of `terms` by `columns` numbers, stored row-major, or column-major if `transposed`.
    pub(crate) fn right(values: &'a [T], start: usize, (terms, columns): (usize, usize), transposed: bool) -> Self {
        Self::left(values, start, (columns, terms), !transposed)
    }

    /// Without the first `lines` lines.
    pub(super) fn skip(self, lines: usize) -> Self {
        Self { start: self.start + lines * self.line, ..self }
    }

    /// Without the first `terms` terms.
    pub(super) fn skip_terms(self, terms: usize) -> Self {
        Self { start: self.start + terms * self.term, ..self }
    }

    /// Copies lines into panels of `W` adjacent lines, term by term. Lines beyond the last are zeros.
    #[inline(always)]
    pub(super) fn pack<const W: usize>(&self, lines: Range<usize>, terms: Range<usize>, panels: &mut [[T; W]]) {
        for (panel, first) in panels.chunks_exact_mut(terms.len()).zip(lines.clone().step_by(W)) {
            let width = W.min(lines.end - first);
            let start = self.start + first * self.line + terms.start * self.term;
            if self.line == 1 {
                self.pack_terms(start, width, panel);
            } else {
                self.pack_lines(start, width, panel);
            }
        }
    }

    /// Fills a panel whose lines are adjacent, by copying `width` numbers per term.
    #[inline(always)]
    fn pack_terms<const W: usize>(&self, start: usize, width: usize, panel: &mut [[T; W]]) {
        let zero = T::default();
        for (l, packed) in panel.iter_mut().enumerate() {
            let from = &self.values[start + l * self.term..];
            match from.first_chunk::<W>() {
                Some(from) if width == W => *packed = *from,
                Some(from) => {
                    for c in 0..W {
                        packed[c] = if c < width { from[c] } else { zero };
                    }
                }
                None => {
                    *packed = [zero; W];
                    packed[..width].copy_from_slice(&from[..width]);
                }
            }
        }
    }

    /// Fills a panel whose terms are adjacent, line by line.
    #[inline(always)]
    fn pack_lines<const W: usize>(&self, start: usize, width: usize, panel: &mut [[T; W]]) {
        if width < W {
            panel.fill([T::default(); W]);
        }
        for c in 0..width {
            let line = &self.values[start + c * self.line..][..panel.len()];
            for (packed, &value) in panel.iter_mut().zip(line) {
                packed[c] = value;
            }
        }
    }
}
