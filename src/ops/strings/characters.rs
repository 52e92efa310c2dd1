//! UTF-8 characters of byte strings.

use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::recorder::Recorder;
use crate::shape::RowPartition;

/// Whether the byte begins a UTF-8 character: all bytes do but continuation bytes, `10xxxxxx`.
fn begins(byte: Expr) -> Expr {
    byte.and(Expr::scalar(0xC0u8)).ne(Expr::scalar(0x80u8))
}

/// The bytes at which the characters of strings begin.
pub(super) struct Characters {
    marks: RankBitmap,
    strings: RowPartition,
    bytes: Node,
}

impl Characters {
    /// Marks the characters: one rank bitmap of the bytes.
    pub(super) fn new(rec: Recorder<'_>, (strings, bytes): (&RowPartition, &Node)) -> Self {
        let begins = begins(Expr::load(bytes, Expr::index()));
        let marks = RankBitmap::new(rec, strings.nvals_extent(), begins);
        Self { marks, strings: strings.clone(), bytes: bytes.clone() }
    }

    /// Number of bytes of string `row` that are no continuation bytes.
    pub(super) fn count(&self, row: &Expr) -> Expr {
        let next = row.clone().add(Expr::u32(1));
        self.marks.rank(&self.strings.start(next)).sub(self.before(row))
    }

    fn before(&self, row: &Expr) -> Expr {
        self.marks.rank(&self.strings.start(row.clone()))
    }

    /// Number of characters of string `row` that begin with a continuation byte: 1 if its first byte is one, else 0.
    pub(super) fn headless(&self, row: &Expr) -> Expr {
        let start = self.strings.start(row.clone());
        let some = start.clone().lt(self.strings.start(row.clone().add(Expr::u32(1))));
        let headless = begins(Expr::load(&self.bytes, start)).select(Expr::u32(0), Expr::u32(1));
        some.select(headless, Expr::u32(0))
    }

    /// The position of character `k` of string `row`, or the end of the string if it has at most `k` characters; `k` is
    /// at most the number of bytes of the string. A first byte that is a continuation byte begins a character. Costs a
    /// map over the words of the bitmap, and a search in it per position.
    pub(super) fn position(&self, rec: Recorder<'_>) -> impl Fn(&Expr, &Expr) -> Expr {
        let select = self.marks.select(rec);
        let total = self.marks.total().expr();
        move |row, k| {
            let (start, headless) = (self.strings.start(row.clone()), self.headless(row));
            let nth = k.clone().max(headless.clone()).sub(headless.clone());
            // The characters after those of the string begin at its end or later.
            let found = select(&self.before(row).add(nth).min(total.clone()));
            let found = found.min(self.strings.start(row.clone().add(Expr::u32(1))));
            k.clone().lt(headless).select(start, found)
        }
    }
}
