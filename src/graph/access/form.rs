//! Forms: index arithmetic as a sum of digits of the position, of other values, and of a constant.
//!
//! A form is a choice between such sums, one per outcome of the conditions of `select`. Forms are closed under `+`, `-`,
//! products with constants, [`BinaryOp::IndexDiv`], [`BinaryOp::IndexRem`], `RowOf` and `Within`; any other expression is a
//! term of its own. Sums equal the value modulo 2^32. Operands of `IndexDiv` and `IndexRem` contain no arithmetic that
//! wrapped, so that their sums are equal as integers.

use super::digit::{Counter, Digit, Grain, OwnRows, Radix, add_digit, canonical};
use crate::graph::Expr;
use crate::graph::expr::ExprKind;
use crate::graph::handles::Handles;
use crate::graph::opcode::BinaryOp;

/// Maximum number of sums of a form.
pub(super) const MAX_CHOICES: usize = 16;

/// A term that is no digit: `times * value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term<R: Handles> {
    pub(super) times: i64,
    pub(super) value: Expr<R>,
    /// Whether `value` is the start of a row, and the other terms are an offset within that row.
    pub(super) is_start: bool,
}

/// `constant + Σ times * digit + Σ times * value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sum<R: Handles> {
    pub(super) constant: i64,
    pub(super) digits: Vec<(i64, Digit<R>)>,
    pub(super) terms: Vec<Term<R>>,
}

/// The form of a u32 expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Form<R: Handles> {
    Sum(Sum<R>),
    /// The first form where the condition holds, else the second.
    Choice(Expr<R>, Box<[Self; 2]>),
}

impl<R: Handles> Default for Sum<R> {
    fn default() -> Self {
        Self { constant: 0, digits: Vec::new(), terms: Vec::new() }
    }
}

impl<R: Handles> Sum<R> {
    fn of_constant(constant: i64) -> Self {
        Self { constant, ..Self::default() }
    }

    fn of_digit(digit: Digit<R>) -> Self {
        Self { digits: vec![(1, digit)], ..Self::default() }
    }

    pub(super) fn of_value(value: Expr<R>, is_start: bool) -> Self {
        Self { terms: vec![Term { times: 1, value, is_start }], ..Self::default() }
    }

    /// The digit, if the sum is one.
    pub(super) fn as_digit(&self) -> Option<&Digit<R>> {
        match (&self.digits[..], &self.terms[..], self.constant) {
            ([(1, digit)], [], 0) => Some(digit),
            _ => None,
        }
    }

    /// Whether the sum is the position.
    pub(super) fn is_position(&self) -> bool {
        let is_position = |sum: &Self| sum.as_digit() == Some(&Digit::POSITION);
        is_position(self) || self.constant == 0 && self.clone().with_own_elements().as_ref().is_some_and(is_position)
    }

    fn as_constant(&self) -> Option<i64> {
        (self.digits.is_empty() && self.terms.is_empty()).then_some(self.constant)
    }

    pub(super) fn has_start(&self) -> bool {
        self.terms.iter().any(|t| t.is_start)
    }

    /// Whether the sum of this and a place in a row is in the same element: digits of the position, or a constant or a
    /// remainder that stays below the numbers of an element.
    fn stays_in(&self, place: &Self) -> bool {
        let width = place.terms.iter().find(|term| term.is_start).map_or(1, |start| start.times);
        let is_number = self.digits.is_empty()
            && self.constant >= 0
            && place.constant.checked_rem_euclid(width).is_some_and(|number| number + self.constant < width);
        let is_of_position = self.constant == 0 && self.digits.iter().all(|(_, d)| d.of == Counter::Position);
        let is_remainder = |term: &Term<R>| {
            let by = match term.value.kind() {
                ExprKind::Binary(BinaryOp::IndexRem, _, by) if term.times == 1 && !term.is_start => by.as_u32(),
                _ => None,
            };
            by.is_some_and(|by| by > 0 && i64::from(by) <= width)
        };
        match &self.terms[..] {
            [] => is_number || is_of_position,
            [term] => self.digits.is_empty() && self.constant == 0 && place.constant == 0 && is_remainder(term),
            _ => false,
        }
    }

    pub(super) fn scaled(&self, by: i64) -> Option<Self> {
        let mut out = self.clone();
        out.constant = out.constant.checked_mul(by)?;
        for times in out.digits.iter_mut().map(|(t, _)| t).chain(out.terms.iter_mut().map(|t| &mut t.times)) {
            *times = times.checked_mul(by)?;
        }
        if by == 0 {
            out = Self::default();
        }
        Some(out)
    }

