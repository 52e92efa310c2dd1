//! The positions that read an element, where each reads `base + Σ times * digit`.

use super::rows_ref::size_of;
use crate::graph::access::{Counter, Digits, UniformDigit};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::size::{Factors, Size};

/// `times * ((position / divisor) % modulus)`, or what is left from the last value of the digit on if `is_reversed`.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    /// 0 for a dimension of the position that is not read.
    pub(super) times: Size,
    pub(super) is_reversed: bool,
    pub(super) divisor: Size,
    pub(super) modulus: Option<Size>,
}

impl Piece {
    /// The whole position, by a factor other than 0.
    pub(super) fn run(step: i64) -> Option<Self> {
        let times = Size::from(u32::try_from(step.unsigned_abs()).ok().filter(|&times| times > 0)?);
        Some(Self { times, is_reversed: step < 0, divisor: Size::from(1), modulus: None })
    }

    /// Pieces of digits of the position. `None` for other digits.
    pub(super) fn of_digits(digits: &Digits) -> Option<Vec<Self>> {
        let piece = |(times, digit): &(i64, crate::graph::access::Digit)| {
            let modulus = match &digit.modulus {
                None => None,
                Some(modulus) => Some(size_of(modulus)?),
            };
            let divisor = size_of(&digit.divisor).filter(|_| digit.of == Counter::Position)?;
            Some(Self { divisor, modulus, ..Self::run(*times)? })
        };
        digits.iter().map(piece).collect()
    }

    pub(super) fn of_uniform(digit: &UniformDigit) -> Self {
        let UniformDigit { is_negative, times, divisor, modulus } = digit.clone();
        Self { times, is_reversed: is_negative, divisor, modulus }
    }

    fn step(&self) -> Expr {
        Expr::size(&self.times.max(1))
    }

    /// Number of values.
    fn length(&self, count: &Extent) -> Size {
        match &self.modulus {
            Some(modulus) => modulus.clone(),
            None => blocks(count.size(), &self.divisor),
        }
    }

    /// Number of values, which only the device may know.
    fn length_expr(&self, count: &Extent) -> Expr {
        match &self.modulus {
            None if count.live().is_some() && self.divisor == Size::from(1) => count.expr(),
            None if count.live().is_some() => {
                let by = Expr::size(&self.divisor.max(1));
                count.expr().add(by.clone().sub(Expr::u32(1))).div(by)
            }
            _ => Expr::size(&self.length(count)),
        }
    }
}

/// Number of blocks of `by` that hold `count`; the last one may not be full.
pub(super) fn blocks(count: &Size, by: &Size) -> Size {
    match Factors::of(count).exact(by) {
        _ if by.as_const() == Some(1) => count.clone(),
        Some(blocks) => blocks,
        None => count.add(by.max(1).sub(1)).div(by.max(1)),
    }
}

/// Whether positions below `count` fill blocks of `by`.
pub(super) fn is_multiple(count: &Size, by: &Size) -> bool {
    by.as_const().is_some() && Factors::of(count).exact(by).is_some()
        || count.as_known().zip(by.as_known()).is_some_and(|(count, by)| by > 0 && count % by == 0)
}

/// Whether `a` is at least `b` wherever both are dimensions with elements.
fn is_at_least(a: &Size, b: &Size) -> bool {
    a.as_known().zip(b.as_known()).map_or_else(|| Factors::of(a).exact(b).is_some(), |(a, b)| a >= b)
}

/// The readers of each element.
#[derive(Debug, Clone)]
pub(super) struct Preimage {
    /// The least element that a position may read.
    base: Expr,
    /// Pieces that read different elements, by ascending factors.
    apart: Vec<Piece>,
    /// A piece whose values may read the same element, the distance of those that do, and the number of those.
    free: Option<(Piece, Size, Size)>,
    /// Dimensions that are not read.
    unread: Vec<Piece>,
    count: Extent,
    /// Whether all combinations of digits are positions.
    is_full: bool,
}

impl Preimage {
    /// The readers among the positions below `count`. The pieces cover the position. `None` if no arithmetic leads back.
    pub(super) fn new(base: &Expr, pieces: Vec<Piece>, count: &Extent) -> Option<Self> {
        let (unread, mut pieces): (Vec<Piece>, Vec<Piece>) = pieces.into_iter().partition(|p| p.times == Size::from(0));
        let is_const = |p: &Piece| {
            [Some(&p.times), Some(&p.divisor), p.modulus.as_ref()].into_iter().flatten().all(|s| s.as_const().is_some())
        };
        let mut end = Size::from(1);
        for piece in pieces.iter().chain(&unread) {
            end = end.mul(piece.modulus.clone().unwrap_or_else(|| Size::from(1)));
        }
        let has_outermost = pieces.iter().any(|piece| piece.modulus.is_none());
        // Sizes that are parameters may be 0.
        let is_full = pieces.iter().all(is_const)
            && if has_outermost { is_multiple(count.size(), &end) } else { count.size().is_same(&end) };
        let mut base = base.clone();
        for piece in pieces.iter().filter(|piece| piece.is_reversed) {
            let last = piece.length_expr(count).sub(Expr::u32(1));
            base = base.sub(last.mul(piece.step()));
        }
        pieces.sort_by_key(|piece| Factors::of(&piece.times).order());
        let this = |apart, free| Self { base, apart, free, unread, count: count.clone(), is_full };
        if are_apart(&pieces, count) {
            return Some(this(pieces, None));
        }
        // Several positions read an element: one for each value of a piece without which the others are apart.
        let others = |k: usize| [&pieces[..k], &pieces[k + 1..]].concat();
        let k = (0..pieces.len()).find(|&k| pieces[k].modulus.is_some() && are_apart(&others(k), count))?;
        let (free, length) = (pieces[k].clone(), pieces[k].length(count));
        let distance = distance(&pieces[..k], &free, &pieces[k + 1..], count);
        let terms = blocks(&length, &distance);
        Some(this(others(k), Some((free, distance, terms))))
    }

