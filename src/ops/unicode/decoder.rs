//! Expressions that decode the bytes of strings.

use super::options::Encoding;
use crate::dtype::DType;
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::graph::opcode::BinaryOp;
use crate::shape::RowPartition;

/// The character that begins at byte `Index`.
pub(super) struct Decoder {
    /// Whether a character begins there, valid or not.
    pub(super) is_start: Expr,
    /// Whether the character that begins there is valid.
    pub(super) is_valid: Expr,
    /// Its code point, u32; unspecified unless valid.
    pub(super) code: Expr,
}

impl Decoder {
    pub(super) fn new(encoding: Encoding, strings: &RowPartition, bytes: &Node) -> Self {
        let view = View::new(strings, bytes);
        match encoding {
            Encoding::Utf8 => Self::utf8(&view),
            Encoding::Utf16Be => Self::utf16(&view),
            Encoding::Utf32Be => Self::utf32(&view),
        }
    }

    fn utf8(view: &View<'_>) -> Self {
        let [back3, back2, back1, lead, next1, next2, next3] = [-3, -2, -1, 0, 1, 2, 3].map(|k| view.byte(k));
        let continued = |byte: &Expr| byte.clone().and(Expr::u32(0xC0)).eq(Expr::u32(0x80));
        // Branches, so that ASCII text evaluates nothing about its neighbours. A continuation byte belongs to a lead byte
        // up to three bytes before, as long as all between them continue it.
        let second = follows(&back1, 1).and(is_second(&back1, &lead));
        let third = follows(&back2, 2).and(is_second(&back2, &back1));
        let fourth = follows(&back3, 3).and(is_second(&back3, &back2)).and(continued(&back1));
        let is_start = continued(&lead).select(second.or(third).or(fourth).not(), Expr::scalar(true));
        let first = is_second(&lead, &next1);
        let two = follows(&lead, 1).and(follows(&lead, 2).not());
        let three = follows(&lead, 2).and(follows(&lead, 3).not()).and(continued(&next2));
        let four = follows(&lead, 3).and(continued(&next2)).and(continued(&next3));
        let is_ascii = lead.clone().lt(Expr::u32(0x80));
        let is_valid = is_ascii.clone().select(Expr::scalar(true), first.and(two.or(three).or(four)));
        let bits = |byte: &Expr, mask: u32, shift: u32| shl(byte.clone().and(Expr::u32(mask)), shift);
        let two = bits(&lead, 0x1F, 6).or(bits(&next1, 0x3F, 0));
        let three = bits(&lead, 0x0F, 12).or(bits(&next1, 0x3F, 6)).or(bits(&next2, 0x3F, 0));
        let four = bits(&lead, 0x07, 18).or(bits(&next1, 0x3F, 12)).or(bits(&next2, 0x3F, 6));
        let four = four.or(bits(&next3, 0x3F, 0));
        let longer = lead.clone().lt(Expr::u32(0xF0)).select(three, four);
        let longer = lead.clone().lt(Expr::u32(0xE0)).select(two, longer);
        Self { is_start, is_valid, code: is_ascii.select(lead, longer) }
    }

    fn utf16(view: &View<'_>) -> Self {
        let word = |k: i32| shl(view.byte(k), 8).or(view.byte(k + 1));
        let class = |word: &Expr| word.clone().and(Expr::u32(0xFC00));
        let (is_high, is_low) = (|w: &Expr| class(w).eq(Expr::u32(0xD800)), |w: &Expr| class(w).eq(Expr::u32(0xDC00)));
        let (before, here, after) = (word(-2), word(0), word(2));
        let has = |bytes: u32| view.has(bytes);
        // The second half of a pair, and a last odd byte after an unpaired first half, start no character.
        let is_pair = is_high(&before).and(is_low(&here).and(has(2)).or(has(2).not()));
        let is_start = view.offset.clone().and(Expr::u32(1)).eq(Expr::u32(0)).and(is_pair.not());
        let is_surrogate = here.clone().and(Expr::u32(0xF800)).eq(Expr::u32(0xD800));
        let pair = is_high(&here).and(is_low(&after)).and(has(4));
        let is_valid = has(2).and(is_surrogate.not().or(pair));
        let high = shl(here.clone().and(Expr::u32(0x3FF)), 10);
        let both = high.or(after.and(Expr::u32(0x3FF))).add(Expr::u32(0x1_0000));
        let code = is_high(&here).select(both, here);
        Self { is_start, is_valid, code }
    }