    fn plus(&self, other: &Self) -> Option<Self> {
        let mut out = self.clone();
        out.constant = out.constant.checked_add(other.constant)?;
        for (times, digit) in &other.digits {
            add_digit(&mut out.digits, *times, digit)?;
        }
        for term in &other.terms {
            match out.terms.iter_mut().find(|t| t.value == term.value && t.is_start == term.is_start) {
                Some(known) => known.times = known.times.checked_add(term.times)?,
                None => out.terms.push(term.clone()),
            }
        }
        // A sum with more than numbers within the element may leave the row.
        if (self.has_start() && !other.stays_in(self)) || (other.has_start() && !self.stays_in(other)) {
            let terms = std::mem::take(&mut out.terms);
            for term in terms {
                let plain = Self { terms: vec![Term { is_start: false, ..term }], ..Self::default() };
                out = out.plus(&plain)?;
            }
        }
        out.terms.retain(|t| t.times != 0);
        out.digits = canonical(out.digits)?;
        out.exchanged(-1, element, offset)
    }

    /// The sum with the own element in place of the start of its row and its offset there.
    pub(super) fn with_own_elements(self) -> Option<Self> {
        self.exchanged(1, offset, element)
    }

    /// Replaces the counter `from` of the own rows, and `sign` times the start of the own row, by the counter `to`.
    fn exchanged(
        mut self,
        sign: i64,
        from: fn(OwnRows<R>) -> Digit<R>,
        to: fn(OwnRows<R>) -> Digit<R>,
    ) -> Option<Self> {
        for k in 0..self.terms.len() {
            let Some(rows) = start_of_own_row(&self.terms[k].value) else { continue };
            let (replaced, times) = (from(rows.clone()), self.terms[k].times);
            if let Some(at) = self.digits.iter().position(|(t, digit)| *digit == replaced && *t * sign == times) {
                let (times, _) = self.digits.remove(at);
                self.terms.remove(k);
                add_digit(&mut self.digits, times, &to(rows))?;
                self.digits = canonical(self.digits)?;
                return Some(self);
            }
        }
        Some(self)
    }

    /// Quotient and remainder by a constant. `None` if they are no sums.
    fn divided(&self, by: i64) -> Option<[Self; 2]> {
        if by <= 0 {
            return None;
        }
        let (mut above, mut rest) = (Self::of_constant(self.constant.div_euclid(by)), Self::default());
        rest.constant = self.constant.rem_euclid(by);
        let mut most = rest.constant;
        for (times, digit) in &self.digits {
            if times % by == 0 {
                add_digit(&mut above.digits, times / by, digit)?;
                continue;
            }
            if *times < 0 {
                return None;
            }
            let (high, low) = if by % times == 0 {
                digit.split(u64::try_from(by / times).ok()?)?
            } else {
                (None, Some(digit.clone()))
            };
            if let Some(high) = high {
                add_digit(&mut above.digits, 1, &high)?;
            }
            if let Some(low) = low {
                let last = i64::try_from(low.known_modulus()?).ok()?.checked_sub(1)?;
                most = most.checked_add(times.checked_mul(last.max(0))?)?;
                add_digit(&mut rest.digits, *times, &low)?;
            }
        }
        for term in &self.terms {
            if term.times % by != 0 {
                return None;
            }
            above.terms.push(Term { times: term.times / by, ..term.clone() });
        }
        if most >= by {
            return None;
        }
        above.digits = canonical(above.digits)?;
        rest.digits = canonical(rest.digits)?;
        Some([above, rest])
    }
}

/// The own element of rows: `position / width`.
fn element<R: Handles>(rows: OwnRows<R>) -> Digit<R> {
    Digit::from(Counter::Position, Radix::known(rows.width.into()))
}

/// The offset of the own element in its row.
fn offset<R: Handles>(rows: OwnRows<R>) -> Digit<R> {
    Digit::from(Counter::Offset(rows), Radix::ONE)
}

/// The own rows of which the value is the start of the current one: `splits[row_of(splits, position / width)]`.
fn start_of_own_row<R: Handles>(value: &Expr<R>) -> Option<OwnRows<R>> {
    let ExprKind::Load(splits, row) = value.kind() else { return None };
    own_row(row).filter(|rows| rows.splits == *splits)
}

/// The rows of which the value is the own row: `row_of(splits, position / width)`.
pub(super) fn own_row<R: Handles>(value: &Expr<R>) -> Option<OwnRows<R>> {
    value.own_row().map(|(splits, width)| OwnRows { splits: splits.clone(), width })
}

/// A function of two sums; `None` where the result is no sum.
type Combine<'a, R> = &'a dyn Fn(&Sum<R>, &Sum<R>) -> Option<Sum<R>>;