    /// Number of positions that may read an element.
    pub(super) fn terms(&self) -> Size {
        let free = self.free.as_ref().map_or(Size::from(1), |(.., terms)| terms.clone());
        self.unread.iter().fold(free, |terms, piece| terms.mul(piece.length(&self.count)))
    }

    /// The position that reads the element, of those the `term`-th one, and whether there is one.
    pub(super) fn reader(&self, element: &Expr, term: &Expr) -> (Expr, Expr) {
        // Elements before the first one wrap to differences beyond all that are read.
        let offset = element.clone().sub(self.base.clone());
        let (mut rest, mut position, mut term) = (offset.clone(), Expr::u32(0), term.clone());
        let mut conditions = Vec::with_capacity(self.apart.len() + 2);
        let digit_of = |piece: &Piece, digit: Expr| {
            let last = || piece.length_expr(&self.count).sub(Expr::u32(1));
            let digit = if piece.is_reversed { last().sub(digit) } else { digit };
            digit.mul(Expr::size(&piece.divisor))
        };
        for piece in &self.unread {
            let length = Expr::size(&piece.length(&self.count).max(1));
            position = position.add(digit_of(piece, term.clone().rem(length.clone())));
            term = term.div(length);
        }
        if let Some((free, distance, _)) = &self.free {
            let distance = Expr::size(&distance.max(1));
            let first = offset.div(free.step()).rem(distance.clone());
            let value = first.add(term.mul(distance));
            rest = rest.sub(value.clone().mul(free.step()));
            conditions.push(value.clone().lt(free.length_expr(&self.count)));
            position = position.add(digit_of(free, value));
        }
        for piece in self.apart.iter().rev() {
            let digit = rest.clone().div(piece.step());
            rest = rest.rem(piece.step());
            conditions.push(digit.clone().lt(piece.length_expr(&self.count)));
            position = position.add(digit_of(piece, digit));
        }
        if rest.as_u32() != Some(0) {
            conditions.push(rest.eq(Expr::u32(0)));
        }
        if !self.is_full {
            conditions.push(position.clone().lt(self.count.expr()));
        }
        let is_read = conditions.into_iter().reduce(Expr::and).unwrap_or_else(|| Expr::u32(0).eq(Expr::u32(0)));
        (position, is_read)
    }
}

/// The distance of the values of `free` that may read the same element, between pieces of smaller and of greater factors.
fn distance(below: &[Piece], free: &Piece, above: &[Piece], count: &Extent) -> Size {
    let one = Size::from(1);
    // The smaller pieces are the rest by the factor only if they stay below it.
    let only = Piece { modulus: Some(one.clone()), ..free.clone() };
    if !are_apart(&[below, &[only]].concat(), count) {
        return one;
    }
    // The others read elements that differ by multiples of their factors.
    let by_free: Option<Vec<Size>> = above.iter().map(|piece| Factors::of(&piece.times).exact(&free.times)).collect();
    let Some(by_free) = by_free else { return one };
    let consts: Option<Vec<u32>> = by_free.iter().map(Size::as_const).collect();
    match (consts, by_free.first()) {
        (Some(consts), Some(_)) => Size::from(consts.into_iter().fold(0, gcd).max(1)),
        (None, Some(first)) if by_free.iter().all(|by| Factors::of(by).exact(first).is_some()) => first.clone(),
        _ => one,
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Whether different values of the pieces, by ascending factors, read different elements.
fn are_apart(by_times: &[Piece], count: &Extent) -> bool {
    // Elements between the least and the greatest that the smaller pieces read, as a number or as a bound of the elements
    // from the least on.
    let (mut span, mut end) = (Some(0u64), Some(Size::from(1)));
    by_times.iter().all(|piece| {
        let step = piece.times.as_known().map(u64::from);
        let by_number = step.zip(span).map(|(step, span)| step > span);
        let is_apart = by_number.unwrap_or_else(|| end.as_ref().is_some_and(|end| is_at_least(&piece.times, end)));
        let length = piece.length(count);
        let is_bounded = piece.modulus.is_some() || !length.contains_count();
        let last = length.as_known().filter(|_| is_bounded).map(|length| u64::from(length.saturating_sub(1)));
        let reach = last.zip(step).and_then(|(last, step)| last.checked_mul(step));
        span = span.zip(reach).and_then(|(span, reach)| span.checked_add(reach));
        end = is_bounded.then(|| piece.times.mul(&length));
        is_apart
    })
}