    fn utf32(view: &View<'_>) -> Self {
        let code = (0..4).map(|k| shl(view.byte(k), 24 - 8 * k as u32)).reduce(Expr::or).expect("four bytes");
        let is_start = view.offset.clone().and(Expr::u32(3)).eq(Expr::u32(0));
        Self { is_start, is_valid: view.has(4).and(is_scalar(&code)), code }
    }
}

/// Whether the u32 is a code point that text may contain: at most U+10FFFF and no surrogate.
pub(super) fn is_scalar(code: &Expr) -> Expr {
    let is_surrogate = code.clone().and(Expr::u32(0xFFFF_F800)).eq(Expr::u32(0xD800));
    code.clone().lt(Expr::u32(0x11_0000)).and(is_surrogate.not())
}

fn shl(value: Expr, by: u32) -> Expr {
    if by == 0 { value } else { value.binary(BinaryOp::Shl, Expr::u32(by)) }
}

/// Whether the byte leads a character of UTF-8 of at least `more` further bytes.
fn follows(byte: &Expr, more: u32) -> Expr {
    let least = match more {
        1 => 0xC2,
        2 => 0xE0,
        _ => 0xF0,
    };
    Expr::u32(least).le(byte.clone()).and(byte.clone().lt(Expr::u32(0xF5)))
}

/// Whether a character of UTF-8 that `lead` leads may continue with `second`: not with bytes that would make it longer
/// than needed, a surrogate, or too large.
fn is_second(lead: &Expr, second: &Expr) -> Expr {
    let (least, most) =
        (|lead| edge(lead, 0xE0, 0xA0, 0xF0, 0x90, 0x80), |lead| edge(lead, 0xED, 0x9F, 0xF4, 0x8F, 0xBF));
    least(lead).le(second.clone()).and(second.clone().le(most(lead)))
}

/// A bound of the second byte: `one` after the lead byte `first`, `two` after `other`, and otherwise `rest`.
fn edge(lead: &Expr, first: u32, one: u32, other: u32, two: u32, rest: u32) -> Expr {
    let is = |byte: u32| lead.clone().eq(Expr::u32(byte));
    is(first).select(Expr::u32(one), is(other).select(Expr::u32(two), Expr::u32(rest)))
}

/// The bytes around the one at `Index`, within its string.
struct View<'a> {
    bytes: &'a Node,
    /// Offset of the byte in its string.
    offset: Expr,
    /// Length of the string.
    length: Expr,
}

impl<'a> View<'a> {
    fn new(strings: &RowPartition, bytes: &'a Node) -> Self {
        let row = strings.row_of(Expr::index());
        Self { bytes, offset: strings.offset_of(Expr::index()), length: strings.length(row) }
    }

    /// Whether the string has `count` bytes from this one on.
    fn has(&self, count: u32) -> Expr {
        self.offset.clone().add(Expr::u32(count)).le(self.length.clone())
    }

    /// The byte `k` after this one as a u32; 0 outside of the string.
    fn byte(&self, k: i32) -> Expr {
        let by = Expr::u32(k.unsigned_abs());
        let (inside, at) = match k {
            0 => return Expr::load(self.bytes, Expr::index()).cast(DType::U32),
            1.. => (self.has(k as u32 + 1), Expr::index().add(by)),
            _ => (by.clone().le(self.offset.clone()), Expr::index().sub(by)),
        };
        inside.select(Expr::load(self.bytes, at).cast(DType::U32), Expr::u32(0))
    }
}
