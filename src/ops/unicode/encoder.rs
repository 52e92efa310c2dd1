//! Expressions that encode code points, and the bytes that they give.

use super::options::Encoding;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::opcode::BinaryOp;
use crate::graph::recorder::Recorder;
use crate::shape::RowPartition;

/// Marks a character that takes no bytes.
pub(super) const NOTHING: u32 = u32::MAX;

/// The bytes of characters.
pub(super) struct Encoded {
    /// The partition of the bytes into characters.
    pub(super) characters: RowPartition,
    /// The bytes.
    pub(super) bytes: Node,
}

impl Encoded {
    /// Encodes `count` code points, of which `codes` has the valid ones, or [`NOTHING`].
    #[track_caller]
    pub(super) fn new(rec: Recorder<'_>, codes: &Node, count: &Extent, encoding: Encoding) -> Result<Self> {
        let code = Expr::load(codes, Expr::index());
        let length = code.clone().eq(Expr::u32(NOTHING)).select(Expr::u32(0), length(&code, encoding));
        let capacity = count.size().mul(4);
        let characters = rec.rows_of_lengths(count, length, capacity)?;
        let characters = characters.with_lengths(Some((0, 4)));
        let (row, offset) = (characters.row_of(Expr::index()), characters.offset_of(Expr::index()));
        let byte = byte(&code.at(&row), &offset, encoding).cast(DType::U8);
        let bytes = rec.map(characters.nvals_extent().clone(), byte, &[]);
        Ok(Self { characters, bytes })
    }

    /// The partition of the bytes into strings, of which `strings` is the partition of the characters.
    #[track_caller]
    pub(super) fn strings(&self, rec: Recorder<'_>, strings: &RowPartition) -> Result<RowPartition> {
        let start = self.characters.start(strings.start(Expr::index()));
        let bytes = self.characters.nvals_extent().clone();
        let of = rec.rows_of_starts(strings.nrows_extent(), &start, bytes.size(), &[])?;
        Ok(of.with_nvals(bytes))
    }
}

/// Number of bytes of a code point.
fn length(code: &Expr, encoding: Encoding) -> Expr {
    let from = |least: u32| Expr::u32(least).le(code.clone()).select(Expr::u32(1), Expr::u32(0));
    match encoding {
        Encoding::Utf8 => Expr::u32(1).add(from(0x80)).add(from(0x800)).add(from(0x1_0000)),
        Encoding::Utf16Be => Expr::u32(0x1_0000).le(code.clone()).select(Expr::u32(4), Expr::u32(2)),
        Encoding::Utf32Be => Expr::u32(4),
    }
}

/// The byte at `offset` of a code point; u32, of which the low 8 bits count.
fn byte(code: &Expr, offset: &Expr, encoding: Encoding) -> Expr {
    let shr = |value: Expr, by: Expr| value.binary(BinaryOp::Shr, by);
    let times = |k: u32, n: Expr| n.mul(Expr::u32(k));
    match encoding {
        Encoding::Utf8 => {
            let last = length(code, encoding).sub(Expr::u32(1));
            let bits = shr(code.clone(), times(6, last.clone().sub(offset.clone())));
            // A lead byte of n bytes begins with n ones and a zero.
            let lead = shr(Expr::u32(0xFFFF_FF80), last.clone()).and(Expr::u32(0xFF));
            let lead = last.eq(Expr::u32(0)).select(bits.clone(), bits.clone().or(lead));
            let rest = bits.and(Expr::u32(0x3F)).or(Expr::u32(0x80));
            offset.clone().eq(Expr::u32(0)).select(lead, rest)
        }
        Encoding::Utf16Be => {
            let low_byte = |word: Expr| shr(word, times(8, Expr::u32(1).sub(offset.clone().and(Expr::u32(1)))));
            let above = code.clone().sub(Expr::u32(0x1_0000));
            let high = Expr::u32(0xD800).or(shr(above.clone(), Expr::u32(10)));
            let low = Expr::u32(0xDC00).or(above.and(Expr::u32(0x3FF)));
            let half = offset.clone().lt(Expr::u32(2)).select(high, low);
            low_byte(code.clone().lt(Expr::u32(0x1_0000)).select(code.clone(), half))
        }
        Encoding::Utf32Be => shr(code.clone(), times(8, Expr::u32(3).sub(offset.clone()))),
    }
    .and(Expr::u32(0xFF))
}
