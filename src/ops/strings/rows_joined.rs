//! Concatenation of the strings of each row.

use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Rows};
use crate::graph::recorder::Recorder;
use crate::graph::size::Size;
use crate::shape::RowPartition;
use crate::tensor::Values;

/// Rows of strings: the places that they consist of, and the string at each place.
pub(super) struct StringRows<'a> {
    /// Start of each row, in places.
    pub(super) rows: &'a Rows,
    /// Number of rows.
    pub(super) nrows: &'a Extent,
    /// Number of places.
    pub(super) nplaces: &'a Extent,
    /// The string at place `Index`.
    pub(super) string: &'a Expr,
    /// Whether the separator is left out until a string of the row is not empty, as TensorFlow does for segments.
    pub(super) skips_leading_empty: bool,
    /// The conditions that the rows depend on.
    pub(super) asserts: &'a [Node],
}

/// The length of a separator and its bytes, an expression in the offset. Several bytes are an input of the program, and
/// so is their number.
#[track_caller]
pub(super) fn separator_bytes(rec: Recorder<'_>, separator: &[u8]) -> Result<(Size, Expr)> {
    Ok(match separator {
        [] => (Size::Const(0), Expr::number(0u8)),
        [one] => (Size::Const(1), Expr::number(*one)),
        many => {
            let node = rec.uploaded(DType::U8, many)?;
            (Size::len(&node), Expr::load(&node, Expr::index()))
        }
    })
}

impl StringRows<'_> {
    /// The strings of each row, concatenated with the separator in between; an empty row gives an empty string.
    ///
    /// A prefix sum over the strings, and one map over the bytes of the result. Where every place is its own string and
    /// the separator is empty, the bytes are shared instead.
    #[track_caller]
    pub(super) fn joined(
        &self,
        rec: Recorder<'_>,
        (strings, bytes): (&RowPartition, &Node),
        separator: &[u8],
    ) -> Result<Values> {
        let (at, one) = (Expr::index(), Expr::u32(1));
        let result = |pieces: &RowPartition, capacity: &Size| {
            // Row r ends where its last place ends.
            let start = pieces.start(self.rows.start(at.clone()));
            rec.rows_of_starts(self.nrows, &start, capacity, self.asserts)
        };
        if separator.is_empty() && self.string.is_index() && self.asserts.is_empty() {
            let rows = result(strings, strings.nvals_extent().size())?.with_nvals(strings.nvals_extent().clone());
            return Ok(Values::Strings { strings: rows, bytes: bytes.clone() });
        }
        let length = strings.length_of_existing(self.string.clone());
        let (between, byte) = separator_bytes(rec, separator)?;
        let piece = if separator.is_empty() {
            length
        } else {
            let row = self.rows.row_of(at.clone());
            let next = at.clone().add(one.clone());
            let mut has_none = self.rows.start(row.clone().add(one)).eq(next.clone());
            if self.skips_leading_empty {
                // Bytes of the strings at the places before.
                let ends = match self.string.is_index() {
                    true => strings.clone(),
                    false => {
                        let size = strings.nvals_extent().size();
                        rec.rows_of_lengths(self.nplaces, length.clone(), size)?
                    }
                };
                has_none = has_none.or(ends.start(next).eq(ends.start(self.rows.start(row))));
            }
            length.add(has_none.select(Expr::u32(0), Expr::size(&between)))
        };
        let piece = Expr::load(&rec.map(self.nplaces.clone(), piece, self.asserts), at.clone());
        let capacity = strings.nvals_extent().size().add(self.nplaces.size().mul(&between));
        let pieces = rec.rows_of_lengths(self.nplaces, piece, &capacity)?;
        let (place, offset) = (pieces.row_of(at.clone()), pieces.offset_of(at.clone()));
        let string = self.string.at(&place);
        let own = Expr::load(bytes, strings.within(string.clone(), offset.clone()));
        let byte = if separator.is_empty() {
            own
        } else {
            let length = strings.length_of_existing(string);
            offset.clone().lt(length.clone()).select(own, byte.at(&offset.sub(length)))
        };
        let bytes = rec.map(pieces.nvals_extent().clone(), byte, &[]);
        let strings = result(&pieces, &capacity)?.with_nvals(pieces.nvals_extent().clone());
        Ok(Values::Strings { strings, bytes })
    }
}