impl<R: Handles> Form<R> {
    /// Number of sums.
    pub(super) fn choices(&self) -> usize {
        match self {
            Self::Sum(_) => 1,
            Self::Choice(_, of) => of[0].choices() + of[1].choices(),
        }
    }

    fn map(&self, f: &dyn Fn(&Sum<R>) -> Option<Sum<R>>) -> Option<Self> {
        Some(match self {
            Self::Sum(sum) => Self::Sum(f(sum)?),
            Self::Choice(c, of) => Self::Choice(c.clone(), Box::new([of[0].map(f)?, of[1].map(f)?])),
        })
    }

    /// The form where the condition of that expression is known.
    fn given(&self, condition: &Expr<R>, holds: bool) -> Self {
        match self {
            Self::Choice(c, of) if c == condition => of[usize::from(!holds)].given(condition, holds),
            Self::Choice(c, of) => {
                let of = [of[0].given(condition, holds), of[1].given(condition, holds)];
                Self::Choice(c.clone(), Box::new(of))
            }
            Self::Sum(_) => self.clone(),
        }
    }

    fn combined(&self, other: &Self, f: Combine<'_, R>) -> Option<Self> {
        match (self, other) {
            (Self::Sum(a), Self::Sum(b)) => Some(Self::Sum(f(a, b)?)),
            (Self::Choice(c, of), _) => {
                let of = |k: usize| of[k].combined(&other.given(c, k == 0), f);
                Some(Self::Choice(c.clone(), Box::new([of(0)?, of(1)?])))
            }
            (_, Self::Choice(c, of)) => {
                let of = |k: usize| self.combined(&of[k], f);
                Some(Self::Choice(c.clone(), Box::new([of(0)?, of(1)?])))
            }
        }
        .filter(|form| form.choices() <= MAX_CHOICES)
    }
}

/// The form of a u32 expression; `None` if it is a term of its own.
pub(super) fn form_of<R: Handles>(e: &Expr<R>) -> Option<Form<R>> {
    use BinaryOp::{Add, IndexDiv, IndexRem, Mul, Sub};
    match e.kind() {
        ExprKind::Index => Some(Form::Sum(Sum::of_digit(Digit::POSITION))),
        ExprKind::Scalar(_) => Some(Form::Sum(Sum::of_constant(e.as_u32()?.into()))),
        ExprKind::Within(splits, row, offset) => {
            let start = Sum::of_value(Expr::load(splits, row.clone()), true);
            offset.form().map(&|offset| {
                // The start is added to the offset last, so that it stays the start of a row.
                let mut out = offset.clone();
                out.terms.iter_mut().for_each(|t| t.is_start = false);
                out.terms.push(start.terms[0].clone());
                Some(out)
            })
        }
        ExprKind::Select(c, a, b) => Some(Form::Choice(c.clone(), Box::new([a.form(), b.form()]))),
        ExprKind::Binary(Add, a, b) => a.form().combined(&b.form(), &|a, b| a.plus(b)),
        ExprKind::Binary(Sub, a, b) => a.form().combined(&b.form(), &|a, b| a.plus(&b.scaled(-1)?)),
        ExprKind::Binary(Mul, a, b) => {
            let product = |a: &Sum<R>, b: &Sum<R>| match (a.as_constant(), b.as_constant()) {
                (_, Some(by)) => a.scaled(by),
                (Some(by), _) => b.scaled(by),
                _ => None,
            };
            a.form().combined(&b.form(), &product)
        }
        ExprKind::Binary(op @ (IndexDiv | IndexRem), a, by) => {
            let form = a.form();
            if let Some(by) = by.as_u32() {
                let [above, rest] = [0, 1];
                let part = if *op == IndexDiv { above } else { rest };
                return form.map(&|sum| Some(sum.divided(by.into())?[part].clone()));
            }
            form.map(&|sum| divided_by_size(sum, *op, by).map(Sum::of_digit))
        }
        _ => None,
    }
}

/// Quotient or remainder of a digit by a value that is constant in the own row. `None` if it is no digit.
fn divided_by_size<R: Handles>(sum: &Sum<R>, op: BinaryOp, by: &Expr<R>) -> Option<Digit<R>> {
    let digit = sum.as_digit().filter(|digit| digit.modulus.is_none())?;
    let size = Radix { times: 1, size: Some(by.clone()) };
    let is_constant = match (&digit.of, by.grain()) {
        (_, Grain::Constant) => true,
        (Counter::Offset(own), Grain::Row(rows)) => op == BinaryOp::IndexRem && own == rows,
        _ => false,
    };
    match op {
        _ if !is_constant => None,
        BinaryOp::IndexRem => Some(Digit { modulus: Some(size), ..digit.clone() }),
        _ => Some(Digit { divisor: digit.divisor.product(&size)?, ..digit.clone() }),
    }
}
